"""The proof from the topics themselves: the gateways' marks against what was counted on the way."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.parties import Party
from catchment.ledger.expiry import oldest_kept_us
from catchment.ledger.model import HopRow, Mark, Stage
from catchment.ledger.proof import Proof, compare
from catchment.ledger.recount import recount
from catchment.ledger.stages import stages_of
from catchment.ledger.view import LedgerView
from catchment.store.counting import recount_stores, under_way

LOOK_S = 0.2
READ_S = 60.0


def prove(config: Config, party: Party, wait_s: float) -> Proof:
    """Compares both ends, giving what is under way or out of order up to `wait_s` to arrive.

    Marks are taken first: whatever they claim is on a gateway's disk, so the ledger must come to have it.
    """
    with _read(config, party) as view:
        return _wait_for_proof(config, party, view, view.marks(), wait_s)


def prove_anew(config: Config, party: Party, wait_s: float, on_progress: Callable[[int], None]) -> Proof:
    """The same, with this node's records read again from the log instead of taken from the ledger."""
    with _read(config, party) as view:
        marks = view.marks()
        _wait_for_proof(config, party, view, marks, wait_s)
        running = view.rows()
        rows, expired = recount(config, party, running, on_progress)
        return compare(
            config.site,
            marks,
            rows,
            _counted_anew(config, party, view.hops()),
            expired,
            stages_of(config),
            kept_since_us=oldest_kept_us(config),
            running=running,
        )


def _counted_anew(config: Config, party: Party, hops: list[HopRow]) -> list[HopRow]:
    """The counts of all hops, of which this node's lake and fast stores are asked themselves."""
    asked = {Stage.LAKE} & set(stages_of(config)) | ({Stage.POSTGRES} if config.store.postgres else set())
    others = [hop for hop in hops if hop.node != config.site or hop.stage not in asked]
    if Stage.LAKE in asked:
        from catchment.lake.counting import recount_lake

        others += recount_lake(config)
    return [*others, *recount_stores(config, party)]


def _wait_for_proof(
    config: Config, party: Party, view: LedgerView, marks: list[Mark], wait_s: float
) -> Proof:
    deadline = time.monotonic() + wait_s
    while True:
        # Asked first: what it has still to take may be in the counts by the time that these are read.
        waiting = under_way(config, party)
        proof = compare(
            config.site,
            marks,
            view.rows(),
            view.hops(),
            stages=stages_of(config),
            waiting=waiting,
            kept_since_us=oldest_kept_us(config),
        )
        if proof.holds or time.monotonic() >= deadline:
            return proof
        time.sleep(LOOK_S)


@contextmanager
def _read(config: Config, party: Party) -> Iterator[LedgerView]:
    """All that is said of every source, read once and then followed."""
    view = LedgerView(config, party)
    view.start()
    try:
        _wait_until_read(view)
        yield view
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
