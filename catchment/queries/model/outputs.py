"""Where results go, and what the query has to keep to."""

from enum import StrEnum

from pydantic import Field

from catchment.queries.model.terms import Declaration, Identifier, StreamRef


class Destination(StrEnum):
    """Where results go."""

    RESULTS = "results"
    LAKE = "lake"
    ALERTS = "alerts"
    TWINS = "twins"


class Output(Declaration):
    """A stream whose rows leave the query."""

    source: StreamRef = Field(alias="from")
    to: Destination = Destination.RESULTS
    say: str | None = Field(None, max_length=1000, description="A sentence of a row; `{column}` is replaced.")
    table: Identifier | None = Field(None, description="Of the lake: the table; else `QUERY_OUTPUT`.")
    type: str | None = Field(None, description="Of twins: the type of the objects.")
    object: Identifier | None = Field(None, description="Of twins: the column with the object's id.")


class Objective(Declaration):
    """What the query has to keep to; an alert is raised when it does not."""

    delay_ms: int = Field(ge=1, description="From a record's origin to the result that it caused.")
