"""The race: two data providers, one gateway, one broker, one consumer, and librdkafka alone as the limit.

It is run on a site of its own, so that nothing else has to keep up with it. Every participant is a process.
"""

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import psutil
from confluent_kafka.admin import NewTopic

from catchment.bench.participants import PATIENCE_S, Participant, participant
from catchment.bench.result import Result, percentile
from catchment.bench.site import broker, free_ports, gateway, write
from catchment.bench.tally import delays_ms
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.kafka.clients import admin
from catchment.kafka.topics import TOPICS
from catchment.node.process import Child
from catchment.records import Kind
from catchment.security.authority import Authority
from catchment.security.providers import Providers
from catchment.simulate.lines import Load

SITE = "race"
PROVIDERS = ("race-1", "race-2")
KEYS = tuple(f"{SITE}/{name}" for name in PROVIDERS)
PLAIN_TOPIC = "catchment.v1.race-plain"
RATES_PER_S = (20_000, 40_000)
LATENCY_RATE_PER_S = 10_000
LINE_BYTES = 100
SEED = 1
SLOWEST_PER_S = 5_000


@dataclass(frozen=True)
class Course:
    """How long it is: messages of each interval, and how many connections send how many lines."""

    paced_s: float
    most_records: int
    latency_records: int
    fastest_records: int
    rounds: int = 3
    warm_up_records: int = 100_000
    connections: int = 5_000
    lines: int = 10

    def paced(self) -> dict[str, Load]:
        """The intervals with a given rate, and one without that comes first."""
        loads = {"warm_up": _load(self.warm_up_records)}
        for rate in RATES_PER_S:
            loads[f"rate_{rate}"] = _load(min(self.most_records, round(rate * self.paced_s)), rate)
        return {**loads, "latency": _load(self.latency_records, LATENCY_RATE_PER_S)}

    def fastest(self) -> list[Load]:
        return [_load(self.fastest_records)] * self.rounds


FULL = Course(paced_s=60, most_records=1_000_000, latency_records=100_000, fastest_records=1_000_000)
SHORT = Course(paced_s=5, most_records=200_000, latency_records=30_000, fastest_records=250_000, lines=3)


def run(config: Config, *, short: bool) -> Result:
    """Runs the whole race."""
    return race(config, SHORT if short else FULL)


def race(config: Config, course: Course) -> Result:
    """Runs a race of that length, on a site of its own."""
    result = Result("race")
    own = _gateway_settings(config)
    with broker(config, SITE, gateway=own, consume={"group": SITE}) as site:
        _prepare(site)
        with gateway(site) as process, ExitStack() as stack:
            track = Track(site, course, stack)
            _run_paced(track, course, result)
            _run_fastest(track, course, result)
            _gather_crowd(track, course, process, result)
    for rate in RATES_PER_S:
        result.ratios[f"held_{rate}"] = round(result.figures[f"rate_{rate}"]["value"] / rate, 3)
    result.compare("of_librdkafka", "rate_fastest", "rate_librdkafka")
    return result


def _gateway_settings(config: Config) -> dict[str, Any]:
    """As the node has them, with a port of its own and no other listener."""
    own = config.gateway.model_dump(mode="json", exclude={"mqtt", "adapters", "http"}, exclude_none=True)
    return {**own, "host": "127.0.0.1", "port": free_ports(1)[0], "http": {"enabled": False}}


def _prepare(site: Config) -> None:
    write(site)
    authority, register = Authority(site.paths.identities, site.hostnames), Providers(site.paths.providers)
    for name in PROVIDERS:
        register.add(name, authority)
    cluster = admin(site)
    topic = NewTopic(PLAIN_TOPIC, TOPICS[Kind.RECORDS].partitions, 1)
    cluster.create_topics([topic])[PLAIN_TOPIC].result()


class Track:
    """All who take part, ready for the intervals of the course in their order."""

    def __init__(self, site: Config, course: Course, stack: ExitStack) -> None:
        ours = [*course.paced().values(), *course.fastest()]
        plain = [_load(course.warm_up_records), *course.fastest()]
        intervals = [_interval(load, timed=load.rate == LATENCY_RATE_PER_S) for load in ours]
        crowd = {"connections": course.connections, "lines": course.lines}

        def add(role: str, **given: Any) -> Participant:
            return stack.enter_context(participant(site, role, **given))

        self.site = site
        self.consumer = add("consumer", intervals=[*intervals, crowd])
        self.providers = [
            add("provider", name=name, provider=number, loads=[asdict(load) for load in ours])
            for number, name in enumerate(PROVIDERS)
        ]
        self.plain_consumer = add("plain-consumer", topic=PLAIN_TOPIC, intervals=list(map(_interval, plain)))
        self.plain_producer = add(
            "plain-producer", topic=PLAIN_TOPIC, keys=KEYS, loads=[asdict(load) for load in plain]
        )

    def run(self, load: Load) -> tuple[list[Any], dict[str, Any]]:
        """The next interval; what the providers say of it, and what the consumer says."""
        for provider in self.providers:
            provider.answer()
        for provider in self.providers:
            provider.begin()
        sent = [provider.answer(_patience_s(load))["sent"] for provider in self.providers]
        return sent, _report_of(self.consumer)

    def run_plainly(self, load: Load) -> dict[str, Any]:
        """The same messages by librdkafka alone."""
        self.plain_producer.answer()
        self.plain_producer.begin()
        self.plain_producer.answer(_patience_s(load))
        return self.plain_consumer.answer()


def _run_paced(track: Track, course: Course, result: Result) -> None:
    for name, load in course.paced().items():
        sent, seen = track.run(load)
        _note_faults(result, seen)
        if name == "latency":
            _note_delays(result, sent, seen)
        elif load.rate:
            result.add(name, _per_s(load, seen), "messages/s")


def _run_fastest(track: Track, course: Course, result: Result) -> None:
    """Ours and librdkafka in turn, so that a broker which gets quicker with time favours none."""
    track.run_plainly(_load(course.warm_up_records))
    ours, plain = [], []
    for load in course.fastest():
        _, seen = track.run(load)
        _note_faults(result, seen)
        ours.append(_per_s(load, seen))
        plain.append(_per_s(load, track.run_plainly(load)))
    result.add("rate_fastest", median(ours), "messages/s")
    result.add("rate_librdkafka", median(plain), "messages/s")


def _gather_crowd(track: Track, course: Course, process: Child, result: Result) -> None:
    given = {"names": PROVIDERS, "connections": course.connections, "lines": course.lines, "interval_s": 1.0}
    with participant(track.site, "crowd", **given) as crowd:
        opened = crowd.answer(4 * PATIENCE_S)
        stayed = crowd.answer(4 * PATIENCE_S)
        resident_bytes = psutil.Process(process.pid).memory_info().rss
        _note_faults(result, _report_of(track.consumer))
    result.add("connections", stayed["connected"], "connections")
    result.add("connections_refused", course.connections - stayed["connected"], "connections")
    result.add("connections_opened", opened["connected"] / opened["seconds"], "connections/s")
    result.add("gateway_memory", resident_bytes / 1e6, "MB")


def _load(records: int, rate_per_s: float = 0) -> Load:
    return Load(len(PROVIDERS), records, rate_per_s, LINE_BYTES, SEED)


def _interval(load: Load, timed: bool = False) -> dict[str, Any]:
    return {"expected": {key: load.share(number) for number, key in enumerate(KEYS)}, "timed": timed}


def _per_s(load: Load, seen: dict[str, Any]) -> float:
    """From the first to the last, as the consumer timed them."""
    return float((load.count - 1) / seen["seconds"])


def _patience_s(load: Load) -> float:
    return PATIENCE_S + 2 * load.count / (load.rate or SLOWEST_PER_S)


def _report_of(consumer: Participant) -> dict[str, Any]:
    """The consumer's next report; what has not come after a while is lost, and it says how much."""
    try:
        return consumer.answer()
    except PartFailed:
        consumer.stop()
        return consumer.answer()


def _note_faults(result: Result, seen: dict[str, Any]) -> None:
    for name, key in (("lost", "missing"), ("repeated", "repeated"), ("out_of_order", "out_of_order")):
        before = result.figures.get(name, {"value": 0})["value"]
        result.add(name, before + seen[key], "messages")


def _note_delays(result: Result, sent: list[Any], seen: dict[str, Any]) -> None:
    ordered = sorted(
        delay
        for key, handed_out in zip(KEYS, sent, strict=True)
        for delay in delays_ms(handed_out, seen["sightings"][key])
    )
    for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)):
        result.add(f"latency_{label}", percentile(ordered, share), "ms")
