"""`catchment relay`: sites to centre."""

import typer

from catchment.cli.console import configuration


def add_to(app: typer.Typer) -> None:
    @app.command()
    def relay(context: typer.Context) -> None:
        """Runs the relay alone, in the foreground; `catchment up` runs it with all the rest."""
        from catchment.relay.service import run

        run(configuration(context))
