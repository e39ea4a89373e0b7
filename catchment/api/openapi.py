"""What the API says of itself, corrected where the framework's guess is not what is sent."""

from typing import Any

from fastapi import FastAPI

from catchment.api.examples import add_examples
from catchment.api.problems import MEDIA_TYPE

_PROBLEM = {"$ref": "#/components/schemas/Problem"}
# Of every body, before anybody looks at what is in it.
_TOO_LARGE = {"description": "Content Too Large", "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}


def describe_truthfully(app: FastAPI) -> None:
    """Makes the description name the media type of problems and the form of events, and give examples."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        schema = describe()
        for path in schema["paths"].values():
            for operation in path.values():
                if "requestBody" in operation:
                    operation["responses"].setdefault("413", _TOO_LARGE)
                for response in operation["responses"].values():
                    _correct(response.get("content", {}))
        add_examples(schema)
        return schema

    app.openapi = openapi  # type: ignore[method-assign]


def _correct(content: dict[str, Any]) -> None:
    for media_type, body in list(content.items()):
        schema = body.get("schema", {})
        # Of anything but JSON the framework says that it is a string, whatever the model.
        if "anyOf" in schema or "$ref" in schema:
            schema.pop("type", None)
        if schema == _PROBLEM:
            content[MEDIA_TYPE] = content.pop(media_type)
