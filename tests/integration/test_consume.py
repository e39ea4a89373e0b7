"""Consumers on a real broker: nothing left out, in order, whoever is killed, hangs or fails."""

import fcntl
import json
import signal
import subprocess
import sys
import termios
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Consumer, KafkaError, Message, Producer

from catchment.config import Config
from catchment.config.consume import ConsumeSettings
from catchment.consume import Handler, NotAllHandled, Subscription
from catchment.errors import AccessRefused
from catchment.kafka.access import ensure_access
from catchment.kafka.clients import producer
from catchment.kafka.identities import bootstrap_servers
from catchment.kafka.parties import Party
from catchment.records import Kind
from catchment.security.authority import Authority
from catchment.security.consumers import Consumers
from catchment.security.providers import Providers
from tests.conftest import MakeConfig, RunBroker
from tests.running_node import clean_environment
from tests.running_part import running_part
from tests.web_server import running_server

PATIENCE_S = 40.0
STILL_S = 3.0
PIPE_BYTES = 65_536
EXAMPLES = Path(__file__).parents[2] / "examples"
_SENDERS: dict[Path, Producer] = {}


@pytest.fixture(scope="module")
def base(make_config: MakeConfig, run_broker: RunBroker) -> Iterator[Config]:
    """A broker of this file's own, whose records are all ours."""
    config = make_config()
    Consumers(config.paths.consumers).add("lab", (Kind.RECORDS,), Authority(config.paths.identities))
    with run_broker(config):
        yield config


def with_settings(config: Config, **settings: Any) -> Config:
    """Small groups of acknowledgements, so that a test need not send much."""
    small = {"start": "latest", "prefetch_records": 50, "ack_group_records": 50, **settings}
    return config.model_copy(update={"consume": ConsumeSettings.model_validate(small)})


def send(
    config: Config,
    values: Sequence[object],
    key: str = "oslo/press",
    kind: Kind = Kind.RECORDS,
    each: int = 0,
) -> None:
    """Writes values to a topic; with `each`, in batches of so many."""
    if config.data_dir not in _SENDERS:
        _SENDERS[config.data_dir] = producer(config, Party.GATEWAY)
    sender = _SENDERS[config.data_dir]
    for number, value in enumerate(values):
        sender.produce(kind.topic, str(value).encode(), key=key.encode())
        if each and number % each == each - 1:
            sender.flush(PATIENCE_S)
    assert sender.flush(PATIENCE_S) == 0


def wait_for(reached: Callable[[], bool], timeout_s: float = PATIENCE_S) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


@contextmanager
def consuming(config: Config, handle: Handler, kind: Kind = Kind.RECORDS) -> Iterator[Subscription]:
    """The library at work in a thread."""
    subscription = Subscription(config, handle, kind=kind)
    failures: list[Exception] = []

    def run() -> None:
        try:
            subscription.run()
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield subscription
    finally:
        subscription.stop()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert failures == []


@contextmanager
def command(config: Config, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """`catchment consume` in a process of its own."""
    file = config.data_dir / f"consume-{time.monotonic_ns()}.yaml"
    file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_none=True)))
    full = [sys.executable, "-m", "catchment", "--config", str(file), "consume", *arguments]
    process = subprocess.Popen(full, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def stop(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 0


def stands_still(process: "subprocess.Popen[bytes]") -> bool:
    """Whether the process has written a good part of what a pipe takes, and goes on no more."""
    before = waiting_bytes(process)
    time.sleep(STILL_S)
    return PIPE_BYTES // 4 < before == waiting_bytes(process)


def waiting_bytes(process: "subprocess.Popen[bytes]") -> int:
    """What the process has written, and nobody has read."""
    assert process.stdout is not None
    told = fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4))
    return int.from_bytes(told, sys.byteorder)


def numbers(file: Path) -> list[int]:
    """The whole lines of a file that is being written."""
    text = file.read_text() if file.exists() else ""
    return [int(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


class TestGoingOn:
    def test_after_a_kill_only_what_was_not_acknowledged_comes_again(
        self, base: Config, tmp_path: Path
    ) -> None:
        out, config = tmp_path / "out", with_settings(base, group="killed", start="earliest")
        send(base, range(1, 3001))
        with command(config, "--to", "file", str(out)) as process:
            wait_for(lambda: len(numbers(out)) >= 500)
            process.kill()
            process.wait()
        before = numbers(out)
        assert before == list(range(1, len(before) + 1))
        assert len(before) < 3000, "killed too late to show anything"
        send(base, range(3001, 3501))
        with command(config, "--to", "file", str(out)) as process:
            wait_for(lambda: bool(numbers(out)) and numbers(out)[-1] == 3500)
            stop(process)
        after = numbers(out)[len(before) :]
        assert after == list(range(after[0], 3501))
        # One batch that was written, and one group of acknowledgements that waited.
        assert len(before) - 100 <= after[0] - 1 <= len(before)

    def test_after_a_stop_nothing_comes_twice(self, base: Config, tmp_path: Path) -> None:
        out, config = tmp_path / "out", with_settings(base, group="killed")
        send(base, range(5000, 5100))
        with command(config, "--to", "file", str(out)) as process:
            wait_for(lambda: len(numbers(out)) == 100)
            stop(process)
        send(base, range(5100, 5200))
        with command(config, "--to", "file", str(out), "-w", "3") as process:
            wait_for(lambda: len(numbers(out)) >= 200)
            stop(process)
        assert numbers(out) == list(range(5000, 5200))

    def test_a_handler_that_fails_gets_the_same_again_and_nothing_overtakes(self, base: Config) -> None:
        taken: list[int] = []
        failures = iter([NotAllHandled(2, "full"), OSError("away"), NotAllHandled(0, "full")])

        def handle(batch: Sequence[Message]) -> None:
            values = [int(message.value() or b"") for message in batch]
            failure = next(failures, None)
            if isinstance(failure, NotAllHandled):
                taken.extend(values[: failure.handled])
            if failure:
                raise failure
            taken.extend(values)

        send(base, range(100))
        with consuming(with_settings(base, group="failing", start="earliest"), handle):
            wait_for(lambda: taken[-1:] == [99])
        assert taken[-100:] == list(range(100))


class TestKeyShared:
    def test_two_workers_keep_the_order_of_each_key(self, base: Config) -> None:
        taken: dict[str, list[int]] = defaultdict(list)
        by: dict[str, set[int]] = defaultdict(set)
        workers: set[int] = set()

        def handle(batch: Sequence[Message]) -> None:
            workers.add(threading.get_ident())
            for message in batch:
                key = (message.key() or b"").decode()
                taken[key].append(int(message.value() or b""))
                by[key].add(threading.get_ident())
            time.sleep(0.002)

        with consuming(with_settings(base, group="spread", workers=2), handle):
            wait_for(lambda: self.both_work(base, workers))
            for key in range(12):
                send(base, range(1, 201), key=f"key-{key}")
            wait_for(lambda: all(taken[f"key-{key}"][-1:] == [200] for key in range(12)))
        assert all(taken[f"key-{key}"] == list(range(1, 201)) for key in range(12))
        assert all(len(by[f"key-{key}"]) == 1 for key in range(12))

    def both_work(self, config: Config, workers: set[int]) -> bool:
        send(config, [0] * 20, key=f"probe-{time.monotonic_ns()}")
        time.sleep(0.2)
        return len(workers) == 2

    def test_what_a_worker_does_not_finish_in_time_goes_to_another(self, base: Config) -> None:
        hanging, released = threading.Event(), threading.Event()
        taken: list[int] = []

        def handle(batch: Sequence[Message]) -> None:
            if not hanging.is_set():
                hanging.set()
                released.wait(PATIENCE_S)
                return
            taken.extend(int(message.value() or b"") for message in batch)

        config = with_settings(base, group="hanging", workers=2, ack_timeout_s=10)
        with consuming(config, handle):
            wait_for(lambda: self.hangs(base, hanging))
            send(base, range(1, 101), key="probe")
            wait_for(lambda: [number for number in taken if number] == list(range(1, 101)))
            released.set()

    def hangs(self, config: Config, hanging: threading.Event) -> bool:
        send(config, [0], key="probe")
        return hanging.wait(0.2)


class TestShared:
    def test_records_of_one_partition_go_to_all_workers(self, base: Config) -> None:
        by_worker: dict[int, list[int]] = defaultdict(list)
        failed = threading.Event()

        def handle(batch: Sequence[Message]) -> None:
            if not failed.is_set():
                failed.set()
                raise OSError("away")
            by_worker[threading.get_ident()] += [int(message.value() or b"") for message in batch]
            time.sleep(0.1)

        config = with_settings(base, group="queue", mode="shared", workers=2, start="earliest")
        send(base, range(400), kind=Kind.DEADLETTER, each=10)
        with consuming(config, handle, Kind.DEADLETTER):
            wait_for(lambda: sum(map(len, by_worker.values())) >= 400)
        assert sorted(number for taken in by_worker.values() for number in taken) == list(range(400))
        assert len(by_worker) == 2

    def test_the_group_goes_on_where_it_stopped(self, base: Config) -> None:
        taken: list[int] = []

        def handle(batch: Sequence[Message]) -> None:
            taken.extend(int(message.value() or b"") for message in batch)

        send(base, [400], kind=Kind.DEADLETTER)
        with consuming(with_settings(base, group="queue", mode="shared"), handle, Kind.DEADLETTER):
            wait_for(lambda: bool(taken))
        assert taken == [400]


class TestOneAtATime:
    def test_a_second_exclusive_consumer_is_refused(self, base: Config) -> None:
        config = with_settings(base, group="sole", mode="exclusive", name="first")
        taken: list[int] = []
        with consuming(config, lambda batch: taken.extend(int(each.value() or b"") for each in batch)):
            wait_for(lambda: self.takes(base, taken))
            second = Subscription(config, print)
            with pytest.raises(AccessRefused, match="operator/sole has a consumer already: first-"):
                second.run()
            del taken[:]
            send(base, range(1, 51))
            wait_for(lambda: len([number for number in taken if number]) == 50)

    def test_failover_takes_over_after_a_kill(self, base: Config, tmp_path: Path) -> None:
        config = with_settings(base, group="standby", mode="failover", start="latest")
        first_out, second_out = tmp_path / "first", tmp_path / "second"
        with command(config, "--to", "file", str(first_out), "-w", "2") as first:
            wait_for(lambda: self.writes(base, first_out))
            with command(config, "--to", "file", str(second_out), "-w", "2"):
                send(base, range(1, 101))
                wait_for(lambda: 100 in numbers(first_out))
                time.sleep(1.0)
                assert numbers(second_out) == []
                first.kill()
                killed_s = time.monotonic()
                send(base, range(101, 201))
                wait_for(lambda: 200 in numbers(second_out))
                assert time.monotonic() - killed_s < 20
        took_over = [number for number in numbers(second_out) if number > 100]
        assert took_over == list(range(101, 201))

    def takes(self, config: Config, taken: list[int]) -> bool:
        send(config, [0])
        return bool(taken)

    def writes(self, config: Config, file: Path) -> bool:
        send(config, [0])
        time.sleep(0.2)
        return bool(numbers(file))


class TestOutside:
    def test_stdout_and_exec_get_what_comes(self, base: Config, tmp_path: Path) -> None:
        out = tmp_path / "out"
        config = with_settings(base, group="outlets", start="earliest")
        send(base, ["last"])
        with command(config, "--as", "lab", "--json") as process:
            assert process.stdout is not None
            records = (json.loads(line) for line in process.stdout)
            last = next(record for record in records if record["value"] == "last")
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0
        assert last["topic"] == Kind.RECORDS.topic
        assert last["key"] == "oslo/press"
        with command(
            config, "--as", "lab", "--to", "exec", f"sh -c 'cat >> {out}'", "--group", "b"
        ) as process:
            wait_for(lambda: out.exists() and "last" in out.read_text().splitlines())
            stop(process)

    def test_a_reader_that_stands_still_does_not_hold_up_the_end(self, base: Config) -> None:
        send(base, ["x" * 1000] * 200)
        with command(base, "--as", "lab", "--group", "still", "--from", "earliest") as process:
            wait_for(lambda: stands_still(process))
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 1
            _, said = process.communicate()
        assert b"Nobody reads the standard output any more" in said

    def test_a_web_server_gets_all_in_order_and_what_it_refuses_is_kept(self, base: Config) -> None:
        send(base, ["a", "b", "bad", "c"], key="web")
        with running_server() as server:
            server.statuses = [503, 200, 429]
            server.refuses = b"bad"
            options = ["--as", "lab", "--group", "web", "--from", "earliest", "--to", "http", server.url]
            with command(base, *options) as process:
                wait_for(lambda: b"c" in server.taken)
                stop(process)
        assert [body for body in server.taken if body.isalpha() and len(body) == 1] == [b"a", b"b", b"c"]
        letters = (base.paths.dead_letters / "lab.ndjson").read_text().splitlines()
        assert [json.loads(letter)["record"]["value"] for letter in letters] == ["bad"]

    def test_a_plain_consumer_with_a_certificate_reads_until_it_is_removed(self, base: Config) -> None:
        consumers, authority = Consumers(base.paths.consumers), Authority(base.paths.identities)
        identity = consumers.add("guest", (Kind.RECORDS,), authority)
        ensure_access(base)
        settings = {
            "bootstrap.servers": bootstrap_servers(base),
            "security.protocol": "ssl",
            "ssl.ca.location": str(identity.ca_file),
            "ssl.certificate.pem": identity.certificate_file.read_text(),
            "ssl.key.pem": identity.key_file.read_text(),
            "group.id": "guest/plain",
            "auto.offset.reset": "earliest",
        }
        send(base, [1])
        assert self.first_of(settings).error() is None
        assert (
            _code(self.first_of({**settings, "group.id": "lab/plain"}))
            == KafkaError.GROUP_AUTHORIZATION_FAILED
        )
        consumers.remove("guest", authority)
        ensure_access(base)
        assert _code(self.first_of(settings)) in (
            KafkaError.GROUP_AUTHORIZATION_FAILED,
            KafkaError.TOPIC_AUTHORIZATION_FAILED,
        )

    def first_of(self, settings: dict[str, Any]) -> Message:
        consumer = Consumer(settings)
        consumer.subscribe([Kind.RECORDS.topic])
        message = consumer.poll(PATIENCE_S)
        consumer.close()
        assert message is not None
        return message

    def test_the_templates_of_a_producer_and_a_consumer_work(self, base: Config) -> None:
        Providers(base.paths.providers).add("template", Authority(base.paths.identities))
        identities = str(base.paths.identities)
        place = ["127.0.0.1", str(base.gateway.port), "template", identities]
        lines = "".join(f"template {number}\n" for number in range(50))
        with running_part(base, "gateway"):
            subprocess.run(
                [sys.executable, str(EXAMPLES / "producer" / "producer.py"), *place],
                input=lines,
                text=True,
                check=True,
                timeout=PATIENCE_S,
            )
            script = [sys.executable, str(EXAMPLES / "consumer" / "consumer.py")]
            reader = subprocess.Popen(
                [*script, bootstrap_servers(base), "lab", identities], stdout=subprocess.PIPE, text=True
            )
            assert reader.stdout is not None
            read = (line for line in reader.stdout if line.startswith("template "))
            assert [next(read) for _ in range(50)] == lines.splitlines(keepends=True)
            reader.terminate()
            reader.communicate()
            assert reader.returncode == 0


def _code(message: Message) -> int | None:
    error = message.error()
    return error.code() if error else None
