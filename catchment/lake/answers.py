"""Answers as JSON: the types of the columns, and rows of plain values."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, Field


class Answer(BaseModel):
    """The rows of an answer, in the order of its columns."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    complete: bool = Field(description="Whether these are all rows, and not only the most that are given.")


def answer_of(reader: pa.RecordBatchReader, most_rows: int) -> Answer:
    """Reads up to so many rows."""
    rows: list[list[Any]] = []
    for batch in reader:
        columns = [column.to_pylist() for column in batch.columns]
        rows += ([plain(value) for value in row] for row in zip(*columns, strict=True))
        if len(rows) > most_rows:
            break
    schema = reader.schema
    types = [str(field.type) for field in schema]
    return Answer(
        columns=list(schema.names), types=types, rows=rows[:most_rows], complete=len(rows) <= most_rows
    )


def plain(value: Any) -> Any:
    """A value that JSON has; bytes as text, with what is not ASCII written `\\xFF`."""
    if isinstance(value, bytes):
        return value.decode("latin-1").encode("ascii", "backslashreplace").decode()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value
