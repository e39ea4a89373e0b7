"""`catchment pipeline`: the Spark driver and its queries."""

import typer

from catchment.cli.console import configuration


def add_to(app: typer.Typer) -> None:
    @app.command()
    def pipeline(context: typer.Context) -> None:
        """Runs the pipeline alone, in the foreground; `catchment up` runs it with all the rest."""
        from catchment.pipeline.service import run

        run(configuration(context))
