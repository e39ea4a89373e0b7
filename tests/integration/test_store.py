"""The fast store: what stands in PostgreSQL after any sequence of readings, repeats, crashes and absences."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from py4j.java_gateway import JavaClass
from pyspark.sql import SparkSession

from catchment.config import Config
from catchment.config.store import PostgresSettings
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.pipeline.query import start
from catchment.pipeline.store import STORES, WRITER, java_settings, store_queries
from catchment.records import REASON_HEADER, TOPIC_HEADER, Kind
from tests.conftest import MakeConfig, free_ports
from tests.postgres import Postgres, running_postgres
from tests.storing import Measure, stamp, stamped

WAIT_S = 180.0
MEASUREMENTS = Kind.MEASUREMENTS.topic
LONG_AGO_US = 1_700_000_000_000_000
LONG_AGO_MS = LONG_AGO_US // 1000


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    (port,) = free_ports(1)
    with running_postgres(port) as server:
        yield server


class Task:
    """What Spark does with the Java writer in one partition, by hand."""

    def __init__(self, spark: SparkSession, config: Config, name: str, settings: dict[str, Any]) -> None:
        self._gateway: Any = spark._sc._gateway
        self._name = name
        self.schema = settings["schema_name"]
        self._offset = 0
        text = orjson.dumps(java_settings(name, PostgresSettings.model_validate(settings), config)).decode()
        self._writer = self._java(WRITER)(text)
        self._writer.open(0, 0)

    def put(self, key: str, value: bytes, header: bytes | None, topic: str = MEASUREMENTS) -> None:
        cells = self._gateway.new_array(self._gateway.jvm.Object, 6)
        spark = self._gateway.jvm.org.apache.spark
        text = spark.unsafe.types.UTF8String.fromString(topic)
        for place, cell in enumerate((text, 0, None, key.encode(), value, header)):
            cells[place] = cell
        row = spark.sql.catalyst.expressions.GenericInternalRow(cells)
        row.setLong(2, self._offset)
        self._writer.process(row)
        self._offset += 1

    def checkpoint(self) -> None:
        self._writer.close(None)
        self._writer.open(0, 0)

    def figures(self) -> dict[str, Any]:
        return dict(orjson.loads(self._java(STORES).figures(self._name)))

    def end(self) -> None:
        self._java(STORES).close(self._name)

    def _java(self, name: str) -> Any:
        return JavaClass(name, self._gateway._gateway_client)


StartTask = Callable[..., Task]


@pytest.fixture
def start_task(spark: SparkSession, cluster: Config, postgres: Postgres) -> Iterator[StartTask]:
    begun: list[Task] = []

    def start_one(schema: str, **others: Any) -> Task:
        own = postgres.settings(schema_name=schema, flush_ms=0, **others)
        begun.append(Task(spark, cluster, f"{schema}-{len(begun)}", own))
        return begun[-1]

    yield start_one
    for task in begun:
        task.end()


def wait_for(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_reading_becomes_a_row_with_all_its_fields(
    cluster: Config, postgres: Postgres, start_task: StartTask
) -> None:
    measure = Measure(
        "StoreAllKinds",
        temperature="double",
        count="int",
        label=["null", "string"],
        raw="bytes",
        on="boolean",
        tags={"type": "array", "items": "string"},
        site="string",
        xmin="float",
    )
    measure.declare(cluster)
    task = start_task("all_kinds")
    values = {"temperature": 21.5, "count": 3, "label": "a\tb\\n\nc", "raw": b"\x00\xff", "on": True}
    value = measure.encode("s1", LONG_AGO_MS + 7, **values, tags=["x", 'y"'], site="elsewhere", xmin=0.5)
    task.put("oslo/s1", value, stamp("kinds", 1, LONG_AGO_US))
    task.checkpoint()
    ((*row, delay_ms),) = postgres.rows(
        'SELECT site, sensor_id, extract(epoch FROM "timestamp") * 1000, (stamp).source, (stamp).sequence, '
        'temperature, count, label, raw, "on", tags, site_, xmin_, delay_ms FROM all_kinds.store_all_kinds'
    )
    assert row[:5] == ["oslo", "s1", LONG_AGO_MS + 7, "local/gate/1/kinds", 1]
    assert row[5:] == [21.5, 3, "a\tb\\n\nc", b"\x00\xff", True, ["x", 'y"'], "elsewhere", 0.5]
    assert delay_ms == pytest.approx(time.time() * 1000 - LONG_AGO_MS, abs=600_000)


def test_a_new_field_adds_its_column_and_a_wider_one_widens_it(
    cluster: Config, postgres: Postgres, start_task: StartTask
) -> None:
    first, second = (
        Measure("StoreGrowing", level="int"),
        Measure("StoreGrowing", level="double", note="string"),
    )
    for measure in (first, second):
        measure.declare(cluster)
    task = start_task("growing")
    task.put("oslo/s1", first.encode("s1", 1_000, level=7), stamp("growing", 1, 1))
    task.put("oslo/s1", second.encode("s1", 2_000, level=7.5, note="more"), stamp("growing", 2, 2))
    task.put("oslo/s1", first.encode("s1", 3_000, level=8), stamp("growing", 3, 3))
    # A newer reading of the same time replaces the whole row: what it does not say is not known.
    task.put("oslo/s1", first.encode("s1", 2_000, level=9), stamp("growing", 4, 4))
    task.checkpoint()
    rows = postgres.rows('SELECT level, note FROM growing.store_growing ORDER BY "timestamp"')
    assert rows == [(7.0, None), (9.0, None), (8.0, None)]


readings = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.integers(1, 3), st.integers(1, 12), st.booleans()),
    min_size=1,
    max_size=25,
)


@given(readings)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_newest_stamp_wins_and_every_stamp_counts_once(
    cluster: Config, postgres: Postgres, start_task: StartTask, given: list[tuple[str, int, int, bool]]
) -> None:
    measure = Measure("StoreModel", value="int")
    measure.declare(cluster)
    stream = f"model-{time.time_ns()}"
    task = start_task(f"model_{time.time_ns()}")
    newest: dict[tuple[str, int], int] = {}
    numbers: dict[int, tuple[str, int]] = {}
    for sensor, second, number, pause in given:
        # A record has one number, and is always the same: it may only come again.
        sensor, second = numbers.setdefault(number, (sensor, second))
        header = stamp(stream, number, LONG_AGO_US + number)
        task.put(f"oslo/{sensor}", measure.encode(sensor, second * 1000, value=number), header)
        newest[sensor, second] = max(number, newest.get((sensor, second), 0))
        if pause:
            task.checkpoint()
    task.checkpoint()
    schema = task.schema
    stored = postgres.rows(
        f'SELECT sensor_id, extract(epoch FROM "timestamp")::int, value FROM {schema}.store_model'
    )
    assert {(sensor, second): value for sensor, second, value in stored} == newest
    counted = postgres.rows(f"SELECT received, highest, received + repeated FROM {schema}_store.sources")
    assert counted == [(len(numbers), max(numbers), len(given))]


def test_what_no_table_takes_goes_to_the_dead_letters_and_the_rest_is_stored(
    cluster: Config, postgres: Postgres, start_task: StartTask
) -> None:
    measure, other = Measure("StoreRefused", text="string"), Measure("StoreRefused", text="double")
    for each in (measure, other):
        each.declare(cluster)
    task = start_task("refused")
    good = measure.encode("s1", 1_000, text="fine")
    wrong = {
        "text has the character U+0000": (measure.encode("s1", 2_000, text="a\0b"), stamp("refused", 2)),
        "between the years 1 and 9999": (measure.encode("s1", 2**60, text="late"), stamp("refused", 3)),
        "not in Confluent's wire format": (b"{}", stamp("refused", 4)),
        "not what its schema says": (good[:7], stamp("refused", 5)),
        "more bytes than its schema says": (good + b"!", stamp("refused", 6)),
        "invalid-stamp": (measure.encode("s1", 5_000, text="unstamped"), None),
        "the column text of store_refused is text and takes no double precision": (
            other.encode("s1", 6_000, text=1.0),
            stamp("refused", 7),
        ),
    }
    task.put("oslo/s1", good, stamp("refused", 1))
    for value, header in wrong.values():
        task.put("refused-site/s1", value, header)
    task.put("oslo/s1", measure.encode("s1", 9_000, text="fine"), stamp("refused", 8))
    task.checkpoint()
    assert postgres.rows("SELECT count(*) FROM refused.store_refused WHERE text = 'fine'") == [(2,)]
    letters = {
        str(dict(message.headers() or [])[REASON_HEADER]): message
        for message in read_all(cluster, Party.OPERATOR, Kind.DEADLETTER.topic)
        if message.key() == b"refused-site/s1"
    }
    for reason, (value, _) in wrong.items():
        (letter,) = (each for text, each in letters.items() if reason in text)
        assert letter.value() == value
        assert (TOPIC_HEADER, MEASUREMENTS.encode()) in (letter.headers() or [])
    assert task.figures()["rejected"] == len(wrong)


def test_a_database_that_is_away_is_waited_for(
    cluster: Config, postgres: Postgres, start_task: StartTask
) -> None:
    measure = Measure("StoreAway", value="int")
    measure.declare(cluster)
    task = start_task("away", retry_max_s=0.5)
    task.put("oslo/s1", measure.encode("s1", 1, value=1), stamp("away", 1))
    task.checkpoint()
    postgres.stop()
    try:
        for number in range(2, 50):
            task.put("oslo/s1", measure.encode("s1", number, value=number), stamp("away", number))
        wait_for(lambda: bool(task.figures()["problem"]))
    finally:
        postgres.start()
    task.checkpoint()
    assert task.figures()["problem"] == ""
    assert postgres.rows("SELECT count(*), sum(value) FROM away.store_away") == [(49, sum(range(50)))]


def test_the_connection_is_encrypted_and_checked_where_an_authority_is_named(
    cluster: Config, postgres: Postgres, start_task: StartTask
) -> None:
    measure = Measure("StoreSecure", value="int")
    measure.declare(cluster)
    task = start_task("secure", ca_file=str(postgres.ca_file))
    task.put("oslo/s1", measure.encode("s1", 1, value=1), stamp("secure", 1))
    task.checkpoint()
    encrypted = postgres.rows(
        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'catchment'"
    )
    assert (True,) in encrypted


def test_a_query_fills_the_store_and_goes_on_after_its_end(
    cluster: Config, postgres: Postgres, spark: SparkSession, make_config: MakeConfig
) -> None:
    measure = Measure("StoreRunning", value="int")
    measure.declare(cluster)
    store = {"postgres": {"running": postgres.settings(schema_name="running")}}
    pipeline = cluster.pipeline.model_copy(update={"checkpoint_interval_s": 5})
    own = make_config(store=store)
    config = cluster.model_copy(update={"pipeline": pipeline, "store": own.store})
    (query,) = store_queries(config)
    writer = producer(config, Party.PIPELINE)

    def send(numbers: range) -> None:
        for number in numbers:
            sensor = f"s{number % 7}"
            value = measure.encode(sensor, number, value=number)
            writer.produce(MEASUREMENTS, value, f"local/{sensor}", headers=stamped(stamp("running", number)))
        assert writer.flush(WAIT_S) == 0

    def stored() -> int:
        if not postgres.rows("SELECT to_regclass('running.store_running')")[0][0]:
            return 0
        return int(postgres.rows("SELECT count(*) FROM running.store_running")[0][0])

    for last in (500, 1_000):
        running = start(query, spark, config)
        try:
            send(range(last - 499, last + 1))
            wait_for(lambda last=last: stored() == last)  # type: ignore[misc]
        finally:
            running.stop()
    counts = postgres.rows(
        "SELECT received, highest FROM running_store.sources WHERE source LIKE '%/running'"
    )
    assert counts == [(1_000, 1_000)]
    assert query.outlet
    progress = query.outlet.progress()
    assert progress.rows >= 1_000
    assert progress.problem == ""
    query.outlet.tend()
    query.outlet.close()
    hops = [
        orjson.loads(message.value() or b"") for message in read_all(config, Party.OPERATOR, Kind.HOPS.topic)
    ]
    told = [hop for hop in hops if hop["stage"] == "postgres" and hop["stream"] == "running"]
    assert told[-1]["received"] == 1_000
