"""From a YAML file and the environment to a checked Config, or to one message that says what to change."""

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from catchment.config.models import Config
from catchment.errors import ConfigurationError

PREFIX = "CATCHMENT_"
FILE_VARIABLE = "CATCHMENT_CONFIG"
USUAL_FILE = Path("catchment.yaml")

_REFERENCE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def load(file: Path | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """Reads the configuration; `file` wins over CATCHMENT_CONFIG, which wins over ./catchment.yaml."""
    variables = os.environ if environment is None else environment
    path = file_in_use(file, variables)
    values = _read_file(path, variables) if path else {}
    for key, value in _overrides(variables):
        _set(values, key, value)
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        where = str(path) if path else "the environment"
        problems = "; ".join(_explain(detail) for detail in error.errors())
        raise ConfigurationError(
            f"The configuration ({where}) is wrong: {problems}",
            "`catchment config show` lists every key with its value.",
        ) from None
    return config.model_copy(update={"data_dir": config.data_dir.absolute()})


def file_in_use(file: Path | None, variables: Mapping[str, str]) -> Path | None:
    """The file that `load` reads, if there is one."""
    named = file or variables.get(FILE_VARIABLE)
    if named:
        return Path(named)
    return USUAL_FILE if USUAL_FILE.exists() else None


def known_keys(model: type[BaseModel] = Config, prefix: str = "") -> Iterator[str]:
    """Every key that can be set, dotted."""
    for name, field in model.model_fields.items():
        section = section_of(field.annotation)
        if section:
            yield from known_keys(section, f"{prefix}{name}.")
        else:
            yield prefix + name


def section_of(annotation: Any) -> type[BaseModel] | None:
    """The model behind a field that is a section (also an optional one), else nothing."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate if not _is_collection(annotation) else None
    return None


def variable_of(key: str) -> str:
    """The environment variable that overrides a dotted key."""
    return PREFIX + key.replace(".", "__").upper()


def _is_collection(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) in (dict, list)


def _read_file(path: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigurationError(
            f"The configuration file {path} cannot be read: {reason}",
            f"Name a file that exists and is readable with --config or {FILE_VARIABLE}.",
        ) from None
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        place = " ".join(str(error).split())
        raise ConfigurationError(f"{path} is not valid YAML: {place}", "Correct the line it names.") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigurationError(
            f"{path} is not a mapping of keys to values", "Start with a key, such as `site: oslo`."
        )
    return {key: _expand(value, variables, str(key)) for key, value in values.items()}


def _expand(value: Any, variables: Mapping[str, str], key: str) -> Any:
    """Puts the environment in for `${NAME}` and `${NAME:-default}`."""
    if isinstance(value, dict):
        return {name: _expand(inner, variables, f"{key}.{name}") for name, inner in value.items()}
    if isinstance(value, list):
        return [_expand(inner, variables, key) for inner in value]
    if not isinstance(value, str):
        return value

    def look_up(match: re.Match[str]) -> str:
        found = variables.get(match[1], match[2])
        if found is None:
            raise ConfigurationError(
                f"{key} refers to ${{{match[1]}}}, which is not set",
                f"Set the variable, or write ${{{match[1]}:-default}}.",
            )
        return found

    return _REFERENCE.sub(look_up, value)


def _overrides(variables: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    keys = {variable_of(key): key for key in known_keys()}
    for name in sorted(variables):
        if not name.startswith(PREFIX) or name == FILE_VARIABLE:
            continue
        if name not in keys:
            raise ConfigurationError(f"The variable {name} is not a setting", _nearest(name, list(keys)))
        yield keys[name], yaml.safe_load(variables[name])


def _set(values: dict[str, Any], key: str, value: Any) -> None:
    *sections, last = key.split(".")
    for section in sections:
        inner = values.setdefault(section, {})
        values = inner if isinstance(inner, dict) else {}
    values[last] = value


def _explain(detail: ErrorDetails) -> str:
    key = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        return f"{key} is not a setting. {_nearest(key, list(known_keys()))}".rstrip(".")
    message = detail["msg"].removeprefix("Value error, ")
    if not key:
        return message
    return f"{key}: {message[0].lower()}{message[1:]}{_shown(detail)}"


def _shown(detail: ErrorDetails) -> str:
    """The wrong value, unless it may hold a secret: one of a channel or a store, or a whole section."""
    is_whole = isinstance(detail["input"], dict | list)
    is_of_secrets = detail["loc"][0] in ("alerts", "store") or "storage_options" in detail["loc"]
    return "" if is_whole or is_of_secrets else f" (it is {detail['input']!r})"


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"Did you mean {near[0]}?" if near else "See docs/reference/configuration.md for all there are."
