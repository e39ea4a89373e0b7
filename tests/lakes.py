"""Lakes for tests: real Delta tables on disk, filled without Spark."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import Transaction

from catchment.lake.layout import RECORDS, Layout, of_measurements
from catchment.lake.tables import Lake, WrittenFile, columns_of

SHIPPED = Path(__file__).parents[1] / "catchment" / "schemas" / "shipped"
TEMPERATURE = (SHIPPED / "TemperatureData.avsc").read_text(encoding="utf-8")
TEMPERATURES = of_measurements("TemperatureData", TEMPERATURE)
FIRST = datetime(2026, 11, 17, 8, tzinfo=UTC)

_ARROW = {
    "long": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}


def lake_at(directory: Path) -> Lake:
    return Lake(str(directory), {}, directory / "staging")


def add_rows(lake: Lake, layout: Layout, rows: list[dict[str, Any]]) -> None:
    """Commits rows of one day; columns that they do not name are null."""
    table = lake.ensure([layout])
    types = {name: _ARROW[kind] for name, kind in columns_of(table).items() if name != "day"}
    day = rows[0]["time"].date().isoformat()
    path = lake.target(layout.table) / f"day={day}" / f"{uuid4()}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(list(types.items()))), path)
    file = WrittenFile(layout.table, day, path, path.stat().st_size, len(rows))
    lake.commit(table, [file], Transaction("tests", table.version()))


def readings(sensor: str, count: int, first: datetime = FIRST) -> list[dict[str, Any]]:
    """A reading a minute, the n-th of n degrees."""
    return [
        {
            "site": "oslo",
            "sensor": f"oslo/{sensor}",
            "sensor_id": sensor,
            "temperature": float(number),
            "unit": "C",
            "time": first + timedelta(minutes=number),
            "sequence": number,
        }
        for number in range(1, count + 1)
    ]


def records(stream: str, numbers: list[int]) -> list[dict[str, Any]]:
    return [
        {
            "site": "oslo",
            "gateway": "gate",
            "epoch": 1,
            "stream": stream,
            "sequence": number,
            "origin_us": number * 1000,
            "value": b"\xffline %d" % number,
            "time": FIRST + timedelta(seconds=number),
        }
        for number in numbers
    ]


def filled(directory: Path) -> Lake:
    """A lake with ten readings of one sensor, five of another, and three records."""
    lake = lake_at(directory)
    add_rows(lake, TEMPERATURES, [*readings("press", 10), *readings("oven", 5)])
    add_rows(lake, RECORDS, records("press", [1, 2, 4]))
    return lake
