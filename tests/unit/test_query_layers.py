"""In which stage a box of a query is, and in which rounds a stream has rows."""

from catchment.queries.checker import check_text
from catchment.queries.layers import FIRST, Layers
from catchment.queries.needed import joined_columns, needed_columns

TEXT = """
name: layered
inputs:
  packets: {records: 'packets/*', schema: {at: timestamp, host: string, bytes: bigint}, time: at}
tables:
  sensors: {registry: sensors}
boxes:
  large: {filter: packets, where: bytes > 100}
  parts: {split: large, into: {huge: bytes > 1000}, otherwise: normal}
  counts: {aggregate: packets, by: [host], window: {tumbling: 10s}, values: {n: count(*)}}
  shaped: {map: counts, select: {at: window_start, host: host, bytes: n}}
  plain: {map: parts.huge, select: {at: at, host: host, bytes: bytes}}
  mixed: {union: [plain, shaped]}
  all_of_it: {aggregate: mixed, by: [host], values: {total: sum(bytes)}}
  pairs: {join: [packets, shaped], on: host = host, within: 10s, select: {n: shaped.bytes}}
  named: {join: [parts.normal, sensors], on: host = id, select: {host: host, name: name}}
outputs:
  totals: {from: all_of_it}
  pairs: {from: pairs}
  named: {from: named}
"""


STRAIGHT = """
name: straight
inputs:
  packets: {records: 'packets/*', schema: {at: timestamp, host: string, bytes: bigint}, time: at}
  answers: {records: 'answers/*', schema: {at: timestamp, host: string}, time: at}
boxes:
  counts: {aggregate: packets, by: [host], window: {tumbling: 10s}, values: {n: count(*)}}
  highest: {top: counts, by: [window_start], order_by: n desc, limit: 3}
  doubled: {aggregate: packets, by: [host], values: {bits: sum(bytes * 8)}}
  of_doubled: {aggregate: doubled, by: [bits], values: {n: count(*)}}
  pairs: {join: [packets, answers], on: host = host, within: 1s, select: {host: packets.host}}
  of_pairs: {aggregate: pairs, by: [host], values: {n: count(*)}}
  mixed: {join: [packets, named], on: host = host, within: 1s, select: {host: packets.host}}
  named: {map: packets, select: {at: at, host: upper(host)}}
outputs:
  highest: {from: highest}
  counts: {from: counts}
  of_doubled: {from: of_doubled}
  of_pairs: {from: of_pairs}
  mixed: {from: mixed}
"""


def layers(*given: str) -> Layers:
    return Layers(check_text(TEXT), frozenset(given))


def straight(*recognised: str) -> Layers:
    return Layers(check_text(STRAIGHT), recognised=frozenset(recognised), straight=True)


def test_a_box_with_state_comes_after_all_that_it_reads() -> None:
    assert layers().stages == {"counts": 0, "named": 0, "all_of_it": 1, "pairs": 1}


def test_a_join_with_a_table_that_does_not_change_keeps_nothing() -> None:
    assert "named" not in layers("sensors").stages


def test_a_union_has_rows_as_soon_as_one_of_its_streams_has() -> None:
    assert layers().rounds_of("packets") == {0}
    assert layers().rounds_of("counts") == {1}
    assert layers().rounds_of("mixed") == {0, 1}
    assert layers().rounds_of("all_of_it") == {2}


def test_boxes_that_take_rows_as_they_are_belong_to_the_stage_that_gives_them() -> None:
    assert straight().stages == {
        "counts": 0,
        "highest": 0,
        "doubled": 0,
        "of_doubled": 0,
        "pairs": 0,
        "of_pairs": 1,
        "mixed": 0,
    }
    assert straight("packets", "answers").stages == {
        "counts": FIRST,
        "highest": FIRST,
        # What it sums is computed before.
        "doubled": 0,
        "of_doubled": 0,
        "pairs": FIRST,
        # What is wanted of pairs is selected behind the join.
        "of_pairs": 0,
        # One of its sides is computed before.
        "mixed": 0,
    }


def test_rows_that_are_taken_straight_go_to_the_others_only() -> None:
    found = straight("packets", "answers")
    assert found.readers_of("packets") == [">doubled", ">mixed/0", ">named"]
    assert found.readers_of("counts") == [">output counts"]
    assert found.readers_of("highest") == [">output highest"]
    assert found.rounds_of("counts") == {0}
    assert found.readers_of("answers") == []
    assert straight().readers_of("answers") == [">pairs/1"]


def test_rows_go_to_everyone_who_reads_them() -> None:
    assert layers().readers_of("packets") == [">large", ">counts", ">pairs/0"]
    assert layers().readers_of("shaped") == [">mixed/1", ">pairs/1"]
    assert layers().readers_of("all_of_it") == [">output totals"]


def test_filters_and_splits_have_the_columns_of_what_they_read() -> None:
    assert layers().columns_from("parts.huge") == "packets"
    assert layers().columns_from("shaped") == "shaped"


def test_columns_that_nobody_needs_are_not_carried() -> None:
    text = TEXT.split("boxes:")[0] + (
        "boxes:\n"
        "  large: {filter: packets, where: bytes > 100}\n"
        "  counts: {aggregate: large, by: [host], window: {tumbling: 10s}, values: {n: count(*)}}\n"
        "outputs: {counts: {from: counts}}\n"
    )
    graph = check_text(text.replace("tables:\n  sensors: {registry: sensors}\n", ""))
    assert needed_columns(graph, "packets") == {"at", "host", "bytes"}
    assert needed_columns(graph, "large") == {"at", "host"}
    assert needed_columns(check_text(TEXT), "packets") >= {"origin", "site", "stream"}


def test_a_join_has_what_it_pairs_by_and_selects() -> None:
    graph = check_text(STRAIGHT)
    assert needed_columns(graph, "answers") == {"at", "host"}
    assert joined_columns(graph, "mixed", "left") == {"at": "timestamp", "host": "string"}
