"""Comparing what was sent with what was received."""

from typing import Any

from catchment.ledger.model import LedgerRow, Mark
from catchment.ledger.proof import compare


def mark(accepted: int, stream: str = "press") -> Mark:
    return Mark(site="oslo", gateway="gate", epoch=1, stream=stream, accepted=accepted)


def row(received: int, **fields: Any) -> LedgerRow:
    values: dict[str, Any] = {
        "site": "oslo",
        "gateway": "gate",
        "epoch": 1,
        "stream": "press",
        "version": received,
        "received": received,
        "highest": received,
        "duplicates": 0,
        "out_of_order": 0,
        "missing": 0,
        "gaps": [],
        "first_origin_us": 1_000_000,
        "last_origin_us": 3_000_000,
    }
    return LedgerRow.model_validate({**values, **fields})


def test_all_that_was_sent_has_been_received() -> None:
    proof = compare([mark(10)], [row(10)])
    assert (proof.sent, proof.received, proof.missing, proof.holds) == (10, 10, 0, True)
    assert proof.rate_per_s == 5.0


def test_a_gap_is_missing_and_named() -> None:
    proof = compare([mark(10)], [row(8, highest=10, missing=2, gaps=[(4, 5)])])
    assert (proof.missing, proof.holds) == (2, False)
    assert proof.streams[0].gaps == [(4, 5)]


def test_what_the_ledger_has_not_seen_yet_is_under_way() -> None:
    proof = compare([mark(10)], [row(7)])
    assert (proof.under_way, proof.missing, proof.holds) == (3, 0, False)


def test_a_stream_of_which_nothing_arrived_is_under_way_as_a_whole() -> None:
    proof = compare([mark(10, stream="oven")], [row(7)])
    figures = [(each.stream, each.sent, each.under_way) for each in proof.streams]
    assert figures == [("oven", 10, 10), ("press", 7, 0)]


def test_a_record_ahead_of_its_mark_counts_as_sent() -> None:
    proof = compare([mark(10)], [row(12)])
    assert (proof.sent, proof.received, proof.holds) == (12, 12, True)


def test_the_newest_version_of_a_row_counts_in_any_order() -> None:
    assert compare([], [row(9), row(5)]).received == 9
    assert compare([], [row(5), row(9)]).received == 9
