"""Reading marks and ledger from their topics, once and whole."""

import time

from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.ledger.model import Fields, LedgerRow, Mark, decode
from catchment.ledger.proof import Proof, compare
from catchment.records import Kind

RETRY_S = 0.5


def prove(config: Config, party: Party, wait_s: float) -> Proof:
    """Compares both ends, giving what is under way up to `wait_s` to arrive.

    Marks are read first: whatever they claim is in Kafka already, so the ledger must come to have it.
    """
    marks = _newest(config, party, Kind.MARKS, Mark)
    deadline = time.monotonic() + wait_s
    while True:
        proof = compare(marks, _newest(config, party, Kind.LEDGER, LedgerRow))
        if not proof.under_way or time.monotonic() >= deadline:
            return proof
        time.sleep(RETRY_S)


def _newest(config: Config, party: Party, kind: Kind, model: type[Fields]) -> list[Fields]:
    last = {message.key(): message.value() for message in read_all(config, party, kind.topic)}
    return [decode(model, value) for value in last.values()]
