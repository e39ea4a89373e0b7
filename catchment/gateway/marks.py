"""Marks: what a gateway has accepted of each stream, published for whoever proves that all of it arrived."""

import orjson
from confluent_kafka import Producer

from catchment.config import Config
from catchment.gateway.spool import Spool
from catchment.records import Kind, Source


class Marks:
    """Publishes the last number on the disk of every source, where it changed since the last time."""

    def __init__(self, config: Config, spool: Spool) -> None:
        self._config = config
        self._spool = spool
        self._published: dict[tuple[int, str], int] = {}

    def forget(self) -> None:
        """Publishes all of them the next time."""
        self._published.clear()

    def publish(self, producer: Producer) -> None:
        for (epoch, stream), last in self._spool.committed.copy().items():
            if self._published.get((epoch, stream)) == last:
                continue
            self._published[epoch, stream] = last
            source = Source(self._config.site, self._config.gateway.name, epoch, stream)
            mark = {"site": source.site, "gateway": source.gateway, "epoch": epoch, "stream": stream}
            producer.produce(Kind.MARKS.topic, orjson.dumps({**mark, "accepted": last}), source.identity)
