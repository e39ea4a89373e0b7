"""`catchment verify`: the proof that nothing was lost."""

from typing import Annotated

import typer

from catchment.cli.console import AsJson, configuration, errors, output, print_json, print_table

COLUMNS = (
    "stream",
    "gateway",
    "epoch",
    "sent",
    "received",
    "missing",
    "under_way",
    "duplicated",
    "out_of_order",
    "rate_per_s",
)


def add_to(app: typer.Typer) -> None:
    @app.command()
    def verify(
        context: typer.Context,
        as_json: AsJson = False,
        wait_s: Annotated[
            float, typer.Option(min=0, help="How long what is under way may take to arrive.")
        ] = 15.0,
    ) -> None:
        """Compares what was sent with what the ledger received; exit code 1 if anything is missing."""
        from catchment.kafka.parties import Party
        from catchment.ledger.reading import prove

        config = configuration(context)
        with errors.status("Comparing what was sent with what was received …"):
            proof = prove(config, Party.OPERATOR, wait_s)
        if as_json:
            print_json(proof.model_dump())
        else:
            print_table(
                COLUMNS, [stream.model_dump() | {"epoch": str(stream.epoch)} for stream in proof.streams]
            )
            for stream in proof.streams:
                for first, last in stream.gaps:
                    output.print(
                        f"[red]missing[/] in {stream.stream} (epoch {stream.epoch}): {first} to {last}"
                    )
            output.print(
                f"sent {proof.sent:,}, received {proof.received:,}, missing {proof.missing:,}, "
                f"under way {proof.under_way:,}, duplicated {proof.duplicated:,}"
            )
        raise typer.Exit(0 if proof.holds else 1)
