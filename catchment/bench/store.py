"""The way of a reading to people and stores: gateway, Kafka, measurements, rules, PostgreSQL and the lake.

It is run on a site of its own. First readings flow at an even pace, and the delay to each end is measured.
Then the same readings are a backlog, which each query takes as fast as it can, beside a peer that does it
plainly.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from psycopg.sql import SQL, Identifier, Placeholder

from catchment.alerts.rulebook import RuleBook
from catchment.alerts.rules import RuleSpec
from catchment.bench.delays import EventWatch, lake_delay_ms
from catchment.bench.participants import Participant, participant
from catchment.bench.postgres import Postgres, running_postgres
from catchment.bench.result import Result, percentile
from catchment.bench.site import broker, free_ports, gateway, wait_for, write
from catchment.config import Config
from catchment.errors import NodeNotRunning, PartFailed
from catchment.health import State, ask
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.lake.layout import table_of
from catchment.lake.tables import lake_of
from catchment.ledger.proof import Proof
from catchment.ledger.reading import prove
from catchment.registry.model import MappingSpec
from catchment.registry.registry import Registry
from catchment.schemas.registry import SchemaRegistry
from catchment.schemas.shipped import TEMPERATURE, register_shipped

SITE = "store"
STORE = "bench"
RATE_PER_S = 10_000
SENSORS = 1_000
PROVIDERS = 4
# A reading in 250 is 20 degrees off, half of them upwards: a sensor crosses the threshold every 50 s.
PLANT = {
    "name": SITE,
    "count": SENSORS,
    "providers": PROVIDERS,
    "curve": {"start": 20, "target": 20, "noise": 0.5, "spike_share": 0.004, "spike_size": 20},
    "unit": "C",
    "interval_ms": 1000 * SENSORS // RATE_PER_S,
    "seed": 1,
}
RULE = RuleSpec(field="temperature", above=30, hysteresis=5, unit="C")
MAPPING = MappingSpec.model_validate(
    {
        "streams": f"sensors-{SITE}-*",
        "subject": TEMPERATURE,
        "sensor": {"field": "sensor_id"},
        "timestamp": {"field": "timestamp"},
    }
)
TABLE = table_of(TEMPERATURE)
STORED = Identifier("catchment", TABLE)
PROOF_S = 120.0


@dataclass(frozen=True)
class Course:
    """How long: before it counts, while it counts, rows one by one, turns of lake and plain sink."""

    warm_up_s: float
    paced_s: float
    rows_one_by_one: int
    turns: int

    @property
    def readings(self) -> int:
        return round((self.warm_up_s + self.paced_s) * RATE_PER_S)


FULL = Course(warm_up_s=240, paced_s=120, rows_one_by_one=10_000, turns=3)
SHORT = Course(warm_up_s=3, paced_s=5, rows_one_by_one=2_000, turns=1)


def run(config: Config, *, short: bool) -> Result:
    """Measures on a site of its own."""
    return measure(config, SHORT if short else FULL)


def measure(config: Config, course: Course) -> Result:
    """Measures with a course of that length."""
    result = Result("store")
    port, listener = free_ports(2)
    with running_postgres(port) as database, _site(config, database, listener) as site:
        write(site)
        _declare(site)
        with gateway(site), participant(site, "pipeline", turns=course.turns) as pipeline:
            wait_for(lambda: _runs(site), pipeline.check)
            _warm_up(site, course)
            _let_flow(site, course, database, result)
            _insert_one_by_one(database, course.rows_one_by_one, result)
            _take_backlogs(pipeline, result)
    result.compare("of_row_insert", "postgres_backlog", "row_insert")
    result.compare("of_parquet_sink", "lake_backlog", "parquet_sink")
    return result


@contextmanager
def _site(config: Config, database: Postgres, listener: int) -> Iterator[Config]:
    own = config.gateway.model_dump(mode="json", exclude={"mqtt", "adapters", "http"}, exclude_none=True)
    sections: dict[str, Any] = {
        "gateway": {**own, "host": "127.0.0.1", "port": listener, "http": {"enabled": False}},
        "pipeline": config.pipeline.model_dump(mode="json"),
        "lake": config.lake.model_dump(mode="json", exclude={"url", "storage_options", "topics", "enabled"}),
        "store": {"postgres": {STORE: database.settings()}},
    }
    with broker(config, SITE, **sections) as site:
        yield site


def _declare(site: Config) -> None:
    """The mapping that makes measurements of readings, and the rule that watches them."""
    tables = Tables(site, Party.API)
    schemas = SchemaRegistry(site.site, tables)
    registry, rules = Registry(site.site, tables, schemas), RuleBook(site.site, tables, [])
    tables.start()
    try:
        wait_for(lambda: tables.caught_up, lambda: None)
        register_shipped(schemas)
        registry.put_mapping(SITE, MAPPING)
        rules.put("hot", RULE)
    finally:
        tables.stop()


def _runs(site: Config) -> bool:
    try:
        return ask(site.paths.socket("pipeline")).state is State.RUNNING
    except NodeNotRunning:
        return False


def _warm_up(site: Config, course: Course) -> None:
    """Readings that do not count, until all have arrived: by then Java has compiled what is used often."""
    _send(site, course.warm_up_s)
    prove(site, Party.OPERATOR, PROOF_S)


def _send(site: Config, seconds: float) -> None:
    """Lets the sensors send for so long, until all that they sent is safe."""
    with participant(site, "sensors", plant=PLANT, count=round(seconds * RATE_PER_S)) as sensors:
        sensors.answer()
        sensors.answer(seconds + PROOF_S)


def _let_flow(site: Config, course: Course, database: Postgres, result: Result) -> None:
    """Readings at an even pace, whose delays count."""
    watch = EventWatch(site)
    before = _stored(site)
    since_ms = time.time_ns() // 1_000_000
    _send(site, course.paced_s)
    proof = prove(site, Party.OPERATOR, PROOF_S)
    after = _stored(site)
    delays = sorted(watch.delays_ms(since_ms))
    if not delays:
        raise PartFailed("No event came in time", "Run the benchmark on a machine that is less busy.")
    result.add("readings", RATE_PER_S, "readings/s")
    result.add("events", len(delays) / course.paced_s, "events/s")
    result.add("event_delay_mean", fmean(delays), "ms")
    result.add("event_delay_p50", percentile(delays, 0.5), "ms")
    result.add("event_delay_p99", percentile(delays, 0.99), "ms")
    delay_sum_ms = after["delay_sum_ms"] - before["delay_sum_ms"]
    result.add("postgres_delay_mean", delay_sum_ms / (after["rows"] - before["rows"]), "ms")
    result.add("lake_delay_mean", lake_delay_ms(lake_of(site), TABLE, since_ms), "ms")
    result.add("lost", _lost(site, course, database, proof), "readings")


def _stored(site: Config) -> dict[str, Any]:
    """What the pipeline says of its fast store."""
    queries = ask(site.paths.socket("pipeline")).figures["queries"]
    (figures,) = (query["store"] for query in queries if query["name"] == f"postgres-{STORE}")
    return dict(figures)


def _lost(site: Config, course: Course, database: Postgres, proof: Proof) -> int:
    """What is missing at the worst place, by the proof or by counting the rows of measurements."""
    table = lake_of(site).find(TABLE)
    ((in_postgres,),) = database.rows(SQL("SELECT count(*) FROM {}").format(STORED))
    in_lake = table.count() if table else 0
    under_way = max(hop.under_way for stream in proof.streams for hop in stream.hops)
    arrived: int = min(proof.received, in_postgres, in_lake)
    return max(proof.missing + under_way, course.readings - arrived)


def _insert_one_by_one(database: Postgres, count: int, result: Result) -> None:
    """The same rows into a table like ours, with a statement and a commit for each, by one connection."""
    rows = database.rows(SQL("SELECT * FROM {} LIMIT {}").format(STORED, count))
    places = SQL(", ").join([Placeholder()] * len(rows[0]))
    with database.connect(autocommit=True) as connection:
        connection.execute(SQL("CREATE TABLE row_by_row (LIKE {} INCLUDING ALL)").format(STORED))
        insertion = SQL("INSERT INTO row_by_row VALUES ({})").format(places)
        began_s = time.perf_counter()
        for row in rows:
            connection.execute(insertion, row)
        result.add("row_insert", len(rows) / (time.perf_counter() - began_s), "rows/s")


def _take_backlogs(pipeline: Participant, result: Result) -> None:
    pipeline.begin()
    told = pipeline.answer(600)
    for name, rates in told.items():
        result.add(name, median(rates), "rows/s")
