"""What may be declared of devices, sensors, types and mappings, and how it stands on topics."""

from typing import Any

import pytest
from pydantic import ValidationError

from catchment.registry.model import (
    Constant,
    Device,
    DeviceSpec,
    FixedSensor,
    Mapping,
    MappingSpec,
    SensorByField,
    SensorByStream,
    TimeUnit,
)

MAPPING: dict[str, Any] = {"streams": "press-*", "subject": "TemperatureData"}


def test_what_a_later_version_adds_is_passed_over_on_a_topic_and_refused_from_a_caller() -> None:
    device = {"site": "oslo", "id": "press", "name": "Press", "version": 3, "updated_ms": 1, "colour": "red"}
    assert Device.model_validate(device).key == "oslo/press"
    with pytest.raises(ValidationError, match="colour"):
        DeviceSpec.model_validate({"name": "Press", "colour": "red"})


@pytest.mark.parametrize("identifier", ["", "a/b", "-a", "a b", "a" * 65])
def test_ids_have_the_form_of_names(identifier: str) -> None:
    with pytest.raises(ValidationError, match="Use 1 to 64 letters"):
        Device(site="oslo", id=identifier, name="Press", version=1, updated_ms=1)


@pytest.mark.parametrize(
    ("sensor", "meant"),
    [
        ({"field": "meta.id"}, SensorByField(field="meta.id")),
        ({"stream": True}, SensorByStream(stream=True)),
        ({"fixed": "t1"}, FixedSensor(fixed="t1")),
    ],
)
def test_a_sensor_is_named_by_a_field_the_stream_or_once_for_all(sensor: Any, meant: Any) -> None:
    assert MappingSpec.model_validate({**MAPPING, "sensor": sensor}).sensor == meant


@pytest.mark.parametrize(
    "wrong",
    [
        {"sensor": {"stream": False}},
        {"sensor": {"fixed": "a/b"}},
        {"sensor": {"field": "a..b"}},
        {"sensor": {"field": "a", "fixed": "b"}},
        {"timestamp": {"field": "t", "unit": "hours"}},
        {"fields": {"a": ".b"}},
        {"fields": {"1a": "b"}},
        {"streams": "press 7"},
        {"subject": "a/b"},
        {"format": "xml"},
    ],
)
def test_a_wrong_mapping_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MappingSpec.model_validate({**MAPPING, **wrong})


def test_a_mapping_comes_back_from_its_topic_as_it_was() -> None:
    mapping = Mapping.model_validate(
        {
            **MAPPING,
            "site": "oslo",
            "id": "presses",
            "version": 1,
            "updated_ms": 1,
            "timestamp": {"field": "at", "unit": "iso8601"},
            "fields": {"temperature": "values.t", "unit": {"const": "C"}},
        }
    )
    assert mapping.timestamp
    assert mapping.timestamp.unit is TimeUnit.ISO8601
    assert mapping.fields["unit"] == Constant(const="C")
    assert Mapping.model_validate_json(mapping.model_dump_json()) == mapping
