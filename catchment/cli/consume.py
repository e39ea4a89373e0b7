"""`catchment consume`: hands records on to the terminal, a file, a web server or a program."""

import logging
import signal
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from catchment.cli.console import configuration
from catchment.config import Config
from catchment.config.consume import ConsumeSettings, Mode, Start, To
from catchment.errors import ConfigurationError
from catchment.records import Kind


def add_to(app: typer.Typer) -> None:
    app.command()(consume)


def consume(
    context: typer.Context,
    target: Annotated[
        str | None, typer.Argument(help="The file, the address or the command that --to goes to.")
    ] = None,
    to: Annotated[To, typer.Option("--to", help="Where records are handed on to.")] = To.STDOUT,
    workers: Annotated[int | None, typer.Option("--workers", "-w", min=1, help="Number of workers.")] = None,
    group: Annotated[str | None, typer.Option(help="The group whose place is remembered.")] = None,
    mode: Annotated[Mode | None, typer.Option(help="How records are spread over the group.")] = None,
    topic: Annotated[Kind, typer.Option(metavar="KIND", help="What to consume.")] = Kind.RECORDS,
    start: Annotated[Start | None, typer.Option("--from", help="Where a new group begins.")] = None,
    prefetch: Annotated[int | None, typer.Option(min=1, help="Records fetched ahead.")] = None,
    name: Annotated[str | None, typer.Option(help="What Kafka calls this consumer.")] = None,
    as_: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Sign in as this registered consumer.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Whole records as JSON, with their stamps.")
    ] = False,
) -> None:
    """Hand records on as they come, until Ctrl-C or SIGTERM; each is acknowledged only after that.

    What is not given here comes from the section `consume` of the configuration.
    """
    given = {
        "workers": workers,
        "group": group,
        "mode": mode,
        "start": start,
        "prefetch_records": prefetch,
        "name": name,
    }
    _run(_with(configuration(context), given), to, target, topic, as_, as_json)


def _run(config: Config, to: To, target: str | None, kind: Kind, consumer: str | None, as_json: bool) -> None:
    from catchment.consume import Subscription
    from catchment.consume.identity import name_of
    from catchment.consume.outlets import open_outlet

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    outlet = open_outlet(config, to, target, as_json, name_of(consumer))
    try:
        subscription = Subscription(config, outlet.handle, consumer, kind)

        def stop(*_: object) -> None:
            subscription.stop()
            outlet.stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        subscription.run()
    finally:
        outlet.close()


def _with(config: Config, given: dict[str, Any]) -> Config:
    """The configuration with what the command line says instead."""
    changes = {key: value for key, value in given.items() if value is not None}
    try:
        settings = ConsumeSettings.model_validate({**config.consume.model_dump(), **changes})
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(
            f"consume.{first['loc'][0]}: {first['msg']}", "See docs/reference/configuration.md."
        ) from None
    return config.model_copy(update={"consume": settings})
