"""`catchment deadletter`: what could not be taken further, why, and sending it again."""

import base64
import datetime
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catchment.cli.console import AsJson, configuration, output, print_json, print_table, working
from catchment.records import Kind

if TYPE_CHECKING:
    from catchment.client import Session

app = typer.Typer(help="Look at what could not be taken further, and send it again.", no_args_is_help=True)

PATH = "/api/v1/deadletters"
COLUMNS = ("id", "at", "reason", "topic", "key", "number", "size_bytes", "replayed")

Id = Annotated[str, typer.Argument(metavar="ID", help="As the list shows it, for example 0-17.")]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Only where the reason contains this.")]
Topic = Annotated[
    str | None, typer.Option(metavar="TOPIC", help="Only those from this topic; `records` will do as well.")
]
Moment = Annotated[
    datetime.datetime | None, typer.Option(metavar="TIME", help="Only from this time on (UTC).")
]
Until = Annotated[datetime.datetime | None, typer.Option(metavar="TIME", help="Only before this time (UTC).")]


@app.command("list")
def list_(
    context: typer.Context,
    reason: Reason = None,
    topic: Topic = None,
    since: Moment = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, help="Most that are listed, the newest first.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List dead letters, the newest first."""
    from catchment.client import local_session

    with local_session(configuration(context)) as session:
        found = _letters(session, _filter(reason, topic, since, until))
        rows = [letter for letter, _ in zip(found, range(limit), strict=False)]
    if as_json:
        print_json(rows)
    else:
        print_table(COLUMNS, [_row(letter) for letter in rows])


@app.command()
def show(
    context: typer.Context,
    letter: Id,
    raw: Annotated[
        bool, typer.Option("--raw", help="Write its bytes as they are, and nothing else.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show one dead letter with its bytes."""
    from catchment.client import local_session

    with local_session(configuration(context)) as session:
        found = session.get(f"{PATH}/{letter}")
    value = base64.b64decode(found["value_base64"])
    if raw:
        sys.stdout.buffer.write(value)
    elif as_json:
        print_json(found)
    else:
        for name, shown in _row(found).items():
            output.print(
                f"{name.replace('_', ' '):<11} {shown}", highlight=False, markup=False, soft_wrap=True
            )
        content = found["text"] if found["text"] is not None else _hexadecimal(value)
        output.print(f"\n{content}", highlight=False, markup=False, soft_wrap=True)


@app.command()
def replay(
    context: typer.Context,
    letters: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Those to send again.")
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="All that match the options and were not sent again yet.")
    ] = False,
    reason: Reason = None,
    topic: Topic = None,
    since: Moment = None,
    until: Until = None,
    again: Annotated[bool, typer.Option("--again", help="Also one that was sent again before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Send the records of dead letters to the topic they came from, as they were."""
    from catchment.client import local_session

    if bool(letters) == all_:
        raise typer.BadParameter("Give ids, or --all.")
    with working("Sending again"), local_session(configuration(context)) as session:
        wanted = _filter(reason, topic, since, until)
        chosen = letters or _not_sent_yet(session, wanted)
        sent = [session.post(f"{PATH}/{each}/replay", {"again": again}) for each in chosen]
    if as_json:
        print_json(sent)
    else:
        typer.echo(f"{len(sent):,} sent again")


def _filter(
    reason: str | None,
    topic: str | None,
    since: datetime.datetime | None,
    until: datetime.datetime | None,
) -> dict[str, Any]:
    whole = Kind(topic).topic if topic in list(Kind) else topic
    return {"reason": reason, "topic": whole, "since_ms": _ms(since), "until_ms": _ms(until)}


def _letters(session: "Session", wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        page = session.get(PATH, **wanted, cursor=cursor)
        yield from page["items"]
        cursor = page["next"]
        if cursor is None:
            return


def _not_sent_yet(session: "Session", wanted: dict[str, Any]) -> list[str]:
    """The oldest first, so that records go out in the order in which they failed."""
    found = [letter for letter in _letters(session, wanted) if letter["topic"] and not letter["replay"]]
    return [letter["id"] for letter in reversed(found)]


def _row(letter: dict[str, Any]) -> dict[str, Any]:
    replay = letter["replay"]
    return {
        **{name: letter[name] for name in ("id", "reason", "size_bytes")},
        "at": _time(letter["at_ms"]),
        "topic": letter["topic"] or "",
        "key": letter["key"] or "",
        "number": letter["number"] or "",
        "replayed": f"{replay['progress']} {_time(replay['at_ms'])} by {replay['by']}" if replay else "",
    }


def _time(at_ms: int) -> str:
    moment = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC)
    return moment.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00")


def _ms(moment: datetime.datetime | None) -> int | None:
    return round(moment.replace(tzinfo=datetime.UTC).timestamp() * 1000) if moment else None


def _hexadecimal(value: bytes) -> str:
    lines = (value[start : start + 16] for start in range(0, len(value), 16))
    return "\n".join(line.hex(" ") for line in lines)
