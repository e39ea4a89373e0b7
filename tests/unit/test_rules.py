"""Rules as people declare them: what is taken, and what a refusal says."""

from pathlib import Path
from typing import Any

import pytest

from catchment.alerts.rules import Rule, RuleSpec, check_rule, read_rules
from catchment.errors import InvalidRule
from tests.unit.conftest import RunCatchment


def refusal(**values: Any) -> str:
    with pytest.raises(InvalidRule) as refused:
        check_rule("hot", {"field": "temperature", "above": 80, **values})
    return str(refused.value)


def test_a_rule_needs_only_a_field_and_a_threshold() -> None:
    rule = check_rule("hot", {"field": "temperature", "above": 80})
    assert (rule.above, rule.below, rule.hysteresis, rule.enabled) == (80.0, None, 0.0, True)
    assert rule.select.model_dump(exclude_none=True) == {}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"below": 3}, "exactly one of above and below is needed, and both is given"),
        ({"above": None}, "exactly one of above and below is needed, and neither of them is given"),
        ({"hysteresis": -1}, "hysteresis: Input should be greater than or equal to 0"),
        ({"above": "hot"}, "above: Input should be a valid number"),
        ({"above": float("nan")}, "above: Input should be a finite number"),
        ({"unit": "°C"}, "unit: write C instead of °C"),
        ({"treshold": 7}, "treshold: there is no such key; known are description, enabled, field, above"),
        ({"select": {"type": "oven"}}, "select.type: there is no such key; known are sensor, sensor_type"),
        ({"select": {"site": "os lo"}}, "select.site: "),
        ({"field": "two words"}, "field: "),
        ({"min_duration_s": -5}, "min_duration_s: "),
        ({"channels": ["not a name"]}, "channels.0: "),
        ({"message": "$temprature"}, "message: the message names $temprature, which is not known"),
    ],
)
def test_a_refusal_names_the_rule_the_key_and_the_remedy(values: dict[str, Any], told: str) -> None:
    message = refusal(**values)
    assert message.startswith("The rule hot is wrong: ")
    assert told in message
    assert "docs/reference/rules.md" in message


def test_a_file_has_rules_by_their_ids(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n  hot: {field: temperature, above: 80, unit: C}\n  cold: {field: t, below: 3}\n")
    assert {name: rule.above for name, rule in read_rules(file).items()} == {"hot": 80.0, "cold": None}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rules: [1]", "is not a mapping with the one key `rules`"),
        ("hot: {field: temperature, above: 80}", "is not a mapping with the one key `rules`"),
        ("rules: {hot: 80}", "The rule hot is not a mapping"),
        ("rules: {hot: [", "is not valid YAML"),
        ("rules: {hot: {field: temperature}}", "The rule hot is wrong"),
        ("rules: {no good: {field: temperature, above: 80}}", "'no good' is not a rule name"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text)
    with pytest.raises(InvalidRule, match=told):
        read_rules(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRule, match=r"absent\.yaml cannot be read: No such file"):
        read_rules(tmp_path / "absent.yaml")


def test_a_kept_rule_has_its_identity_and_passes_over_what_a_later_version_adds() -> None:
    spec = RuleSpec(field="temperature", above=80)
    entry = {**spec.model_dump(), "site": "oslo", "id": "hot", "version": 3, "updated_ms": 5, "colour": "red"}
    rule = Rule.model_validate(entry)
    assert (rule.key, rule.version) == ("oslo/hot", 3)


def test_a_wrong_rule_is_refused_before_the_node_is_asked(run_catchment: RunCatchment) -> None:
    refused = run_catchment("rules", "add", "hot", "--field", "temperature")
    assert refused.returncode == 2
    assert "The rule hot is wrong: exactly one of above and below is needed" in refused.stderr


def test_a_node_that_does_not_run_is_named(run_catchment: RunCatchment) -> None:
    refused = run_catchment("rules", "add", "hot", "--field", "temperature", "--above", "80")
    assert (refused.returncode, refused.stderr.split(":")[0]) == (1, "node-not-running")
