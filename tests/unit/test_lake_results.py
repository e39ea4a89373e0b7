"""Tables of results: of each row the newest version, whatever comes again and in whatever order."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catchment.lake.results import Result, ResultTable, merge
from catchment.pipeline.result_tables import newest
from tests.lakes import lake_at

HOURS = ResultTable("hours", "rooms", "hours", {"room": "string", "n": "long", "at": "timestamp"}, "at", True)
CHANGES = st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 9)), max_size=8)
NOON_US = 1_794_916_800_000_000


def result(row: str, version: int, n: int | None, at: str = "2026-11-17T12:00:00.000000Z") -> Result:
    content = None if n is None else orjson.dumps({"room": row, "n": n, "at": at})
    return Result(f"oslo/rooms/hours/{row}", NOON_US + version, content)


def rows_of(directory: Path, columns: list[str]) -> list[dict[str, Any]]:
    table = lake_at(directory).find("hours")
    found: list[dict[str, Any]] = table.to_pyarrow_table(columns=columns).to_pylist() if table else []
    return sorted(found, key=str)


def test_rows_are_added_replaced_and_withdrawn_and_repeats_change_nothing(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    merge(lake, HOURS, [result("a", 1, 1), result("b", 1, 2), result("c", 1, 3, "2026-11-16T23:00:00Z")])
    batch = [result("a", 5, 10), result("b", 6, None), result("c", 0, 99, "2026-11-16T23:00:00Z")]
    for _ in range(2):
        merge(lake, HOURS, batch)
        assert rows_of(tmp_path, ["room", "n", "day"]) == [
            {"room": "a", "n": 10, "day": rows_of(tmp_path, ["day"])[1]["day"]},
            {"room": "c", "n": 3, "day": rows_of(tmp_path, ["day"])[0]["day"]},
        ]
    assert [str(row["day"]) for row in rows_of(tmp_path, ["day"])] == ["2026-11-16", "2026-11-17"]


def test_a_row_that_changes_its_time_moves_to_another_day(tmp_path: Path) -> None:
    top = ResultTable("hours", "rooms", "top", HOURS.columns, "at", steady=False)
    merge(lake_at(tmp_path), top, [result("1", 1, 5)])
    merge(lake_at(tmp_path), top, [result("1", 2, 6, "2026-11-18T00:00:00.000000Z")])
    assert [(row["n"], str(row["day"])) for row in rows_of(tmp_path, ["n", "day"])] == [(6, "2026-11-18")]


def test_a_column_that_changes_its_type_gets_a_column_of_its_own(tmp_path: Path) -> None:
    merge(lake_at(tmp_path), HOURS, [result("a", 1, 1)])
    real = ResultTable("hours", "rooms", "hours", {"room": "string", "n": "double"})
    merge(lake_at(tmp_path), real, [Result("oslo/rooms/hours/b", NOON_US, b'{"room": "b", "n": "NaN"}')])
    found = {
        row["room"]: (row["n"], str(row["n_double"])) for row in rows_of(tmp_path, ["room", "n", "n_double"])
    }
    assert found == {"a": (1, "None"), "b": (None, "nan")}


@settings(max_examples=15)
@given(changes=CHANGES, data=st.data())
def test_batches_that_come_again_give_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int | None]], data: st.DataObject
) -> None:
    """After a crash a batch begins where the one before began, and may be larger."""
    directory = tmp_path_factory.mktemp("lake")
    results = [result(row, version, n) for version, (row, n) in enumerate(changes)]
    begin = data.draw(st.integers(0, len(results)))
    for batch in (results[:begin], results[begin:], results[begin:]):
        rows = [
            {"key": each.row_id, "version": each.version_us, "value": each.content, "table": HOURS.text}
            for each in batch
        ]
        for table, those in newest(rows).items():
            merge(lake_at(directory), ResultTable.parse(table), those)
    expected = dict(changes)
    found = {row["room"]: row["n"] for row in rows_of(directory, ["room", "n"])}
    assert found == {row: n for row, n in expected.items() if n is not None}
    assert len(found) == len(rows_of(directory, ["room"]))
