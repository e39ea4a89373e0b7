"""In which stage a box of a query is, and in which rounds a stream has rows."""

from catchment.queries.checker import check_text
from catchment.queries.layers import Layers
from catchment.queries.needed import needed_columns

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


def layers(*given: str) -> Layers:
    return Layers(check_text(TEXT), frozenset(given))


def test_a_box_with_state_comes_after_all_that_it_reads() -> None:
    assert layers().stages == {"counts": 0, "named": 0, "all_of_it": 1, "pairs": 1}


def test_a_join_with_a_table_that_does_not_change_keeps_nothing() -> None:
    assert "named" not in layers("sensors").stages


def test_a_union_has_rows_as_soon_as_one_of_its_streams_has() -> None:
    assert layers().rounds_of("packets") == {0}
    assert layers().rounds_of("counts") == {1}
    assert layers().rounds_of("mixed") == {0, 1}
    assert layers().rounds_of("all_of_it") == {2}


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
