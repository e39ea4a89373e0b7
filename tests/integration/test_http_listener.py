"""Messages over HTTP: what becomes of a body, who may send, and what a slow or hostile peer reaches."""

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from catchment.config import Config
from catchment.gateway.http import HttpListener
from catchment.gateway.limits import RateLimit
from catchment.security.authority import Authority, Identity
from catchment.security.providers import Providers
from tests.conftest import MakeConfig
from tests.listening import Inside, authority_of, inside, listening, provider, wait_until

MAX_LINE_BYTES = 1_000
MAX_BODY_BYTES = 5_000
LINES = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}


@contextmanager
def http_inside(config: Config) -> Iterator[Inside]:
    identity = authority_of(config).identity("gateway")
    rate = RateLimit(config.gateway.limits.max_records_per_s)
    with inside(config) as running:
        providers = Providers(config.paths.providers)
        listener = HttpListener(config.gateway, identity, providers, running.intake, rate)
        with listening(running, listener):
            yield running


@pytest.fixture(scope="module")
def gateway(make_config: MakeConfig) -> Iterator[Inside]:
    http = {"max_body_bytes": MAX_BODY_BYTES, "body_timeout_s": 0.5, "idle_timeout_s": 1}
    with http_inside(make_config(gateway={"max_line_bytes": MAX_LINE_BYTES, "http": http})) as running:
        yield running


def context_of(config: Config, identity: Identity | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority_of(config).ca_file)
    if identity:
        context.load_cert_chain(identity.certificate_file, identity.key_file)
    return context


def client(config: Config, identity: Identity | None) -> httpx.Client:
    url = f"https://localhost:{config.gateway.http.port}"
    return httpx.Client(base_url=url, verify=context_of(config, identity), timeout=10)


def post(running: Inside, name: str, path: str, content: Any, headers: dict[str, str]) -> httpx.Response:
    with client(running.config, provider(running.config, name)) as session:
        return session.post(f"/v1/streams/{path}", content=content, headers=headers)


def connect(config: Config, identity: Identity) -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", config.gateway.http.port), timeout=10)
    return context_of(config, identity).wrap_socket(plain, server_hostname="localhost")


def is_problem(response: httpx.Response, status: int, code: str) -> bool:
    problem = response.json()
    shape = {"type", "title", "status", "detail", "code", "remedy"}
    return (
        response.headers["content-type"] == "application/problem+json"
        and set(problem) == shape
        and (response.status_code, problem["status"], problem["code"]) == (status, status, code)
    )


class TestBodies:
    @pytest.mark.parametrize("kind", ["application/octet-stream", "text/plain; charset=utf-8", ""])
    def test_one_message(self, gateway: Inside, kind: str) -> None:
        stream = f"one/{len(kind)}"
        headers = {"Content-Type": kind} if kind else {}
        answer = post(gateway, "one", stream, b"\x00 two\nlines\n", headers)
        assert (answer.status_code, answer.json()) == (202, {"accepted": 1, "repeated": False})
        assert gateway.messages(stream) == [b"\x00 two\nlines\n"]

    def test_a_message_a_line(self, gateway: Inside) -> None:
        answer = post(gateway, "lines", "lines", b'{"a": 1}\r\n{"a":  2}\n\nlast', LINES)
        assert answer.json() == {"accepted": 3, "repeated": False}
        assert gateway.messages("lines") == [b'{"a": 1}', b'{"a":  2}', b"last"]

    def test_a_message_an_element(self, gateway: Inside) -> None:
        answer = post(gateway, "array", "array", b' [ {"a": 1.10} , [2, 3],"x" ] ', JSON)
        assert answer.json() == {"accepted": 3, "repeated": False}
        assert gateway.messages("array") == [b'{"a": 1.10}', b"[2, 3]", b'"x"']

    def test_an_object_is_one_message(self, gateway: Inside) -> None:
        assert post(gateway, "object", "object", b'{"a": [1]}\n', JSON).status_code == 202
        assert gateway.messages("object") == [b'{"a": [1]}']

    def test_nothing_in_an_empty_batch(self, gateway: Inside) -> None:
        assert post(gateway, "empty", "empty", b"[]", JSON).json() == {"accepted": 0, "repeated": False}

    def test_what_is_not_json_is_refused(self, gateway: Inside) -> None:
        answer = post(gateway, "broken", "broken", b'[{"a": 1}, {]', JSON)
        assert is_problem(answer, 422, "invalid-request")
        assert gateway.messages("broken") == []

    def test_a_form_is_refused(self, gateway: Inside) -> None:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert is_problem(post(gateway, "form", "form", b"a=1", form), 415, "unsupported-content")


class TestKeys:
    def test_a_repeated_key_is_accepted_once(self, gateway: Inside) -> None:
        headers = {**LINES, "Idempotency-Key": "batch-7"}
        assert post(gateway, "keyed", "keyed", b"1\n2", headers).status_code == 202
        answer = post(gateway, "keyed", "keyed", b"1\n2", headers)
        assert (answer.status_code, answer.json()) == (200, {"accepted": 0, "repeated": True})
        assert gateway.messages("keyed") == [b"1", b"2"]

    def test_the_same_key_of_another_stream_is_another(self, gateway: Inside) -> None:
        headers = {"Idempotency-Key": "same"}
        assert post(gateway, "two", "two/a", b"1", headers).status_code == 202
        assert post(gateway, "two", "two/b", b"1", headers).status_code == 202

    def test_a_strange_key_is_refused(self, gateway: Inside) -> None:
        answer = post(gateway, "strange", "strange", b"1", {"Idempotency-Key": "x" * 201})
        assert is_problem(answer, 422, "invalid-request")


class TestWhoMaySend:
    def test_to_streams_of_ones_own(self, gateway: Inside) -> None:
        assert post(gateway, "press", "press/temperature:2", b"1", {}).status_code == 202

    @pytest.mark.parametrize("path", ["oven", "press2", "pres"])
    def test_not_to_those_of_others(self, gateway: Inside, path: str) -> None:
        assert is_problem(post(gateway, "press", path, b"1", {}), 403, "access-refused")
        assert gateway.messages(path) == []

    def test_not_to_what_is_no_stream(self, gateway: Inside) -> None:
        assert is_problem(post(gateway, "press", "press/%20", b"1", {}), 422, "invalid-request")

    def test_not_without_a_certificate(self, gateway: Inside) -> None:
        with client(gateway.config, None) as session, pytest.raises(httpx.TransportError):
            session.post("/v1/streams/press", content=b"let me in")

    def test_not_with_a_certificate_of_another_authority(self, gateway: Inside, tmp_path: Path) -> None:
        stranger = Authority(tmp_path).identity("provider.press")
        with client(gateway.config, stranger) as session, pytest.raises(httpx.TransportError):
            session.post("/v1/streams/press", content=b"let me in")

    def test_not_with_the_certificate_of_a_part(self, gateway: Inside) -> None:
        with client(gateway.config, authority_of(gateway.config).identity("api")) as session:
            assert is_problem(session.post("/v1/streams/api", content=b"1"), 403, "access-refused")

    def test_a_removed_provider_is_refused_on_its_open_connection(self, gateway: Inside) -> None:
        with client(gateway.config, provider(gateway.config, "gone")) as session:
            assert session.post("/v1/streams/gone", content=b"1").status_code == 202
            Providers(gateway.config.paths.providers).remove("gone", authority_of(gateway.config))
            assert is_problem(session.post("/v1/streams/gone", content=b"2"), 403, "access-refused")
        assert gateway.messages("gone") == [b"1"]


class TestAddresses:
    def test_another_address_is_not_found(self, gateway: Inside) -> None:
        with client(gateway.config, provider(gateway.config, "press")) as session:
            assert is_problem(session.get("/"), 404, "not-found")

    def test_another_method_is_refused(self, gateway: Inside) -> None:
        with client(gateway.config, provider(gateway.config, "press")) as session:
            answer = session.get("/v1/streams/press")
        assert is_problem(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == "POST"


class TestLimits:
    def test_a_large_body_is_refused(self, gateway: Inside) -> None:
        answer = post(gateway, "large", "large", b"x\n" * MAX_BODY_BYTES, LINES)
        assert is_problem(answer, 413, "content-too-large")
        assert gateway.messages("large") == []

    def test_a_large_body_that_did_not_say_so_is_refused(self, gateway: Inside) -> None:
        chunks = (b"x" * 999 + b"\n" for _ in range(10))
        assert is_problem(post(gateway, "chunked", "chunked", chunks, LINES), 413, "content-too-large")

    def test_a_large_message_is_refused_with_all_that_came_with_it(self, gateway: Inside) -> None:
        body = b"small\n" + b"x" * (MAX_LINE_BYTES + 1)
        assert is_problem(post(gateway, "big", "big", body, LINES), 413, "content-too-large")
        assert gateway.messages("big") == []

    def test_a_slow_body_is_refused(self, gateway: Inside) -> None:
        with connect(gateway.config, provider(gateway.config, "slow")) as connection:
            connection.sendall(b"POST /v1/streams/slow HTTP/1.1\r\nContent-Length: 9\r\n\r\nslow")
            assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")
            assert is_ended(connection)

    @pytest.mark.parametrize("words", [b"", b"POST /v1/str"])
    def test_a_connection_without_a_request_is_closed(self, gateway: Inside, words: bytes) -> None:
        with connect(gateway.config, provider(gateway.config, "idle")) as connection:
            began_s = time.monotonic()
            connection.sendall(words)
            assert is_ended(connection)
            assert time.monotonic() - began_s < 5

    def test_headers_without_end_are_refused(self, gateway: Inside) -> None:
        with connect(gateway.config, provider(gateway.config, "heads")) as connection:
            connection.sendall(b"POST /v1/streams/heads HTTP/1.1\r\n")
            time.sleep(0.1)
            connection.sendall(b"X: " + b"x" * 100_000)
            assert connection.recv(1000).startswith(b"HTTP/1.1 431 ")

    def test_what_is_no_http_is_refused(self, gateway: Inside) -> None:
        with connect(gateway.config, provider(gateway.config, "garbage")) as connection:
            connection.sendall(b"\x00\x01 garbage\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")
            assert is_ended(connection)

    def test_requests_ahead_of_their_answers_are_answered_in_order(self, gateway: Inside) -> None:
        request = b"POST /v1/streams/ahead HTTP/1.1\r\nContent-Length: 1\r\n\r\n%d"
        with connect(gateway.config, provider(gateway.config, "ahead")) as connection:
            connection.sendall(b"".join(request % number for number in range(9)))
            assert gateway.wait_for("ahead", 9) == [b"%d" % number for number in range(9)]

    def test_too_many_requests_ahead_end_the_connection(self, gateway: Inside) -> None:
        request = b"POST /v1/streams/flood HTTP/1.1\r\nContent-Length: 1\r\n\r\n1"
        with connect(gateway.config, provider(gateway.config, "flood")) as connection:
            connection.sendall(request * 5_000)
            wait_until(lambda: is_ended(connection))
        assert len(gateway.messages("flood")) < 5_000


def is_ended(connection: ssl.SSLSocket) -> bool:
    """Whether the peer ends the connection, whatever it says before."""
    try:
        while connection.recv(65536):
            pass
    except (ConnectionError, ssl.SSLError):
        pass
    return True


@pytest.fixture(scope="module")
def small(make_config: MakeConfig) -> Iterator[Inside]:
    limits = {"max_records_per_s": 10, "max_connections_per_provider": 2}
    settings = {"limits": limits, "http": {"max_requests_per_provider": 1}}
    with http_inside(make_config(gateway=settings)) as running:
        yield running


class TestBounds:
    def test_faster_than_its_rate_a_provider_is_told_to_wait(self, small: Inside) -> None:
        with client(small.config, provider(small.config, "fast")) as session:
            batch = b"x\n" * 30
            assert session.post("/v1/streams/fast", content=batch, headers=LINES).status_code == 202
            answer = session.post("/v1/streams/fast", content=b"1")
        assert is_problem(answer, 429, "rate-exceeded")
        assert answer.headers["retry-after"] == "2"
        assert len(small.messages("fast")) == 30

    def test_one_providers_rate_is_not_anothers(self, small: Inside) -> None:
        assert post(small, "hasty", "hasty", b"x\n" * 30, LINES).status_code == 202
        assert post(small, "calm", "calm", b"1", {}).status_code == 202

    def test_a_third_connection_is_ended(self, small: Inside) -> None:
        identity = provider(small.config, "many")
        with connect(small.config, identity), connect(small.config, identity):
            with connect(small.config, identity) as third:
                assert is_ended(third)
            with connect(small.config, provider(small.config, "other")) as other:
                other.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert other.recv(100).startswith(b"HTTP/1.1 404 ")

    def test_a_second_request_at_the_same_time_is_told_to_wait(self, small: Inside) -> None:
        identity = provider(small.config, "busy")
        asked = small.intake.asked
        small.call(small.intake.gate.clear)
        with ThreadPoolExecutor() as pool, client(small.config, identity) as session:
            first = pool.submit(session.post, "/v1/streams/busy", content=b"1")
            wait_until(lambda: small.intake.asked > asked)
            assert is_problem(post(small, "busy", "busy", b"2", {}), 429, "rate-exceeded")
            small.call(small.intake.gate.set)
            assert first.result().status_code == 202


def test_an_answer_comes_when_the_message_is_safe(gateway: Inside) -> None:
    asked = gateway.intake.asked
    gateway.call(gateway.intake.gate.clear)
    answered = threading.Event()

    def send() -> None:
        assert post(gateway, "safe", "safe", b"1", {}).status_code == 202
        answered.set()

    with ThreadPoolExecutor() as pool:
        sending = pool.submit(send)
        wait_until(lambda: gateway.intake.asked > asked)
        assert not answered.wait(0.3)
        gateway.call(gateway.intake.gate.set)
        sending.result()


def test_a_full_spool_is_said(make_config: MakeConfig) -> None:
    spool = {"max_mib": 1, "when_full": "refuse"}
    with http_inside(make_config(gateway={"spool": spool})) as running:
        for _ in range(2):
            assert post(running, "full", "full", b"x" * 900_000, {}).status_code == 202
        answer = post(running, "full", "full", b"x", {})
    assert is_problem(answer, 503, "spool-full")
    assert int(answer.headers["retry-after"]) > 0


def test_curl_sends(gateway: Inside) -> None:
    identity = provider(gateway.config, "curl")
    url = f"https://localhost:{gateway.config.gateway.http.port}/v1/streams/curl"
    command = f"""curl --silent --show-error --cacert {identity.ca_file} --cert {identity.certificate_file}
      --key {identity.key_file} --data-binary @- --header Content-Type:application/x-ndjson {url}"""
    done = subprocess.run(command.split(), input=b"one\ntwo\n", capture_output=True, timeout=20)
    assert done.stdout == b'{"accepted":2,"repeated":false}', done.stderr
    assert gateway.messages("curl") == [b"one", b"two"]
