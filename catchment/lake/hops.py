"""Telling what the lake has of every source: its part of the proof."""

from collections.abc import Mapping

from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.lake.seen import SourceCount
from catchment.ledger.model import HopRow, Stage
from catchment.records import FIRST_SEQUENCE, Kind, Source

RANGES_SHOWN = 100
FLUSH_S = 10.0


class HopWriter:
    """Publishes counts of the table of records, after they are committed."""

    def __init__(self, config: Config) -> None:
        self._node = config.site
        self._producer = producer(config, Party.PIPELINE)

    def publish(self, counts: Mapping[str, SourceCount]) -> None:
        for identity, count in counts.items():
            hop = hop_row(self._node, Source.from_identity(identity.encode()), count)
            self._producer.produce(Kind.HOPS.topic, hop.model_dump_json(), hop.key)
            self._producer.poll(0)
        self._producer.flush(FLUSH_S)


def hop_row(node: str, source: Source, count: SourceCount, repeated: int = 0) -> HopRow:
    """What the lake of a node has of one source."""
    received, highest = count.numbers.count, count.numbers.highest
    return HopRow(
        node=node,
        stage=Stage.LAKE,
        site=source.site,
        gateway=source.gateway,
        epoch=source.epoch,
        stream=source.stream,
        version=received,
        received=received,
        highest=highest,
        duplicates=repeated,
        out_of_order=0,
        missing=highest - received,
        gaps=count.numbers.gaps(FIRST_SEQUENCE, RANGES_SHOWN),
        first_origin_us=count.first_us,
        last_origin_us=count.last_us,
    )
