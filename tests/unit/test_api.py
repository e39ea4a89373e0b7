"""The parts of the API that need no network: rates, events, sessions, metrics, the description."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import jsonschema_rs
import orjson
import pytest
from prometheus_client import generate_latest

from catchment.api.events import AlertCounts, Snapshot, difference, encode
from catchment.api.hub import Hub, Page
from catchment.api.metrics import Merged
from catchment.api.rates import HopTotal, Look, MissingRange
from catchment.api.rates import look as look_at
from catchment.api.sessions import MOST_SESSIONS, Sessions
from catchment.api.site_health import site_health
from catchment.config import Config
from catchment.console.types import DESCRIPTION, description
from catchment.errors import NodeNotRunning
from catchment.health import State
from catchment.ledger.model import HopRow, LedgerRow, Mark, Stage
from catchment.ledger.proof import compare
from catchment.node.status import Component, NodeStatus, status_of
from catchment.security.tokens import Token, Tokens
from tests.conftest import MakeConfig
from tests.serving import EVERYTHING, MemoryLedger, row

CONFIG = Config.model_validate({})


class Clock:
    """A clock that a test sets."""

    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def look(rows: Iterable[LedgerRow], at_s: float, before: Look | None) -> Look:
    return look_at(compare("local", [], rows).streams, at_s, before)


def status(uptime_s: float, state: State = State.RUNNING) -> NodeStatus:
    return status_of(CONFIG, [Component(name="gateway", state=state, uptime_s=uptime_s)])


def snapshot(at_s: float, node: NodeStatus | None, *rows: LedgerRow) -> Snapshot:
    now = look(rows, at_s, None)
    return Snapshot(
        at_ms=int(at_s * 1000),
        ledger_current=True,
        status=node,
        totals=now.totals,
        sites=site_health("local", now.streams.values(), node),
        alerts=AlertCounts(open=0, unacknowledged=0, changed=0),
        streams=list(now.streams.values()),
        history=[],
    )


# Rates


def test_the_first_look_has_no_rate() -> None:
    first = look([row("a", 10)], 100.0, None)
    assert first.totals.rate_per_s is None
    assert first.streams["local", "gateway", "a"].rate_per_s is None


def test_rates_are_differences_over_the_time_between_looks() -> None:
    first = look([row("a", 10), row("b", 5)], 100.0, None)
    second = look([row("a", 30), row("b", 5), row("c", 7)], 102.0, first)
    assert {key[2]: state.rate_per_s for key, state in second.streams.items()} == {
        "a": 10.0,
        "b": 0.0,
        "c": 3.5,
    }
    assert second.totals.rate_per_s == 13.5


def test_a_look_long_ago_gives_no_rate() -> None:
    first = look([row("a", 10)], 100.0, None)
    assert look([row("a", 1_000_000)], 110.0, first).totals.rate_per_s is None


def test_a_ledger_that_starts_afresh_has_no_negative_rate() -> None:
    first = look([row("a", 100)], 100.0, None)
    assert look([row("a", 1)], 101.0, first).totals.rate_per_s == 0.0


def test_epochs_of_a_stream_are_added_up() -> None:
    rows = [
        row("a", 10, epoch=1, missing=2, last_origin_us=5),
        row("a", 20, epoch=2, duplicates=1, last_origin_us=4),
    ]
    state = look(rows, 1.0, None).streams["local", "gateway", "a"]
    assert (state.received, state.missing, state.duplicates, state.last_origin_us) == (30, 2, 1, 5)


def test_a_stream_shows_what_was_accepted_and_what_came_to_every_hop() -> None:
    rows = [row("a", 8, epoch=1, highest=10, missing=2, gaps=[(4, 5)]), row("a", 3, epoch=2)]
    marks = [Mark(site="local", gateway="gateway", epoch=2, stream="a", accepted=7)]
    at_site = HopRow(**row("a", 6, epoch=2).model_dump(), node="local", stage=Stage.BROKER)
    state = look_at(compare("hq", marks, rows, [at_site]).streams, 1.0, None).streams["local", "gateway", "a"]
    assert (state.accepted, state.received, state.under_way) == (17, 11, 4)
    assert state.hops == [
        HopTotal(node="local", stage=Stage.BROKER, received=6),
        HopTotal(node="hq", stage=Stage.BROKER, received=11),
    ]
    assert state.gaps == [MissingRange(epoch=1, first=4, last=5)]


# Events


def test_a_delta_has_only_the_streams_that_changed() -> None:
    still, moved = row("still", 1), row("moved", 1)
    before = snapshot(1, status(5.0), still, moved)
    after = snapshot(2, status(6.0), still, row("moved", 2), row("new", 1))
    assert {state.stream for state in difference(before, after).streams} == {"moved", "new"}


def test_a_delta_leaves_out_a_status_of_which_only_running_times_changed() -> None:
    sent = encode(difference(snapshot(1, status(5.0)), snapshot(2, status(6.0))))
    assert "status" not in orjson.loads(sent.split(b"data: ")[1])


@pytest.mark.parametrize("after", [None, status(6.0, State.FAILED)])
def test_a_delta_has_a_status_that_changed(after: NodeStatus | None) -> None:
    sent = encode(difference(snapshot(1, status(5.0)), snapshot(2, after)))
    said = orjson.loads(sent.split(b"data: ")[1])["status"]
    assert said == (after.model_dump(mode="json") if after else None)


async def take(events: AsyncIterator[bytes], count: int) -> list[bytes]:
    return [await anext(events) for _ in range(count)]


def test_every_page_gets_a_snapshot_and_then_the_same_deltas() -> None:
    async def scenario() -> None:
        hub = Hub("local", MemoryLedger(row("a", 10)), lambda: status(1.0))
        first, second = hub.events(lambda: True), hub.events(lambda: True)
        one, other = await asyncio.gather(take(first, 2), take(second, 2))
        assert one[0].startswith(b"event: snapshot\n")
        assert one[1].startswith(b"event: delta\n")
        assert one[1] is other[1]
        hub.close()

    asyncio.run(scenario())


def test_a_page_that_comes_later_need_not_wait() -> None:
    async def scenario() -> None:
        hub = Hub("local", MemoryLedger(), lambda: status(1.0))
        first = hub.events(lambda: True)
        await take(first, 1)
        late = hub.events(lambda: True)
        assert (await asyncio.wait_for(anext(late), 0.2)).startswith(b"event: snapshot\n")
        hub.close()

    asyncio.run(scenario())


def test_pages_close_when_their_caller_loses_the_right_and_the_hub_rests_without_pages() -> None:
    async def scenario() -> None:
        signed_in = True
        hub = Hub("local", MemoryLedger(), lambda: status(1.0))
        events = hub.events(lambda: signed_in)
        await take(events, 1)
        signed_in = False
        hub.review()
        assert [event async for event in events] == []
        assert hub.open_pages == 0

    asyncio.run(scenario())


def test_a_page_that_does_not_read_is_closed() -> None:
    async def scenario() -> list[bytes | None]:
        page = Page(lambda: True)
        for number in range(20):
            page.send(b"%d" % number)
        return [await page.next_event()]

    assert asyncio.run(scenario()) == [None]


def test_a_supervisor_that_does_not_answer_is_shown_as_such() -> None:
    def no_answer() -> NodeStatus:
        raise NodeNotRunning("node does not answer", "Look.")

    async def scenario() -> bytes:
        hub = Hub("local", MemoryLedger(), no_answer)
        (event,) = await take(hub.events(lambda: True), 1)
        hub.close()
        return event

    assert orjson.loads(asyncio.run(scenario()).split(b"data: ")[1])["status"] is None


# Sessions


@pytest.fixture
def token(make_config: MakeConfig) -> Token:
    tokens = Tokens(make_config().paths.tokens)
    return tokens.check(tokens.create("tester", EVERYTHING))


def test_a_session_ends_after_its_lifetime(token: Token) -> None:
    clock = Clock()
    sessions = Sessions(3600, clock)
    session = sessions.begin(token)
    clock.now_s += 3599
    assert sessions.find(session.id) == session
    clock.now_s += 1
    assert sessions.find(session.id) is None


def test_the_oldest_session_makes_room(token: Token) -> None:
    sessions = Sessions(3600)
    begun = [sessions.begin(token) for _ in range(MOST_SESSIONS + 1)]
    assert sessions.find(begun[0].id) is None
    assert sessions.find(begun[1].id) is not None


# Metrics


def test_families_of_several_parts_become_one() -> None:
    merged = Merged()
    text = '# HELP lines_total Lines.\n# TYPE lines_total counter\nlines_total{{kind="a"}} {}\n'
    merged.add("gateway", text.format(3))
    merged.add("pipeline", text.format(4))
    merged.add_missing("node")
    lines = generate_latest(merged).decode().splitlines()
    assert lines.count("# TYPE lines_total counter") == 1
    assert 'lines_total{kind="a",part="gateway"} 3.0' in lines
    assert 'lines_total{kind="a",part="pipeline"} 4.0' in lines
    assert 'catchment_part_up{part="node"} 0.0' in lines


# Description


def test_the_description_beside_the_console_is_current() -> None:
    assert DESCRIPTION.read_bytes() == description(), "Run `python -m catchment.console.types`."


def test_problems_are_described_with_their_media_type() -> None:
    paths = orjson.loads(description())["paths"]
    for path, operations in paths.items():
        for operation in operations.values():
            for code, response in operation["responses"].items():
                if int(code) >= 400 and path != "/ready":
                    assert list(response["content"]) == ["application/problem+json"]


def test_everything_but_probes_and_sign_in_needs_an_identity() -> None:
    paths = orjson.loads(description())["paths"]
    open_to_all = {
        (path, method)
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "security" not in operation
    }
    assert open_to_all == {("/ping", "get"), ("/ready", "get"), ("/api/v1/session", "post")}


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in orjson.loads(description())["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def bodies_of(operation: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What is sent and answered: the status (or none), the media type, and what is said of it."""
    for status, body in {"": operation.get("requestBody", {}), **operation["responses"]}.items():
        for media_type, content in body.get("content", {}).items():
            yield status, media_type, content


def test_every_operation_is_documented_with_an_example_that_is_right() -> None:
    components = orjson.loads(description())["components"]
    without_words = [name for name, operation in operations() if not operation.get("summary")]
    assert without_words == []
    for name, operation in operations():
        for status, media_type, content in bodies_of(operation):
            if media_type.endswith(("/json", "+json")):
                schema = {**content["schema"], "components": components}
                assert jsonschema_rs.is_valid(schema, content["example"]), (
                    f"{name} {status}: {content['example']}"
                )


def test_errors_have_one_shape_everywhere() -> None:
    """Only a probe of readiness has nothing to tell but that it is not ready."""
    for name, operation in operations():
        for status, media_type, content in bodies_of(operation):
            if status >= "4" and (name, status) != ("GET /ready", "503"):
                assert media_type == "application/problem+json", name
                assert content["schema"] == {"$ref": "#/components/schemas/Problem"}, name


def test_whatever_needs_a_caller_says_which_scope_it_needs() -> None:
    """Besides what concerns the callers themselves."""
    own = (
        "/api/v1/session",
        "/api/v1/roles",
        "/api/v1/twin",
        "/api/v1/sensor",
        "/api/v1/device",
        "/api/v1/mapp",
    )
    for name, operation in operations():
        if "403" in operation["responses"] and not name.partition(" ")[2].startswith(own):
            assert "scope" in operation.get("description", ""), name
