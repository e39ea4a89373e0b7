"""Questions to the lake: SQL in DuckDB, which sees the tables and nothing else."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from catchment.config.lake import AnalysisSettings
from catchment.errors import InvalidRequest, RequestTimeout
from catchment.lake.tables import Lake

BATCH_ROWS = 50_000
# What a question may be: it changes nothing, and there is one.
_ALLOWED = {"SELECT", "EXPLAIN"}
# No file, no network, no variable of this program, no way to allow them again; it spills nothing to disk.
_LOCKS = """
    SET TimeZone = 'UTC';
    SET python_enable_replacements = false;
    SET autoinstall_known_extensions = false;
    SET autoload_known_extensions = false;
    SET temp_directory = '';
    SET enable_external_access = false;
    SET lock_configuration = true;
"""


@contextmanager
def ask(lake: Lake, question: str, limits: AnalysisSettings, *values: Any) -> Iterator[pa.RecordBatchReader]:
    """The answer as batches of rows, for as long as the block lasts; stopped when it takes too long."""
    with duckdb.connect(config={"memory_limit": f"{limits.memory_mib}MiB", "threads": 2}) as connection:
        _register(connection, lake, question)
        connection.execute(_LOCKS)
        stopper = threading.Timer(limits.timeout_s, connection.interrupt)
        stopper.start()
        try:
            answer = connection.sql(_checked(connection, question), params=values)
            yield answer.to_arrow_reader(BATCH_ROWS)
        except duckdb.InterruptException:
            raise RequestTimeout(
                f"The question took longer than {limits.timeout_s:g} s",
                "Ask for less, or raise lake.analysis.timeout_s.",
            ) from None
        except (duckdb.Error, pa.ArrowException) as error:
            raise InvalidRequest(str(error).strip(), "See docs/reference/lake.md for tables.") from None
        finally:
            stopper.cancel()


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _checked(connection: duckdb.DuckDBPyConnection, question: str) -> str:
    try:
        statements = connection.extract_statements(question)
    except duckdb.Error as error:
        raise InvalidRequest(str(error).strip(), "Ask in SQL, as DuckDB understands it.") from None
    if len(statements) != 1 or statements[0].type.name not in _ALLOWED:
        raise InvalidRequest("This is not one question", "Ask one SELECT; the lake cannot be changed by SQL.")
    return question


def _register(connection: duckdb.DuckDBPyConnection, lake: Lake, question: str) -> None:
    """Makes known the tables whose names are in the question."""
    for name in lake.names():
        if name in question.lower():
            table = lake.find(name)
            if table:
                connection.register(name, table.to_pyarrow_dataset())
