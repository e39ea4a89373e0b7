"""`catchment serve`: the API and the console."""

import typer

from catchment.cli.console import configuration


def add_to(app: typer.Typer) -> None:
    @app.command()
    def serve(context: typer.Context) -> None:
        """Serve the API and the console (the supervisor of `catchment up` does this for you)."""
        from catchment.api.service import run

        run(configuration(context))
