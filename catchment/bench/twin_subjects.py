"""Who applies changes to twins in the benchmark: Catchment's query, and the same in Kafka Streams."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import psutil

from catchment.bench import peers, site
from catchment.bench.topics import make, time_by_broker
from catchment.config import Config
from catchment.config.twins import StateStore
from catchment.errors import PartFailed
from catchment.kafka.topics import planned
from catchment.node.process import Child, last_words, session_members
from catchment.pipeline.query import BATCH_BYTES
from catchment.records import Kind
from catchment.simulate.twins import TYPE, simulated_type

KAFKA_STREAMS = "kafka_streams"
APPLY, SPLIT = "twins", "twin-feed-records"
STREAMS_CLASS, POSTGRES_CLASS = "twins.KafkaStreamsPeer", "twins.PostgresPeer"
STREAMS_THREADS = 2
# As the pipeline's queries write.
PRODUCER = {"linger.ms": "1", "compression.type": "lz4", "batch.size": str(BATCH_BYTES)}


@dataclass(frozen=True)
class Subject:
    """One that reads `twin-changes`: where it writes to, and how it is started."""

    name: str
    changelog: str
    history: str
    start: Callable[[], Child]


def ours(config: Config, store: str) -> Subject:
    """Catchment's own query with one of its state stores, from nothing."""
    time_by_broker(config, [Kind.TWINS.topic, Kind.TWIN_HISTORY.topic])
    shutil.rmtree(config.paths.checkpoints / APPLY, ignore_errors=True)
    chosen = config.twins.model_copy(update={"state_store": StateStore(store)})
    start = partial(query, config.model_copy(update={"twins": chosen}), store, APPLY)
    return Subject(store, Kind.TWINS.topic, Kind.TWIN_HISTORY.topic, start)


def query(config: Config, name: str, query: str) -> Child:
    """A query of the pipeline as a process."""
    return site.start(config, name, ["catchment.bench.query", str(site.write(config)), query])


def kafka_streams(config: Config, store: str) -> Subject:
    """The peer, with topics of its own that are like ours."""
    name = f"{KAFKA_STREAMS}_{store}"
    changelog, history, refusals = f"{name}-twins-changelog", f"{name}-history", f"{name}-refusals"
    topics = planned(config)
    kinds = {changelog: Kind.TWINS, history: Kind.TWIN_HISTORY, refusals: Kind.TWIN_OUTCOMES}
    make(config, {topic: topics[kind] for topic, kind in kinds.items()})
    settings = {
        **common_settings(name, STREAMS_THREADS),
        "producer": PRODUCER,
        "history": history,
        "refusals": refusals,
        "store": store,
        "state_dir": str(config.data_dir / name),
    }
    return Subject(name, changelog, history, partial(peers.start, config, name, STREAMS_CLASS, **settings))


def common_settings(application: str, threads: int) -> dict[str, Any]:
    """What every peer is told: what it reads, and the type of the objects."""
    return {
        "application": application,
        "threads": threads,
        "changes": Kind.TWIN_CHANGES.topic,
        "types": {TYPE: simulated_type().model_dump(mode="json")},
    }


def check(config: Config, name: str, child: Child) -> None:
    """Raises if it has ended."""
    if child.exited():
        raise PartFailed(f"{name} ended: {last_words(site.log_of(config, name))}", "Run the benchmark again.")


def cpu_s(session: int) -> float:
    """CPU time that a process and all that it started have used."""
    used = 0.0
    for pid in session_members(session):
        try:
            times = psutil.Process(pid).cpu_times()
        except psutil.NoSuchProcess:
            continue
        used += times.user + times.system
    return used
