"""The benchmark of pages: what it puts into the lake is what charts then show."""

from pathlib import Path

import pytest

from catchment.bench.page_data import COMPONENTS, FILES, OTHER_SENSORS, fill_lake, supervised
from catchment.config import Config
from catchment.lake.readings import readings_of
from catchment.lake.tables import actions_of, lake_of
from catchment.node.status import ask_node


@pytest.fixture
def site(tmp_path: Path) -> Config:
    return Config.model_validate({"data_dir": tmp_path, "site": "pages"})


def test_the_lake_has_so_many_readings_of_a_sensor_among_others(site: Config) -> None:
    sensor = fill_lake(site, 2_000)
    found = readings_of(lake_of(site), site.lake.analysis, sensor, None, None, None, 100)
    assert (found.field, found.count, sum(point.count for point in found.points)) == (
        "temperature",
        2_000,
        2_000,
    )
    assert 90 <= len(found.points) <= 100
    table = lake_of(site).find("temperature_data")
    assert table
    files = actions_of(table)
    assert len(files) == FILES
    assert sum(file["num_records"] for file in files) == 2_000 * (OTHER_SENSORS + 1)


def test_the_api_finds_a_supervisor(site: Config) -> None:
    with supervised(site):
        status = ask_node(site)
    assert (status.ready, len(status.components)) == (True, COMPONENTS)
