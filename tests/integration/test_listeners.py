"""What every listener keeps to, whatever its protocol: one test for all of them."""

import ssl
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from catchment.config import Config
from catchment.errors import ConfigurationError
from catchment.gateway.adapters import Listener, load_adapters
from catchment.gateway.http import HttpListener
from catchment.gateway.limits import RateLimit
from catchment.gateway.mqtt import MqttListener
from catchment.gateway.tcp import TcpListener
from catchment.security.authority import Authority, Identity
from catchment.security.providers import Providers
from tests.conftest import MakeConfig
from tests.integration.test_gateway import connect
from tests.listening import Inside, authority_of, inside, listening, provider, wait_until
from tests.mosquitto import Mosquitto, running_mosquitto

EXAMPLE = Path(__file__).parents[2] / "examples" / "adapter"
MAX_BYTES = 1_000
GIANT = b"x" * (MAX_BYTES + 1)
UNLIMITED = RateLimit(None)


@dataclass
class Way:
    """A listener, how something is sent to it, and how someone unknown tries."""

    listener: Listener
    stream: str
    send: Callable[[list[bytes]], None]
    send_as_stranger: Callable[[], None] | None = None


MakeWay = Callable[[Inside], AbstractContextManager[Way]]


@contextmanager
def over_tcp(running: Inside) -> Iterator[Way]:
    config = running.config
    providers = Providers(config.paths.providers)
    identity = authority_of(config).identity("gateway")
    listener = TcpListener(config.gateway, providers, running.intake, identity, UNLIMITED)

    def send(messages: list[bytes], shown: Identity | None = None) -> None:
        context = context_of(config, shown or provider(config, "press"))
        with connect(config, context) as connection:
            connection.sendall(b"".join(message + b"\n" for message in messages))
            connection.unwrap()

    yield Way(listener, "press", send, lambda: send([b"let me in"], stranger(config)))


@contextmanager
def over_http(running: Inside) -> Iterator[Way]:
    config = running.config
    providers = Providers(config.paths.providers)
    identity = authority_of(config).identity("gateway")
    listener = HttpListener(config.gateway, identity, providers, running.intake, UNLIMITED)

    def send(messages: list[bytes], identity: Identity | None = None) -> None:
        context = context_of(config, identity or provider(config, "press"))
        with httpx.Client(verify=context) as client:
            for message in messages:
                url = f"https://localhost:{config.gateway.http.port}/v1/streams/press"
                client.post(url, content=message).raise_for_status()

    yield Way(listener, "press", send, lambda: send([b"let me in"], stranger(config)))


@contextmanager
def over_mqtt(running: Inside) -> Iterator[Way]:
    config, settings = running.config, running.config.gateway.mqtt
    assert settings
    authority = authority_of(config)
    directory = config.data_dir / "mosquitto"
    directory.mkdir()
    broker = Mosquitto(
        directory, settings.port, authority.identity("mosquitto"), authority.identity("device")
    )
    listener = MqttListener(config, settings, running.intake, UNLIMITED)

    def send(messages: list[bytes]) -> None:
        wait_until(lambda: bool(listener.figures()["subscribed"]))
        broker.publish("press", *(message.decode() for message in messages))

    with running_mosquitto(broker):
        yield Way(listener, "mqtt/press", send)


@contextmanager
def from_a_file(running: Inside) -> Iterator[Way]:
    """The adapter of the manual's example, loaded as an installer would have it loaded."""
    file = running.config.data_dir / "press.log"
    file.touch()
    [listener] = load_adapters(running.config.gateway.adapters, running.intake)

    def send(messages: list[bytes]) -> None:
        with file.open("ab") as log:
            log.write(b"".join(message + b"\n" for message in messages))

    yield Way(listener, "press/log", send)


def context_of(config: Config, identity: Identity) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority_of(config).ca_file)
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    return context


def stranger(config: Config) -> Identity:
    """Who has the right name from the wrong authority."""
    return Authority(config.data_dir / "elsewhere").identity("provider.press")


@pytest.fixture
def running(make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inside]:
    monkeypatch.setattr(sys, "path", [str(EXAMPLE), *sys.path])
    plain = make_config()
    authority_of(plain).identity("gateway")
    files = authority_of(plain).files_of("gateway")
    mqtt = {
        "host": "localhost",
        "port": plain.api.port,
        "subscriptions": {"press": "mqtt/{topic}"},
        "ca_file": files.ca_file,
        "certificate_file": files.certificate_file,
        "key_file": files.key_file,
    }
    settings = {"file": plain.data_dir / "press.log", "stream": "press/log", "max_line_bytes": MAX_BYTES}
    adapters = [{"class": "follow_file:FollowFile", "settings": settings}]
    gateway = {"max_line_bytes": MAX_BYTES, "mqtt": mqtt, "adapters": adapters}
    with inside(make_config(data_dir=plain.data_dir, gateway=gateway)) as running:
        yield running


every_way = pytest.mark.parametrize("make_way", [over_tcp, over_http, over_mqtt, from_a_file])


@every_way
def test_messages_arrive_in_order(running: Inside, make_way: MakeWay) -> None:
    sent = [f"message {number}".encode() for number in range(100)]
    with make_way(running) as way, listening(running, way.listener):
        way.send(sent[:50])
        way.send(sent[50:])
        assert running.wait_for(way.stream, 100) == sent


@every_way
def test_a_giant_message_is_refused_to_its_face_or_kept_as_a_dead_letter(
    running: Inside, make_way: MakeWay
) -> None:
    with make_way(running) as way, listening(running, way.listener):
        if status_of_refusal(way, GIANT) != 413:
            wait_until(lambda: bool(running.letters(way.stream)))
            [(reason, kept)] = running.letters(way.stream)
            assert reason.endswith("-too-long")
            assert kept == GIANT[:MAX_BYTES]
        way.send([b"small"])
        assert running.wait_for(way.stream, 1) == [b"small"]


def status_of_refusal(way: Way, message: bytes) -> int | None:
    """The status with which a message is refused by who answers each message."""
    try:
        way.send([message])
    except httpx.HTTPStatusError as refusal:
        return refusal.response.status_code
    return None


@pytest.mark.parametrize("make_way", [over_tcp, over_http])
def test_nobody_unknown_is_heard(running: Inside, make_way: MakeWay) -> None:
    with make_way(running) as way, listening(running, way.listener):
        assert way.send_as_stranger
        with pytest.raises((OSError, httpx.TransportError)):
            way.send_as_stranger()
        way.send([b"known"])
        assert running.wait_for(way.stream, 1) == [b"known"]


@every_way
def test_a_drain_finishes_what_is_under_way(running: Inside, make_way: MakeWay) -> None:
    with make_way(running) as way, ThreadPoolExecutor() as pool:
        running.run(way.listener.start())
        running.call(running.intake.gate.clear)
        sending = pool.submit(way.send, [b"under way"])
        wait_until(lambda: bool(running.intake.asked or running.messages(way.stream)))
        draining = pool.submit(running.run, way.listener.drain(10))
        running.call(running.intake.gate.set)
        draining.result()
        sending.result()
        assert running.messages(way.stream) == [b"under way"]


class TestTheExample:
    def test_it_goes_on_after_the_last_line_that_was_accepted(self, running: Inside) -> None:
        with from_a_file(running) as way:
            with listening(running, way.listener):
                way.send([b"1", b"2"])
                running.wait_for(way.stream, 2)
            way.send([b"3"])
        with from_a_file(running) as way, listening(running, way.listener):
            assert running.wait_for(way.stream, 3) == [b"1", b"2", b"3"]

    def test_a_line_is_taken_when_it_is_finished(self, running: Inside) -> None:
        file = running.config.data_dir / "press.log"
        with (
            from_a_file(running) as way,
            listening(running, way.listener),
            file.open("ab", buffering=0) as log,
        ):
            log.write(b"whole\nhal")
            assert running.wait_for(way.stream, 1) == [b"whole"]
            log.write(b"f\n")
            assert running.wait_for(way.stream, 2) == [b"whole", b"half"]

    def test_another_file_of_the_same_name_is_refused(self, running: Inside) -> None:
        with from_a_file(running) as way:
            with listening(running, way.listener):
                way.send([b"1", b"2"])
                running.wait_for(way.stream, 2)
            (running.config.data_dir / "press.log").write_bytes(b"new\n")
        with from_a_file(running) as way, pytest.raises(ConfigurationError, match="another file"):
            running.run(way.listener.start())
