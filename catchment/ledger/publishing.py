"""Telling other nodes what this one has counted, about once a second."""

import threading

from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.ledger.model import HopRow, LedgerRow, Stage
from catchment.ledger.view import LedgerView
from catchment.records import Kind, Source

INTERVAL_S = 1.0
STOP_S = 2.0


class HopPublisher:
    """Writes what changed in the ledger to the topic that goes to the centre with the records."""

    def __init__(self, config: Config, party: Party, ledger: LedgerView) -> None:
        self._node = config.site
        self._ledger = ledger
        self._producer = producer(config, party)
        self._published: dict[Source, int] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hops", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        while not self._stopping.wait(INTERVAL_S):
            # Half of a ledger would be news of records that have gone missing.
            if self._ledger.caught_up:
                self._publish(self._ledger.rows())

    def _publish(self, rows: list[LedgerRow]) -> None:
        for row in rows:
            if self._published.get(row.source) != row.version:
                hop = HopRow(**row.model_dump(), node=self._node, stage=Stage.BROKER)
                self._producer.produce(Kind.HOPS.topic, hop.model_dump_json(), hop.key)
                self._published[row.source] = row.version
        self._producer.poll(0)
