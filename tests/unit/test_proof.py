"""Comparing what gateways accepted with what came to every hop."""

from typing import Any

from catchment.ledger.model import HopRow, LedgerRow, Mark, Stage
from catchment.ledger.proof import compare

HERE = "hq"


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
    proof = compare(HERE, [mark(10)], [row(10)])
    assert (proof.sent, proof.received, proof.missing, proof.holds) == (10, 10, 0, True)
    assert proof.rate_per_s == 5.0


def test_a_gap_is_missing_and_named() -> None:
    proof = compare(HERE, [mark(10)], [row(8, highest=10, missing=2, gaps=[(4, 5)])])
    assert (proof.missing, proof.holds) == (2, False)
    assert proof.streams[0].gaps == [(4, 5)]


def test_what_the_ledger_has_not_seen_yet_is_under_way() -> None:
    proof = compare(HERE, [mark(10)], [row(7)])
    assert (proof.under_way, proof.missing, proof.holds) == (3, 0, False)


def test_a_stream_of_which_nothing_arrived_is_under_way_as_a_whole() -> None:
    proof = compare(HERE, [mark(10, stream="oven")], [row(7)])
    figures = [(each.stream, each.sent, each.under_way) for each in proof.streams]
    assert figures == [("oven", 10, 10), ("press", 7, 0)]


def test_a_record_ahead_of_its_mark_counts_as_sent() -> None:
    proof = compare(HERE, [mark(10)], [row(12)])
    assert (proof.sent, proof.received, proof.holds) == (12, 12, True)


def test_the_newest_version_of_a_row_counts_in_any_order() -> None:
    assert compare(HERE, [], [row(9), row(5)]).received == 9
    assert compare(HERE, [], [row(5), row(9)]).received == 9


def hop(received: int, node: str = "oslo", stage: Stage = Stage.BROKER, **fields: Any) -> HopRow:
    return HopRow(**row(received, **fields).model_dump(), node=node, stage=stage)


def test_hops_stand_in_the_order_of_the_way() -> None:
    proof = compare(HERE, [mark(10)], [row(8)], [hop(9, node="north"), hop(10)])
    counts = [(each.node, each.received, each.under_way) for each in proof.streams[0].hops]
    assert counts == [("oslo", 10, 0), ("north", 9, 1), ("hq", 8, 2)]


def test_what_is_under_way_elsewhere_has_arrived_if_it_is_here() -> None:
    proof = compare(HERE, [mark(10)], [row(10)], [hop(7)])
    assert (proof.received, proof.under_way, proof.holds) == (10, 0, True)


def test_a_number_that_is_missing_at_every_hop_is_one_number() -> None:
    lost: dict[str, Any] = {"highest": 10, "missing": 2, "gaps": [(4, 5)]}
    proof = compare(HERE, [mark(10)], [row(8, **lost)], [hop(8, **lost)])
    assert (proof.missing, proof.streams[0].gaps, proof.holds) == (2, [(4, 5)], False)


def test_what_is_missing_at_an_earlier_hop_alone_is_said() -> None:
    proof = compare(HERE, [mark(10)], [row(10)], [hop(9, highest=10, missing=1, gaps=[(3, 3)])])
    assert (proof.received, proof.missing, proof.holds) == (10, 1, False)


def test_what_was_counted_here_is_not_taken_from_what_was_published() -> None:
    proof = compare(HERE, [mark(10)], [row(10)], [hop(6, node=HERE)])
    assert [(each.node, each.received) for each in proof.streams[0].hops] == [(HERE, 10)]


def test_a_count_of_a_source_that_nobody_sent_or_received_is_no_stream() -> None:
    assert compare(HERE, [], [], [hop(3)]).streams == []


def test_stages_behind_a_broker_follow_it() -> None:
    at_site = [hop(9, stage=Stage.LAKE), hop(10)]
    here = [hop(7, node=HERE, stage=Stage.POSTGRES), hop(8, node=HERE, stage=Stage.LAKE)]
    proof = compare(HERE, [mark(10)], [row(10)], [*here, *at_site])
    counts = [(each.node, each.stage, each.received) for each in proof.streams[0].hops]
    assert counts == [
        ("oslo", Stage.BROKER, 10),
        ("oslo", Stage.LAKE, 9),
        (HERE, Stage.BROKER, 10),
        (HERE, Stage.LAKE, 8),
        (HERE, Stage.POSTGRES, 7),
    ]


def test_the_proof_does_not_hold_while_a_stage_here_has_not_all() -> None:
    behind = compare(HERE, [mark(10)], [row(10)], [hop(7, node=HERE, stage=Stage.LAKE)])
    assert (behind.holds, behind.under_way, behind.streams[0].hops[-1].under_way) == (False, 0, 3)
    assert compare(HERE, [mark(10)], [row(10)], [hop(10, node=HERE, stage=Stage.LAKE)]).holds


def test_a_stage_elsewhere_may_be_behind() -> None:
    assert compare(HERE, [mark(10)], [row(10)], [hop(10), hop(7, stage=Stage.LAKE)]).holds


def test_a_stage_that_has_said_nothing_has_everything_before_it() -> None:
    proof = compare(HERE, [mark(10)], [row(10)], stages=[Stage.LAKE])
    last = proof.streams[0].hops[-1]
    assert (last.stage, last.received, last.under_way, proof.holds) == (Stage.LAKE, 0, 10, False)


LONG_AGO_US, KEPT_SINCE_US = 1_000_000, 2_000_000
OLD: dict[str, Any] = {"first_origin_us": LONG_AGO_US}


def late_lake(**fields: Any) -> HopRow:
    """A lake that began when the first four records were gone."""
    return hop(6, node=HERE, stage=Stage.LAKE, highest=10, missing=4, gaps=[(1, 4)], **fields)


def test_what_expired_before_a_lake_was_there_is_not_missing_in_it() -> None:
    proof = compare(HERE, [mark(10)], [row(10, **OLD)], [late_lake()], kept_since_us=KEPT_SINCE_US)
    lake = proof.streams[0].hops[-1]
    assert (lake.received, lake.missing, lake.expired, lake.gaps) == (6, 0, 4, [])
    assert (proof.missing, proof.expired, proof.holds) == (0, 4, True)


def test_what_a_lake_lacks_of_a_young_source_is_missing() -> None:
    young = row(10, first_origin_us=KEPT_SINCE_US)
    proof = compare(HERE, [mark(10)], [young], [late_lake()], kept_since_us=KEPT_SINCE_US)
    assert (proof.missing, proof.expired, proof.holds) == (4, 0, False)


def test_what_never_came_to_the_broker_does_not_expire_in_the_lake() -> None:
    lossy = row(9, highest=10, missing=1, gaps=[(2, 2)], **OLD)
    proof = compare(HERE, [mark(10)], [lossy], [late_lake()], kept_since_us=KEPT_SINCE_US)
    assert (proof.streams[0].hops[-1].gaps, proof.missing, proof.expired) == ([(2, 2)], 1, 3)


def test_a_source_that_had_expired_as_a_whole_is_not_under_way_to_the_lake() -> None:
    old = row(10, first_origin_us=1, last_origin_us=LONG_AGO_US)
    proof = compare(HERE, [mark(10)], [old], stages=[Stage.LAKE], kept_since_us=KEPT_SINCE_US)
    lake = proof.streams[0].hops[-1]
    assert (lake.under_way, lake.missing, lake.expired, proof.holds) == (0, 0, 10, True)


def test_a_lake_elsewhere_is_compared_with_the_broker_beside_it() -> None:
    late = hop(6, stage=Stage.LAKE, highest=10, missing=4, gaps=[(1, 4)])
    there = [hop(10, **OLD), late]
    proof = compare(HERE, [mark(10)], [row(10)], there, kept_since_us=KEPT_SINCE_US)
    assert (proof.missing, proof.expired, proof.holds) == (0, 4, True)


def test_in_a_recount_the_ledger_says_how_old_a_source_is() -> None:
    recounted = row(6, highest=10, first_origin_us=KEPT_SINCE_US)
    proof = compare(
        HERE, [mark(10)], [recounted], [late_lake()], kept_since_us=KEPT_SINCE_US, running=[row(10, **OLD)]
    )
    assert (proof.missing, proof.holds) == (0, True)
