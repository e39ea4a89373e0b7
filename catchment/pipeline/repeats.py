"""Rows that a table may have already: compared with it, so that only what is new is added.

This is rare. A stage before the lake was killed and wrote some of its output again, or a batch was given
again: then there are some minutes of rows to compare, with those of the table that are of the same time.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.lake.layout import DAY, TIME, Layout
from catchment.lake.seen import SourceCount
from catchment.lake.tables import WrittenFile


def without_repeats(
    spark: SparkSession,
    table: DeltaTable,
    layout: Layout,
    suspects: Sequence[WrittenFile],
    certain: Sequence[WrittenFile],
    scratch: Path,
) -> list[WrittenFile]:
    """The suspects that are neither in the table nor among what is certainly new, in files of their own."""
    equal = list(layout.equal)
    keys = scratch / "keys.parquet"
    _copy_keys(table, equal, suspects, keys)
    known = _read(spark, [keys, *(file.path for file in certain)]).select(equal)
    target = scratch / "rows"
    (
        _rows(spark, suspects)
        .dropDuplicates(equal)
        .join(known, on=equal, how="left_anti")
        .write.partitionBy(DAY)
        .parquet(str(target))
    )
    return [_described(layout.table, path) for path in sorted(target.rglob("*.parquet"))]


def count_files(files: Sequence[WrittenFile], counts: dict[str, SourceCount]) -> None:
    """Adds the numbers of every source in these files."""
    for file in files:
        rows = pq.read_table(
            file.path, columns=["site", "gateway", "epoch", "stream", "sequence", "origin_us"]
        )
        for row in rows.to_pylist():
            source = f"{row['site']}/{row['gateway']}/{row['epoch']}/{row['stream']}"
            number, origin_us = row["sequence"], row["origin_us"]
            counts.setdefault(source, SourceCount()).add([(number, number)], origin_us, origin_us)


def _copy_keys(table: DeltaTable, equal: list[str], suspects: Sequence[WrittenFile], target: Path) -> None:
    """What tells rows apart, of all rows in the table that are of the same time as the suspects."""
    first = datetime.fromtimestamp(min(file.first_us for file in suspects) / 1e6, UTC)
    last = datetime.fromtimestamp(max(file.last_us for file in suspects) / 1e6, UTC)
    in_time = (
        (ds.field(DAY) >= first.date())
        & (ds.field(DAY) <= last.date())
        & (ds.field(TIME) >= first)
        & (ds.field(TIME) <= last)
    )
    scanned = table.to_pyarrow_dataset().scanner(columns=equal, filter=in_time)
    target.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(target, scanned.projected_schema) as writer:
        for batch in scanned.to_batches():
            writer.write_batch(batch)


def _rows(spark: SparkSession, files: Sequence[WrittenFile]) -> DataFrame:
    """The rows of files, and the day that each belongs to, which stands in no file."""
    return _read(spark, [file.path for file in files]).withColumn(DAY, F.date_format(TIME, "yyyy-MM-dd"))


def _read(spark: SparkSession, paths: Sequence[Path]) -> DataFrame:
    """The rows of files, of which some may have columns that others lack."""
    options = {"mergeSchema": "true", "recursiveFileLookup": "true"}
    return spark.read.options(**options).parquet(*map(str, paths))


def _described(table: str, path: Path) -> WrittenFile:
    day = path.parent.name.removeprefix(f"{DAY}=")
    rows: int = pq.read_metadata(path).num_rows
    return WrittenFile(table, day, path, path.stat().st_size, rows)
