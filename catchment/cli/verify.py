"""`catchment verify`: the proof that nothing was lost."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from catchment.cli.console import AsJson, configuration, errors, output, print_json, print_table

if TYPE_CHECKING:
    from catchment.config import Config
    from catchment.ledger.proof import HopCount, Proof, StreamProof

SOURCE = ("site", "stream", "gateway", "epoch")
FIGURES = ("missing", "expired", "duplicated", "out_of_order", "under_way", "rate_per_s")


def add_to(app: typer.Typer) -> None:
    @app.command()
    def verify(
        context: typer.Context,
        as_json: AsJson = False,
        recount: Annotated[
            bool,
            typer.Option("--recount", help="Read this node's records again instead of trusting the counts."),
        ] = False,
        wait_s: Annotated[
            float, typer.Option(min=0, help="How long what is under way may take to arrive.")
        ] = 15.0,
    ) -> None:
        """Compares what gateways accepted with what came to every hop; exit code 1 if anything is missing."""
        config = configuration(context)
        proof = _count_anew(config, wait_s) if recount else _compare(config, wait_s)
        if as_json:
            print_json(proof.model_dump())
        else:
            _print(proof, config.site)
        raise typer.Exit(0 if proof.holds else 1)


def _compare(config: "Config", wait_s: float) -> "Proof":
    from catchment.kafka.parties import Party
    from catchment.ledger.reading import prove

    with errors.status("Comparing what was accepted with what arrived …"):
        return prove(config, Party.OPERATOR, wait_s)


def _count_anew(config: "Config", wait_s: float) -> "Proof":
    from catchment.kafka.parties import Party
    from catchment.ledger.reading import prove_anew

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} records counted"), TimeElapsedColumn())
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        task = progress.add_task("records", total=None)
        return prove_anew(config, Party.OPERATOR, wait_s, lambda records: progress.advance(task, records))


def _print(proof: "Proof", here: str) -> None:
    places = _places(proof, here)
    rows = [_row(stream, places, here) for stream in proof.streams]
    print_table((*SOURCE, "accepted", *places, *FIGURES), rows)
    for stream in proof.streams:
        for hop in stream.hops:
            _print_gaps(stream, hop)
            _print_under_way(stream, hop, here)
    output.print(
        f"accepted {proof.sent:,}, received {proof.received:,}, missing {proof.missing:,}, "
        f"under way {proof.under_way:,}, duplicated {proof.duplicated:,}"
    )


def _places(proof: "Proof", here: str) -> list[str]:
    """The headings of all hops. Those with the longest way come first: it has the others in their order."""
    streams = sorted(proof.streams, key=lambda stream: len(stream.hops), reverse=True)
    return list(dict.fromkeys(_place(stream, hop, here) for stream in streams for hop in stream.hops))


def _row(stream: "StreamProof", places: list[str], here: str) -> dict[str, Any]:
    received = {_place(stream, hop, here): hop.received for hop in stream.hops}
    return {
        **stream.model_dump(exclude={"hops"}),
        "epoch": str(stream.epoch),
        "accepted": stream.sent,
        **{place: received.get(place, "") for place in places},
    }


def _place(stream: "StreamProof", hop: "HopCount", here: str) -> str:
    """The heading of a hop: of many sites each has its own, and they share one column."""
    place = "at_its_site" if hop.node == stream.site != here else f"at {hop.node}"
    return place if hop.stage == "broker" else f"{hop.stage} {place}"


def _print_gaps(stream: "StreamProof", hop: "HopCount") -> None:
    for first, last in hop.gaps:
        numbers = f"{first:,}" if first == last else f"{first:,} to {last:,}"
        output.print(
            f"[red]missing[/] at {hop.node} ({hop.stage}): {numbers} of {stream.stream} "
            f"(site {stream.site}, gateway {stream.gateway}, epoch {stream.epoch})"
        )
    listed = sum(last - first + 1 for first, last in hop.gaps)
    if hop.missing > listed:
        output.print(f"[red]missing[/] at {hop.node} ({hop.stage}): {hop.missing - listed:,} more numbers")


def _print_under_way(stream: "StreamProof", hop: "HopCount", here: str) -> None:
    """What a stage behind this node's broker has not got yet: the table has a column for the broker alone."""
    if hop.node == here and hop.stage != "broker" and hop.under_way:
        output.print(
            f"[yellow]under way[/] to {hop.node} ({hop.stage}): {hop.under_way:,} of {stream.stream} "
            f"(site {stream.site}, gateway {stream.gateway}, epoch {stream.epoch})"
        )
