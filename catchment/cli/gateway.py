"""`catchment gateway`: the listener for devices."""

import typer

from catchment.cli.console import configuration


def add_to(app: typer.Typer) -> None:
    @app.command()
    def gateway(context: typer.Context) -> None:
        """Runs the gateway alone, in the foreground; `catchment up` runs it with all the rest."""
        from catchment.gateway.service import run

        run(configuration(context))
