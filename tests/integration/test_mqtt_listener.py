"""Messages from a real MQTT broker: acknowledged when they are safe, whatever is killed."""

import multiprocessing
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest

from catchment.config import Config
from catchment.config.listeners import MqttSettings
from catchment.config.models import WhenFull
from catchment.gateway.limits import RateLimit
from catchment.gateway.mqtt import MqttListener
from catchment.security.authority import Authority
from tests.conftest import MakeConfig
from tests.listening import Inside, authority_of, inside, listening, wait_until
from tests.mosquitto import Mosquitto, running_mosquitto

VERSIONS = ["3.1.1", "5"]
PUB_VERSION = {"3.1.1": "311", "5": "5"}


@pytest.fixture(scope="module")
def home(make_config: MakeConfig) -> Config:
    """The identities of gateway, broker and devices, and the broker's port."""
    return make_config()


@pytest.fixture(scope="module")
def broker(home: Config) -> Iterator[Mosquitto]:
    with running_mosquitto(new_broker(home, home.gateway.port)) as running:
        yield running


def new_broker(home: Config, port: int, *lines: str) -> Mosquitto:
    authority = authority_of(home)
    directory = home.data_dir / f"mosquitto-{port}"
    directory.mkdir()
    return Mosquitto(directory, port, authority.identity("mosquitto"), authority.identity("device"), *lines)


def settings_for(home: Config, broker: Mosquitto, name: str, version: str = "5", **others: Any) -> Config:
    """A configuration that reads the topics below `name` in a session of that name."""
    identity = authority_of(home).identity("gateway")
    mqtt = {
        "host": "localhost",
        "port": broker.port,
        "protocol": version,
        "client_id": name,
        "subscriptions": {f"{name}/#": "mqtt/{topic}"},
        "ca_file": identity.ca_file,
        "certificate_file": identity.certificate_file,
        "key_file": identity.key_file,
        "reconnect_max_s": 1,
        **others,
    }
    data_dir = home.data_dir / name
    gateway = home.gateway.model_copy(
        update={"mqtt": MqttSettings.model_validate(mqtt), "max_line_bytes": 1000}
    )
    return home.model_copy(update={"data_dir": data_dir, "gateway": gateway})


def listener_of(running: Inside) -> MqttListener:
    settings = running.config.gateway.mqtt
    assert settings
    rate = RateLimit(running.config.gateway.limits.max_records_per_s)
    return MqttListener(running.config, settings, running.intake, rate)


@contextmanager
def subscribed(config: Config) -> Iterator[Inside]:
    with inside(config) as running, listening(running, listener_of(running)) as listener:
        wait_until(lambda: bool(listener.figures()["subscribed"]))
        yield running


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_published_arrives_in_order(home: Config, broker: Mosquitto, version: str) -> None:
    name = f"order{PUB_VERSION[version]}"
    sent = [f"message {number}" for number in range(300)]
    with subscribed(settings_for(home, broker, name, version)) as running:
        broker.publish(f"{name}/a", *sent, version=PUB_VERSION[version])
        assert running.wait_for(f"mqtt/{name}/a", 300) == [each.encode() for each in sent]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_published_while_the_gateway_is_away_arrives_later(
    home: Config, broker: Mosquitto, version: str
) -> None:
    name = f"away{PUB_VERSION[version]}"
    config = settings_for(home, broker, name, version)
    with subscribed(config):
        broker.publish(f"{name}/a", "1")
    broker.publish(f"{name}/a", "2", "3")
    with subscribed(config) as running:
        assert running.wait_for(f"mqtt/{name}/a", 3) == [b"1", b"2", b"3"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_gateway_killed_before_it_acknowledged_gets_the_message_again(
    home: Config, broker: Mosquitto, version: str
) -> None:
    name = f"killed{PUB_VERSION[version]}"
    config = settings_for(home, broker, name, version)
    context = multiprocessing.get_context("spawn")
    ready, heard = context.Event(), context.Event()
    hanging = context.Process(target=hear_and_hang, args=(config, ready, heard))
    hanging.start()
    assert ready.wait(20)
    broker.publish(f"{name}/a", "heard and not safe")
    assert heard.wait(20)
    hanging.kill()
    hanging.join()
    with subscribed(config) as running:
        assert running.wait_for(f"mqtt/{name}/a", 1) == [b"heard and not safe"]


def hear_and_hang(config: Config, ready: Event, heard: Event) -> None:
    """A gateway that hears a message, and whose disk never has it."""
    with subscribed(config) as running:
        running.call(running.intake.gate.clear)
        ready.set()
        wait_until(lambda: running.intake.asked > 0)
        heard.set()
        time.sleep(60)


def test_a_restarted_broker_is_found_again(home: Config, tmp_path: Path, make_config: MakeConfig) -> None:
    with running_mosquitto(new_broker(home, make_config().gateway.port)) as broker:
        config = settings_for(home, broker, "restart")
        with subscribed(config) as running:
            broker.publish("restart/a", "1")
            running.wait_for("mqtt/restart/a", 1)
            broker.stop()
            time.sleep(0.2)
            broker.start()
            broker.publish("restart/a", "2")
            assert running.wait_for("mqtt/restart/a", 2) == [b"1", b"2"]


def test_what_waits_while_the_broker_restarts_is_acknowledged_on_the_new_connection(
    home: Config, make_config: MakeConfig
) -> None:
    with running_mosquitto(new_broker(home, make_config().gateway.port)) as broker:
        config = settings_for(home, broker, "waits")
        with subscribed(config) as running:
            running.call(running.intake.gate.clear)
            broker.publish("waits/a", "1")
            wait_until(lambda: running.intake.asked == 1)
            broker.stop()
            broker.start()
            broker.publish("waits/a", "2")
            running.call(running.intake.gate.set)
            wait_until(lambda: running.messages("mqtt/waits/a")[-1:] == [b"2"])
        accepted = running.messages("mqtt/waits/a")
        with subscribed(config) as running:
            broker.publish("waits/a", "3")
            wait_until(lambda: running.messages("mqtt/waits/a")[-1:] == [b"3"])
            assert running.messages("mqtt/waits/a") == [*accepted, b"3"]


def test_nothing_is_acknowledged_on_another_connection_than_its_own(
    home: Config, make_config: MakeConfig
) -> None:
    forgetful = new_broker(home, make_config().gateway.port, "persistence false")
    with running_mosquitto(forgetful) as broker:
        config = settings_for(home, broker, "renumbered")
        with inside(config) as running:
            listener = listener_of(running)
            running.run(listener.start())
            wait_until(lambda: bool(listener.figures()["subscribed"]))
            running.call(running.intake.gate.clear)
            broker.publish("renumbered/a", "1")
            wait_until(lambda: running.intake.asked == 1)
            broker.stop()
            wait_until(lambda: not listener.figures()["connected"])
            broker.start()
            wait_until(lambda: bool(listener.figures()["connected"] and listener.figures()["subscribed"]))
            # The broker counts from the beginning again: this message has the first one's packet id.
            broker.publish("renumbered/a", "2")
            wait_until(lambda: listener.figures()["waiting"] == 1)
            running.call(running.intake.let_waiting_pass)
            wait_until(lambda: running.intake.asked == 2)
            running.run(listener.drain(0.1))
            assert running.messages("mqtt/renumbered/a") == [b"1"]
        with subscribed(config) as running:
            assert running.wait_for("mqtt/renumbered/a", 2) == [b"1", b"2"]


@pytest.mark.parametrize("version", VERSIONS)
def test_no_more_than_allowed_is_under_way(home: Config, version: str, make_config: MakeConfig) -> None:
    name = f"bound{PUB_VERSION[version]}"
    unbounded = new_broker(home, make_config().gateway.port, "max_inflight_messages 0")
    with (
        running_mosquitto(unbounded) as broker,
        subscribed(settings_for(home, broker, name, version, max_unacknowledged=5)) as running,
    ):
        running.call(running.intake.gate.clear)
        broker.publish(f"{name}/a", *map(str, range(100)))
        wait_until(lambda: running.intake.asked > 0)
        time.sleep(0.3)
        assert running.intake.asked <= 5
        running.call(running.intake.gate.set)
        assert running.wait_for(f"mqtt/{name}/a", 100) == [str(number).encode() for number in range(100)]


def test_a_key_of_the_publisher_makes_a_repetition_known(home: Config, broker: Mosquitto) -> None:
    with subscribed(settings_for(home, broker, "keyed")) as running:
        for key in ("k1", "k1", "k2"):
            broker.publish("keyed/a", "same", options=f"-D publish user-property idempotency-key {key}")
        broker.publish("keyed/a", "end")
        wait_until(lambda: running.messages("mqtt/keyed/a")[-1:] == [b"end"])
        assert running.messages("mqtt/keyed/a") == [b"same", b"same", b"end"]


@pytest.mark.parametrize("version", VERSIONS)
def test_retained_messages_are_from_before_and_left_out(
    home: Config, broker: Mosquitto, version: str
) -> None:
    name = f"retained{PUB_VERSION[version]}"
    broker.publish(f"{name}/a", "old", options="-r")
    with subscribed(settings_for(home, broker, name, version)) as running:
        broker.publish(f"{name}/a", "new", options="-r")
        assert running.wait_for(f"mqtt/{name}/a", 1) == [b"new"]


def test_a_full_spool_is_waited_for(home: Config, broker: Mosquitto) -> None:
    config = settings_for(home, broker, "full")
    spool = config.gateway.spool.model_copy(update={"when_full": WhenFull.REFUSE, "max_mib": 1})
    config = config.model_copy(update={"gateway": config.gateway.model_copy(update={"spool": spool})})
    with subscribed(config) as running:
        running.run(running.intake.accept("other", [b"x" * 2**21]))
        broker.publish("full/a", "1")
        wait_until(lambda: running.intake.asked > 2)
        assert running.messages("mqtt/full/a") == []
        running.spool.release(running.spool.end, [], {})
        assert running.wait_for("mqtt/full/a", 1) == [b"1"]


def test_a_name_and_a_password_are_sent(home: Config, tmp_path: Path, make_config: MakeConfig) -> None:
    passwords = tmp_path / "passwords"
    passwords.write_text("gateway:secret\n")
    subprocess.run(["mosquitto_passwd", "-U", str(passwords)], check=True, timeout=20)
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text("secret\n")
    wrong.write_text("guess\n")
    locked = new_broker(home, make_config().gateway.port, f"password_file {passwords}")
    with running_mosquitto(locked) as broker:
        with subscribed(
            settings_for(home, broker, "signed", username="gateway", password_file=right)
        ) as running:
            assert running.messages("mqtt/signed/a") == []
        config = settings_for(home, broker, "guessed", username="gateway", password_file=wrong)
        with inside(config) as running, listening(running, listener_of(running)) as listener:
            wait_until(lambda: "refuses" in listener.figures()["trouble"])
            assert not listener.figures()["connected"]


# paho leaves the socket of a failed handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_broker_of_another_authority_is_not_trusted(
    home: Config, broker: Mosquitto, tmp_path: Path
) -> None:
    Authority(tmp_path).identity("anyone")
    config = settings_for(home, broker, "foreign", ca_file=tmp_path / "ca.crt")
    with inside(config) as running, listening(running, listener_of(running)) as listener:
        wait_until(lambda: "CERTIFICATE_VERIFY_FAILED" in listener.figures()["trouble"])
