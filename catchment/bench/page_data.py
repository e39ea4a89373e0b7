"""What open pages show during a benchmark: streams whose ledger goes on, and a lake with many readings."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import Transaction

from catchment.config import Config
from catchment.health import Report, Reporter, State
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.lake.layout import TIME, of_measurements
from catchment.lake.tables import WrittenFile, columns_of, lake_of
from catchment.ledger.model import LedgerRow
from catchment.node.status import SOCKET, Component, status_of
from catchment.records import Kind
from catchment.schemas.shipped import shipped

STREAMS = 200
COMPONENTS = 20
SUBJECT = "TemperatureData"
FILES = 20
OTHER_SENSORS = 9
_FLUSH_S = 10.0
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_ARROW = {
    "long": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}


@contextmanager
def streams_growing(site: Config) -> Iterator[None]:
    """Streams that go on each second, as the ledger of a busy node tells of them, while the block lasts."""
    done = threading.Event()
    writer = producer(site, Party.PIPELINE)

    def grow() -> None:
        turn = 0
        while not done.wait(1.0 if turn else 0.0):
            turn += 1
            for number in range(STREAMS):
                row = _row(site.site, number, turn * 100)
                writer.produce(Kind.LEDGER.topic, row.model_dump_json(), row.source.identity)
            writer.flush(_FLUSH_S)

    thread = threading.Thread(target=grow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(_FLUSH_S)


def _row(site: str, number: int, received: int) -> LedgerRow:
    now_us = time.time_ns() // 1_000
    return LedgerRow(
        site=site,
        gateway="gateway",
        epoch=1,
        stream=f"machine-{number}",
        version=received,
        received=received,
        highest=received,
        duplicates=0,
        out_of_order=0,
        missing=0,
        gaps=[],
        first_origin_us=now_us,
        last_origin_us=now_us,
    )


@contextmanager
def supervised(site: Config) -> Iterator[None]:
    """Answers as the supervisor of a node with many parts does."""
    parts = [Component(name=f"part-{number}", state=State.RUNNING, pid=1) for number in range(COMPONENTS)]
    figures = status_of(site, parts).model_dump(mode="json")
    reporter = Reporter(site.paths.socket(SOCKET), lambda: Report(state=State.RUNNING, figures=figures))
    try:
        yield
    finally:
        reporter.close()


def fill_lake(site: Config, readings: int) -> str:
    """So many readings of one sensor in the lake, among as many of each of some others; gives the sensor."""
    lake = lake_of(site)
    layout = of_measurements(SUBJECT, shipped()[SUBJECT])
    table = lake.ensure([layout])
    types = {name: _ARROW[kind] for name, kind in columns_of(table).items() if kind in _ARROW}
    share = readings // FILES
    for number in range(FILES):
        first = _FIRST + timedelta(hours=number)
        day = first.date().isoformat()
        path = lake.target(layout.table) / f"day={day}" / f"{uuid4()}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(_readings(site.site, first, share, types), path, compression="zstd")
        file = WrittenFile(layout.table, day, path, path.stat().st_size, share * (OTHER_SENSORS + 1))
        lake.commit(table, [file], Transaction("bench", number))
    return f"{site.site}/sensor-0"


def _readings(site: str, first: datetime, count: int, types: dict[str, pa.DataType]) -> pa.Table:
    """An hour of readings, in the order of time, of all sensors in turns."""
    sensors = OTHER_SENSORS + 1
    step = timedelta(hours=1) / count
    times = [first + step * number for number in range(count) for _ in range(sensors)]
    ids = [f"sensor-{number}" for number in range(sensors)] * count
    columns = {
        TIME: times,
        "site": [site] * len(ids),
        "sensor": [f"{site}/{each}" for each in ids],
        "sensor_id": ids,
        "temperature": [float(number % 977) for number in range(len(ids))],
    }
    schema = pa.schema(list(types.items()))
    nothing = pa.nulls(len(ids))
    arrays = [
        pa.array(columns[name], kind) if name in columns else nothing.cast(kind)
        for name, kind in types.items()
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
