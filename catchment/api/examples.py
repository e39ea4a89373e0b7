"""Examples for the description of the API, made of what it says of itself, so that none goes out of date.

A model that gives an example of its own (`examples`) is taken at its word. Of everything else the form is
known, and names say what a likely value is.
"""

from typing import Any

_JSON = ("/json", "+json")
_NAMES: dict[str, Any] = {
    "site": "oslo",
    "node": "oslo",
    "name": "oslo",
    "gateway": "gateway",
    "stream": "boiler",
    "sensor": "oven-3",
    "sensor_id": "oven-3",
    "sensor_name": "Oven 3",
    "sensor_type": "oven-temperature",
    "sensor_type_id": "oven-temperature",
    "device": "kiln-1",
    "device_id": "kiln-1",
    "device_name": "Kiln 1",
    "location": "hall 2",
    "channel": "duty",
    "transaction": "7d1c0f5e",
    "user": "user/alice",
    "rule": "oven-hot",
    "topic": "catchment.v1.records",
    "who": "user/alice",
    "by": "user/alice",
    "what": "put_rule",
    "target": "/api/v1/rules/oven-hot",
    "address": "192.0.2.7",
    "field": "temperature",
    "unit": "C",
    "sentence": "Oven 3 in hall 2 is too hot",
    "reason": "the field temperature is no number",
    "console": "https://localhost:8443",
    "fingerprint": "5f0c…",
    "token": "ctm.dashboard.…",
    "sql": "SELECT sensor, max(temperature) FROM temperature_data GROUP BY sensor",
    "subject": "TemperatureData",
    "schema": '{"type": "record", "name": "TemperatureData", "fields": […]}',
    "delay_ms": 8.1,
    "rate_per_s": 20.0,
    "status": 404,
    "outcome": 200,
    "title": "Not Found",
    "code": "not-found",
    "detail": "There is no rule 'oven-hot'",
    "remedy": "`catchment rules list` shows those there are.",
}
_MOMENT_MS = 1_794_878_845_504
_DURATIONS = ("duration_ms", "_for_ms", "bucket_ms", "objective_ms")
_MOMENT = "2026-11-17T01:27:25Z"
_DEEPEST = 6

Schema = dict[str, Any]


def add_examples(description: Schema) -> None:
    """Gives every body that is JSON an example."""
    schemas = description.get("components", {}).get("schemas", {})
    for path in description["paths"].values():
        for operation in path.values():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for media_type, body in (
                (kind, one) for each in bodies for kind, one in each.get("content", {}).items()
            ):
                if media_type.endswith(_JSON) and "schema" in body:
                    body["example"] = example_of(body["schema"], schemas)


def example_of(schema: Schema, schemas: Schema, name: str = "", depth: int = 0) -> Any:
    """A value that the schema allows."""
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas, name, depth)
    if given := schema.get("examples"):
        return given[0]
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if branches := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        chosen = next((each for each in branches if each.get("type") != "null"), branches[0])
        return example_of(chosen, schemas, name, depth)
    if schema.get("type") == "object":
        return _object(schema, schemas, depth)
    if members := schema.get("prefixItems"):
        return [example_of(each, schemas, name, depth + 1) for each in members]
    if schema.get("type") == "array":
        item = example_of(schema.get("items", {}), schemas, name.removesuffix("s"), depth + 1)
        return [item] if depth < _DEEPEST else []
    return _scalar(schema, name)


def _object(schema: Schema, schemas: Schema, depth: int) -> dict[str, Any]:
    if depth >= _DEEPEST:
        return {}
    properties = schema.get("properties", {})
    if not properties and isinstance(inner := schema.get("additionalProperties"), dict):
        return {"temperature": example_of(inner, schemas, "temperature", depth + 1)}
    return {name: example_of(each, schemas, name, depth + 1) for name, each in properties.items()}


def _scalar(schema: Schema, name: str) -> Any:
    kind = schema.get("type")
    if schema.get("default") is not None:
        return schema["default"]
    if kind in ("integer", "number"):
        return _number(schema, name)
    if kind == "boolean":
        return False
    if kind == "string":
        return _text(schema, name)
    return _NAMES.get(name, 21.5)


def _number(schema: Schema, name: str) -> float:
    if schema.get("type") == "integer" and name.endswith("_ms") and not name.endswith(_DURATIONS):
        return _MOMENT_MS
    if name.endswith("_us"):
        return _MOMENT_MS * 1000
    likely = _NAMES.get(name)
    if isinstance(likely, int | float) and not (schema["type"] == "integer" and isinstance(likely, float)):
        return likely
    least: float = max(schema.get("minimum", 1), schema.get("exclusiveMinimum", -1) + 1)
    return least if schema["type"] == "integer" else float(least)


def _text(schema: Schema, name: str) -> str:
    if schema.get("format") == "date-time":
        return _MOMENT
    likely = _NAMES.get(name)
    return likely if isinstance(likely, str) else name or "text"
