"""The pipeline as a process: one Spark driver that runs every declared query and reports on each."""

import logging
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from catchment.config import Config
from catchment.config.models import DEPLOYED
from catchment.health import Report, Reporter, State, metrics_text
from catchment.kafka.clients import consumer, end_offsets
from catchment.kafka.parties import Party
from catchment.metrics import gauge
from catchment.pipeline import session
from catchment.pipeline.deployed import DeployedQueries
from catchment.pipeline.flow import Flow, FlowMeter
from catchment.pipeline.queries import queries
from catchment.pipeline.query import Progress, Query, reading_tasks, start
from catchment.pipeline.resting import Rest
from catchment.pipeline.runner import QueryRunner
from catchment.pipeline.timings import Timings
from catchment.records import Kind

log = logging.getLogger(__name__)

TEND_WHILE_STARTING_S = 0.5
TEND_S = 2.0
MEASURE_S = 4.0
SPARE_SLOTS = 4

ROWS_IN = gauge("catchment_query_rows_in_per_second")
ROWS_OUT = gauge("catchment_query_rows_out_per_second")
DELAY = gauge("catchment_query_delay_seconds")
RESTARTS = gauge("catchment_query_restarts")


def run(config: Config) -> None:
    """Runs the pipeline until SIGTERM or SIGINT."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    pipeline = Pipeline(config)
    reporter = Reporter(config.paths.socket("pipeline"), pipeline.report)
    try:
        spark = pipeline.create_session()
        pipeline.run(spark, stopping)
        spark.stop()
    finally:
        reporter.close()


class Pipeline:
    """The driver, a runner for each query, and a meter for all."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._queries = queries(config)
        self._flows: dict[str, Flow] = {}
        self._progress: dict[str, Progress] = {}
        self._runners: list[QueryRunner] = []
        self._rest = Rest(config)
        self._deployed: DeployedQueries | None = None

    def create_session(self) -> SparkSession:
        """Spark with as many threads as the queries need."""
        return session.create(self._config.pipeline, self._slots(), self._config.paths.data / "spark")

    def run(self, spark: SparkSession, stopping: threading.Event) -> None:
        """Runs the queries until `stopping` is set."""
        self._wait_for_topics(stopping)
        self._runners = [self._runner(query, spark) for query in self._queries]
        meter = FlowMeter(self._config, self._queries)
        outlets = {query.name: query.outlet for query in self._queries if query.outlet}
        timings = Timings()
        self._deployed = self._follow_deployed(spark)
        measure_at = 0.0
        while not stopping.wait(self._pause_s()):
            for runner in self._runners:
                runner.tend()
            for name, outlet in outlets.items():
                outlet.tend()
                self._progress[name] = outlet.progress()
            if self._deployed:
                self._deployed.tend()
            if time.monotonic() >= measure_at:
                self._flows = meter.measure()
                timings.read(spark)
                if self._deployed:
                    self._deployed.measure()
                measure_at = time.monotonic() + MEASURE_S
        timings.close()
        # A stop interrupts the tasks of real-time queries, and each of them would log that as an error.
        spark.sparkContext.setLogLevel("OFF")
        for runner in self._runners:
            runner.stop()
        if self._deployed:
            self._deployed.stop()
        for outlet in outlets.values():
            outlet.close()
        self._rest.close()

    def report(self) -> Report:
        queries = [self._figures(runner) for runner in self._runners]
        waiting = [runner.name for runner in self._runners if runner.state is not State.RUNNING]
        if not queries and self._deployed is None:
            state, detail = State.STARTING, "waiting for Spark and Kafka"
        elif waiting:
            failing = any(runner.state is State.RESTARTING for runner in self._runners)
            state = State.DEGRADED if failing else State.STARTING
            detail = f"not running: {', '.join(waiting)}"
        else:
            state, detail = State.RUNNING, ""
        deployed = self._deployed.figures() if self._deployed else []
        figures = {"queries": [*queries, *deployed]}
        return Report(state=state, detail=detail, figures=figures, metrics=metrics_text())

    def _pause_s(self) -> float:
        runners = [*self._runners, *(self._deployed.runners if self._deployed else ())]
        steady = all(runner.state is State.RUNNING for runner in runners)
        return TEND_S if steady else TEND_WHILE_STARTING_S

    def _wait_for_topics(self, stopping: threading.Event) -> None:
        """A query cannot start before its topics are there; Kafka may still be on its way."""
        looking = consumer(self._config, Party.PIPELINE)
        kinds = {kind for query in self._queries for kind in (*query.inputs, *query.writes)}
        topics = {kind.topic for kind in (*kinds, Kind.QUERIES, Kind.RESULTS, Kind.TICKS)}
        while not stopping.is_set():
            try:
                for topic in topics:
                    end_offsets(looking, topic)
                break
            except KafkaException:
                stopping.wait(TEND_WHILE_STARTING_S)
        looking.close()

    def _slots(self) -> int:
        """A real-time query holds a thread for each task that reads and each that it shuffles to.

        Others use as many for a while, and must not keep those from starting.
        """
        sources = sum(reading_tasks(query, self._config) for query in self._queries)
        fixed = sources + len(self._queries) * self._config.pipeline.shuffle_partitions + SPARE_SLOTS
        return fixed + self._config.pipeline.query_slots

    def _follow_deployed(self, spark: SparkSession) -> DeployedQueries | None:
        wanted = self._config.pipeline.queries
        if wanted is not None and DEPLOYED not in wanted:
            return None
        return DeployedQueries(self._config, spark, lambda query, begin: self._runner(query, spark, begin))

    def _runner(
        self, query: Query, spark: SparkSession, begin: Callable[[], StreamingQuery] | None = None
    ) -> QueryRunner:
        return QueryRunner(
            name=query.name,
            start=begin or (lambda: start(query, spark, self._config)),
            # Between its batches no task of a micro-batch query runs, for as long as there is nothing new.
            active_tasks=lambda run_id: 1 if query.launch else _active_tasks(spark, run_id),
            backoff_max_s=self._config.pipeline.restart_backoff_max_s,
            has_work=lambda: self._rest.has_work(query),
        )

    def _figures(self, runner: QueryRunner) -> dict[str, Any]:
        # What flows through the topics of a query that rests is the work of others.
        flow = Flow() if runner.resting else self._flows.get(runner.name, Flow())
        ROWS_IN.labels(runner.name).set(flow.rows_in_per_s)
        ROWS_OUT.labels(runner.name).set(flow.rows_out_per_s)
        DELAY.labels(runner.name).set((flow.delay_ms or 0) / 1000)
        RESTARTS.labels(runner.name).set(runner.restarts)
        progress = self._progress.get(runner.name, Progress())
        held_up = runner.state is State.RUNNING and bool(progress.problem)
        return {
            "name": runner.name,
            "state": (State.DEGRADED if held_up else runner.state).value,
            "detail": f"waits and tries again: {progress.problem}"
            if held_up
            else _describe(runner, self._query(runner.name), flow),
            # What others run, and may stop, is no fault of the node.
            "needed": not held_up,
            "uptime_s": runner.uptime_s,
            "mode": _mode(self._query(runner.name)),
            "resting": runner.resting,
            "restarts": runner.restarts,
            "rows_in_per_s": round(flow.rows_in_per_s, 1),
            "rows_out_per_s": round(flow.rows_out_per_s, 1),
            "delay_ms": flow.delay_ms,
            "last_error": runner.last_error,
            **progress.figures,
        }

    def _query(self, name: str) -> Query:
        return next(query for query in self._queries if query.name == name)


def _mode(query: Query) -> str:
    return "micro-batch" if query.launch else "real-time"


def _describe(runner: QueryRunner, query: Query, flow: Flow) -> str:
    if runner.state is State.RESTARTING:
        return runner.last_error
    if runner.resting:
        return f"rests until something is on {' or '.join(kind.value for kind in query.rests_until)}"
    delay = "" if flow.delay_ms is None else f", last delay {flow.delay_ms:,.0f} ms"
    return f"{_mode(query)}, {flow.rows_in_per_s:,.0f} rows/s in{delay}"


def _active_tasks(spark: SparkSession, run_id: str) -> int:
    tracker = spark.sparkContext.statusTracker()
    # Most jobs of a group are checkpoint intervals of the past.
    running = set(tracker.getActiveJobsIds()).intersection(tracker.getJobIdsForGroup(run_id))
    jobs = map(tracker.getJobInfo, running)
    stages = (tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds)
    return sum(stage.numActiveTasks for stage in stages if stage)
