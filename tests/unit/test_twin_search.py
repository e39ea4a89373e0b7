"""Questions to twins: how they are written, what they mean, and that the index means the same."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catchment.errors import InvalidExpression, InvalidRequest
from catchment.twins.index import MOST_VALUES, Index, Readable
from catchment.twins.search.expression import (
    MEMBERS,
    And,
    Compare,
    Exists,
    Expression,
    Field,
    In,
    Like,
    Not,
    Operator,
    Or,
    render,
)
from catchment.twins.search.matching import field_of, kind_of, matches, predicate_of
from catchment.twins.search.parser import parse
from catchment.twins.search.question import PLACE, Found, Question, merged

EVERYTHING = Readable({"local/machine", "oslo/machine"}, "token/tester")

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6)
numbers = (
    st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 3)
)
scalars = numbers | st.sampled_from(["on", "off", "*", "[x", "?"]) | texts | st.booleans()
names = st.sampled_from(["heat", "count", "state", "site", "and", "values", "odd name"])
fields = st.builds(Field, names) | st.sampled_from([Field(name, is_member=True) for name in MEMBERS])


def comparisons() -> st.SearchStrategy[Expression]:
    ordered = st.builds(Compare, fields, st.sampled_from(Operator), numbers | texts)
    equal = st.builds(Compare, fields, st.sampled_from([Operator.EQUAL, Operator.DIFFERENT]), scalars)
    listed = st.builds(In, fields, st.lists(scalars, min_size=1, max_size=3).map(tuple))
    return ordered | equal | listed | st.builds(Like, fields, texts) | st.builds(Exists, fields)


def combined(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.builds(Not, inner) | st.builds(And, several) | st.builds(Or, several)


expressions = st.recursive(comparisons(), combined, max_leaves=6)
twins = st.builds(
    lambda site, identifier, version, deleted, values: {
        "site": site,
        "id": identifier,
        "type": "machine",
        "version": version,
        "owner": "feed/tests",
        "created_ms": 1,
        "updated_ms": version * 2,
        "deleted_ms": 5 if deleted else None,
        "values": values,
    },
    st.sampled_from(["local", "oslo", "lo-cal"]),
    st.sampled_from([f"object-{number}" for number in range(8)]),
    st.integers(1, 5),
    st.booleans(),
    st.dictionaries(names, scalars, max_size=3),
)
herds = st.lists(twins, max_size=8, unique_by=lambda twin: (twin["site"], twin["id"]))


# Written and read


@given(expressions)
def test_what_is_written_reads_back_as_the_same(expression: Expression) -> None:
    assert parse(render(expression)) == expression


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("heat>80", Compare(Field("heat"), Operator.MORE, 80)),
        ("heat >= -2.5e1", Compare(Field("heat"), Operator.AT_LEAST, -25.0)),
        ("state = 'it is \"on\"'", Compare(Field("state"), Operator.EQUAL, 'it is "on"')),
        ('site!="oslo"', Compare(Field("site", is_member=True), Operator.DIFFERENT, "oslo")),
        ('values.site = "hall"', Compare(Field("site"), Operator.EQUAL, "hall")),
        ("deleted = FALSE", Compare(Field("deleted", is_member=True), Operator.EQUAL, False)),
        ('id like "oven-*"', Like(Field("id", is_member=True), "oven-*")),
        ("door exists", Exists(Field("door"))),
        ("count in (1, 2)", In(Field("count"), (1, 2))),
        (
            "a exists or b exists and c exists",
            Or((Exists(Field("a")), And((Exists(Field("b")), Exists(Field("c")))))),
        ),
        ("not a exists and b exists", And((Not(Exists(Field("a"))), Exists(Field("b"))))),
        ("(((a exists)))", Exists(Field("a"))),
        ("heat < 99999999999999999999", Compare(Field("heat"), Operator.LESS, 1e20)),
    ],
)
def test_expressions_are_read(text: str, expression: Expression) -> None:
    assert parse(text) == expression


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "the name of a value"),
        ("heat", 5, "one of = !="),
        ("heat 80", 6, "one of = !="),
        ("heat > ", 8, "a number, a text in quotes"),
        ("heat > and", 8, "a number, a text in quotes"),
        ("heat > 80 site", 11, "`and`, `or` or the end"),
        ("(heat > 80", 11, "`and`, `or` or `)`"),
        ("heat > 80)", 10, "`and`, `or` or the end"),
        ("on < true", 6, "a number or a text in quotes"),
        ('state = "on', 9, "a text that ends with"),
        ("state in 3", 10, "`(`"),
        ("state in (3", 12, "`,` or `)`"),
        ("id like 3", 9, "a text in quotes"),
        ("heat > 3x", 8, "a number such as"),
        ("heat > 1e999", 8, "a number below"),
        ("heat ~ 3", 6, "a name, a scalar"),
        ("values.3 > 1", 8, "the name of a value"),
        ("not", 4, "the name of a value"),
        ("(" * 60 + "a exists" + ")" * 60, 51, "at most 50"),
        ("a" * 4001, 4001, "at most 4,000"),
    ],
)
def test_a_wrong_expression_is_refused_at_its_place(text: str, column: int, expected: str) -> None:
    with pytest.raises(InvalidExpression) as refused:
        parse(text)
    assert f"at column {column}: " in refused.value.happened
    assert expected in refused.value.happened
    caret = refused.value.remedy.splitlines()[-1]
    assert caret.index("^") == column - 1 + len("  ")


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    caret = ""
    try:
        parse(text)
    except InvalidExpression as refused:
        caret = refused.remedy.splitlines()[-1]
    assert len(caret) <= len("  ") + len(text) + len("^")


def test_the_largest_question_can_be_asked_of_another_instance() -> None:
    where = "not a exists or b exists"
    for _ in range(24):
        where = f"not ({where}) and c exists or d exists"
    ids = [f"{number:064d}" for number in range(1000)]
    question = Question.of(where, "-values.site", site="local", type_="machine", ids=ids).part(
        10, ("x", "a", "b")
    )
    assert Question.decode(orjson.loads(orjson.dumps(question.encode()))) == question


# What it means


TWIN = {
    "site": "local",
    "id": "oven",
    "type": "machine",
    "version": 3,
    "owner": "feed/tests",
    "created_ms": 1,
    "updated_ms": 9,
    "deleted_ms": None,
    "values": {"heat": 80, "state": "on", "alarm": True, "site": "hall"},
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("heat = 80.0", True),
        ("heat > 79 and heat < 81", True),
        ('heat > "7"', False),
        ('heat != "7"', True),
        ("alarm = true", True),
        ("alarm = 1", False),
        ("alarm != 1", True),
        ("door = 1", False),
        ("door != 1", False),
        ("not door = 1", True),
        ('state in ("off", "on")', True),
        ("alarm in (1)", False),
        ('state like "o?"', True),
        ('heat like "*"', False),
        ('values.site = "hall" and site = "local"', True),
        ("deleted = false and version = 3", True),
        ("deleted exists", True),
    ],
)
def test_what_holds_of_an_object(text: str, holds: bool) -> None:
    assert predicate_of(parse(text))(TWIN) is holds
    index = Index()
    index.put([TWIN])
    assert bool(index.ask(Question.of(text), EVERYTHING)) is holds


@given(texts, texts)
def test_patterns_mean_what_they_say(text: str, other: str) -> None:
    literal = "*" not in text and "?" not in text
    assert matches(text, "*")
    assert matches(text + other, f"{text}*") or not literal
    assert matches(text, other) is (text == other) or "*" in other or "?" in other


# The index means the same


def plainly(herd: list[dict[str, Any]], question: Question) -> list[tuple[str, str]]:
    """The answer of a plain filter and sort."""
    holds = predicate_of(question.where) if question.where else lambda _: True
    found = sorted((twin for twin in herd if holds(twin)), key=lambda twin: (twin["site"], twin["id"]))
    if question.sort:
        sort = question.sort
        there = [twin for twin in found if field_of(twin, sort) is not None]
        lacking = [twin for twin in found if field_of(twin, sort) is None]
        there.sort(key=lambda twin: rank(field_of(twin, sort)), reverse=question.descending)
        found = there + lacking
    return [(twin["site"], twin["id"]) for twin in found]


def rank(value: Any) -> Any:
    return kind_of(value), value


@settings(max_examples=300)
@given(herds, expressions | st.none(), fields | st.none(), st.booleans(), st.integers(1, 4))
def test_the_index_answers_like_a_plain_filter_page_by_page_from_any_partitions(
    herd: list[dict[str, Any]], where: Expression | None, sort: Field | None, descending: bool, limit: int
) -> None:
    whole = Question(where, sort, descending)
    indexes = [Index(), Index(), Index()]
    readable = Readable({"local/machine", "oslo/machine", "lo-cal/machine"}, "token/tester")
    for number, twin in enumerate(herd):
        indexes[number % 2].put([twin])
    question = Question.decode(Question(where, sort, descending, limit).encode())
    pages: list[tuple[str, str]] = []
    for _ in range(len(herd) + 1):
        answers: list[list[Found]] = [
            [(place, b"") for place in index.ask(question, readable)] for index in indexes
        ]
        page = merged(answers, question)
        pages += [place[1:] for place, _ in page]
        if len(page) < limit:
            break
        question = question.part(limit, PLACE.validate_python(list(page[-1][0])))
    assert pages == plainly(herd, whole)


def test_the_index_shows_what_may_be_seen() -> None:
    index = Index()
    mine = {**TWIN, "id": "mine", "type": "other", "owner": "token/tester"}
    index.put([TWIN, mine, {**TWIN, "id": "hidden", "type": "other"}])
    seen = index.ask(Question(), EVERYTHING)
    assert [identifier for _, _, identifier in seen] == ["mine", "oven"]
    assert index.ask(Question(), Readable(set(), "nobody")) == []


def test_an_object_is_replaced_and_removed() -> None:
    index = Index()
    index.put([TWIN])
    index.put([{**TWIN, "values": {"door": "open"}}])
    assert index.ask(Question.of("heat exists"), EVERYTHING) == []
    assert len(index.ask(Question.of('door = "open"'), EVERYTHING)) == 1
    index.put([], [("local", "oven")])
    assert index.ask(Question(), EVERYTHING) == []


def test_a_value_that_has_no_room_in_the_index_is_named() -> None:
    index = Index()
    index.put([{**TWIN, "values": {f"v{number}": number for number in range(MOST_VALUES + 1)}}])
    last = f"v{MOST_VALUES}"
    assert len(index.ask(Question.of(f"v{MOST_VALUES - 1} exists"), EVERYTHING)) == 1
    with pytest.raises(InvalidRequest, match=last):
        index.ask(Question.of(f"{last} exists"), EVERYTHING)
