"""What the notifier knows of sensors, rules and schemas, and how it reads events with that."""

import io
import json
import struct
from typing import Any

import fastavro
import pytest
from confluent_kafka import Message

from catchment.alerts.known import Known
from catchment.alerts.model import Event
from catchment.errors import InvalidRecord
from catchment.records import Kind
from catchment.schemas.schema import AvroSchema, parse
from catchment.schemas.shipped import THRESHOLD_EVENT, shipped
from tests.events import event

OURS = parse(shipped()[THRESHOLD_EVENT])
KNOWN = {"site": "oslo", "version": 1, "updated_ms": 0}


def entry(kind: Kind, key: str, value: dict[str, Any] | None) -> Message:
    return Message(topic=kind.topic, key=key.encode(), value=json.dumps(value).encode() if value else None)


def encode(each: Event, schema: AvroSchema = OURS, **further: Any) -> bytes:
    body = io.BytesIO()
    values = {**each.model_dump(mode="json"), **further}
    fastavro.schemaless_writer(body, json.loads(schema.text), values)
    return struct.pack(">bI", 0, schema.id) + body.getvalue()


def test_a_sensor_is_known_with_its_device_and_type_until_they_are_removed() -> None:
    known = Known("oslo")
    sensor = {**KNOWN, "id": "oven-3", "name": "Oven 3", "device_id": "press-7", "sensor_type_id": "heat"}
    known.take(entry(Kind.SENSORS, "oslo/oven-3", sensor))
    assert known.subject_of(event()).device_name == "press-7"
    known.take(
        entry(
            Kind.DEVICES, "oslo/press-7", {**KNOWN, "id": "press-7", "name": "Press 7", "location": "Hall 2"}
        )
    )
    kind = {**KNOWN, "id": "heat", "name": "Heat", "unit": "C", "subject": "TemperatureData"}
    known.take(entry(Kind.SENSOR_TYPES, "oslo/heat", kind))
    subject = known.subject_of(event())
    assert (subject.sensor_name, subject.sensor_type) == ("Oven 3", "Heat")
    assert (subject.device, subject.device_name, subject.location) == ("press-7", "Press 7", "Hall 2")
    assert known.subject_of(event(site="bergen")).sensor_name == "oven-3"
    known.take(entry(Kind.SENSORS, "oslo/oven-3", None))
    assert known.subject_of(event()).sensor_name == "oven-3"


def test_only_rules_of_this_node_are_asked_whom_to_tell() -> None:
    known = Known("oslo")
    known.take(entry(Kind.RULES, "bergen/too-hot", {"channels": ["theirs"]}))
    assert known.telling_of("too-hot").channels == []
    known.take(entry(Kind.RULES, "oslo/too-hot", {"channels": ["phone"], "message": "hot"}))
    assert (known.telling_of("too-hot").channels, known.telling_of("too-hot").message) == (["phone"], "hot")


def test_what_cannot_be_read_is_passed_over() -> None:
    known = Known("oslo")
    known.take(entry(Kind.SENSORS, "oslo/oven-3", {"name": 5}))
    assert known.subject_of(event()).sensor_name == "oven-3"


def test_an_event_of_the_shipped_schema_is_read_before_anything_is_registered() -> None:
    assert Known("oslo").decode(encode(event())) == event()


def test_an_event_of_a_later_schema_is_read_once_it_is_registered() -> None:
    wider = json.loads(OURS.text)
    wider["fields"].append({"name": "cause", "type": "string", "default": ""})
    later = parse(json.dumps(wider))
    known = Known("oslo")
    with pytest.raises(InvalidRecord, match=f"its schema {later.id} is not registered"):
        known.decode(encode(event(), later, cause="?"))
    version = {"site": "oslo", "subject": THRESHOLD_EVENT, "version": 2, "id": later.id, "schema": later.text}
    known.take(entry(Kind.SCHEMAS, f"oslo/{THRESHOLD_EVENT}/2", version))
    assert known.decode(encode(event(), later, cause="?")) == event()
    known.take(entry(Kind.SCHEMAS, f"oslo/{THRESHOLD_EVENT}/2", {**version, "deleted": True}))
    assert known.decode(encode(event(), later, cause="?")) == event()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "wire format"),
        (b"{}", "wire format"),
        (b"\0\0\0", "wire format"),
        (encode(event())[:-9], "does not match its schema"),
        (struct.pack(">bI", 0, 7), "its schema 7 is not registered"),
    ],
)
def test_what_is_no_event_says_why(value: bytes | None, said: str) -> None:
    with pytest.raises(InvalidRecord, match=said):
        Known("oslo").decode(value)
