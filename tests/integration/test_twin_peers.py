"""The peers of the benchmark do what Catchment does, as far as the benchmark goes."""

import uuid
from collections.abc import Callable
from typing import Any

import orjson

from catchment import jars
from catchment.bench import peers
from catchment.bench.topics import Output, make
from catchment.bench.twin_subjects import STREAMS_CLASS, common_settings
from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.kafka.topics import TopicSpec
from catchment.records import STAMP_HEADER, Source, encode_stamp
from catchment.simulate.twins import TYPE

DEVICE, STRANGER = "stream/twins-a-1", "token/somebody"


def change(number: int, values: dict[str, Any], user: str = DEVICE, **wanted: Any) -> tuple[int, bytes]:
    """A change of the one object, with the number of its stamp."""
    body = {"action": "put", "type": TYPE, "values": values, **wanted}
    said = {"site": "s", "id": "one", "transaction": f"t{number}", "user": user, "at_ms": 1000 + number}
    return number, orjson.dumps({**said, "confirm": False, "change": body})


CHANGES = [
    change(1, {"value": {"set": 21}, "count": {"add": 1}}),
    change(1, {"value": {"set": 21}, "count": {"add": 1}}),
    change(2, {"value": {"set": 21.0}}),
    change(3, {"value": {"set": 22.5}, "count": {"add": 2}}, user=STRANGER),
    change(4, {"value": {"set": 100.1}}),
    change(5, {"colour": {"set": "red"}}),
    change(6, {"count": {"add": 2**63 - 1}}),
    change(7, {"count": {"add": 1}}, if_version=2),
    change(8, {"value": {"unset": True}, "count": {"add": 4}}, action="change"),
]


def test_kafka_streams_applies_refuses_and_passes_over_as_catchment_does(cluster: Config) -> None:
    jars.prepare_peers()
    name = f"peer-{uuid.uuid4().hex[:8]}"
    topics = {kind: f"{name}-{kind}" for kind in ("changes", "twins-changelog", "history", "refusals")}
    make(cluster, {topic: TopicSpec(partitions=1, retention_hours=1) for topic in topics.values()})
    outputs = {kind: Output(cluster, topic) for kind, topic in topics.items()}
    _send(cluster, topics["changes"])
    settings = {
        **common_settings(name, threads=1),
        "changes": topics["changes"],
        "history": topics["history"],
        "refusals": topics["refusals"],
        "store": "memory",
        "state_dir": str(cluster.data_dir / name),
    }
    child = peers.start(cluster, name, STREAMS_CLASS, **settings)
    try:
        for kind, count in (("refusals", 5), ("twins-changelog", 2), ("history", 2)):
            outputs[kind].wait(count, _is_alive(child.exited), 60)
    finally:
        child.kill()
    found = {
        kind: [orjson.loads(row.value or b"null") for row in output.rows()]
        for kind, output in outputs.items()
    }
    assert [each["refusal"] for each in found["refusals"]] == [
        "not-permitted",
        "invalid-value",
        "unknown-value",
        "invalid-value",
        "version-changed",
    ]
    assert [(each["version"], each["values"]) for each in found["twins-changelog"]] == [
        (1, {"value": 21.0, "count": 1}),
        (2, {"count": 5}),
    ]
    assert found["twins-changelog"][1]["owner"] == DEVICE
    assert [(each["what"], each["values"]) for each in found["history"]] == [
        ("created", {"value": 21.0, "count": 1}),
        ("changed", {"value": None, "count": 5}),
    ]


def _send(config: Config, topic: str) -> None:
    writer = producer(config, Party.ADMIN)
    identity = Source("s", "gateway", 1, "twins-a-1").identity
    for number, value in CHANGES:
        writer.produce(topic, value, b"s/one", headers=[(STAMP_HEADER, encode_stamp(identity, number, 1))])
    writer.flush()


def _is_alive(exited: Callable[[], bool]) -> Callable[[], None]:
    def check() -> None:
        assert not exited()

    return check
