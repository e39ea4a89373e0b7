"""A query from a YAML file, or a refusal with a line for everything that is wrong in its form."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from catchment.errors import InvalidQuery
from catchment.queries import model
from catchment.queries.model import BOX_CLASSES, QueryDeclaration
from catchment.queries.problems import Place, Problem, nearest, refuse

Lines = dict[Place, int]
_PARTS: dict[str, type[model.Declaration]] = {
    "inputs": model.Input,
    "tables": model.Table,
    "outputs": model.Output,
}


class _Loader(yaml.SafeLoader):
    """YAML in which `on` is a word, and a date is text, as people expect."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - overrides what PyYAML declares so
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":bool", ":timestamp"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), ["t", "f"])


def read_query(file: Path) -> tuple[QueryDeclaration, Lines]:
    """The declaration in a file, and at which lines its parts are."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidQuery(
            str(file), [f"The file cannot be read: {reason}. Name one that is there."]
        ) from None
    return parse_query(text, str(file))


def parse_query(text: str, name: str = "of this text") -> tuple[QueryDeclaration, Lines]:
    """The same of a text."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        place = " ".join(str(error).split())
        raise InvalidQuery(name, [f"This is not YAML: {place}. Correct the line it names."]) from None
    if not isinstance(node, yaml.MappingNode):
        raise InvalidQuery(name, ["This is not a mapping of keys to values. Begin with `name: my-query`."])
    lines: Lines = {}
    problems = list(_numbered(node, (), lines))
    refuse(name, problems)
    values = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader, but for two words
    return validate(values, lines, name), lines


def validate(values: Mapping[str, Any], lines: Lines | None = None, name: str = "") -> QueryDeclaration:
    """The model of plain values, or a refusal with a line for each that is wrong."""
    try:
        return QueryDeclaration.model_validate(values)
    except ValidationError as error:
        problems = [_explain(detail) for detail in error.errors()]
        at_lines = [numbered(problem, lines or {}) for problem in dict.fromkeys(problems)]
        refuse(name or str(values.get("name", "")), at_lines)
        raise


def to_yaml(query: QueryDeclaration) -> str:
    """A declaration as a file."""
    declared = query.declared()
    ordered = {"name": declared.pop("name"), **declared}
    return yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True, width=110)


def numbered(problem: Problem, lines: Lines) -> Problem:
    """A problem with the line of the nearest thing around its place."""
    for length in range(len(problem.place), 0, -1):
        if problem.place[:length] in lines:
            return replace(problem, line=lines[problem.place[:length]])
    return problem


def _numbered(node: yaml.Node, place: Place, lines: Lines) -> Iterator[Problem]:
    """Notes where each key is; gives those that are there twice."""
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        inner = (*place, str(key.value))
        line = key.start_mark.line + 1
        if inner in lines:
            remedy = "Give one of them another name"
            yield Problem(inner, f"it is there twice, first at line {lines[inner]}", remedy, line)
            continue
        lines[inner] = line
        yield from _numbered(value, inner, lines)


def _explain(detail: ErrorDetails) -> Problem:
    place = _place(detail)
    if detail["type"] == "extra_forbidden":
        return Problem(place, "this key is not known", nearest(place[-1], _keys(detail)))
    if detail["type"] == "missing":
        return Problem(place[:-1], f"{place[-1]} is missing", f"Add `{place[-1]}:`")
    if detail["type"] == "union_tag_not_found":
        given = detail["input"]
        first = next(iter(given), "") if isinstance(given, dict) else str(given)
        remedy = nearest(str(first), BOX_CLASSES)
        return Problem(place, "it does not say what it does", f"{remedy} A box begins with its kind".strip())
    message = detail["msg"].removeprefix("Value error, ")
    happened, _, remedy = message.partition("; ")
    if remedy:
        return Problem(place, happened, remedy[0].upper() + remedy[1:])
    return Problem(place, f"{detail['input']!r} cannot stand here", _hint(detail, message))


def _hint(detail: ErrorDetails, message: str) -> str:
    if detail["type"] == "string_pattern_mismatch":
        if detail["loc"] == ("name",):
            return "Use small letters, digits and hyphens, with a letter or digit first, at most 63"
        return "Use small letters, digits and underscores, with a letter first"
    return message


def _place(detail: ErrorDetails) -> Place:
    """Where it is, without what pydantic adds of its own: the kind of a box, members of a union."""
    parts = [str(part) for part in detail["loc"]]
    if len(parts) > 2 and parts[0] == "boxes" and parts[2] in BOX_CLASSES:
        del parts[2]
    return tuple(part for part in parts if part != "[key]" and "(" not in part and "[" not in part)


def _keys(detail: ErrorDetails) -> list[str]:
    """The keys that are known where one was not."""
    parts = [str(part) for part in detail["loc"]]
    if "window" in parts[:-1]:
        owner: type[model.Declaration] = model.Window
    elif len(parts) > 2 and parts[0] == "boxes":
        owner = BOX_CLASSES[parts[2]]
    elif len(parts) > 2 and parts[0] in _PARTS:
        owner = _PARTS[parts[0]]
    else:
        owner = model.Objective if parts[0] == "objective" and len(parts) > 1 else QueryDeclaration
    return [field.alias or name for name, field in owner.model_fields.items()]
