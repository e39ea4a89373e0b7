"""The page of everything that the API can be asked, made of what it says of itself, with an example each."""

from collections.abc import Iterator
from typing import Any

import orjson

from catchment.console.types import description

_WIDTH = 100
_PARAMETERS = "| parameter | in | type | meaning |\n|---|---|---|---|\n"
_TITLES = {"deadletters": "Dead letters"}
_JSON = ("/json", "+json")


def operations() -> str:
    """Every operation, by what it is about."""
    described = orjson.loads(description())
    _resolve(described["paths"], described["components"]["schemas"])
    paths: dict[str, dict[str, Any]] = described["paths"]
    by_tag: dict[str, list[str]] = {}
    for path, methods in sorted(paths.items()):
        for method, operation in methods.items():
            sections = by_tag.setdefault(operation["tags"][0], [])
            sections.append(_section(f"{method.upper()} {path}", operation))
    titles = {tag: _TITLES.get(tag, tag.capitalize()) for tag in by_tag}
    return "\n".join(f"## {titles[tag]}\n\n" + "\n".join(those) for tag, those in sorted(by_tag.items()))


def _section(title: str, operation: dict[str, Any]) -> str:
    said = f"{operation['summary']}. {operation.get('description', '')}".strip()
    parts = [f"### `{title}`\n", f"{said}\n"]
    if parameters := operation.get("parameters"):
        parts.append(_PARAMETERS + "".join(map(_parameter, parameters)))
    if "requestBody" in operation:
        parts += _shown("It takes", operation["requestBody"])
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            parts += _shown(f"It answers {status}", response)
    refusals = [status for status in operation["responses"] if not status.startswith("2")]
    if refusals:
        parts.append(f"Else it answers {', '.join(refusals)} with a [problem](api.md#errors).\n")
    return "\n".join(parts)


def _resolve(paths: dict[str, dict[str, Any]], schemas: dict[str, Any]) -> None:
    """Puts into parameters what they refer to."""
    for operation in (each for methods in paths.values() for each in methods.values()):
        for parameter in operation.get("parameters", ()):
            branches = [parameter["schema"], *parameter["schema"].get("anyOf", ())]
            for branch in branches:
                if "$ref" in branch:
                    branch |= schemas[branch.pop("$ref").rpartition("/")[2]]


def _parameter(parameter: dict[str, Any]) -> str:
    needed = ", required" if parameter.get("required") and parameter["in"] != "path" else ""
    kind = _type(parameter["schema"])
    meaning = parameter.get("description", "").replace("|", "\\|").replace("\n", " ")
    return f"| `{parameter['name']}` | {parameter['in']}{needed} | {kind} | {meaning} |\n"


def _type(schema: dict[str, Any]) -> str:
    if branches := [each for each in schema.get("anyOf", []) if each.get("type") != "null"]:
        return _type(branches[0])
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    bounds = [f"{sign} {schema[name]:,}" for name, sign in _BOUNDS.items() if name in schema]
    default = [f"by default `{schema['default']}`"] if schema.get("default") not in (None, "") else []
    return ", ".join([schema.get("type", "text"), *bounds, *default])


_BOUNDS = {"minimum": "≥", "maximum": "≤"}


def _shown(sentence: str, body: dict[str, Any]) -> Iterator[str]:
    content: dict[str, Any] = body.get("content", {})
    for media_type, one in content.items():
        if media_type.endswith(_JSON) and "example" in one:
            yield f"{sentence}:\n\n```json\n{_pretty(one['example'])}\n```\n"
            return
    yield f"{sentence} with `{next(iter(content))}`.\n" if content else f"{sentence}, without a body.\n"


def _pretty(value: Any, margin: str = "") -> str:
    """JSON in as few lines as fit."""
    flat = orjson.dumps(value).decode()
    if len(flat) + len(margin) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return _spaced(value)
    inner = margin + "  "
    if isinstance(value, list):
        lines = [inner + _pretty(each, inner) for each in value]
        return "[\n" + ",\n".join(lines) + f"\n{margin}]"
    lines = [f'{inner}"{name}": {_pretty(each, inner)}' for name, each in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{margin}}}"


def _spaced(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{name}": {_spaced(each)}' for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spaced, value)) + "]"
    return orjson.dumps(value).decode()
