"""Rows on their way out: Parquet, CSV or Arrow, written batch by batch."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq


class Format(StrEnum):
    """What rows can be written as."""

    PARQUET = "parquet"
    CSV = "csv"
    ARROW = "arrow"

    @property
    def media_type(self) -> str:
        return {
            Format.PARQUET: "application/vnd.apache.parquet",
            Format.CSV: "text/csv",
            Format.ARROW: "application/vnd.apache.arrow.stream",
        }[self]


class _Sink:
    """A file that is read while it is being written."""

    closed = False

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._written = 0

    def write(self, data: Any) -> int:
        chunk = bytes(data)
        self._chunks.append(chunk)
        self._written += len(chunk)
        return len(chunk)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """There is nothing to close."""

    def take(self) -> bytes:
        taken, self._chunks = b"".join(self._chunks), []
        return taken


def encoded(reader: pa.RecordBatchReader, form: Format) -> Iterator[bytes]:
    """The bytes of a file with all rows, piece by piece."""
    sink = _Sink()
    with _writer(pa.PythonFile(sink, "w"), reader.schema, form) as writer:
        for batch in reader:
            writer.write_batch(batch)
            yield sink.take()
    yield sink.take()


def _writer(file: pa.PythonFile, schema: pa.Schema, form: Format) -> Any:
    if form is Format.CSV:
        return pa_csv.CSVWriter(file, schema)
    if form is Format.PARQUET:
        return pq.ParquetWriter(file, schema, compression="zstd")
    return pa.ipc.new_stream(file, schema)
