"""The configuration as people are shown it: every key, its value, and where that came from."""

import os
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from catchment.config.loading import known_keys, variable_of
from catchment.config.models import Config

_HIDDEN = str(SecretStr("any"))


class Setting(BaseModel):
    """One key of the configuration. Secrets are hidden: only that there is one can be seen."""

    model_config = ConfigDict(frozen=True, validate_by_name=True, serialize_by_alias=True)

    key: str
    value: Any
    source: str = Field(alias="from", description="`default`, `file`, or the variable that sets it.")


def settings_of(config: Config, variables: Mapping[str, str] | None = None) -> list[Setting]:
    """Every key that can be set, in the order of the reference."""
    given = os.environ if variables is None else variables
    values, usual = _without_secrets(config), _defaults()
    found = ((key, _look_up(values, key), _look_up(usual, key)) for key in known_keys())
    return [
        Setting(key=key, value=value, source=_source(key, value == default, given))
        for key, value, default in found
    ]


def _without_secrets(config: Config) -> dict[str, Any]:
    values = config.model_dump(mode="json")
    for adapter in values["gateway"]["adapters"]:
        # Which of them are secret only the adapter knows.
        adapter["settings"] = dict.fromkeys(adapter["settings"], _HIDDEN)
    return values


def _defaults() -> dict[str, Any]:
    usual = Config()
    # Loading makes it absolute.
    return usual.model_copy(update={"data_dir": usual.data_dir.absolute()}).model_dump(mode="json")


def _source(key: str, is_default: bool, variables: Mapping[str, str]) -> str:
    if variable_of(key) in variables:
        return variable_of(key)
    return "default" if is_default else "file"


def _look_up(values: dict[str, Any], key: str) -> Any:
    found: Any = values
    for name in key.split("."):
        found = found.get(name) if found else None
    return found
