"""Who runs the benchmark's queries: Catchment, Kafka Streams, Quix Streams and Bytewax.

Catchment and Kafka Streams are one process each, which is told whose turn it is. Of those in Python there are
two processes for each query, because one keeps no more than one core busy.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from catchment.bench import peers, python_peers, site
from catchment.bench.query_turns import TAKEN, read_turn
from catchment.bench.query_work import WORKS
from catchment.bench.topics import make, time_by_broker
from catchment.bench.twin_subjects import PRODUCER, check
from catchment.config import Config
from catchment.kafka.topics import planned
from catchment.node.process import Child
from catchment.records import Kind

CATCHMENT, KAFKA_STREAMS, QUIX, BYTEWAX = "catchment", "kafka_streams", "quix", "bytewax"
# What each peer cannot say in its own words, and why.
UNSAID = {QUIX: {"windowed-join": "a topic cannot be joined with itself"}}
STREAMS_CLASS = "queries.KafkaStreamsPeer"
PROCESSES = 2
START_S = 180.0
# Small enough that one batch does not hold up the next, large enough for a backlog.
BYTEWAX_BATCH = 1_000


class Subject(Protocol):
    """One that can be asked to run a query; `compiles`: it becomes fast by and by, as Java does."""

    name: str
    compiles: bool

    def begin(self, work: str) -> str:
        """Runs a query from nothing; says on which topic its results will be."""

    def end(self) -> None:
        """Ends the query that runs."""

    def check(self) -> None:
        """Raises if it has ended by itself."""

    def close(self) -> None:
        """Ends it for good."""


class InTurn:
    """A process that looks into a file for what it is to run."""

    compiles = True

    def __init__(self, config: Config, name: str, child: Child, turn: Path, targets: dict[str, str]) -> None:
        self.name = name
        self._config = config
        self._child = child
        self._turn = turn
        self._targets = targets
        self._begun = 0

    def begin(self, work: str) -> str:
        # Under a name of its own it goes on from nothing that was before.
        self._begun += 1
        self.run(f"{work}:{work}-run-{self._begun}")
        return self._targets[work]

    def run(self, turn: str) -> None:
        """Returns when it runs these, and no others any more."""
        draft = self._turn.with_suffix(".draft")
        draft.write_text(turn)
        draft.replace(self._turn)
        site.wait_for(lambda: read_turn(self._turn.with_suffix(TAKEN)) == turn, self.check, START_S)

    def end(self) -> None:
        self.run("")

    def check(self) -> None:
        check(self._config, self.name, self._child)

    def close(self) -> None:
        self._child.kill()


def ours(config: Config) -> InTurn:
    """Catchment's own queries, in one Spark."""
    time_by_broker(config, [Kind.RESULTS.topic])
    turn = config.data_dir / f"{CATCHMENT}.turn"
    child = site.start(
        config, CATCHMENT, ["catchment.bench.query_runner", str(site.write(config)), str(turn)]
    )
    return InTurn(config, CATCHMENT, child, turn, dict.fromkeys(WORKS, Kind.RESULTS.topic))


def kafka_streams(config: Config) -> InTurn:
    """The same in Kafka Streams, in one JVM."""
    targets = {work: _target(config, KAFKA_STREAMS, work) for work in WORKS}
    turn = config.data_dir / f"{KAFKA_STREAMS}.turn"
    child = peers.start(
        config,
        KAFKA_STREAMS,
        STREAMS_CLASS,
        application=KAFKA_STREAMS,
        producer=PRODUCER,
        source=Kind.RECORDS.topic,
        targets=targets,
        threads=PROCESSES,
        state_dir=str(config.data_dir / KAFKA_STREAMS),
        turn=str(turn),
        taken=str(turn.with_suffix(TAKEN)),
    )
    return InTurn(config, KAFKA_STREAMS, child, turn, targets)


class InPython:
    """Processes that share the work on one query."""

    compiles = False

    def __init__(self, config: Config, name: str) -> None:
        self.name = name
        self._config = config
        self._children: dict[str, Child] = {}

    def begin(self, work: str) -> str:
        target = _target(self._config, self.name, work)
        addresses = [f"127.0.0.1:{port}" for port in site.free_ports(PROCESSES)]
        for number in range(PROCESSES):
            own = f"{self.name}-{work}-{number}"
            self._children[own] = python_peers.start(
                self._config,
                own,
                f"{self.name}_peer.py",
                query=work,
                source=Kind.RECORDS.topic,
                target=target,
                producer=PRODUCER,
                group=f"{self.name}-{work}",
                state_dir=str(self._config.data_dir / own),
                process=number,
                addresses=addresses,
                batch=BYTEWAX_BATCH,
            )
        return target

    def end(self) -> None:
        self.close()

    def check(self) -> None:
        for own, child in self._children.items():
            check(self._config, own, child)

    def close(self) -> None:
        for child in self._children.values():
            child.kill()
        self._children.clear()


def says(name: str, works: Sequence[str]) -> list[str]:
    """The queries that it can say."""
    return [work for work in works if work not in UNSAID.get(name, {})]


def _target(config: Config, name: str, work: str) -> str:
    """A topic for results that is like ours."""
    topic = f"{name}-{work}-results"
    make(config, {topic: planned(config)[Kind.RESULTS]})
    return topic
