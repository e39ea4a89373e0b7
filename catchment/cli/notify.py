"""`catchment notify`: events to alerts, alerts to people."""

import typer

from catchment.cli.console import configuration


def add_to(app: typer.Typer) -> None:
    @app.command()
    def notify(context: typer.Context) -> None:
        """Runs the notifier alone, in the foreground; `catchment up` runs it with all the rest."""
        from catchment.alerts.service import run

        run(configuration(context))
