"""`catchment alerts`: what has been raised, who was told of it, and whether a channel works."""

import datetime
import logging
from typing import Annotated, Any

import typer

from catchment.cli.console import AsJson, configuration, output, print_json, print_table, working
from catchment.config import Config
from catchment.errors import ConfigurationError, PartFailed

app = typer.Typer(help="List alerts, and try out channels.", no_args_is_help=True)

COLUMNS = ("id", "state", "raised", "cleared", "sentence")
DELIVERY_COLUMNS = ("at", "state", "channel", "outcome", "attempt", "error")


@app.command("list")
def list_(
    context: typer.Context,
    state: Annotated[
        str | None, typer.Option(help="`raised` for open ones, `cleared` for past ones, `told` for notices.")
    ] = None,
    site: Annotated[str | None, typer.Option(help="Of sensors of this site.")] = None,
    sensor: Annotated[str | None, typer.Option(help="Of this sensor.")] = None,
    rule: Annotated[str | None, typer.Option(help="Of this rule.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most alerts to list.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List alerts, newest first."""
    from catchment.client import local_session

    with local_session(configuration(context)) as session:
        wanted = {"state": state, "site": site, "sensor": sensor, "rule": rule, "limit": limit}
        alerts: list[dict[str, Any]] = session.get("/api/v1/alerts", **wanted)["items"]
    if as_json:
        print_json(alerts)
        return
    print_table(COLUMNS, [{**each, **_moments(each, "raised", "cleared")} for each in alerts])


@app.command()
def show(
    context: typer.Context,
    alert: Annotated[str, typer.Argument(metavar="ID", help="As `catchment alerts list` shows it.")],
    as_json: AsJson = False,
) -> None:
    """Show one alert, and each attempt to tell of it."""
    from catchment.client import local_session

    with local_session(configuration(context)) as session:
        found: dict[str, Any] = session.get(f"/api/v1/alerts/{alert}")
    if as_json:
        print_json(found)
        return
    deliveries = found.pop("deliveries")
    print_table(("fact", "value"), [{"fact": name, "value": value} for name, value in found.items()])
    output.print()
    print_table(DELIVERY_COLUMNS, [{**each, **_moments(each, "at")} for each in deliveries])


@app.command()
def acknowledge(
    context: typer.Context,
    alert: Annotated[str, typer.Argument(metavar="ID", help="As `catchment alerts list` shows it.")],
    note: Annotated[str, typer.Option(help="Such as what is done about it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Take note of an alert; who did it first stays with it."""
    from catchment.client import local_session

    with local_session(configuration(context)) as session:
        known = session.put(f"/api/v1/alerts/{alert}/acknowledgement", {"note": note})["acknowledged"]
    if as_json:
        print_json({"id": alert, **known})
    else:
        typer.echo(f"{alert} is acknowledged by {known['by']}")


@app.command()
def test(context: typer.Context, channel: Annotated[str, typer.Argument(help="The channel's name.")]) -> None:
    """Send a test message on a channel; exit code 1 if it does not go through."""
    config = configuration(context)
    with working(f"Sending on {channel}"):
        _send_test(config, channel)
    typer.echo(f"The test message went through on {channel}")


def _send_test(config: Config, name: str) -> None:
    from catchment.alerts.channels import Undelivered, open_channel
    from catchment.alerts.courier import trial_letter

    settings = config.alerts.channels.get(name)
    if settings is None:
        known = ", ".join(config.alerts.channels) or "none so far"
        raise ConfigurationError(
            f"There is no channel {name!r}", f"Set it below alerts.channels; there are: {known}."
        )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    sender = open_channel(settings, config.alerts.timeout_s)
    try:
        sender.send(trial_letter(config.site, name))
    except Undelivered as error:
        raise PartFailed(
            f"{name}: {error}", "Check the channel's settings, and that it can be reached."
        ) from None
    finally:
        sender.close()


def _moments(row: dict[str, Any], *names: str) -> dict[str, str]:
    return {name: _moment(row[f"{name}_ms"]) for name in names}


def _moment(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    time = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
    return f"{time:%Y-%m-%d %H:%M:%S}"
