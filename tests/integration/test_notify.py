"""The notifier on a real broker: every change of state is told once, whoever is away or killed meanwhile."""

import io
import json
import os
import random
import signal
import struct
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import fastavro
import pytest
from confluent_kafka import Producer

from catchment.alerts.journal import Journal
from catchment.alerts.model import Alert, Delivery, Event, Notice, Outcome, Phase
from catchment.config import Config
from catchment.kafka.access import NOTIFIER_TRANSACTIONS
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.records import REASON_HEADER, TOPIC_HEADER, Kind
from catchment.schemas.schema import parse
from catchment.schemas.shipped import THRESHOLD_EVENT, TWIN_NOTICE, shipped
from tests.conftest import MakeConfig, RunBroker, free_ports
from tests.events import event, notice
from tests.receivers import MailReceiver, TelegramReceiver, WebReceiver
from tests.running_part import running_part

TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
SECRET = "a-secret-of-more-than-24-characters"
PATIENCE_S = 100.0
SCHEMA = parse(shipped()[THRESHOLD_EVENT])
NOTICE_SCHEMA = parse(shipped()[TWIN_NOTICE])


class Tower(NamedTuple):
    """A node of its own on the shared broker, and those that it tells."""

    config: Config
    telegram: TelegramReceiver
    mail: MailReceiver
    web: WebReceiver


def make_tower(cluster: Config, tmp_path: Path, node: str) -> Tower:
    telegram_port, mail_port, web_port = free_ports(3)
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "secret").write_text(SECRET)
    tower = Tower(
        cluster, TelegramReceiver(telegram_port, TOKEN), MailReceiver(mail_port), WebReceiver(web_port)
    )
    channels = {
        "phone": {
            "kind": "telegram",
            "token_file": str(tmp_path / "token"),
            "chat_id": "42",
            "api_url": tower.telegram.url,
        },
        "post": {
            "kind": "mail",
            "host": "127.0.0.1",
            "port": mail_port,
            "security": "none",
            "sender": "node@tower.example",
            "to": "team@tower.example",
        },
        "desk": {
            "kind": "webhook",
            "url": f"{tower.web.url}/alerts",
            "secret_file": str(tmp_path / "secret"),
        },
    }
    values = {
        **cluster.model_dump(),
        "site": node,
        "alerts": {"channels": channels, "retry_first_s": 0.1, "retry_max_s": 0.3, "timeout_s": 5},
    }
    return tower._replace(config=Config.model_validate(values))


Write = Callable[[Kind, str, bytes | None], None]


@pytest.fixture
def writer(cluster: Config) -> Write:
    return write_to(cluster)


def write_to(config: Config) -> Write:
    """Writes to topics as the API and the pipeline do."""
    writers: dict[Party, Producer] = {}

    def write(kind: Kind, key: str, value: bytes | None) -> None:
        party = Party.PIPELINE if kind is Kind.EVENTS else Party.API
        if party not in writers:
            writers[party] = producer(config, party)
        writers[party].produce(kind.topic, value, key)
        assert writers[party].flush(PATIENCE_S) == 0

    return write


def declare(write: Write, node: str, **rule: Any) -> None:
    """A registered sensor under a rule."""
    known = {"site": node, "version": 1, "updated_ms": 0}
    device = {**known, "id": "press-7", "name": "Press 7", "location": "Hall 2"}
    sensor = {**known, "id": "oven-3", "name": "Oven 3", "device_id": "press-7", "sensor_type_id": "heat"}
    write(Kind.DEVICES, f"{node}/press-7", _json(device))
    write(Kind.SENSORS, f"{node}/oven-3", _json(sensor))
    kind = {**known, "id": "heat", "name": "Heat", "unit": "C", "subject": "TemperatureData"}
    write(Kind.SENSOR_TYPES, f"{node}/heat", _json(kind))
    threshold = {"field": "temperature", "above": 80, "unit": "C", "enabled": False}
    write(Kind.RULES, f"{node}/too-hot", _json({**known, "id": "too-hot", **threshold, **rule}))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def encode(each: Event | Notice) -> bytes:
    schema = SCHEMA if isinstance(each, Event) else NOTICE_SCHEMA
    body = io.BytesIO()
    fastavro.schemaless_writer(body, json.loads(schema.text), each.model_dump(mode="json"))
    return struct.pack(">bI", 0, schema.id) + body.getvalue()


def happen(write: Write, events: Iterable[Event | Notice]) -> None:
    for each in events:
        write(Kind.EVENTS, f"{each.site}/{each.sensor_id}", encode(each))


def interval(node: str, number: int, site: str | None = None, lasting: int = 1) -> list[Event]:
    """One transgression, the so-manieth of its sensor and rule."""
    phases = [Phase.START, *[Phase.LASTING] * lasting, Phase.END]
    first = 1 + number * len(phases)
    return [
        event(phase, sequence, node=node, site=site or node, first_ms=number, timestamp=sequence)
        for sequence, phase in enumerate(phases, first)
    ]


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alerts_of(node: str, config: Config) -> list[Alert]:
    read = read_all(config, Party.OPERATOR, Kind.ALERTS.topic)
    alerts = [Alert.model_validate_json(message.value() or b"") for message in read]
    return [alert for alert in alerts if alert.node == node]


def deliveries_of(node: str, config: Config) -> list[Delivery]:
    read = read_all(config, Party.OPERATOR, Kind.DELIVERIES.topic)
    deliveries = [Delivery.model_validate_json(message.value() or b"") for message in read]
    return [each for each in deliveries if each.alert.startswith(f"{node}/")]


def states(alerts: Iterable[Alert]) -> list[tuple[str, str, int]]:
    return [(alert.id, alert.state.value, alert.version) for alert in alerts]


def expected(node: str, numbers: Iterable[int], site: str | None = None) -> list[tuple[str, str, int]]:
    return [
        (f"{node}/{site or node}/oven-3/too-hot/{number}", state, 2 * number + version)
        for number in numbers
        for state, version in (("raised", 1), ("cleared", 2))
    ]


def test_each_change_of_state_is_told_once_also_when_a_channel_is_away_and_the_notifier_killed(
    cluster: Config, tmp_path: Path, writer: Write
) -> None:
    node = "tower-once"
    tower = make_tower(cluster, tmp_path, node)
    declare(writer, node)
    with tower.mail.open(), tower.web.open():
        with running_part(tower.config, "notify"):
            happen(writer, interval(node, 0))
            # Telegram is away, which holds up neither mail nor webhook.
            wait_for(lambda: len(tower.mail.mails) == 2 and len(tower.web.requests) == 2)
            wait_for(lambda: any(each.channel == "phone" for each in deliveries_of(node, tower.config)))
        happen(writer, interval(node, 1))
        with tower.telegram.open(), running_part(tower.config, "notify"):
            wait_for(lambda: len(tower.telegram.texts) == 4)
            # The query was restarted, and writes again what it had written; then something new happens.
            happen(writer, [*interval(node, 0), *interval(node, 1), *interval(node, 2)])
            wait_for(
                lambda: len(tower.telegram.texts) == len(tower.mail.mails) == len(tower.web.requests) == 6
            )
            wait_for(
                lambda: (
                    sum(each.outcome is Outcome.DELIVERED for each in deliveries_of(node, tower.config)) == 18
                )
            )
    assert states(alerts_of(node, tower.config)) == expected(node, range(3))
    sentences = [alert.sentence for alert in alerts_of(node, tower.config)]
    assert tower.telegram.texts == sentences
    assert tower.mail.texts == sentences
    assert [json.loads(request.body)["sentence"] for request in tower.web.requests] == sentences
    assert sentences[0].startswith(
        f"Oven 3 (Press 7, Hall 2, site {node}): temperature above 80 °C since 1970-01-01 00:00:00 UTC"
    )


def test_a_notice_about_a_twin_is_told_once(cluster: Config, tmp_path: Path, writer: Write) -> None:
    node = "tower-notice"
    tower = make_tower(cluster, tmp_path, node)
    notices = [notice(number, node=node, site=node, text=f"notice {number}") for number in (1, 2, 3)]
    with tower.web.open(), running_part(tower.config, "notify"):
        # The query was restarted, and writes again what it had written.
        happen(writer, [*notices[:2], *notices])
        wait_for(lambda: len(tower.web.requests) == 3)
    told = [json.loads(request.body) for request in tower.web.requests]
    assert [(each["sentence"], each["state"], each["id"]) for each in told] == [
        (f"kiln-1 (site {node}): notice {number}", "told", f"{node}/{node}/kiln-1/twins/notice/{number}")
        for number in (1, 2, 3)
    ]


def test_killed_at_any_moment_nothing_is_left_out_and_what_came_twice_says_so(
    cluster: Config, tmp_path: Path, writer: Write
) -> None:
    node, kills, count = "tower-killed", 3, 30
    tower = make_tower(cluster, tmp_path, node)
    declare(writer, node, channels=["desk"])
    pause = random.Random(5)
    with tower.web.open():
        for kill in range(kills):
            happen(
                writer,
                [each for number in range(10 * kill, 10 * kill + 10) for each in interval(node, number)],
            )
            with running_part(tower.config, "notify"):
                time.sleep(pause.uniform(0, 0.15))
        with running_part(tower.config, "notify"):
            wait_for(
                lambda: (
                    len({request.headers["idempotency-key"] for request in tower.web.requests}) == 2 * count
                )
            )
    wanted = expected(node, range(count))
    assert states(alerts_of(node, tower.config)) == wanted
    keys = [request.headers["idempotency-key"] for request in tower.web.requests]
    assert list(dict.fromkeys(keys)) == [f"{alert}/{state}" for alert, state, _ in wanted]
    again = [request for place, request in enumerate(tower.web.requests) if keys.index(keys[place]) < place]
    assert len(again) <= kills
    assert all(json.loads(request.body)["in_doubt"] for request in again)


def test_what_is_remembered_is_found_behind_the_open_transaction_of_another(cluster: Config) -> None:
    config = cluster.model_copy(update={"site": "tower-hidden"})
    other = producer(cluster, Party.NOTIFIER, transactional_id=f"{NOTIFIER_TRANSACTIONS}tower-dead")
    other.init_transactions(PATIENCE_S)
    other.begin_transaction()
    other.produce(Kind.NOTIFIED.topic, b"{}", b"tower-dead/standing/none")
    assert other.flush(PATIENCE_S) == 0
    before = Journal(config)
    before.write([before.position(7)])
    with ThreadPoolExecutor() as thread:
        recovered = thread.submit(Journal(config).recover)
        time.sleep(1)
        assert not recovered.done()
        other.abort_transaction(PATIENCE_S)
        assert recovered.result(PATIENCE_S).next_offset == 7


def test_killed_between_a_request_and_its_answer_it_asks_again_and_says_so(
    cluster: Config, tmp_path: Path, writer: Write
) -> None:
    node = "tower-doubt"
    tower = make_tower(cluster, tmp_path, node)
    declare(writer, node, channels=["desk"])
    with tower.web.open():
        with running_part(tower.config, "notify") as process:
            tower.web.before_answer = process.kill
            happen(writer, interval(node, 0))
            process.wait(PATIENCE_S)
        tower.web.before_answer = lambda: None
        with running_part(tower.config, "notify"):
            wait_for(lambda: len(tower.web.requests) == 3)
            wait_for(lambda: len(deliveries_of(node, tower.config)) == 2)
    bodies = [json.loads(request.body) for request in tower.web.requests]
    assert [(body["state"], body["in_doubt"]) for body in bodies] == [
        ("raised", False),
        ("raised", True),
        ("cleared", False),
    ]
    assert tower.web.requests[0].headers["webhook-id"] == tower.web.requests[1].headers["webhook-id"]
    first, second = deliveries_of(node, tower.config)
    assert (first.attempt, first.in_doubt, first.outcome) == (2, True, Outcome.DELIVERED)
    assert (second.attempt, second.in_doubt, second.outcome) == (1, False, Outcome.DELIVERED)


def test_while_kafka_is_away_what_was_sent_is_remembered_and_not_sent_again(
    make_config: MakeConfig, run_broker: RunBroker, tmp_path: Path
) -> None:
    node = "tower-alone"
    tower = make_tower(make_config(), tmp_path, node)
    with tower.web.open(), ExitStack() as stack:
        broker = stack.enter_context(run_broker(tower.config))
        write = write_to(tower.config)
        declare(write, node, channels=["desk"])
        stack.enter_context(running_part(tower.config, "notify"))
        tower.web.before_answer = lambda: os.kill(broker.pid, signal.SIGKILL)
        happen(write, interval(node, 0)[:1])
        wait_for(lambda: len(tower.web.requests) == 1 and broker.exited())
        tower.web.before_answer = lambda: None
        stack.enter_context(run_broker(tower.config))
        happen(write, interval(node, 0)[1:])
        wait_for(lambda: len(deliveries_of(node, tower.config)) == 2)
        attempts = [(each.attempt, each.in_doubt) for each in deliveries_of(node, tower.config)]
    assert [json.loads(request.body)["state"] for request in tower.web.requests] == ["raised", "cleared"]
    assert attempts == [(1, False), (1, False)]


def test_a_node_tells_of_its_own_rules_only_in_their_words_and_on_their_channels(
    cluster: Config, tmp_path: Path, writer: Write
) -> None:
    node, site = "tower-words", "tower-afar"
    tower = make_tower(cluster, tmp_path, node)
    declare(writer, node, channels=["phone"], message="$sensor: $what ($state)")
    with ExitStack() as stack:
        stack.enter_context(tower.telegram.open())
        stack.enter_context(tower.mail.open())
        stack.enter_context(running_part(tower.config, "notify"))
        happen(writer, interval(site, 0))
        start, *_, end = interval(node, 0, site=site)
        happen(writer, [start])
        wait_for(lambda: len(tower.telegram.texts) == 1)
        # The rule is removed, which ends what was under way: those who were told of it are told.
        writer(Kind.RULES, f"{node}/too-hot", None)
        happen(writer, [end])
        wait_for(lambda: len(tower.telegram.texts) == 2)
    assert tower.telegram.texts[0] == "oven-3: temperature above 80 °C (raised)"
    assert tower.telegram.texts[1].startswith(
        f"oven-3 (site {site}): temperature no longer above 80 °C, after"
    )
    assert tower.mail.mails == []
    assert states(alerts_of(node, tower.config)) == expected(node, [0], site)
    assert alerts_of(site, tower.config) == []


def test_an_event_that_cannot_be_read_is_a_dead_letter_and_the_next_is_told(
    cluster: Config, tmp_path: Path, writer: Write
) -> None:
    node = "tower-letters"
    tower = make_tower(cluster, tmp_path, node)
    declare(writer, node, channels=["desk"])
    wrong = {f"{node}/text": b"no event", f"{node}/cut": encode(event(node=node))[:9]}
    wrong[f"{node}/unknown"] = struct.pack(">bI", 0, 999) + b"?"
    with tower.web.open(), running_part(tower.config, "notify"):
        for key, value in wrong.items():
            writer(Kind.EVENTS, key, value)
        happen(writer, interval(node, 0))
        wait_for(lambda: len(tower.web.requests) == 2)
    letters = {
        (message.key() or b"").decode(): message
        for message in read_all(cluster, Party.OPERATOR, Kind.DEADLETTER.topic)
    }
    for key, value in wrong.items():
        assert letters[key].value() == value
        headers = dict(letters[key].headers() or [])
        assert headers[TOPIC_HEADER] == Kind.EVENTS.topic.encode()
        assert b"The event cannot be read: " in (headers[REASON_HEADER] or b"")
