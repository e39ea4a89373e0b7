"""A PostgreSQL server for tests: that of the benchmarks, without waiting for the disk."""

from collections.abc import Iterator
from contextlib import contextmanager

from catchment.bench.postgres import Postgres as Postgres
from catchment.bench.postgres import running_postgres as running_on_disk


@contextmanager
def running_postgres(port: int) -> Iterator[Postgres]:
    """A server for as long as a `with` block lasts."""
    with running_on_disk(port, fsync="off") as server:
        yield server
