"""A client's session: refusals become our own errors, and a node that is away is named."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from catchment.client import Session, local_session
from catchment.errors import CatchmentError, Conflict, NodeNotRunning, SchemaRefused, VersionChanged
from tests.conftest import MakeConfig
from tests.listening import authority_of
from tests.serving import serve

PROBLEM = {"code": "conflict", "detail": "It is in use", "remedy": "Remove the others first."}


class Answering(ThreadingHTTPServer):
    """A server that answers every request with what it was told, and notes what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[tuple[int, bytes]] = []
        self.asked: list[tuple[str, str, str | None, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def will_say(self, status: int, body: Any = None) -> None:
        self.answers.append((status, b"" if body is None else json.dumps(body).encode()))


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.asked.append((self.command, self.path, self.headers.get("authorization"), body))
        status, answer = self.server.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - the names that the library calls

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[Answering]:
    with Answering() as answering:
        thread = threading.Thread(target=answering.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield answering
        answering.shutdown()
        thread.join()


def test_a_request_carries_the_token_and_brings_back_json(server: Answering) -> None:
    server.will_say(200, {"items": [1]})
    with Session(server.url, "ctm.me.secret") as session:
        assert session.get("/things", limit=3, cursor=None) == {"items": [1]}
    assert server.asked == [("GET", "/things?limit=3", "Bearer ctm.me.secret", b"")]


def test_bodies_are_json_and_no_content_is_nothing(server: Answering) -> None:
    server.will_say(200, {})
    server.will_say(201, {})
    server.will_say(204)
    with Session(server.url, "token") as session:
        session.put("/a", {"x": 1})
        session.post("/b", [2])
        assert session.delete("/a") is None
    assert [(method, path, body) for method, path, _, body in server.asked] == [
        ("PUT", "/a", b'{"x":1}'),
        ("POST", "/b", b"[2]"),
        ("DELETE", "/a", b""),
    ]


def test_all_pages_are_one_list(server: Answering) -> None:
    server.will_say(200, {"items": [1, 2], "next": "abc"})
    server.will_say(200, {"items": [3], "next": None})
    with Session(server.url, "token") as session:
        assert list(session.pages("/things", site="oslo")) == [1, 2, 3]
    assert [path for _, path, _, _ in server.asked] == ["/things?site=oslo", "/things?cursor=abc&site=oslo"]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (409, "conflict", Conflict),
        (412, "version-changed", VersionChanged),
        (422, "schema-refused", SchemaRefused),
        (429, "too-many-attempts", CatchmentError),
        (404, "unheard-of", CatchmentError),
    ],
)
def test_a_refusal_is_raised_as_the_error_that_it_was(
    server: Answering, status: int, code: str, kind: type[CatchmentError]
) -> None:
    server.will_say(status, {**PROBLEM, "code": code})
    with Session(server.url, "token") as session, pytest.raises(CatchmentError) as refusal:
        session.delete("/device")
    assert type(refusal.value) is kind
    assert (refusal.value.happened, refusal.value.remedy) == ("It is in use", "Remove the others first.")


@pytest.mark.parametrize("body", [None, "text", {"detail": "without a code"}, [1]])
def test_a_refusal_that_is_no_problem_tells_the_status(server: Answering, body: Any) -> None:
    server.will_say(502, body)
    with Session(server.url, "token") as session, pytest.raises(CatchmentError, match="answered 502"):
        session.get("/things")


def test_a_node_that_is_away_is_named() -> None:
    with (
        Session("http://127.0.0.1:9", "token") as session,
        pytest.raises(NodeNotRunning, match=r"The API at http://127.0.0.1:9 does not answer"),
    ):
        session.get("/things")


def test_a_node_of_another_authority_is_not_trusted(make_config: MakeConfig) -> None:
    """The certificate is checked against the node's own authority before a token is sent."""
    config, other = make_config(), make_config()
    authority_of(other).identity("api")
    with serve(config) as node:
        stranger = other.paths.identities / "ca.crt"
        with Session(node.url, node.token(), stranger) as session, pytest.raises(NodeNotRunning):
            session.get("/api/v1/ledger")


def test_the_operators_session_needs_its_token(make_config: MakeConfig) -> None:
    with pytest.raises(NodeNotRunning, match=r"operator\.token is missing"):
        local_session(make_config())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "127.0.0.1"])
def test_a_node_that_listens_everywhere_is_asked_on_this_machine(make_config: MakeConfig, host: str) -> None:
    config = make_config(api={"host": host})
    authority_of(config).identity("api")
    config.paths.operator_token.write_text("ctm.operator.secret\n")
    with local_session(config) as session, pytest.raises(NodeNotRunning, match=r"https://(127|\[::1)"):
        session.get("/api/v1/status")
