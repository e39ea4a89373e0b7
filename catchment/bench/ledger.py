"""How long a record takes from a provider to the ledger's topic, beside a plain round trip through Kafka."""

import socket
import threading
import time
from collections.abc import Callable, Iterable

from confluent_kafka import Message, TopicPartition
from confluent_kafka.admin import NewTopic

from catchment.bench.result import Result, percentile
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.kafka.clients import admin, consumer, end_offsets, producer
from catchment.kafka.parties import Party
from catchment.ledger.model import LedgerRow, decode
from catchment.node.status import ask_node
from catchment.records import Kind
from catchment.security.authority import Authority
from catchment.security.providers import Providers
from catchment.simulate.lines import client_context

RATE_PER_S = 1_000
WARM_UP_RECORDS = 2_000
WAIT_S = 20.0
LINE = b"%012d 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"


def run(config: Config, *, short: bool) -> Result:
    """Measures on the running node."""
    ask_node(config)
    records = 10_000 if short else 60_000
    result = Result("ledger")
    _note(result, "kafka_round_trip", _kafka_round_trips_ms(config, records))
    _note(result, "ledger_delay", _ledger_delays_ms(config, records))
    result.compare("delay_of_kafka_round_trip", "ledger_delay_p50", "kafka_round_trip_p50")
    return result


def _note(result: Result, name: str, delays_ms: list[float]) -> None:
    ordered = sorted(delays_ms)
    for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        result.add(f"{name}_{label}", percentile(ordered, share), "ms")


class Stopwatch:
    """When each of a series of numbered records was sent and first seen."""

    def __init__(self, records: int) -> None:
        self._records = records
        self._sent_at = [0.0] * (records + 1)
        self._seen_at: list[float] = [0.0]

    def send(self, send_one: Callable[[int], None]) -> None:
        """Sends number after number at an even pace."""
        began_at = time.perf_counter()
        for number in range(1, self._records + 1):
            pause_s = began_at + number / RATE_PER_S - time.perf_counter()
            if pause_s > 0:
                time.sleep(pause_s)
            self._sent_at[number] = time.perf_counter()
            send_one(number)

    def see(self, number: int) -> bool:
        """Notes that all up to `number` have been seen; true when that was the last."""
        now = time.perf_counter()
        self._seen_at.extend([now] * (number + 1 - len(self._seen_at)))
        return number >= self._records

    def delays_ms(self) -> list[float]:
        if len(self._seen_at) <= self._records:
            raise PartFailed(
                f"Only {len(self._seen_at) - 1} of {self._records} records came back within {WAIT_S:.0f} s",
                "Look at `catchment status` and run the benchmark again.",
            )
        pairs = zip(self._sent_at, self._seen_at, strict=False)
        return [(seen - sent) * 1000 for sent, seen in list(pairs)[WARM_UP_RECORDS:]]


def _kafka_round_trips_ms(config: Config, records: int) -> list[float]:
    topic = f"catchment.v1.bench-{time.time_ns()}"
    cluster = admin(config)
    cluster.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    writer = producer(config, Party.ADMIN, linger_ms=0)
    stopwatch = Stopwatch(records)

    def send(number: int) -> None:
        writer.produce(topic, LINE % number)
        writer.poll(0)

    try:
        watcher = _watch(
            config, Party.ADMIN, topic, lambda message: stopwatch.see((message.offset() or 0) + 1)
        )
        stopwatch.send(send)
        watcher.join(WAIT_S)
    finally:
        cluster.delete_topics([topic])[topic].result()
    return stopwatch.delays_ms()


def _ledger_delays_ms(config: Config, records: int) -> list[float]:
    stream = f"bench-{time.time_ns()}"
    authority = Authority(config.paths.identities, config.hostnames)
    providers = Providers(config.paths.providers)
    context = client_context(providers.add(stream, authority))
    stopwatch = Stopwatch(records)

    def see(message: Message) -> bool:
        row = decode(LedgerRow, message.value())
        return row.stream == stream and stopwatch.see(row.highest)

    try:
        watcher = _watch(config, Party.OPERATOR, Kind.LEDGER.topic, see)
        address = (config.gateway.host, config.gateway.port)
        with (
            socket.create_connection(address) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as secure,
        ):
            secure.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stopwatch.send(lambda number: secure.sendall(LINE % number))
            watcher.join(WAIT_S)
    finally:
        providers.remove(stream, authority)
    return stopwatch.delays_ms()


def _watch(config: Config, party: Party, topic: str, see: Callable[[Message], bool]) -> threading.Thread:
    """Reads a topic from its present end in a thread, until `see` says that it has seen enough."""
    reader = consumer(config, party, fetch_wait_max_ms=10)
    ends = end_offsets(reader, topic)
    reader.assign([TopicPartition(topic, partition, end) for partition, end in ends.items()])

    def read() -> None:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline and not any(map(see, _batch(reader.poll(0.2)))):
            pass
        reader.close()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _batch(message: Message | None) -> Iterable[Message]:
    return [] if message is None or message.error() else [message]
