"""The sections of the page of schemas, made of those that come with Catchment."""

from typing import Any

import orjson

from catchment.schemas.schema import parse
from catchment.schemas.shipped import shipped

_COLUMNS = "| field | type | default | meaning |\n|---|---|---|---|\n"


def schemas() -> str:
    """Every shipped schema by its subject."""
    return "\n".join(_section(subject, text) for subject, text in shipped().items())


def _section(subject: str, text: str) -> str:
    raw = orjson.loads(text)
    head = f"## `{subject}`\n\n{raw['doc']} Its id is {parse(text).id} on every node.\n"
    return f"{head}\n{_COLUMNS}" + "".join(map(_row, raw["fields"]))


def _row(field: dict[str, Any]) -> str:
    default = f"`{orjson.dumps(field['default']).decode()}`" if "default" in field else "(required)"
    return f"| `{field['name']}` | {_type(field['type'])} | {default} | {field.get('doc', '')} |\n"


def _type(declared: Any) -> str:
    if isinstance(declared, str):
        return declared
    if isinstance(declared, list):
        return " or ".join(map(_type, declared))
    if declared["type"] == "enum":
        return " or ".join(f"`{symbol}`" for symbol in declared["symbols"])
    return str(declared["type"])
