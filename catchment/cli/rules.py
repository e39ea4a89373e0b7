"""`catchment rules`: thresholds that measurements are watched with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from catchment.cli.console import AsJson, configuration, print_json, print_table, working
from catchment.cli.names import Name
from catchment.client import Session, local_session

app = typer.Typer(help="Watch measurements with thresholds.", no_args_is_help=True)

_PATH = "/api/v1/rules"
_PAGE_ITEMS = 1000
# What the node adds to what was declared.
_ADDED = ("site", "id", "version", "updated_ms")

RuleFile = Annotated[Path, typer.Argument(metavar="FILE", help="Rules by their ids, in YAML.")]
Number = float | None
Pattern = str | None


@app.command()
def add(
    context: typer.Context,
    name: Name,
    field: Annotated[str, typer.Option(help="The field of the measurements that is compared.")],
    above: Annotated[Number, typer.Option(help="A value above this is a transgression.")] = None,
    below: Annotated[Number, typer.Option(help="A value below this is a transgression.")] = None,
    hysteresis: Annotated[float, typer.Option(help="How far back it has to be for the end.")] = 0,
    unit: Annotated[str | None, typer.Option(help="The unit of the threshold.")] = None,
    sensor: Annotated[Pattern, typer.Option(help="Only sensors with such ids: `oven-*`.")] = None,
    sensor_type: Annotated[Pattern, typer.Option(help="Only sensors of such types.")] = None,
    device: Annotated[Pattern, typer.Option(help="Only sensors of such devices.")] = None,
    site: Annotated[Pattern, typer.Option(help="Only sensors of such sites.")] = None,
    min_duration: Annotated[float, typer.Option(help="Seconds that it has to last.")] = 0,
    lasting_every: Annotated[float, typer.Option(help="Seconds from event to event while it lasts.")] = 60,
    channel: Annotated[list[str] | None, typer.Option(help="Who is told; repeat it for several.")] = None,
    message: Annotated[str, typer.Option(help="What they are told.")] = "",
    description: Annotated[str, typer.Option(help="What the rule is for.")] = "",
    as_json: AsJson = False,
) -> None:
    """Declare a rule that is not there yet."""
    selected = {"sensor": sensor, "sensor_type": sensor_type, "device": device, "site": site}
    values = {
        "description": description,
        "field": field,
        "above": above,
        "below": below,
        "hysteresis": hysteresis,
        "unit": unit,
        "select": selected,
        "min_duration_s": min_duration,
        "lasting_every_s": lasting_every,
        "channels": channel or [],
        "message": message,
    }
    written = _add(context, name, values)
    if as_json:
        print_json(written)
    else:
        typer.echo(f"{name} is declared")


def _add(context: typer.Context, name: str, values: dict[str, Any]) -> Any:
    from catchment.alerts.rules import check_rule

    spec = check_rule(name, values).model_dump(exclude_none=True)
    with local_session(configuration(context)) as session:
        return session.request("PUT", f"{_PATH}/{name}", json=spec, headers={"If-None-Match": "*"})


@app.command()
def apply(context: typer.Context, file: RuleFile, as_json: AsJson = False) -> None:
    """Declare the rules of a file, and change those that differ; others stay as they are."""
    from catchment.alerts.rules import read_rules

    wanted = read_rules(file)
    with working(f"Declaring the rules of {file}"), local_session(configuration(context)) as session:
        versions = {rule["id"]: rule["version"] for rule in _all(session)}
        rows = []
        for name, spec in wanted.items():
            written = session.put(f"{_PATH}/{name}", spec.model_dump(exclude_none=True))
            rows.append({"id": name, "outcome": _outcome(versions.get(name), written["version"])})
    if as_json:
        print_json(rows)
    else:
        print_table(["id", "outcome"], rows)


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the rules."""
    with local_session(configuration(context)) as session:
        rules = list(_all(session))
    if as_json:
        print_json(rules)
    else:
        print_table(["id", "state", "when", "for", "version"], [_row(rule) for rule in rules])


@app.command()
def show(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show a rule, as a file for `apply` has it."""
    with local_session(configuration(context)) as session:
        rule = session.get(f"{_PATH}/{name}")
    if as_json:
        print_json(rule)
    else:
        typer.echo(yaml.safe_dump({"rules": {name: _declared(rule)}}, sort_keys=False, allow_unicode=True))


@app.command()
def enable(context: typer.Context, name: Name) -> None:
    """Watch with a rule again."""
    _switch(context, name, True)
    typer.echo(f"{name} is enabled")


@app.command()
def disable(context: typer.Context, name: Name) -> None:
    """Watch with a rule no more, and end what it has under way."""
    _switch(context, name, False)
    typer.echo(f"{name} is disabled")


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """Remove a rule, and end what it has under way."""
    with local_session(configuration(context)) as session:
        session.delete(f"{_PATH}/{name}")
    typer.echo(f"{name} is removed")


def _switch(context: typer.Context, name: str, enabled: bool) -> None:
    with local_session(configuration(context)) as session:
        rule = session.get(f"{_PATH}/{name}")
        # Only what was read: a change that somebody else makes in between is not undone.
        expected = {"If-Match": f'"{rule["version"]}"'}
        body = {**_declared(rule), "enabled": enabled}
        session.request("PUT", f"{_PATH}/{name}", json=body, headers=expected)


def _all(session: Session) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        page = session.get(_PATH, limit=_PAGE_ITEMS, cursor=cursor)
        yield from page["items"]
        cursor = page["next"]
        if cursor is None:
            return


def _declared(rule: dict[str, Any]) -> dict[str, Any]:
    selected = {name: glob for name, glob in rule["select"].items() if glob is not None}
    given = {name: value for name, value in rule.items() if name not in _ADDED and value is not None}
    return {**given, "select": selected}


def _row(rule: dict[str, Any]) -> dict[str, Any]:
    side = "above" if rule["above"] is not None else "below"
    selected = (f"{name} {glob}" for name, glob in rule["select"].items() if glob is not None)
    return {
        "id": rule["id"],
        "state": "enabled" if rule["enabled"] else "disabled",
        "when": f"{rule['field']} {side} {rule[side]:g} {rule['unit'] or ''}".rstrip(),
        "for": ", ".join(selected) or "all sensors",
        "version": rule["version"],
    }


def _outcome(before: int | None, after: int) -> str:
    if before is None:
        return "declared"
    return "unchanged" if after == before else "changed"
