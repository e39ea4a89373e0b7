"""Plots of a benchmark: everything is drawn, inside the paper, and the page needs nothing from elsewhere."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.bench.plots import HEIGHT, WIDTH, Axis, Bars, Lines, short
from catchment.bench.result import Result
from catchment.bench.twin_plots import plots

POSITIVE = st.floats(1e-6, 1e9)


@given(st.lists(POSITIVE, min_size=1))
def test_an_axis_holds_all_its_values_in_their_order(values: list[float]) -> None:
    axis = Axis.around(values, 100, 400)
    places = [axis.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert 99.9 <= places[0] <= places[-1] <= 400.1
    assert all(100 <= axis.place(tick) <= 400.1 for tick in axis.ticks())
    assert len(axis.ticks()) >= 2


def test_curves_have_a_dot_for_every_point_and_a_name() -> None:
    lines = Lines("Delays", "rate", "ms", {"ours": [(100, 5), (1000, 6)], "theirs <b>": [(100, 4)]})
    drawing = ET.fromstring(lines.svg())
    dots = [each.attrib for each in drawing.iter() if each.tag.endswith("circle")]
    assert len(dots) == 3
    assert all(0 <= float(dot["cx"]) <= WIDTH and 0 <= float(dot["cy"]) <= HEIGHT for dot in dots)
    texts = [each.text for each in drawing.iter() if each.tag.endswith("text")]
    assert {"ours", "theirs <b>", "rate", "ms"} <= set(texts)


def test_bars_are_as_long_as_their_values() -> None:
    drawing = ET.fromstring(Bars("Rates", "objects/s", {"a": 10.0, "b": 40.0}).svg())
    widths = [float(each.attrib["width"]) for each in drawing.iter() if each.tag.endswith("rect")]
    assert widths[1] == pytest.approx(4 * widths[0], rel=0.01)


@pytest.mark.parametrize(("value", "text"), [(123_456.0, "123,456"), (5.0, "5"), (0.0512, "0.0512")])
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text


def test_a_result_with_plots_leaves_a_page_beside_its_file(tmp_path: Path) -> None:
    result = Result("twins")
    result.add("rate_rocksdb", 30_000, "objects/s")
    result.add("rate_kafka_streams_rocksdb", 29_000, "objects/s")
    result.add("delay_rocksdb_1000_p50", 5, "ms")
    result.add("delay_postgres_unsynced_1000_p50", 7, "ms")
    result.plots = plots(result.figures)
    result.write(tmp_path / "twins.json")
    page = (tmp_path / "twins.html").read_text()
    assert page.count("<svg") == 2
    for name in ("Catchment, rocksdb", "Kafka streams rocksdb", "Postgres unsynced"):
        assert name in page
    assert not re.search(r"<(script|link|img)|url\(", page)


def test_a_result_without_plots_leaves_none(tmp_path: Path) -> None:
    Result("race").write(tmp_path / "race.json")
    assert [file.name for file in tmp_path.iterdir()] == ["race.json"]
