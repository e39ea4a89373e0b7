"""Digital twins: changes applied by Catchment, by Kafka Streams and over PostgreSQL, all in one run.

It is run on a site of its own, so that nothing else has to keep up with it. All read the same changes from
the same topic of one broker, one after the other, and each is a process.
"""

from dataclasses import dataclass, field

from catchment import jars
from catchment.bench import twin_view
from catchment.bench.result import Result
from catchment.bench.site import broker
from catchment.bench.topics import Output, time_by_broker
from catchment.bench.twin_load import Changes, fill_records
from catchment.bench.twin_plots import plots
from catchment.bench.twin_postgres import PostgresTrial
from catchment.bench.twin_subjects import KAFKA_STREAMS, SPLIT, check, kafka_streams, ours, query
from catchment.bench.twin_trial import START_S, Trial, rate_per_s
from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.records import Kind
from catchment.simulate.twins import FEED, TYPE, Fleet, simulated_feed, simulated_type
from catchment.twins.model import TwinFeed, TwinType

SITE = "twins"
PARTITIONS = 12
PARTITIONED = (Kind.RECORDS, Kind.TWIN_CHANGES, Kind.TWINS, Kind.TWIN_HISTORY)
DEVICES = 50
SEED = 1
POSTGRES = "postgres"
COMPARED_RATE = 10_000


@dataclass(frozen=True)
class Course:
    """How much of everything."""

    stores: tuple[str, ...]
    backlog: int
    rates_per_s: tuple[int, ...]
    paced_s: float
    postgres_backlog: int
    postgres_rates_per_s: tuple[int, ...] = ()
    split_messages: int = 0
    killed: bool = False
    unsynced: bool = False
    viewed: bool = False
    objects: int = 200
    fleet: Fleet = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fleet", Fleet("bench", DEVICES, self.objects, 1000, SEED))


FULL = Course(
    stores=("rocksdb", "memory"),
    backlog=1_000_000,
    rates_per_s=(100, 1_000, 2_000, 5_000, COMPARED_RATE),
    paced_s=10,
    postgres_backlog=60_000,
    postgres_rates_per_s=(100, 500, 1_000),
    split_messages=5_000,
    killed=True,
    unsynced=True,
    viewed=True,
)
SHORT = Course(
    stores=("rocksdb",),
    backlog=200_000,
    rates_per_s=(COMPARED_RATE,),
    paced_s=3,
    postgres_backlog=8_000,
)


def run(config: Config, *, short: bool) -> Result:
    """Measures on a site of its own; the node may be running or not."""
    return twins(config, SHORT if short else FULL)


def twins(config: Config, course: Course) -> Result:
    """Runs all that the course asks for."""
    jars.prepare_peers()
    result = Result("twins")
    kafka = {"topics": {kind.value: {"partitions": PARTITIONS} for kind in PARTITIONED}}
    pipeline = config.pipeline.model_dump(mode="json")
    with broker(config, SITE, kafka=kafka, pipeline=pipeline) as site:
        _declare(site)
        changes = Changes(site, course.fleet)
        for store in course.stores:
            for subject in (kafka_streams(site, store), ours(site, store)):
                trial = Trial(site, subject, changes)
                trial.run(course.backlog, course.rates_per_s, course.paced_s, killed=course.killed)
                trial.note(result)
        _run_postgres(site, course, changes, result)
        if course.split_messages:
            _split(site, course, result)
    if course.viewed:
        with broker(config, SITE) as site:
            twin_view.measure(site, result)
    compare(course, result)
    result.plots = plots(result.figures)
    return result


def _declare(site: Config) -> None:
    """What the query has to know: the type of the objects, and the feed of their messages."""
    writer = producer(site, Party.ADMIN)
    kept = {"site": site.site, "version": 1, "updated_ms": 0}
    declared = {
        Kind.TWIN_TYPES: TwinType.model_validate({**simulated_type().model_dump(), **kept, "id": TYPE}),
        Kind.TWIN_FEEDS: TwinFeed.model_validate({**simulated_feed().model_dump(), **kept, "id": FEED}),
    }
    for kind, each in declared.items():
        writer.produce(kind.topic, each.model_dump_json().encode(), each.key.encode())
    writer.flush()


def _run_postgres(site: Config, course: Course, changes: Changes, result: Result) -> None:
    """With PostgreSQL's own idea of durability, and with Kafka's, which writes to disk a little later."""
    rates = course.postgres_rates_per_s
    PostgresTrial(site, POSTGRES, changes).run(course.postgres_backlog, rates, course.paced_s, result)
    if course.unsynced:
        relaxed = PostgresTrial(site, f"{POSTGRES}_unsynced", changes)
        relaxed.run(course.postgres_backlog, (), 0, result, synchronous_commit="off")


def _split(site: Config, course: Course, result: Result) -> None:
    """The split alone: how fast messages of devices become changes of objects."""
    time_by_broker(site, [Kind.TWIN_CHANGES.topic])
    output = Output(site, Kind.TWIN_CHANGES.topic)
    fill_records(site, course.fleet, course.split_messages)
    child = query(site, SPLIT, SPLIT)
    try:
        output.wait(
            course.split_messages * course.objects, lambda: check(site, SPLIT, child), timeout_s=2 * START_S
        )
    finally:
        child.kill()
    result.add("rate_split", rate_per_s([row.written_ms for row in output.rows()]), "objects/s")


def compare(course: Course, result: Result) -> None:
    """With the store in which ours does worse."""

    def ratio(ours: str, peers: str) -> float:
        return float(result.figures[ours]["value"] / result.figures[peers]["value"])

    rates = [ratio(f"rate_{store}", f"rate_{KAFKA_STREAMS}_{store}") for store in course.stores]
    result.ratios["of_kafka_streams"] = round(min(rates), 3)
    delays = [
        ratio(*(f"delay_{name}_{COMPARED_RATE}_p50" for name in (store, f"{KAFKA_STREAMS}_{store}")))
        for store in course.stores
    ]
    result.ratios["delay_of_kafka_streams"] = round(max(delays), 3)
    result.ratios["of_postgres"] = round(
        min(ratio(f"rate_{store}", f"rate_{POSTGRES}") for store in course.stores), 3
    )
