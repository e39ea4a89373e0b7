"""Twins through the API: what a caller sees, searches, changes and is told live."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import yaml
from typer.testing import CliRunner
from typer.testing import Result as CommandResult

from catchment import connect
from catchment.cli.main import app
from catchment.config import Config
from catchment.errors import InvalidExpression, NotFound, VersionChanged
from catchment.kafka.hashing import murmur2
from catchment.kafka.topics import TOPICS
from catchment.records import Kind
from catchment.security.tokens import Scope
from catchment.twins.model import Refusal, Result
from tests.serving import ServedNode, serve
from tests.snippets import python_of
from tests.twins import Decider, TwinWriter, deciding, eventually, twin, type_of

PATH = "/api/v1/twins"
LINES = {"Accept": "application/x-ndjson"}
EVENTS = {"Accept": "text/event-stream"}
WAIT = {"Prefer": "wait=10"}


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    writer = TwinWriter(cluster)
    writer.types(
        type_of("machine"),
        type_of("secret", readers=["token/keeper"]),
        type_of("remote", site="oslo"),
    )
    with serve(cluster, with_tables=True, with_twins=True) as served:
        yield served


@pytest.fixture(scope="module")
def writer(node: ServedNode) -> TwinWriter:
    return TwinWriter(node.config)


@pytest.fixture(scope="module")
def decider(node: ServedNode) -> Iterator[Decider]:
    with deciding(node.config) as decider:
        yield decider


@pytest.fixture(scope="module")
def client(node: ServedNode) -> Iterator[httpx.Client]:
    with node.client(node.token("reader")) as client:
        yield client


def problem(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def found(client: httpx.Client, **parameters: Any) -> list[str]:
    response = client.get(PATH, params=parameters)
    assert response.status_code == 200, response.text
    return [each["id"] for each in response.json()["items"]]


def all_of(client: httpx.Client, **parameters: Any) -> tuple[set[str], Any]:
    lines = client.get(PATH, params=parameters, headers=LINES).text.splitlines()
    return {orjson.loads(line)["id"] for line in lines[:-1]}, orjson.loads(lines[-1])


def await_version(client: httpx.Client, identifier: str, version: int, **parameters: Any) -> httpx.Response:
    def get() -> httpx.Response:
        return client.get(f"{PATH}/{identifier}", params=parameters)

    eventually(lambda: get().headers.get("etag") == f'"{version}"', lambda: get().text)
    return get()


# Reading


def test_an_object_is_shown_with_its_version(client: httpx.Client, writer: TwinWriter) -> None:
    state = twin("shown", 3, values={"temperature": 21.5, "on": True, "count": 4})
    writer.put([state])
    assert await_version(client, "shown", 3).json() == state.model_dump()
    assert problem(client.get(f"{PATH}/absent")) == (404, "not-found")
    assert problem(client.get(f"{PATH}/no good")) == (422, "invalid-request")


def test_what_is_older_is_passed_over_and_what_was_deleted_stays_so(
    client: httpx.Client, writer: TwinWriter
) -> None:
    writer.put([twin("aged", 1), twin("aged", 2)])
    await_version(client, "aged", 2)
    writer.put([twin("aged", 1)])
    pass_by(client, writer, "aged", 1)
    assert client.get(f"{PATH}/aged").headers["etag"] == '"2"'
    writer.delete(twin("aged", 3))
    eventually(lambda: client.get(f"{PATH}/aged").status_code == 404)
    writer.put([twin("aged", 2)])
    pass_by(client, writer, "aged", 2)
    assert client.get(f"{PATH}/aged").status_code == 404
    writer.put([twin("aged", 4)])
    await_version(client, "aged", 4)


def pass_by(client: httpx.Client, writer: TwinWriter, identifier: str, version: int) -> None:
    """Waits until all that was written to the partition of an object has been read."""
    partition = murmur2(f"local/{identifier}".encode()) % TOPICS[Kind.TWINS].partitions
    writer.put([twin("passing", version)], partition=partition)
    await_version(client, "passing", version)


def test_a_key_is_found_where_its_hash_does_not_name(client: httpx.Client, writer: TwinWriter) -> None:
    for partition in range(4):
        name = f"relayed-{partition}"
        writer.put([twin(name, site="oslo", type="remote")], partition=partition)
        assert await_version(client, name, 1, site="oslo").json()["site"] == "oslo"
        assert problem(client.get(f"{PATH}/{name}")) == (404, "not-found")


def test_search_sorts_and_pages(client: httpx.Client, writer: TwinWriter) -> None:
    values = [{"heat": each, "place": f"hall-{each % 2}"} for each in range(7)]
    writer.put([twin(f"searched-{each['heat']}", values=each) for each in values])
    writer.put([twin("searched-cold"), twin("searched-text", values={"heat": "much"})])
    mine = 'id like "searched-*"'
    eventually(lambda: len(found(client, where=mine)) == 9)
    assert found(client, where=f'{mine} and heat > 3 and place = "hall-0"') == ["searched-4", "searched-6"]
    assert found(client, where=f"{mine} and not heat exists") == ["searched-cold"]
    ordered = [*(f"searched-{each}" for each in range(7)), "searched-text", "searched-cold"]
    assert found(client, where=mine, sort="heat") == ordered
    assert found(client, where=mine, sort="-heat") == [*ordered[7::-1], "searched-cold"]
    assert found(client, ids=["searched-1", "searched-3", "nothing"]) == ["searched-1", "searched-3"]
    assert found(client, where=mine, type="secret") == []
    for sort in ("heat", "-heat", "-updated_ms"):
        assert paged(client, where=mine, sort=sort) == found(client, where=mine, sort=sort)
    assert all_of(client, where=mine) == (set(ordered), {"missing_partitions": []})


def paged(client: httpx.Client, **parameters: Any) -> list[str]:
    names: list[str] = []
    cursor: str | None = None
    while True:
        given = {**parameters, "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = client.get(PATH, params=given).json()
        names += [each["id"] for each in page["items"]]
        cursor = page["next"]
        if cursor is None:
            return names


def test_a_wrong_expression_points_at_the_place(client: httpx.Client) -> None:
    refused = client.get(PATH, params={"where": "heat > and on = true"})
    assert problem(refused) == (422, "invalid-expression")
    assert "column 8" in refused.json()["detail"]
    expression, caret = refused.json()["remedy"].splitlines()[1:]
    assert expression[caret.index("^") :].startswith("and on")


# Rights


def test_what_a_caller_may_not_read_is_not_there(
    node: ServedNode, client: httpx.Client, writer: TwinWriter
) -> None:
    own = twin("hidden-own", type="secret", owner="token/reader")
    writer.put([twin("hidden-1", type="secret"), own, twin("hidden-undeclared", type="nothing")])
    mine = 'id like "hidden-*"'
    await_version(client, "hidden-own", 1)
    for name in ("hidden-1", "hidden-undeclared"):
        assert problem(client.get(f"{PATH}/{name}")) == (404, "not-found")
        assert problem(client.get(f"{PATH}/{name}", headers=EVENTS)) == (404, "not-found")
    assert found(client, where=mine) == ["hidden-own"]
    assert found(client, where=mine, limit=1, sort="-version") == ["hidden-own"]
    assert all_of(client, where=mine)[0] == {"hidden-own"}
    assert {"hidden-1", "hidden-undeclared"}.isdisjoint(all_of(client)[0])
    with node.client(node.token("keeper")) as keeper:
        assert found(keeper, where=mine) == ["hidden-1", "hidden-own"]


def test_reading_and_writing_have_scopes_of_their_own(node: ServedNode) -> None:
    with node.client(node.token("only-reads", frozenset({Scope.TWINS_READ}))) as reader:
        assert reader.get(PATH).status_code == 200
        assert problem(reader.put(f"{PATH}/x", json={"type": "machine"})) == (403, "access-refused")
        assert problem(reader.delete(f"{PATH}/x")) == (403, "access-refused")
    with node.client(node.token("nobody", frozenset({Scope.STATUS_READ}))) as nobody:
        assert problem(nobody.get(PATH)) == (403, "access-refused")
        assert problem(nobody.get(f"{PATH}/shown")) == (403, "access-refused")


# Changes


def test_a_change_is_followed_until_it_is_decided(client: httpx.Client, decider: Decider) -> None:
    answer = client.put(f"{PATH}/followed", json={"type": "machine", "values": {"heat": 1}})
    assert (answer.status_code, answer.json()["state"]) == (202, "under-way")
    where = answer.headers["location"]
    assert client.get(where).json()["state"] == "under-way"
    decider.decide("followed", version=1)
    # The decision may be there before the answer, which then is what became of the change.
    answers = (client.put(f"{PATH}/followed", json={"type": "machine"}) for _ in range(20))
    again = next(each.headers["location"] for each in answers if each.status_code == 202)
    eventually(lambda: client.get(again).json()["state"] == "applied")
    assert client.get(again).json()["objects"][0]["version"] == 1
    assert problem(client.get(f"{PATH}/transactions/unknown")) == (404, "not-found")


def test_a_change_is_seen_by_whoever_waited_for_it(client: httpx.Client, decider: Decider) -> None:
    decider.decide("waited", version=1, state=twin("waited", 1, values={"heat": 3}))
    made = client.put(f"{PATH}/waited", json={"type": "machine"}, headers={**WAIT, "If-None-Match": "*"})
    assert (made.status_code, made.headers["etag"]) == (201, '"1"')
    assert made.headers["preference-applied"] == "wait=10"
    assert client.get(f"{PATH}/waited").json()["values"] == {"heat": 3}
    decider.decide("waited", version=2, state=twin("waited", 2))
    patch = {"values": {"heat": 5, "count": {"add": 2}, "door": None}}
    changed = client.patch(
        f"{PATH}/waited",
        content=orjson.dumps(patch),
        headers={**WAIT, "If-Match": '"1"', "Content-Type": "application/merge-patch+json"},
    )
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')
    assert client.get(f"{PATH}/waited").headers["etag"] == '"2"'
    created, sent = decider.changes_of("waited")
    assert (created.action, created.type, created.if_version) == ("create", "machine", None)
    assert sent.model_dump(exclude_none=True) == {
        "action": "change",
        "values": {"heat": {"set": 5}, "count": {"add": 2}, "door": {"unset": True}},
        "if_version": 1,
    }


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (Refusal.NOT_PERMITTED, (403, "access-refused")),
        (Refusal.NOT_FOUND, (404, "not-found")),
        (Refusal.EXISTS, (409, "conflict")),
        (Refusal.VERSION_CHANGED, (412, "version-changed")),
        (Refusal.INVALID_VALUE, (422, "invalid-request")),
    ],
)
def test_a_refusal_has_a_status_that_fits(
    client: httpx.Client, decider: Decider, refusal: Refusal, expected: tuple[int, str]
) -> None:
    name = f"refused-{refusal.value}"
    decider.decide(name, Result.REFUSED, refusal=refusal)
    refused = client.patch(f"{PATH}/{name}", json={"values": {"heat": 1}}, headers=WAIT)
    assert problem(refused) == expected
    assert "as it was decided" in refused.json()["detail"]


def test_deleting_and_marking(client: httpx.Client, decider: Decider) -> None:
    decider.decide("doomed", version=2)
    assert client.delete(f"{PATH}/doomed", headers=WAIT).status_code == 204
    marked = client.delete(f"{PATH}/doomed", params={"mark": True}, headers={"Prefer": "wait=1"})
    assert marked.status_code == 204
    assert [each.action for each in decider.changes_of("doomed")] == ["delete", "mark-deleted"]


def test_changes_of_several_objects_are_one_transaction(client: httpx.Client, decider: Decider) -> None:
    decider.decide("several-1", version=1)
    decider.decide("several-2", Result.REFUSED, refusal=Refusal.NOT_FOUND)
    objects = {
        "several-1": {"action": "put", "type": "machine", "values": {"count": {"add": 1}}},
        "several-2": {"values": {"heat": {"set": 2.5}}},
    }
    answer = client.post(PATH, json={"objects": objects}, headers=WAIT)
    assert (answer.status_code, answer.json()["state"]) == (200, "refused")
    results = {each["id"]: each["result"] for each in answer.json()["objects"]}
    assert results == {"several-1": "applied", "several-2": "refused"}
    wrong = {"objects": {"several-1": {"values": {"heat": {"set": 1, "add": 1}}}}}
    assert problem(client.post(PATH, json=wrong)) == (422, "invalid-request")


def test_what_cannot_be_changed_here_is_refused_at_once(client: httpx.Client) -> None:
    elsewhere = client.put(f"{PATH}/x", params={"site": "oslo"}, json={"type": "remote"})
    assert problem(elsewhere) == (409, "conflict")
    assert problem(client.patch(f"{PATH}/x", json={}, headers={"If-Match": '"0"'})) == (
        412,
        "version-changed",
    )
    text = client.patch(f"{PATH}/x", content=b"{}", headers={"Content-Type": "application/json-patch+json"})
    assert problem(text) == (415, "unsupported-content")


def test_a_transaction_is_its_senders_alone(node: ServedNode, client: httpx.Client) -> None:
    where = client.delete(f"{PATH}/private").headers["location"]
    with node.client(node.token("stranger")) as stranger:
        assert problem(stranger.get(where)) == (404, "not-found")


# Live


def events_of(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    lines = (line for line in response.iter_lines() if line and not line.startswith(":"))
    for line in lines:
        yield line.removeprefix("event: "), orjson.loads(next(lines).removeprefix("data: "))


def test_a_stream_tells_what_is_there_and_what_changes(client: httpx.Client, writer: TwinWriter) -> None:
    writer.put([twin("live-1", values={"heat": 90}), twin("live-2", values={"heat": 10})])
    await_version(client, "live-2", 1)
    where = 'id like "live-*" and heat > 50'
    with client.stream("GET", PATH, params={"where": where}, headers=EVENTS) as response:
        events = events_of(response)
        name, first = next(events)
        assert (name, first["id"]) == ("twin", "live-1")
        assert next(events) == ("ready", {"missing_partitions": []})
        writer.put(
            [twin("live-3", type="secret", values={"heat": 99}), twin("live-2", 2, values={"heat": 60})]
        )
        name, risen = next(events)
        assert (name, risen["id"], risen["version"]) == ("twin", "live-2", 2)
        writer.put([twin("live-1", 2, values={"heat": 40})])
        assert next(events) == ("gone", {"site": "local", "id": "live-1"})
        writer.delete(twin("live-2", 3))
        assert next(events) == ("gone", {"site": "local", "id": "live-2"})


def test_one_object_is_watched_until_the_token_is_revoked(node: ServedNode, writer: TwinWriter) -> None:
    with node.client(node.token("watcher")) as client:
        writer.put([twin("watched", 1)])
        await_version(client, "watched", 1)
        with client.stream("GET", f"{PATH}/watched", headers=EVENTS) as response:
            events = events_of(response)
            assert [next(events)[0], next(events)[0]] == ["twin", "ready"]
            writer.put([twin("unwatched", 1), twin("watched", 2)])
            assert next(events)[1]["version"] == 2
            node.tokens.revoke("watcher")
            assert list(events) == []


# The command line and the Python client


@pytest.fixture
def catchment(node: ServedNode, tmp_path: Path) -> "Catchment":
    return Catchment(node, tmp_path)


class Catchment:
    """The command line on the served node."""

    def __init__(self, node: ServedNode, folder: Path) -> None:
        self._settings = folder / "catchment.yaml"
        needed = {"data_dir": True, "site": True, "api": True}
        self._settings.write_text(yaml.safe_dump(node.config.model_dump(mode="json", include=needed)))
        node.config.paths.operator_token.write_text(node.token("operator"))

    def twins(self, *arguments: str) -> CommandResult:
        return CliRunner().invoke(app, ["--config", str(self._settings), "twins", *arguments])

    def json(self, *arguments: str) -> Any:
        result = self.twins(*arguments, "--json")
        assert result.exception is None, result.output
        return orjson.loads(result.stdout)


def test_the_command_line_shows_and_searches(
    catchment: Catchment, client: httpx.Client, writer: TwinWriter
) -> None:
    writer.put([twin("typed-1", values={"heat": 70}), twin("typed-2", values={"heat": 90, "on": True})])
    await_version(client, "typed-1", 1)
    await_version(client, "typed-2", 1)
    hot = 'id like "typed-*" and heat > 80'
    assert [each["id"] for each in catchment.json("search", hot)] == ["typed-2"]
    assert "heat=90, on=true" in catchment.twins("search", hot).stdout
    assert catchment.json("get", "typed-1")["values"] == {"heat": 70}
    assert "typed-1" in {
        each["id"] for each in catchment.json("list", "--type", "machine", "--limit", "1000")
    }
    wrong = catchment.twins("search", "heat >").exception
    assert isinstance(wrong, InvalidExpression)
    assert wrong.exit_code == 2
    assert isinstance(catchment.twins("get", "absent").exception, NotFound)


def test_the_command_line_changes(catchment: Catchment, decider: Decider) -> None:
    decider.decide("commanded", version=1, state=twin("commanded", 1))
    assert (
        catchment.twins("create", "commanded", "--type", "machine", "heat=1").stdout == "commanded: applied\n"
    )
    decider.decide("commanded", version=2, state=twin("commanded", 2))
    values = ["heat=80", "count+=1", "door=", 'name="80"', "state=on"]
    changed = catchment.json("change", "commanded", *values, "--if-version", "1")
    assert (changed["state"], changed["objects"][0]["version"]) == ("applied", 2)
    assert catchment.json("transaction", changed["transaction"])["state"] == "applied"
    sent = decider.changes_of("commanded")[-1]
    assert {name: each.model_dump(exclude_none=True) for name, each in sent.values.items()} == {
        "heat": {"set": 80},
        "count": {"add": 1},
        "door": {"unset": True},
        "name": {"set": "80"},
        "state": {"set": "on"},
    }
    decider.decide("commanded", Result.REFUSED, refusal=Refusal.VERSION_CHANGED)
    assert isinstance(catchment.twins("delete", "commanded", "--mark").exception, VersionChanged)
    later = catchment.twins("delete", "unanswered", "--wait", "0").stdout
    assert "under way as transaction" in later


def test_programs_find_and_change(
    node: ServedNode, client: httpx.Client, writer: TwinWriter, decider: Decider
) -> None:
    writer.put([twin(f"program-{number}", values={"heat": number}) for number in range(3)])
    for number in range(3):
        await_version(client, f"program-{number}", 1)
    with connect(node.url, node.token("program"), node.config.paths.identities / "ca.crt") as program:
        where = 'id like "program-*" and heat >= 1'
        assert {each["id"] for each in program.twins(where)} == {"program-1", "program-2"}
        assert [each["id"] for each in program.twins(where, "-heat")] == ["program-2", "program-1"]
        assert program.twin("program-0")["values"] == {"heat": 0}
        decider.decide("program-0", version=2, state=twin("program-0", 2))
        assert program.change("program-0", {"heat": 5}, add={"count": 2})["state"] == "applied"
        assert program.twin("program-0")["version"] == 2
        told = program.twin_calls.watch(where)
        assert {next(told)[1]["id"], next(told)[1]["id"]} == {"program-1", "program-2"}
        with pytest.raises(InvalidExpression) as refused:
            program.twins("heat = ")
        assert "column 8" in str(refused.value)


def test_the_recipe_for_programs_runs(
    node: ServedNode,
    client: httpx.Client,
    writer: TwinWriter,
    decider: Decider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = {"temperature": 80.5, "state": "on"}
    writer.put([twin("oven-3", 7, values=values)])
    await_version(client, "oven-3", 7)
    decider.decide("oven-3", version=8, state=twin("oven-3", 8))
    monkeypatch.chdir(node.config.paths.identities)
    printed: list[tuple[Any, ...]] = []
    names = {"token": node.token("program"), "print": lambda *words: printed.append(words)}
    exec(python_of("use-twins.md", "node.twins(").replace("https://localhost:8443", node.url), names)
    assert printed == [("oven-3", 80.5), (7,)]
    assert decider.changes_of("oven-3")[-1].if_version == 7
