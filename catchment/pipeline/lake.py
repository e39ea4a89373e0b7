"""The lake query: what is new on the topics becomes rows of Delta tables, every few seconds, exactly once.

A batch goes in these steps. Whatever dies, Spark gives the batch again, or a larger one that begins at the
same place:

1. The executors turn records into rows and write them to Parquet files, in one pass for all tables
   (jvm/src/catchment/lake). They set aside rows whose number is not above those before it: *suspects*.
   *Dies here:* files that no commit names; `vacuum` removes them.
2. Schemas that were not known are looked up, and step 1 is done again.
3. Records that no row can be made of go to the dead letters.
   *Dies here:* those go there again; readers of dead letters know them by their stamp.
4. Suspects, and files with numbers that the lake may have, are compared with the table; what is new of them
   goes to files of its own.
5. How far every track has come is noted on disk.
   *Dies here:* next time the same rows are suspects.
6. One commit a table.
   *Dies here:* next time its rows are suspects, and found in the table.
7. What the lake now has of every source is published as a hop.
   *Dies here:* it is published with the next commit, or at the next start.
"""

import logging
import shutil
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from deltalake import Transaction
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses
from pyspark.sql.streaming.query import StreamingQuery

from catchment.config import Config
from catchment.kafka.clients import spark_options
from catchment.kafka.parties import Party
from catchment.lake.hops import HopWriter
from catchment.lake.layout import RECORDS, REFUSED
from catchment.lake.maintenance import Maintenance
from catchment.lake.plan import Planner
from catchment.lake.rebuild import note_table
from catchment.lake.seen import Seen, SourceCount
from catchment.lake.tables import WrittenFile, lake_of
from catchment.pipeline.ledger import header
from catchment.pipeline.repeats import count_files, without_repeats
from catchment.records import REASON_HEADER, STAMP_HEADER, TOPIC_HEADER, Kind
from catchment.schemas.known import known_schemas

log = logging.getLogger(__name__)

NAME = "lake"
LOOK_AGAIN_S = 0.5
# A batch that is no larger than this is written by one task, and leaves the other cores to real-time queries.
ROWS_A_TASK = 100_000


def start(spark: SparkSession, config: Config) -> StreamingQuery:
    """Starts the query from its last checkpoint, or from the beginning of its topics."""
    entries = (
        spark.readStream.format("kafka")
        .options(**spark_options(config, Party.PIPELINE))
        .option("subscribe", ",".join(kind.topic for kind in config.lake.topics))
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .option("kafka.isolation.level", "read_committed")
        .option("failOnDataLoss", "false")
        .option("maxOffsetsPerTrigger", str(config.lake.batch_records))
        .load()
    )
    writer = LakeWriter(spark, config)
    started: StreamingQuery = (
        entries.writeStream.foreachBatch(writer.write)
        .option("checkpointLocation", str(config.paths.checkpoints / NAME))
        .queryName(NAME)
        .trigger(processingTime=f"{config.lake.interval_s} seconds")
        .start()
    )
    return started


@dataclass
class Written:
    """What the executors wrote of one batch to one table."""

    files: list[WrittenFile] = field(default_factory=list)
    suspects: list[WrittenFile] = field(default_factory=list)
    tracks: dict[str, int] = field(default_factory=dict)
    counts: dict[str, SourceCount] = field(default_factory=dict)

    def take(self, files: list[dict[str, Any]], tracks: list[dict[str, Any]], doubtful: bool) -> None:
        """Takes over what one task wrote; if it is doubtful, all of it has to be compared with the table."""
        for file in files:
            aside = self.suspects if doubtful or file["suspect"] else self.files
            aside.append(_written(file))
        for track in tracks:
            name, last = track["track"], track["last"]
            self.tracks[name] = max(last, self.tracks.get(name, last))
            if "ranges" in track and not doubtful:
                count = self.counts.setdefault(name, SourceCount())
                count.add(track["ranges"], track["first_us"], track["last_us"])


class LakeWriter:
    """Takes one batch after the other."""

    def __init__(self, spark: SparkSession, config: Config) -> None:
        self._spark = spark
        self._config = config
        self._lake = lake_of(config)
        self._planner = Planner(self._lake, config.lake.topics)
        self._seen = Seen(config.paths.lake_work / "seen.db")
        self._hops = HopWriter(config)
        self._maintenance = Maintenance(self._lake, config.lake.maintenance)
        self._given_up: set[int] = set()
        self._staging = config.paths.lake_work / "batch"
        # At the start there may be a backlog.
        self._expected_rows = config.lake.batch_records
        if Kind.RECORDS in config.lake.topics:
            self._look_up(RECORDS.table)
            self._hops.publish(self._seen.counts)

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """One batch, in the steps above; if one fails, the query ends and the batch comes again."""
        try:
            self._write(batch, batch_id)
        except Exception:
            # Spark's own message hides what happened behind many lines of its own.
            log.exception("batch %d of the lake failed", batch_id)
            raise

    def _write(self, batch: DataFrame, batch_id: int) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)
        entries = _entries(batch).coalesce(1 + self._expected_rows // ROWS_A_TASK)
        reports = self._write_files(entries)
        self._send_letters(entries, reports)
        counted: set[str] = set()
        for table, written in self._judge(reports).items():
            self._add_what_is_new(table, written)
            self._commit(table, written, batch_id)
            counted |= written.counts.keys()
        self._hops.publish({source: self._seen.counts[source] for source in counted})
        rows = self._expected_rows = sum(file["rows"] for report in reports for file in report["files"])
        self._maintenance.after_batch(keeps_up=rows < self._config.lake.batch_records // 2)

    def close(self) -> None:
        """Lets go of what it holds open."""
        self._maintenance.wait()
        self._seen.close()

    def _write_files(self, entries: DataFrame) -> list[dict[str, Any]]:
        deadline = time.monotonic() + self._config.lake.schema_wait_s
        self._find_schemas(self._given_up)
        while True:
            reports = self._run_tasks(entries)
            unknown = {id_ for report in reports for id_ in report["unknown_schemas"]}
            if not unknown:
                return reports
            _discard(reports)
            if not self._find_schemas(unknown):
                if time.monotonic() >= deadline:
                    self._given_up |= unknown
                time.sleep(LOOK_AGAIN_S)

    def _find_schemas(self, wanted: set[int]) -> bool:
        """Looks for schemas on their topic, and says whether there were any."""
        known = known_schemas(self._config, Party.PIPELINE) if wanted else {}
        found = {id_: known[id_] for id_ in wanted & known.keys()}
        self._planner.learn(found)
        self._given_up -= found.keys()
        return bool(found)

    def _run_tasks(self, entries: DataFrame) -> list[dict[str, Any]]:
        plan = self._planner.text(time.time_ns() // 1_000_000, self._staging, self._given_up)
        lake = self._spark._jvm.catchment.lake.Lake  # type: ignore[union-attr]
        return [orjson.loads(report) for report in lake.write(entries._jdf, plan)]

    def _send_letters(self, entries: DataFrame, reports: list[dict[str, Any]]) -> None:
        refused = [
            file["path"] for report in reports for file in report["files"] if file["table"] == REFUSED.table
        ]
        if refused:
            reasons = self._spark.read.parquet(*refused).withColumnRenamed("reason", "why")
            letters = _dead_letters(entries.join(reasons, on=["topic", "partition", "offset"], how="inner"))
            sink = letters.write.format("kafka").options(**spark_options(self._config, Party.PIPELINE))
            sink.option("topic", Kind.DEADLETTER.topic).save()

    def _judge(self, reports: list[dict[str, Any]]) -> dict[str, Written]:
        """By table, what is certainly new and what has to be compared with the table."""
        tables: dict[str, Written] = defaultdict(Written)
        for report in reports:
            for table, tracks in report["tracks"].items():
                self._look_up(table)
                written = tables[table]
                doubtful = any(
                    track["first"] <= max(self._seen.highest(table, name), written.tracks.get(name, -1))
                    for track in tracks
                    if (name := track["track"])
                )
                written.take([each for each in report["files"] if each["table"] == table], tracks, doubtful)
        return tables

    def _add_what_is_new(self, name: str, written: Written) -> None:
        """Compares suspects with the table."""
        layout, *_ = layouts = self._planner.layouts(name)
        if not written.suspects:
            return
        table = self._lake.ensure(layouts)
        scratch = self._staging / f"{name}-compared"
        fresh = without_repeats(self._spark, table, layout, written.suspects, written.files, scratch)
        log.info("%s: %d of the rows that came again are new", name, sum(file.rows for file in fresh))
        placed = [self._lake.place(file) for file in fresh]
        written.files += placed
        if layout.counted:
            count_files(placed, written.counts)
        for file in written.suspects:
            file.path.unlink()

    def _commit(self, name: str, written: Written, batch_id: int) -> None:
        for source, count in written.counts.items():
            held = self._seen.counts.setdefault(source, SourceCount())
            held.add(count.numbers, count.first_us, count.last_us)
        self._seen.note(name, written.tracks, written.counts)
        if written.files:
            table = self._lake.ensure(self._planner.layouts(name))
            self._lake.commit(table, written.files, Transaction(f"{self._config.site}/lake", batch_id))

    def _look_up(self, table: str) -> None:
        if not self._seen.knows(table):
            note_table(self._lake, self._planner.layouts(table)[0], self._seen)


def _entries(batch: DataFrame) -> DataFrame:
    """The columns that jvm/src/catchment/lake/Entry.java knows by their places."""
    stamp = F.get(F.filter("headers", lambda header: header["key"] == STAMP_HEADER), F.lit(0))["value"]
    return batch.select(
        "topic",
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("logged_ms"),
        "key",
        "value",
        stamp.alias("stamp"),
        "headers",
    )


def _dead_letters(refused: DataFrame) -> DataFrame:
    """Records as they were, with the reason behind their headers."""
    reason = F.array(
        header(REASON_HEADER, F.concat(F.lit("unstorable: "), F.col("why"))),
        header(TOPIC_HEADER, F.col("topic")),
    )
    headers = F.concat(F.coalesce("headers", F.array()), reason)
    return refused.select("key", "value", headers.alias("headers"))


def _written(file: dict[str, Any]) -> WrittenFile:
    names = ("table", "day", "bytes", "rows", "first_us", "last_us")
    return WrittenFile(path=Path(file["path"]), **{name: file[name] for name in names})


def _discard(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        for file in report["files"]:
            Path(file["path"]).unlink(missing_ok=True)
