"""The proof from the topics themselves: the gateways' marks against the ledger."""

import time

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.ledger.model import Mark, decode
from catchment.ledger.proof import Proof, compare
from catchment.ledger.view import LedgerView
from catchment.records import Kind

LOOK_S = 0.2
READ_S = 60.0


def prove(config: Config, party: Party, wait_s: float) -> Proof:
    """Compares both ends, giving what is under way or out of order up to `wait_s` to arrive.

    Marks are read first: whatever they claim is in Kafka already, so the ledger must come to have it.
    """
    last = {message.key(): message.value() for message in read_all(config, party, Kind.MARKS.topic)}
    marks = [decode(Mark, value) for value in last.values()]
    view = LedgerView(config, party)
    view.start()
    try:
        _wait_until_read(view)
        deadline = time.monotonic() + wait_s
        while True:
            proof = compare(marks, view.rows())
            if proof.holds or time.monotonic() >= deadline:
                return proof
            time.sleep(LOOK_S)
    finally:
        view.stop()


def _wait_until_read(view: LedgerView) -> None:
    deadline = time.monotonic() + READ_S
    while not view.caught_up:
        if time.monotonic() >= deadline:
            raise BrokerUnavailable(
                f"The ledger could not be read within {READ_S:.0f} s", "Look at `catchment status`."
            )
        time.sleep(LOOK_S)
