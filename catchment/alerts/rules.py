"""Rules: which readings are beyond which threshold, for which sensors, and who is told.

What a caller declares (`RuleSpec`) and what is kept (`Rule`) differ by identity and version.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from catchment.alerts import template
from catchment.config.section import Name
from catchment.errors import InvalidRecord, InvalidRule
from catchment.records import check_name
from catchment.registry.model import Declared, FieldName, Spec, Text

# Names with `*` for any characters and `?` for one.
NameGlob = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._*?-]{1,64}$")]
Unit = Annotated[str, StringConstraints(min_length=1, max_length=50, pattern=r"^\S(.*\S)?$")]
Number = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=10_000_000, allow_inf_nan=False)]

# Temperatures can be converted, so they have to be known whatever people call them.
TEMPERATURES = ("C", "F", "K")
_MISNAMED = {
    name: unit
    for unit, names in {
        "C": ("c", "°C", "° C", "degC", "deg C", "Celsius", "celsius"),
        "F": ("f", "°F", "° F", "degF", "deg F", "Fahrenheit", "fahrenheit"),
        "K": ("k", "°K", "° K", "Kelvin", "kelvin"),
    }.items()
    for name in names
}


class Selection(Spec):
    """Which sensors a rule is about: those that fit all patterns. Without any, all sensors."""

    sensor: NameGlob | None = Field(None, description="Sensors by their id.")
    sensor_type: NameGlob | None = Field(None, description="Registered sensors by the id of their type.")
    device: NameGlob | None = Field(None, description="Registered sensors by the id of their device.")
    site: NameGlob | None = Field(None, description="Sensors by their site.")


class RuleSpec(Spec):
    """A threshold on a field of measurements."""

    description: Text = Field("", description="What the rule is for.")
    enabled: bool = Field(True, description="A rule that is not says nothing.")
    field: FieldName = Field(description="The field of the measurements that is compared.")
    above: Number | None = Field(None, description="A value above this is a transgression.")
    below: Number | None = Field(None, description="A value below this is a transgression.")
    hysteresis: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0, description="How far back from the threshold a value has to be for the end."
    )
    unit: Unit | None = Field(
        None,
        description="The unit of the threshold. Readings in C, F and K are converted to it; "
        "those in another unit are not judged. Without it, values are compared as they are.",
    )
    select: Selection = Field(Selection(), description="Which sensors it is about; all if it is empty.")
    min_duration_s: Seconds = Field(
        0, description="How long a transgression has to last before it is raised."
    )
    lasting_every_s: Seconds = Field(
        60, description="How often an event says that it lasts; 0: never. In the time of the readings."
    )
    channels: list[Name] = Field(
        default_factory=list, description="Who is told, by names of channels; without any, all."
    )
    message: Text = Field("", description="What they are told; without it, a usual sentence.")

    @field_validator("unit")
    @classmethod
    def _known_by_its_symbol(cls, unit: str | None) -> str | None:
        if unit in _MISNAMED:
            raise ValueError(f"write {_MISNAMED[unit]} instead of {unit}, so that readings can be converted")
        return unit

    @field_validator("message")
    @classmethod
    def _names_what_is_known(cls, message: str) -> str:
        template.check(message)
        return message

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if (self.above is None) == (self.below is None):
            given = "neither of them" if self.above is None else "both"
            raise ValueError(f"exactly one of above and below is needed, and {given} is given")
        return self


class Rule(Declared, RuleSpec):
    """A declared rule."""

    model_config = Declared.model_config


def check_rule(name: str, values: Any) -> RuleSpec:
    """A rule from plain values, or a refusal that names the rule, the key and what to change."""
    if not isinstance(values, Mapping):
        raise InvalidRule(f"The rule {name} is not a mapping of keys to values", _EXAMPLE)
    try:
        return RuleSpec.model_validate(values)
    except ValidationError as error:
        wrong = "; ".join(_explain(detail) for detail in error.errors())
        raise InvalidRule(f"The rule {name} is wrong: {wrong}", _REMEDY) from None


def read_rules(file: Path) -> dict[str, RuleSpec]:
    """The rules of a YAML file: under the key `rules`, by their ids."""
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidRule(f"{file} cannot be read: {reason}", "Name a readable file.") from None
    except yaml.YAMLError as error:
        place = " ".join(str(error).split())
        raise InvalidRule(f"{file} is not valid YAML: {place}", "Correct the line it names.") from None
    rules = values.get("rules") if isinstance(values, dict) else None
    if not isinstance(rules, dict) or len(values) > 1:
        raise InvalidRule(f"{file} is not a mapping with the one key `rules`", _EXAMPLE)
    return dict(_checked(rules))


def _checked(rules: Mapping[Any, Any]) -> Iterator[tuple[str, RuleSpec]]:
    for name, values in rules.items():
        try:
            check_name("rule", str(name))
        except InvalidRecord as error:
            raise InvalidRule(error.happened, error.remedy) from None
        yield str(name), check_rule(str(name), values)


def _explain(detail: ErrorDetails) -> str:
    key = ".".join(map(str, detail["loc"]))
    reason = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        reason = f"there is no such key; known are {', '.join(_keys(detail['loc']))}"
    return f"{key}: {reason}" if key else reason


def _keys(place: tuple[int | str, ...]) -> list[str]:
    return list((Selection if place[0] == "select" and len(place) > 1 else RuleSpec).model_fields)


_REMEDY = "docs/reference/rules.md has every key with its values."
_EXAMPLE = "Write `rules:`, below it an id such as `hot:`, and below that `field: temperature`, `above: 80`."
