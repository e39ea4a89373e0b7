"""The apply step against a plain model of what changes mean, in small batches."""

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import count, islice, product
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row, SparkSession

from catchment.config.twins import StateStore
from catchment.pipeline.control import Declarations, shard_of
from catchment.pipeline.twins import applied
from catchment.records import REASON_HEADER, STAMP_HEADER, TOPIC_HEADER, Kind, Source
from catchment.schemas.schema import parse
from catchment.schemas.shipped import TWIN_NOTICE, shipped
from catchment.twins.model import Change, Outcome, Refusal, Twin, Update
from tests import twinning, watching
from tests.twins_model import Model, Sent, Told

SITE = "model"
NOTICE = parse(shipped()[TWIN_NOTICE])
TYPES: dict[str, dict[str, Any]] = {"kiln": twinning.KILN, "free": twinning.FREE}
DECLARED = {name: twinning.twin_type(SITE, name, spec) for name, spec in TYPES.items()}
SOURCES = {name: Source(SITE, "gate", epoch, name) for name, epoch in (("lab", 7), ("twins", 1), ("old", 3))}

MORE_THAN_IN_MEMORY = 2_100
VALUES = [0, 1, 2, 2.0, 5, 21, 21.0, 1200, 1201, -10.5, 0.5, "on", "off", "ä😀", "long", True, False]
NAMES = ["heat", "heat", "runs", "runs", "mode", "door", "serial", "serial", "other"]
ACTIONS = [*["put"] * 12, "create", "change", "change", "change", "delete", "mark-deleted"]


@dataclass(frozen=True)
class Step:
    """What is asked of an object, by whom, and with which number: most come once and in order."""

    wish: dict[str, Any]
    source: str
    number_step: int
    user: str
    confirm: bool


def step(chance: random.Random) -> Step:
    """Any step; what is left out of a wish is left to its default."""
    wish: dict[str, Any] = {
        "action": chance.choice(ACTIONS),
        "type": chance.choice([*["kiln"] * 12, "free", "missing"]),
        "values": {chance.choice(NAMES): operation(chance) for _ in range(chance.randrange(3))},
        "if_version": chance.randint(1, 4),
        "notify": "look at it",
    }
    if chance.random() < 0.7:
        wish["values"]["serial"] = {"set": "k1"}
    if wish["action"] in ("delete", "mark-deleted"):
        del wish["values"]
    said = {name: each for name, each in wish.items() if chance.random() < (0.1 if name in RARE else 0.9)}
    source, user = chance.choice(sorted(SOURCES)), chance.choice(USERS)
    return Step(said, source, chance.choice([1, 1, 1, 1, 2, 0, -1]), user, chance.random() < 0.5)


def operation(chance: random.Random) -> dict[str, Any]:
    numbers = [1, 1, 2, -1, 1.5, 2.0]
    return chance.choice(
        [
            {"set": chance.choice(VALUES)},
            {"set": chance.choice(VALUES)},
            {"add": chance.choice(numbers)},
            {"unset": True},
        ]
    )


RARE = ("if_version", "notify")
USERS = ["token/a", "token/a", "token/b", "stream/lab", "stream/other"]
# Drawn as a whole, which is quick.
STEPS = [step(random.Random(number)) for number in range(3000)]
cases_of_steps = st.lists(st.lists(st.sampled_from(STEPS), min_size=5, max_size=30), min_size=40, max_size=80)


def sequence_of(case: int, drawn: list[Step]) -> list[Sent]:
    """Changes of the case's own object, with the numbers of their sources."""
    numbers = dict.fromkeys(SOURCES, 0)
    sent = []
    for number, each in enumerate(drawn, 1):
        numbers[each.source] = max(1, numbers[each.source] + each.number_step)
        said = {"transaction": f"t{number}", "user": each.user, "at_ms": number, "confirm": each.confirm}
        change = Change.model_validate({"site": SITE, "id": f"o{case}", **said, "change": each.wish})
        sent.append(Sent(each.source, SOURCES[each.source].epoch, numbers[each.source], change))
    return sent


def apply(spark: SparkSession, topics: twinning.Topics, store: StateStore = StateStore.ROCKSDB) -> list[Row]:
    # One partition: the order of rows is part of what is tested.
    frame = spark.createDataFrame(topics.rows, twinning.SCHEMA).coalesce(1)
    return applied(frame, SITE, store, Declarations()).collect()


def told(rows: list[Row]) -> dict[str, Told]:
    """What came of the changes of every object."""
    found: dict[str, Told] = defaultdict(Told)
    for row in rows:
        headers = {header.key: bytes(header.value) for header in row.headers}
        value, name = (
            twinning.parsed(row.value if row.topic != Kind.EVENTS.topic else None),
            bytes(row.key).decode(),
        )
        of = found[value["id"] if value else name.partition("/")[2]]
        if row.topic == Kind.TWINS.topic:
            assert STAMP_HEADER in headers
            of.twins.append(value if value else int(headers["catchment-version"]))
            assert value is None or Twin.model_validate(value).key == name
        elif row.topic == Kind.TWIN_HISTORY.topic:
            Update.model_validate(value)
            of.history.append(value)
        elif row.topic == Kind.TWIN_OUTCOMES.topic:
            outcome = Outcome.model_validate(value)
            assert name == outcome.user
            assert bool(outcome.reason) == (outcome.refusal is not None)
            of.outcomes.append(
                outcome.model_dump(include={"transaction", "user", "result", "version", "refusal"})
            )
        elif row.topic == Kind.EVENTS.topic:
            notice = watching.event(bytes(row.value), NOTICE)
            assert notice["sequence"] == len(of.notices) + 1
            of.notices.append(notice["text"] if notice["cause"] == "SENDER" else "refused")
        else:
            assert row.topic == Kind.DEADLETTER.topic
            assert headers[TOPIC_HEADER] == Kind.TWIN_CHANGES.topic.encode()
            assert headers[REASON_HEADER].startswith(b"refused: ")
    return found


@given(cases_of_steps, st.sampled_from(StateStore))
@settings(max_examples=3, suppress_health_check=list(HealthCheck), deadline=None)
def test_the_operator_is_the_model(spark: SparkSession, cases: list[list[Step]], store: StateStore) -> None:
    topics, models = twinning.Topics(), {}
    topics.declare(*DECLARED.values())
    for case, drawn in enumerate(cases):
        model = models[f"o{case}"] = Model(DECLARED)
        for sent in sequence_of(case, drawn):
            model.take(sent)
            topics.change(sent.change, twinning.stamp(SOURCES[sent.source], sent.sequence))
    found = told(apply(spark, topics, store))
    for name, model in models.items():
        assert found[name] == model.told
        versions = [update["version"] for update in found[name].history]
        assert versions == [*range(1, len(versions) + 1)]


MADE = {"action": "create", "type": "kiln", "values": {"serial": {"set": "k1"}, "heat": {"set": 20}}}
REFUSALS: list[tuple[Refusal, str, dict[str, Any], str]] = [
    (Refusal.MALFORMED, "o", {"action": "explode"}, '"explode" is no action'),
    (Refusal.MALFORMED, "o", {"values": {"heat": {"set": 1, "add": 1}}}, "only one of set, add and unset"),
    (Refusal.MALFORMED, "o", {"values": {"heat": {"set": [1]}}}, "text, a number, true or false"),
    (Refusal.MALFORMED, "o", {"action": "delete", "values": {"heat": {"set": 1}}}, "delete takes no values"),
    (Refusal.MALFORMED, "o", {"colour": "red"}, 'no member "colour"'),
    (Refusal.MALFORMED, "o", {"if_version": 0}, "if_version is at least 1"),
    (Refusal.NOT_FOUND, "none", {"values": {"heat": {"set": 1}}}, "it is not there"),
    (Refusal.NOT_FOUND, "none", {"action": "delete"}, "it is not there"),
    (Refusal.EXISTS, "o", MADE, "it is there already, with version 1"),
    (Refusal.UNKNOWN_TYPE, "none", {"action": "put", "type": "oven"}, 'no type "oven" is declared'),
    (Refusal.UNKNOWN_TYPE, "none", {"action": "put"}, "no type is named"),
    (Refusal.TYPE_DIFFERS, "o", {"action": "put", "type": "free"}, "it is of type kiln and not free"),
    (Refusal.UNKNOWN_VALUE, "o", {"values": {"colour": {"set": "red"}}}, 'its type has no value "colour"'),
    (Refusal.INVALID_VALUE, "o", {"values": {"heat": {"set": "hot"}}}, 'heat: "hot" is not a number'),
    (
        Refusal.INVALID_VALUE,
        "o",
        {"values": {"heat": {"set": 1300}}},
        "above the highest that is allowed, 1200",
    ),
    (Refusal.INVALID_VALUE, "o", {"values": {"heat": {"add": -31}}}, "below the lowest that is allowed, -10"),
    (Refusal.INVALID_VALUE, "o", {"values": {"runs": {"set": 1.5}}}, "runs: 1.5 is not a whole number"),
    (Refusal.INVALID_VALUE, "o", {"values": {"mode": {"set": "onoff"}}}, "longer than 4 characters"),
    (Refusal.INVALID_VALUE, "o", {"values": {"mode": {"set": "of"}}}, "is not one of [on, off"),
    (Refusal.INVALID_VALUE, "o", {"values": {"serial": {"add": 1}}}, "cannot be added: it is text"),
    (Refusal.MISSING_VALUE, "o", {"values": {"serial": {"unset": True}}}, "serial is required"),
    (Refusal.MISSING_VALUE, "none", {"action": "put", "type": "kiln"}, "serial is required"),
    (Refusal.VERSION_CHANGED, "o", {"if_version": 2, "values": {}}, "it has version 1 and not 2"),
    (Refusal.DELETED, "gone", {"values": {"heat": {"set": 1}}}, "it is marked as deleted"),
]
LAB = SOURCES["twins"]


@pytest.fixture(scope="module")
def refused(spark: SparkSession) -> list[dict[str, Any]]:
    """The outcome of every refusal, in one batch; the last is that of a stranger."""
    topics, number = twinning.Topics(), count(1)
    topics.declare(*DECLARED.values())

    def send(identifier: str, wish: dict[str, Any], user: str = "token/a") -> None:
        sequence = next(number)
        body = {"transaction": f"t{sequence}", "user": user, "at_ms": 5, "change": wish}
        headers = twinning.stamp(LAB, sequence)
        topics.add(Kind.TWIN_CHANGES, f"{SITE}/{identifier}", orjson.dumps(body), headers)

    for wish, name in ((MADE, "o"), (MADE, "gone"), ({"action": "mark-deleted"}, "gone")):
        send(name, wish)
    for _, name, wish, _ in REFUSALS:
        send(name, wish)
    send("o", {"values": {"heat": {"set": 1}}}, user="stream/stranger")
    topics.add(Kind.TWIN_CHANGES, f"{SITE}/o", b"{", twinning.stamp(LAB, 1000))
    topics.add(Kind.TWIN_CHANGES, f"{SITE}/o", b"{}")
    topics.add(Kind.TWIN_CHANGES, "elsewhere/o", b"{", twinning.stamp(LAB, 1001))
    rows = apply(spark, topics)
    letters = [row for row in rows if row.topic == Kind.DEADLETTER.topic]
    assert len(letters) == len(REFUSALS) + 3, (
        "each refusal, no JSON, and no stamp, but nothing of other sites"
    )
    assert len([row for row in rows if row.topic == Kind.TWIN_HISTORY.topic]) == 3
    outcomes = [row for row in rows if row.topic == Kind.TWIN_OUTCOMES.topic]
    found = {outcome["transaction"]: outcome for outcome in (twinning.parsed(row.value) for row in outcomes)}
    return [found[f"t{each}"] for each in range(4, next(number))]


@pytest.mark.parametrize("place", range(len(REFUSALS)), ids=[f"{each[0]}-{each[3]}" for each in REFUSALS])
def test_what_is_refused_says_why(refused: list[dict[str, Any]], place: int) -> None:
    refusal, _, _, reason = REFUSALS[place]
    assert refused[place]["refusal"] == refusal
    assert reason in refused[place]["reason"]


def test_a_stranger_may_not_change_it(refused: list[dict[str, Any]]) -> None:
    assert refused[-1]["refusal"] == Refusal.NOT_PERMITTED
    assert {each[0] for each in REFUSALS} | {Refusal.NOT_PERMITTED} == set(Refusal)


def test_whole_numbers_are_exact(spark: SparkSession) -> None:
    topics = twinning.Topics()
    topics.declare(twinning.twin_type(SITE, "free", twinning.FREE))
    for number, wish in enumerate(({"set": 2**63 - 2}, {"add": 1}, {"add": 1}, {"set": 2**70}), 1):
        change = {"action": "put", "type": "free", "values": {"n": wish}}
        body = {"id": "o", "transaction": "t", "user": "token/a", "at_ms": 5, "change": change}
        topics.add(Kind.TWIN_CHANGES, f"{SITE}/o", as_json(body), twinning.stamp(LAB, number))
    found = told(apply(spark, topics))["o"]
    assert [twin["values"]["n"] for twin in found.twins if isinstance(twin, dict)] == [
        2**63 - 2,
        2**63 - 1,
        2.0**70,
    ]
    assert [outcome["refusal"] for outcome in found.outcomes] == [Refusal.INVALID_VALUE]


def test_objects_that_had_to_make_room_in_memory_go_on_from_the_state(spark: SparkSession) -> None:
    topics = twinning.Topics()
    topics.declare(twinning.twin_type(SITE, "free", twinning.FREE))
    of_one_shard = (f"o{number}" for number in count() if shard_of(f"{SITE}/o{number}".encode()) == 0)
    objects = list(islice(of_one_shard, MORE_THAN_IN_MEMORY))
    for turn, name in product((1, 2, 3), objects):
        change = {"action": "put", "type": "free", "values": {"n": {"add": turn}}}
        body = {"id": name, "transaction": "t", "user": "token/a", "at_ms": 5, "change": change}
        topics.add(Kind.TWIN_CHANGES, f"{SITE}/{name}", as_json(body), twinning.stamp(LAB, turn))
    found = told(apply(spark, topics))
    for name in objects:
        assert [twin["values"]["n"] for twin in found[name].twins if isinstance(twin, dict)] == [1, 3, 6]


def as_json(body: dict[str, Any]) -> bytes:
    """JSON with numbers of any length."""
    return json.dumps(body).encode()
