"""The gateway's listener: who may send, and what becomes of every line."""

import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from catchment.config import Config
from catchment.consume.source import stamp_of
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.records import REASON_HEADER, Kind
from catchment.security.authority import Authority, Identity
from catchment.security.providers import Providers
from catchment.simulate.lines import client_context
from tests.running_part import report_of, running_part

MAX_LINE_BYTES = 1000


@pytest.fixture(scope="module")
def config(cluster: Config) -> Config:
    settings = cluster.gateway.model_copy(update={"max_line_bytes": MAX_LINE_BYTES, "mark_interval_s": 0.2})
    return cluster.model_copy(update={"gateway": settings})


@pytest.fixture(scope="module")
def gateway(config: Config) -> Iterator["subprocess.Popen[bytes]"]:
    with running_part(config, "gateway") as process:
        yield process


def authority_of(config: Config) -> Authority:
    return Authority(config.paths.identities, config.hostnames)


def provider(config: Config, name: str) -> Identity:
    return Providers(config.paths.providers).add(name, authority_of(config))


def connect(config: Config, context: ssl.SSLContext) -> ssl.SSLSocket:
    plain = socket.create_connection((config.gateway.host, config.gateway.port), timeout=10)
    return context.wrap_socket(plain, server_hostname="localhost")


def send(config: Config, identity: Identity, *chunks: bytes) -> None:
    """Sends, and waits until the gateway has read to the end."""
    with connect(config, client_context(identity)) as connection:
        for chunk in chunks:
            connection.sendall(chunk)
        connection.unwrap()


def confirmed(config: Config, count: int, stream: str) -> list[bytes]:
    """The records of a stream, once there are `count` of them, in order."""
    deadline = time.monotonic() + 20
    while True:
        found = [
            (stamp.sequence, message.value() or b"")
            for message in read_all(config, Party.OPERATOR, Kind.RECORDS.topic)
            if (stamp := stamp_of(message)) and stamp.source.stream == stream
        ]
        if len(found) >= count or time.monotonic() > deadline:
            assert [sequence for sequence, _ in found] == list(range(1, count + 1))
            return [value for _, value in found]
        time.sleep(0.2)


def dead_letters(config: Config, stream: str) -> list[tuple[bytes | None, bytes]]:
    return [
        (dict(message.headers() or [])[REASON_HEADER], message.value() or b"")  # type: ignore[misc]
        for message in read_all(config, Party.OPERATOR, Kind.DEADLETTER.topic)
        if message.key() == stream.encode()
    ]


def is_refused(config: Config, context: ssl.SSLContext) -> bool:
    """Whether the gateway ends the connection; with TLS 1.3 a client learns of it when it reads."""
    try:
        with connect(config, context) as connection:
            connection.sendall(b"let me in\n")
            return connection.recv(1) == b""
    except (ssl.SSLError, ConnectionError):
        return True


@pytest.mark.usefixtures("gateway")
class TestLines:
    def test_lines_become_records_in_order_with_stamps_and_keys(self, config: Config) -> None:
        send(config, provider(config, "press"), b"one\ntwo\r\n", b"thr", b"ee\n\n\x00\xff bytes\n")
        assert confirmed(config, 5, "press") == [b"one", b"two", b"three", b"", b"\x00\xff bytes"]

    def test_a_line_that_is_too_long_goes_to_the_dead_letters(self, config: Config) -> None:
        send(config, provider(config, "long"), b"before\n" + b"x" * 5000 + b"\nafter\n")
        assert confirmed(config, 2, "long") == [b"before", b"after"]
        assert dead_letters(config, "long") == [(b"line-too-long", b"x" * MAX_LINE_BYTES)]

    def test_a_line_that_is_never_finished_goes_to_the_dead_letters(self, config: Config) -> None:
        send(config, provider(config, "cut"), b"whole\nhal")
        assert confirmed(config, 1, "cut") == [b"whole"]
        assert dead_letters(config, "cut") == [(b"line-unfinished", b"hal")]

    def test_two_connections_of_a_provider_share_one_sequence(self, config: Config) -> None:
        identity = provider(config, "twice")
        send(config, identity, b"first\n")
        send(config, identity, b"second\n")
        assert confirmed(config, 2, "twice") == [b"first", b"second"]

    def test_marks_say_what_was_accepted(self, config: Config) -> None:
        send(config, provider(config, "marked"), b"line\n" * 7)
        confirmed(config, 7, "marked")
        time.sleep(3 * config.gateway.mark_interval_s)
        marks = [
            orjson.loads(message.value() or b"")
            for message in read_all(config, Party.OPERATOR, Kind.MARKS.topic)
        ]
        assert [mark["accepted"] for mark in marks if mark["stream"] == "marked"][-1] == 7


class Talk:
    """A provider that asks for numbers, as one would write it with a socket."""

    def __init__(self, config: Config, identity: Identity, greeting: bytes) -> None:
        self.connection = connect(config, client_context(identity))
        self.connection.sendall(greeting)
        self._answers = self.connection.makefile("r")

    def answer(self) -> str:
        return self._answers.readline().strip()

    def close(self) -> None:
        self._answers.close()
        self.connection.close()

    def wait_for(self, answer: str) -> None:
        while (said := self.answer()) != answer:
            assert said, f"the gateway never said {answer}"


StartTalk = Callable[..., Talk]


@pytest.fixture
def talk_as(config: Config) -> Iterator[StartTalk]:
    """Connects as a provider of some name, with a greeting."""
    talks: list[Talk] = []

    def start(name: str, greeting: bytes = b"catchment/1 ack\n") -> Talk:
        talks.append(Talk(config, provider(config, name), greeting))
        return talks[-1]

    yield start
    for talk in talks:
        talk.close()


@pytest.mark.usefixtures("gateway")
class TestNumbers:
    def test_messages_are_acknowledged_and_resumed_after_a_cut(
        self, config: Config, talk_as: StartTalk
    ) -> None:
        first = talk_as("careful")
        assert first.answer() == "ok 0"
        first.connection.sendall(b"one\ntwo\nthree\nfo")
        first.wait_for("ack 3")
        first.close()
        second = talk_as("careful")
        assert second.answer() == "ok 3"
        second.connection.sendall(b"four\n")
        second.wait_for("ack 4")
        assert confirmed(config, 4, "careful") == [b"one", b"two", b"three", b"four"]
        assert dead_letters(config, "careful") == []

    def test_frames_carry_any_bytes(self, config: Config, talk_as: StartTalk) -> None:
        talk = talk_as("binary", b"catchment/1 ack frames\n")
        assert talk.answer() == "ok 0"
        messages = [b"\n\x00\xff", b"", b"x" * MAX_LINE_BYTES]
        talk.connection.sendall(b"".join(len(each).to_bytes(4) + each for each in messages))
        talk.wait_for("ack 3")
        assert confirmed(config, 3, "binary") == messages

    def test_a_frame_that_is_too_long_ends_the_connection(self, config: Config, talk_as: StartTalk) -> None:
        talk = talk_as("giant", b"catchment/1 frames\n")
        assert talk.answer() == "ok 0"
        talk.connection.sendall((MAX_LINE_BYTES + 1).to_bytes(4) + b"begins")
        assert talk.answer() == ""
        confirmed(config, 0, "giant")
        assert dead_letters(config, "giant") == [(b"line-too-long", b"begins")]

    def test_a_second_connection_takes_over(self, talk_as: StartTalk) -> None:
        first = talk_as("restless")
        assert first.answer() == "ok 0"
        second = talk_as("restless")
        assert second.answer() == "ok 0"
        assert first.answer() == ""

    def test_a_greeting_that_is_not_understood_is_answered(self, talk_as: StartTalk) -> None:
        talk = talk_as("polite", b"catchment/1 please\n")
        assert talk.answer().startswith("error The greeting")
        assert talk.answer() == ""


@pytest.mark.usefixtures("gateway")
def test_curl_can_post_and_post_again(config: Config) -> None:
    identity = provider(config, "poster")
    url = f"https://localhost:{config.gateway.http.port}/v1/streams/poster"
    shown = {"cacert": identity.ca_file, "cert": identity.certificate_file, "key": identity.key_file}
    files = [word for option, file in shown.items() for word in (f"--{option}", str(file))]
    headers = ["-H", "Content-Type: application/x-ndjson", "-H", "Idempotency-Key: once"]
    command = ["curl", "--silent", "--fail", *files, *headers, "--data-binary", "one\ntwo\n", url]
    answers = [
        orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(2)
    ]
    assert [answer["accepted"] for answer in answers] == [2, 0]
    assert confirmed(config, 2, "poster") == [b"one", b"two"]


@pytest.mark.usefixtures("gateway")
def test_openssl_can_send_a_line(config: Config) -> None:
    identity = provider(config, "by-hand")
    address = f"{config.gateway.host}:{config.gateway.port}"
    files = {"-CAfile": identity.ca_file, "-cert": identity.certificate_file, "-key": identity.key_file}
    shown = [word for option, file in files.items() for word in (option, str(file))]
    manner = ["-quiet", "-no_ign_eof", "-verify_return_error", "-connect", address]
    command = ["openssl", "s_client", *manner, *shown]
    subprocess.run(command, input=b"21.5 C\n", check=True, capture_output=True, timeout=30)
    assert confirmed(config, 1, "by-hand") == [b"21.5 C"]


@pytest.mark.usefixtures("gateway")
class TestIdentity:
    def test_a_registered_provider_is_let_in(self, config: Config) -> None:
        with connect(config, client_context(provider(config, "known"))) as connection:
            connection.sendall(b"hello\n")
            connection.settimeout(0.5)
            with pytest.raises(TimeoutError):
                connection.recv(1)

    def test_a_client_without_a_certificate_is_refused(self, config: Config) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(authority_of(config).ca_file)
        assert is_refused(config, context)

    @pytest.mark.parametrize("party", [Party.PIPELINE, Party.API, Party.ADMIN])
    def test_another_partys_certificate_is_refused(self, config: Config, party: Party) -> None:
        assert is_refused(config, client_context(authority_of(config).identity(party)))

    def test_a_certificate_of_another_authority_is_refused(self, config: Config, tmp_path: Path) -> None:
        stranger = Authority(tmp_path).identity("provider.known")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_cert_chain(stranger.certificate_file, stranger.key_file)
        context.load_verify_locations(authority_of(config).ca_file)
        assert is_refused(config, context)

    def test_a_removed_provider_is_refused_from_then_on(self, config: Config, tmp_path: Path) -> None:
        context = client_context(provider(config, "gone"))
        assert not is_refused_at_once(config, context)
        Providers(config.paths.providers).remove("gone", authority_of(config))
        assert is_refused(config, context)

    def test_a_removed_provider_loses_its_open_connection(self, config: Config) -> None:
        with connect(config, client_context(provider(config, "evicted"))) as connection:
            connection.sendall(b"hello\n")
            Providers(config.paths.providers).remove("evicted", authority_of(config))
            assert connection.recv(1) == b""

    def test_plain_text_is_refused(self, config: Config) -> None:
        with socket.create_connection((config.gateway.host, config.gateway.port), timeout=10) as plain:
            plain.sendall(b"no TLS here\n")
            assert plain.recv(1000)[:1] != b"n"
            assert plain.recv(1000) == b""

    def test_nothing_of_the_refused_became_a_record(self, config: Config) -> None:
        values = [message.value() for message in read_all(config, Party.OPERATOR, Kind.RECORDS.topic)]
        assert b"let me in" not in values


def is_refused_at_once(config: Config, context: ssl.SSLContext) -> bool:
    with connect(config, context) as connection:
        connection.settimeout(0.5)
        try:
            return connection.recv(1) == b""
        except TimeoutError:
            return False


def test_a_stop_drains_what_was_sent(config: Config, gateway: "subprocess.Popen[bytes]") -> None:
    with connect(config, client_context(provider(config, "last"))) as connection:
        connection.sendall(b"line\n" * 50_000)
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(15) == 0
    assert len(confirmed(config, 50_000, "last")) == 50_000
    assert report_of(config, "gateway") is None
