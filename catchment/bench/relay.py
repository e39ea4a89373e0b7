"""How fast a site's records come to the centre, beside a plain copy by librdkafka without any guarantee.

Site and centre are brokers of their own, started for the run.
"""

import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from catchment.bench.result import Result
from catchment.bench.site import broker
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.garbage import collect_rarely
from catchment.kafka.access import ensure_access
from catchment.kafka.clients import admin, consumer, producer
from catchment.kafka.identities import bootstrap_servers
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Source, encode_stamp
from catchment.relay.register import Site
from catchment.relay.runner import SiteRelay
from catchment.security.authority import Authority
from catchment.security.centres import Centres

PARTITIONS = 4
RECORD_BYTES = 100
BATCH_RECORDS = 20_000
WAIT_S = 120.0
SITE, CENTRE = "bench", "bench-centre"
TOPIC = "catchment.v1.bench-relay"
COPY = f"{TOPIC}-copy"
TURNS = 5


class Pace:
    """From the first records on: finding the leader of a partition takes up to a second, for both."""

    def __init__(self, records: int) -> None:
        self._records = records
        self._began_s = time.perf_counter()

    def per_s(self, records: int) -> float:
        return (records - self._records) / (time.perf_counter() - self._began_s)


def run(config: Config, *, short: bool) -> Result:
    """Measures between two brokers."""
    records = 300_000 if short else 1_000_000
    allowed = config.relay.model_copy(update={"allow": [TOPIC]}).model_dump(mode="json")
    result = Result("relay")
    collect_rarely()
    with broker(config, SITE, relay=allowed) as site, broker(config, CENTRE, relay=allowed) as centre:
        _create(centre, COPY)
        _fill(site, records)
        # In turn, so that brokers which get quicker with time favour none.
        turns = [
            (_copy(site, centre, records), _relay(site, centre, records, f"{SITE}-{turn}"))
            for turn in range(TURNS)
        ]
    for name, rates in zip(("librdkafka_copy", "relay"), zip(*turns, strict=True), strict=True):
        result.add(name, median(rates), "records/s")
    result.compare("of_librdkafka", "relay", "librdkafka_copy")
    return result


def _create(where: Config, topic: str) -> None:
    # Its answers come only as long as the client is there.
    client = admin(where)
    client.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()


def _fill(site: Config, records: int) -> None:
    _create(site, TOPIC)
    writer = producer(site, Party.ADMIN, queue_buffering_max_messages=records)
    # Bytes that do not compress, so that the network and the disks have something to do.
    noise = os.urandom(RECORD_BYTES + 1000)
    source = Source(SITE, "gateway", 1, "bench")
    for number in range(records):
        stamp = encode_stamp(source.identity, number + 1, time.time_ns() // 1000)
        value = noise[number % 1000 : number % 1000 + RECORD_BYTES]
        headers: list[tuple[str, str | bytes | None]] = [(STAMP_HEADER, stamp)]
        writer.produce(TOPIC, value, b"%d" % number, number % PARTITIONS, headers=headers)
    _flush(writer)


def _copy(site: Config, centre: Config, records: int) -> float:
    """A loop that consumes and produces: no headers, no timestamps, no positions. Records a second."""
    with consumer(site, Party.ADMIN) as reader:
        writer = producer(centre, Party.ADMIN, queue_buffering_max_messages=2 * records)
        produce: Any = writer.produce
        reader.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
        copied, pace = 0, None
        while copied < records:
            for record in reader.consume(BATCH_RECORDS, 0.02):
                produce(COPY, record.value(), record.key(), record.partition())
                copied += 1
            writer.poll(0)
            pace = pace or (Pace(copied) if copied else None)
        _flush(writer)
        assert pace
        return pace.per_s(records)


def _relay(site: Config, centre: Config, records: int, name: str) -> float:
    identity = Centres(site.paths.centres).invite(SITE, Authority(site.paths.identities))
    ensure_access(site)
    relay = SiteRelay(centre, Site(name=name, bootstrap_servers=bootstrap_servers(site)), identity)
    relay.start()
    try:
        _wait(lambda: relay.report().relayed_records > 0)
        pace = Pace(relay.report().relayed_records)
        _wait(lambda: relay.report().relayed_records >= records)
        return pace.per_s(records)
    finally:
        relay.stop()
        relay.join()


def _wait(reached: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not reached():
        if time.monotonic() > deadline_s:
            raise PartFailed("The relay did not finish in time", "Look at the log, and run it again.")
        time.sleep(0.01)


def _flush(writer: Producer) -> None:
    if writer.flush(WAIT_S):
        raise PartFailed(
            "Kafka did not take all records in time", "Run it again on a machine that is less busy."
        )
