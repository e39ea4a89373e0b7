"""What the executors are told of a batch: which records become rows of which tables."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from catchment.errors import InvalidRecord
from catchment.lake.layout import REFUSED, Layout, Type, by_topic, fitted, of_events, of_measurements
from catchment.lake.tables import Lake, columns_of
from catchment.records import IDENTITY, Kind
from catchment.schemas.model import SchemaVersion


class Planner:
    """Knows the layouts of all topics, and of all schemas that were asked for."""

    def __init__(self, lake: Lake, topics: Iterable[Kind]) -> None:
        self._lake = lake
        self._columns: dict[str, dict[str, Type]] = {}
        self._by_topic: dict[str, Layout] = {}
        self._by_schema: dict[str, dict[str, Any]] = {}
        self._with_schemas = [kind for kind in topics if by_topic(kind) is None]
        self._layouts: dict[str, list[Layout]] = defaultdict(list)
        for kind in topics:
            layout = by_topic(kind)
            if layout:
                self._by_topic[kind.topic] = self._fit(layout)

    def layouts(self, table: str) -> list[Layout]:
        """All layouts of a table: one for each schema."""
        return self._layouts[table]

    def learn(self, schemas: Mapping[int, SchemaVersion]) -> None:
        """Takes over schemas that batches asked for."""
        for id_, schema in schemas.items():
            for kind in self._with_schemas:
                self._by_schema[f"{kind.topic}/{id_}"] = self._with_schema(kind, schema)

    def text(self, arrived_ms: int, staging: Path, given_up: Iterable[int]) -> str:
        """The plan of a batch, as jvm/src/catchment/lake/BatchTask.java reads it."""
        plan = {
            "identity_pattern": IDENTITY.pattern,
            "arrived_ms": arrived_ms,
            "staging": str(staging),
            "topics": {topic: self._for_tasks(layout) for topic, layout in self._by_topic.items()},
            "schemas": self._by_schema,
            "given_up": sorted(given_up),
            "letters": REFUSED.for_tasks(str(staging / REFUSED.table)),
        }
        return orjson.dumps(plan).decode()

    def _with_schema(self, kind: Kind, schema: SchemaVersion) -> dict[str, Any]:
        try:
            made = (
                of_events(schema.text)
                if kind is Kind.EVENTS
                else of_measurements(schema.subject, schema.text)
            )
        except InvalidRecord as error:
            return {"refusal": error.happened}
        return {**self._for_tasks(self._fit(made)), "schema": schema.text}

    def _fit(self, layout: Layout) -> Layout:
        if layout.table not in self._columns:
            self._columns[layout.table] = columns_of(self._lake.find(layout.table))
        layout = fitted(layout, self._columns[layout.table])
        self._columns[layout.table] |= {column.name: column.type for column in layout.columns}
        self._layouts[layout.table].append(layout)
        return layout

    def _for_tasks(self, layout: Layout) -> dict[str, Any]:
        return layout.for_tasks(str(self._lake.target(layout.table)))
