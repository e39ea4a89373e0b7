"""What people read: sentences, and templates that name facts and can do nothing else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.alerts.model import AlertState, Phase
from catchment.alerts.sentence import DEFAULT, Subject, duration, facts, notice_sentence, sentence, with_unit
from catchment.alerts.template import MAX_CHARACTERS, NAMES, check, fill
from tests.events import event, notice

OVEN = Subject("Oven 3", "Thermometer", "press-7", "Press 7", "Hall 2")
UNKNOWN = Subject("oven-3")
RAISED, CLEARED = AlertState.RAISED, AlertState.CLEARED


def test_a_raised_alert_says_who_where_what_since_when_and_how_much() -> None:
    assert sentence(event(), RAISED, OVEN) == (
        "Oven 3 (Press 7, Hall 2, site oslo): temperature above 80 °C since 2026-11-17 12:00:00 UTC; "
        "now 83.1 °C, average 82 °C, maximum 84.25 °C."
    )


def test_a_cleared_alert_says_how_long_it_was() -> None:
    over = event(Phase.END, 3, exceeded_for_ms=725_000)
    assert sentence(over, CLEARED, OVEN) == (
        "Oven 3 (Press 7, Hall 2, site oslo): temperature no longer above 80 °C, after 12 min 5 s; "
        "average 82 °C, maximum 84.25 °C."
    )


def test_below_a_threshold_the_lowest_value_counts() -> None:
    cold = event(direction="BELOW", temperature_threshold=4.0, latest=1.5, unit="bar", field="pressure")
    assert "pressure below 4 bar" in sentence(cold, RAISED, OVEN)
    assert "average 2 bar, minimum -0.25 bar" in sentence(cold, RAISED, OVEN)


def test_a_sensor_that_nobody_registered_is_called_by_its_id() -> None:
    assert sentence(event(), RAISED, UNKNOWN).startswith("oven-3 (site oslo): temperature above 80 °C")


def test_a_rule_has_words_of_its_own() -> None:
    assert sentence(event(), RAISED, OVEN, "$$: ${sensor} is $value hot") == "$: Oven 3 is 83.1 °C hot"


def test_every_name_stands_for_a_fact_and_every_fact_has_a_name() -> None:
    assert facts(event(), RAISED, UNKNOWN).keys() == NAMES.keys()
    for template in DEFAULT.values():
        check(template)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("$sensr is hot", r"\$sensr, which is not known: did you mean \$sensor\?"),
        ("$xyzzy", "known are state, what"),
        ("costs 5 $", r"write \$name"),
        ("${sensor.__class__}", r"write \$name"),
        ("x" * (MAX_CHARACTERS + 1), "1000 at most"),
    ],
)
def test_a_wrong_template_is_refused_with_what_to_change(template: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check(template)


@given(st.text(max_size=200), st.dictionaries(st.sampled_from(sorted(NAMES)), st.text(max_size=50)))
def test_what_was_checked_can_be_filled_and_what_is_filled_in_is_never_looked_into(
    template: str, given_facts: dict[str, str]
) -> None:
    everything = {**dict.fromkeys(NAMES, ""), **given_facts}
    try:
        check(template)
    except ValueError:
        return
    fill(template, everything)
    assert fill("$sensor", {"sensor": template}) == template


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (0, "0 s"),
        (-5, "0 s"),
        (1499, "1 s"),
        (725_000, "12 min 5 s"),
        (3_600_000, "1 h"),
        (3_605_000, "1 h"),
        (90_061_000, "1 d 1 h"),
    ],
)
def test_a_duration_has_two_steps_at_most(milliseconds: int, said: str) -> None:
    assert duration(milliseconds) == said


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (80.0, "C", "80 °C"),
        (-17.78, "F", "-17.78 °F"),
        (300.0, "K", "300 K"),
        (0.00125, "mm", "0.00125 mm"),
        (1200.0, "", "1200"),
        (0.0, "bar", "0 bar"),
        (0.5, "bar", "0.5 bar"),
    ],
)
def test_a_value_is_written_as_people_write_it(value: float, unit: str, said: str) -> None:
    assert with_unit(value, unit) == said


def test_a_clock_that_is_far_off_breaks_nothing() -> None:
    assert "since 99999999999999999 ms since 1970" in sentence(
        event(first_ms=99999999999999999), RAISED, OVEN
    )


def test_the_manual_has_every_name() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "alerts.md").read_text(encoding="utf-8")
    for name, meaning in NAMES.items():
        assert f"| `${name}` | {meaning} |" in page


def test_a_notice_says_which_object_and_what_its_sender_says() -> None:
    assert notice_sentence(notice()) == "kiln-1 (site oslo): the door stands open"
    refused = notice(cause="VALIDATION", text="heat: 1300 is too much")
    assert (
        notice_sentence(refused)
        == "kiln-1 (site oslo): stream/lab sent what is refused: heat: 1300 is too much"
    )
