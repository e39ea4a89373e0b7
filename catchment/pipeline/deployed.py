"""Deployed queries: started, replaced and stopped while the pipeline runs, beside those that it always has.

What is on the topic `queries` is what runs. A query that is changed goes on from its state if its signature
is the same; the state of any other is removed. One that fails never holds up another.
"""

import logging
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from catchment.config import Config
from catchment.errors import CatchmentError
from catchment.health import State
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.pipeline.hush import Hush, levels_of
from catchment.pipeline.meters import Meters
from catchment.pipeline.objectives import Objective, encode
from catchment.pipeline.query import Query, reading_tasks
from catchment.pipeline.runner import QueryRunner
from catchment.pipeline.ticks import Ticker
from catchment.queries.book import QueryBook
from catchment.queries.compiler import needs_ticks
from catchment.queries.deployment import query_name, runs_at
from catchment.queries.explain import stage_of
from catchment.queries.graph import Graph
from catchment.queries.model import DeployedQuery
from catchment.queries.running import launch, query_of, teach
from catchment.queries.signature import DIGITS, signature
from catchment.records import Kind
from catchment.schemas.known import by_id
from catchment.schemas.model import SchemaVersion
from catchment.schemas.registry import SchemaRegistry
from catchment.twins.declarations import TwinDeclarations

log = logging.getLogger(__name__)

_SIGNATURE = "[0-9a-f]" * DIGITS

MakeRunner = Callable[[Query, Callable[[], Any]], QueryRunner]


@dataclass(frozen=True)
class Running:
    """A deployed query that runs, or is about to."""

    version: int
    graph: Graph
    query: Query
    runner: QueryRunner
    objective: Objective | None


class DeployedQueries:
    """All deployed queries of this node."""

    def __init__(self, config: Config, spark: SparkSession, make_runner: MakeRunner) -> None:
        self._config = config
        self._spark = spark
        self._make_runner = make_runner
        self._running: dict[str, Running] = {}
        self._refused: dict[str, str] = {}
        self._tables = Tables(config, Party.PIPELINE)
        schemas = self._schemas = SchemaRegistry(config.site, self._tables)
        self._taught: dict[int, SchemaVersion] = {}
        twins = TwinDeclarations(config.site, self._tables, schemas)
        self._book = QueryBook(config.site, self._tables, schemas, twins, has_lake=config.lake.enabled)
        self._ticker = Ticker(config)
        self._events = producer(config, Party.PIPELINE)
        self._meters = Meters()
        self._hush = Hush(levels_of(spark))
        self._tables.start()

    @property
    def runners(self) -> list[QueryRunner]:
        return [each.runner for each in self._running.values()]

    def tend(self) -> None:
        """Starts, replaces and stops what is due, and looks after what runs."""
        if self._tables.caught_up:
            self._teach()
            self._reconcile()
        for each in self._running.values():
            each.runner.tend()
        self._hush.tend()
        self._ticker.want(any(needs_ticks(each.graph) for each in self._running.values()))

    def measure(self) -> None:
        """Reads the meters, and raises an event for each objective that is missed or met again."""
        if not self._running:
            return
        self._meters.read(self._spark)
        for name, each in self._running.items():
            event = each.objective.observe(self._delay_ms(name)) if each.objective else None
            if event:
                key = f"{event['node']}/{event['site']}/{name}/{event['rule']}"
                self._events.produce(Kind.EVENTS.topic, encode(event), key)
        self._events.poll(0)

    def figures(self) -> list[dict[str, Any]]:
        """What the pipeline reports of each."""
        refused = [_refused(name, why) for name, why in self._refused.items()]
        return [*(self._figures(name, each) for name, each in self._running.items()), *refused]

    def stop(self) -> None:
        for each in self._running.values():
            each.runner.stop()
        self._ticker.close()
        self._meters.close()
        self._events.flush(5)
        self._tables.stop()

    def _teach(self) -> None:
        """Schemas that were registered since: rows may come that need them."""
        if self._running:
            known = by_id(self._schemas.all(deleted=True))
            new = {number: version for number, version in known.items() if number not in self._taught}
            teach(self._spark, new)
            self._taught |= new

    def _reconcile(self) -> None:
        wanted = {each.id: each for each in self._book.shelf.own() if runs_at(each, self._config.role)}
        self._refused = {name: why for name, why in self._refused.items() if name in wanted}
        for name in [name for name in self._running if name not in wanted]:
            self._end(name)
            self._jvm.catchment.control.Seals.forget(f"{name}/")
        for name, deployed in wanted.items():
            running = self._running.get(name)
            if running is None or running.version != deployed.version:
                self._begin(deployed)
        self._remove_states(but_of=wanted.keys())

    def _begin(self, deployed: DeployedQuery) -> None:
        name = deployed.id
        try:
            graph = self._book.graph(name)
            self._require_slots(name, graph)
        except CatchmentError as error:
            if self._refused.get(name) != str(error):
                log.error("query %s does not run: %s", name, error)
            self._refused[name] = str(error)
            return
        self._refused.pop(name, None)
        self._end(name)
        query = query_of(graph, self._config, checkpoint=f"{query_name(name)}-{signature(graph)}")
        runner = self._make_runner(query, lambda: launch(graph, query, self._spark, self._config))
        self._running[name] = Running(deployed.version, graph, query, runner, self._objective(deployed))

    def _end(self, name: str) -> None:
        running = self._running.pop(name, None)
        if running:
            self._hush.begin()
            running.runner.stop()
            self._jvm.catchment.queries.Meter.forget(name)

    @property
    def _jvm(self) -> Any:
        return self._spark._jvm

    def _objective(self, deployed: DeployedQuery) -> Objective | None:
        if deployed.objective is None:
            return None
        return Objective(self._config.site, deployed.id, deployed.version, deployed.objective.delay_ms)

    def _require_slots(self, name: str, graph: Graph) -> None:
        others = sum(slots_of(each.graph, self._config) for key, each in self._running.items() if key != name)
        wanted, there = slots_of(graph, self._config), self._config.pipeline.query_slots
        if others + wanted > there:
            raise CatchmentError(
                f"The query {name} needs {wanted} threads, and {there - others} of {there} are left",
                "Raise pipeline.query_slots and start the pipeline again, or stop another query.",
            )

    def _remove_states(self, but_of: Collection[str]) -> None:
        """Removes the state of queries that are gone, and of those that run what they had before a change.

        Again and again: threads of Spark may write a last file after a removal.
        """
        folder = self._config.paths.checkpoints
        for each in folder.glob(f"{query_name('*')}-{_SIGNATURE}"):
            name = each.name[: each.name.rindex("-")]
            running = self._running.get(name)
            is_left = running and running.query.state != str(each.relative_to(folder))
            if is_left or name not in but_of:
                shutil.rmtree(each, ignore_errors=True)

    def _delay_ms(self, name: str) -> float | None:
        """The median of the slowest output in the last seconds; without new rows there is none."""
        boxes = self._meters.of(name).items()
        delays = [
            those.get("p50_ms") for box, those in boxes if box.startswith("output ") and those["rows_per_s"]
        ]
        return max((each for each in delays if each is not None), default=None)

    def _figures(self, name: str, each: Running) -> dict[str, Any]:
        boxes = self._meters.of(name)
        inputs = sum(boxes.get(box, {}).get("rows_per_s", 0.0) for box in each.graph.query.inputs)
        outputs = [boxes.get(f"output {box}", {}) for box in each.graph.query.outputs]
        delays = [those["p50_ms"] for those in outputs if those.get("p50_ms") is not None]
        delay_ms = max(delays, default=None)
        runner = each.runner
        delay = "" if delay_ms is None else f", median delay {delay_ms:,.0f} ms"
        working = f"real-time, {inputs:,.0f} rows/s in{delay}"
        return {
            "name": query_name(name),
            "state": runner.state.value,
            "detail": runner.last_error if runner.state is State.RESTARTING else working,
            # What people deploy may fail: that is no fault of the node.
            "needed": False,
            "uptime_s": runner.uptime_s,
            "restarts": runner.restarts,
            "rows_in_per_s": round(inputs, 1),
            "rows_out_per_s": round(sum(those.get("rows_per_s", 0.0) for those in outputs), 1),
            "delay_ms": delay_ms,
            "last_error": runner.last_error,
            "version": each.version,
            "boxes": boxes,
        }


def slots_of(graph: Graph, config: Config) -> int:
    """The threads that a real-time query holds: for each task that reads and each with state."""
    reading = reading_tasks(query_of(graph, config), config)
    if graph.tasks == 1:
        # All stages are one task: see catchment.queries.compiler.
        return reading + 1
    # One stage recognises what comes twice, and each after it has boxes with state.
    stages = 1 + max(stage_of(graph, name) for name in graph.streams)
    return reading + stages * graph.tasks


def _refused(name: str, why: str) -> dict[str, Any]:
    state = State.DEGRADED.value
    return {"name": query_name(name), "state": state, "detail": why, "needed": False, "last_error": why}
