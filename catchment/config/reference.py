"""The reference page of every key, generated from the models: `python -m catchment.config.reference`."""

import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from catchment.config.alerts import CHANNEL_KINDS
from catchment.config.kafka import TopicSettings
from catchment.config.listeners import AdapterSettings
from catchment.config.loading import FILE_VARIABLE, section_of, variable_of
from catchment.config.models import Config
from catchment.config.store import PostgresSettings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"

_HEAD = f"""# Configuration

One YAML file and the environment. `catchment --config FILE` names the file, else the variable
`{FILE_VARIABLE}`, else it is `catchment.yaml` in the working directory; without a file every key has its
default. A variable wins over the file. Inside the file, `${{NAME}}` and `${{NAME:-default}}` stand for
variables. An unknown key or a wrong value is refused at the start. `catchment config check` tells whether all
is right, `catchment config show` lists every key with its value and where it came from.

```yaml
site: harbour
data_dir: /var/lib/catchment
gateway:
  host: 0.0.0.0
kafka:
  topics:
    records: {{partitions: 12, retention_hours: 720}}
```

This page is generated from the models: `python -m catchment.config.reference --write`.
"""

_COLLECTIONS: dict[str, tuple[str, tuple[type[BaseModel], ...]]] = {
    "topics": (".<kind>", (TopicSettings,)),
    "adapters": ("[]", (AdapterSettings,)),
    "channels": (".<name>", CHANNEL_KINDS),
    "postgres": (".<name>", (PostgresSettings,)),
}
_COLUMNS = "| key | type | default | variable | meaning |\n|---|---|---|---|---|\n"


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_sections(Config, "")])


def _sections(model: type[BaseModel], prefix: str) -> Iterator[str]:
    title = prefix.rstrip(".")
    rows = [_row(prefix + name, field) for name, field in model.model_fields.items() if not _inner(field)]
    heading = f"## `{title}`\n\n{model.__doc__}\n" if title else "## The node\n"
    yield f"{heading}\n{_COLUMNS}" + "".join(rows)
    for name, field in model.model_fields.items():
        inner = _inner(field)
        if inner:
            yield from _sections(inner, f"{prefix}{name}.")
    for name, (suffix, entries) in _COLLECTIONS.items():
        if name in model.model_fields and _holds_mappings(model.model_fields[name]):
            yield from (_entry_section(f"{prefix}{name}{suffix}", entry) for entry in entries)


def _entry_section(title: str, entry: type[BaseModel]) -> str:
    """The keys of what there may be several of: no variable reaches inside."""
    rows = [_row(f"{title}.{field.alias or name}", field, None) for name, field in entry.model_fields.items()]
    kind = entry.model_fields.get("kind")
    heading = f"`{title}`" + (f" of the kind {kind.description}" if kind else "")
    return f"## {heading}\n\n{entry.__doc__}\n\n{_COLUMNS}" + "".join(rows)


def _holds_mappings(field: FieldInfo) -> bool:
    """Whether entries have keys of their own: other sections have lists of plain names under the same key."""
    return get_origin(field.annotation) is dict or _type(field) == "list of mappings"


def _inner(field: FieldInfo) -> type[BaseModel] | None:
    return section_of(field.annotation)


def _row(key: str, field: FieldInfo, variable: str | None = "") -> str:
    named = f"`{variable or variable_of(key)}`" if variable is not None else "(in the file)"
    return f"| `{key}` | {_type(field)} | {_default(field)} | {named} | {field.description} |\n"


def _type(field: FieldInfo) -> str:
    bounds = [
        f"{_SIGNS[kind]} {getattr(rule, kind):,}"
        for rule in field.metadata
        for kind in _SIGNS
        if hasattr(rule, kind)
    ]
    return ", ".join([_type_name(field.annotation), *bounds])


_SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
_TYPE_NAMES = {
    str: "text",
    SecretStr: "secret",
    int: "integer",
    float: "number",
    bool: "true or false",
    Path: "path",
}


def _type_name(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(f"`{member.value}`" for member in annotation)
    origin, arguments = (
        get_origin(annotation),
        [each for each in get_args(annotation) if each is not type(None)],
    )
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin is list:
        return f"list of {_type_name(arguments[0])}"
    if origin is dict:
        return "mapping"
    if origin in (Union, UnionType, Annotated):
        return _type_name(arguments[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mappings"
    return _TYPE_NAMES[annotation]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "(required)"
    if value is None or value in ([], {}):
        return "(none)"
    return f"`{value.value if isinstance(value, Enum) else value}`"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
