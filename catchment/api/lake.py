"""The lake: its tables, questions in SQL, and rows as files or frames."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from itertools import chain
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import Services, ServicesOfApp
from catchment.lake.answers import Answer, answer_of
from catchment.lake.catalogue import TableSummary, tables_of
from catchment.lake.export import measurements_of, rows_of
from catchment.lake.formats import Format, encoded
from catchment.lake.sql import ask
from catchment.lake.tables import Lake, lake_of
from catchment.security.tokens import Scope

router = APIRouter(tags=["lake"], dependencies=[Depends(allowed(Scope.DATA_READ))])

Since = Annotated[
    datetime | None, Query(description="The first time, as ISO 8601; without a zone it is UTC.")
]
Until = Annotated[datetime | None, Query(description="The time before which it ends.")]
_FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {form.media_type: {} for form in Format}, "description": "The rows, as they are read."}
}
_REFUSALS = (401, 403, 404, 408, 422, 503)


class Tables(BaseModel):
    """The tables of the lake."""

    items: list[TableSummary]


class Question(BaseModel):
    """A question in SQL."""

    sql: str = Field(max_length=100_000, description="One SELECT, as DuckDB understands it.")


@router.get(
    "/api/v1/lake",
    responses=answers(401, 403, 503),
    summary="The tables of the lake",
    description="With rows, bytes and columns. Needs the scope `data:read`.",
)
def lake_tables(services: ServicesOfApp) -> Tables:
    return Tables(items=tables_of(_lake(services)))


@router.post(
    "/api/v1/sql",
    responses=answers(*_REFUSALS),
    summary="A question to the lake",
    description="The answer as JSON, with at most `lake.analysis.most_rows` rows. It takes at most "
    "`lake.analysis.timeout_s`, changes nothing, and sees the tables alone. Needs the scope `data:read`.",
)
def sql(services: ServicesOfApp, question: Question) -> Answer:
    limits = services.config.lake.analysis
    with ask(_lake(services), question.sql, limits) as reader:
        return answer_of(reader, limits.most_rows)


@router.post(
    "/api/v1/sql/rows",
    response_class=StreamingResponse,
    responses=_FILES | answers(*_REFUSALS),
    summary="A question to the lake, answered with a file",
    description="All rows of the answer, as they are found. Needs the scope `data:read`.",
)
def sql_rows(
    services: ServicesOfApp,
    question: Question,
    form: Annotated[
        Format, Query(alias="format", description="What the rows are written as.")
    ] = Format.ARROW,
) -> StreamingResponse:
    return _stream(ask(_lake(services), question.sql, services.config.lake.analysis), form)


@router.get(
    "/api/v1/export/{table}",
    response_class=StreamingResponse,
    responses=_FILES | answers(*_REFUSALS),
    summary="Rows of a table as a file",
    description="Ordered by time. Needs the scope `data:read`.",
)
def export(
    services: ServicesOfApp,
    table: Annotated[str, Path(max_length=200, description="The table.")],
    since: Since = None,
    until: Until = None,
    where: Annotated[
        str | None, Query(max_length=10_000, description="A condition in SQL on its columns.")
    ] = None,
    form: Annotated[
        Format, Query(alias="format", description="What the rows are written as.")
    ] = Format.PARQUET,
) -> StreamingResponse:
    limits = services.config.lake.analysis
    return _stream(rows_of(_lake(services), limits, table, since, until, where, form), form)


@router.get(
    "/api/v1/measurements",
    response_class=StreamingResponse,
    responses=_FILES | answers(*_REFUSALS),
    summary="What a sensor measured",
    description="Of whatever types it has sent, ordered by time. Needs the scope `data:read`.",
)
def measurements(
    services: ServicesOfApp,
    sensor: Annotated[str, Query(max_length=200, description="The sensor, as `site/id`.")],
    since: Since = None,
    until: Until = None,
    form: Annotated[
        Format, Query(alias="format", description="What the rows are written as.")
    ] = Format.ARROW,
) -> StreamingResponse:
    limits = services.config.lake.analysis
    return _stream(measurements_of(_lake(services), limits, sensor, since, until), form)


def _lake(services: Services) -> Lake:
    return lake_of(services.config)


def _stream(rows: AbstractContextManager[pa.RecordBatchReader], form: Format) -> StreamingResponse:
    """The rows as a file. The first piece is made before the answer begins, so that an error is an error."""
    with ExitStack() as guard:
        pieces = encoded(guard.enter_context(rows), form)
        first = next(pieces)
        held = guard.pop_all()

    def all_pieces() -> Iterator[bytes]:
        with held:
            yield from chain([first], pieces)

    return StreamingResponse(all_pieces(), media_type=form.media_type)
