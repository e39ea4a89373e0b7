"""Where rows come from: streams of the node, and tables that are stored."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from catchment.queries.model.terms import Declaration, Identifier, Schema, field_of


class Format(StrEnum):
    """What the content of records is."""

    JSON = "json"
    TEXT = "text"


class InputKind(StrEnum):
    """Where the rows of an input come from: the name of its key."""

    RECORDS = "records"
    MEASUREMENTS = "measurements"
    RESULTS = "results"
    EVENTS = "events"
    ALERTS = "alerts"
    TWIN_HISTORY = "twin-history"


class Input(Declaration):
    """A stream of the node that a query reads. Exactly one of the first six says which."""

    records: str | None = Field(None, description="A pattern of streams: `*` any characters, `?` one.")
    measurements: str | None = Field(None, description="The Avro subject of measurements.")
    results: str | None = Field(None, description="The output of a query, as `QUERY/OUTPUT`.")
    events: str | None = Field(None, description="The Avro subject of events.")
    alerts: Literal[True] | None = Field(None, description="Every alert.")
    twin_history: str | None = Field(None, alias="twin-history", description="Updates of twins of this type.")
    format: Format = Field(Format.JSON, description="What records contain; `text` gives a column `text`.")
    columns: Schema | None = Field(None, alias="schema", description="Its columns and their types.")
    time: Identifier | None = Field(None, description="The column with the time of the event; else `origin`.")
    repeats: Literal["drop", "keep"] = Field("drop", description="Whether a record that comes twice counts.")

    @property
    def kinds(self) -> tuple[InputKind, ...]:
        """Those that were said: one, unless the declaration is wrong."""
        return tuple(each for each in InputKind if getattr(self, field_of(each)) is not None)

    @property
    def kind(self) -> InputKind:
        return self.kinds[0]

    @property
    def selector(self) -> str:
        """The pattern, subject, query's output or type; empty for alerts."""
        said = getattr(self, field_of(self.kind))
        return said if isinstance(said, str) else ""


class TableKind(StrEnum):
    """Where the rows of a table are stored: the name of its key."""

    REGISTRY = "registry"
    TWINS = "twins"
    LAKE = "lake"


class Table(Declaration):
    """Stored data that streams are joined with. Exactly one of the first three says which."""

    registry: Literal["devices", "sensors", "sensor-types"] | None = None
    twins: str | None = Field(None, description="The twins of this type.")
    lake: str | None = Field(None, description="A table of the lake, read when the query starts.")
    key: Identifier | None = Field(None, description="The column that tells rows apart; else `id`.")
    columns: Schema | None = Field(None, alias="schema", description="Its columns and their types.")

    @property
    def kinds(self) -> tuple[TableKind, ...]:
        return tuple(each for each in TableKind if getattr(self, field_of(each)) is not None)

    @property
    def kind(self) -> TableKind:
        return self.kinds[0]

    @property
    def selector(self) -> str:
        """The registry, type or lake table."""
        return str(getattr(self, field_of(self.kind)))
