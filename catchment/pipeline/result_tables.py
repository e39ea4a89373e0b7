"""The query that keeps outputs of continuous queries in tables of the lake.

Results that are for the lake say so in a header. A batch of them is merged into their tables; if anything
dies before Spark has noted the batch, it is merged again, which changes nothing.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses
from pyspark.sql.streaming.query import StreamingQuery

from catchment.config import Config
from catchment.kafka.clients import spark_options
from catchment.kafka.parties import Party
from catchment.lake.results import Result, ResultTable, merge
from catchment.lake.tables import Lake, lake_of
from catchment.pipeline.control import Declaration, Declarations
from catchment.queries.model import DeployedQuery, Destination
from catchment.records import TABLE_HEADER, VERSION_HEADER, Kind

log = logging.getLogger(__name__)

NAME = "lake-results"
# A batch is held in memory by the driver.
BATCH_ROWS = 50_000


def start(spark: SparkSession, config: Config) -> StreamingQuery:
    """Starts the query from its last checkpoint, or from the beginning of the results."""
    results = (
        spark.readStream.format("kafka")
        .options(**spark_options(config, Party.PIPELINE))
        .option("subscribe", Kind.RESULTS.topic)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .option("kafka.isolation.level", "read_committed")
        .option("failOnDataLoss", "false")
        .option("maxOffsetsPerTrigger", str(BATCH_ROWS))
        .load()
    )
    lake = lake_of(config)
    started: StreamingQuery = (
        results.writeStream.foreachBatch(lambda batch, _: keep(lake, config.site, batch))
        .option("checkpointLocation", str(config.paths.checkpoints / NAME))
        .queryName(NAME)
        .trigger(processingTime=f"{config.lake.interval_s} seconds")
        .start()
    )
    return started


def since(declared: Declarations, config: Config) -> int | None:
    """When the first query was deployed that keeps results in the lake, in ms; None if there is none."""
    queries = (_query(each) for each in declared.newest)
    asking = [
        query.updated_ms for query in queries if query and query.site == config.site and _asks_for_lake(query)
    ]
    return min(asking, default=None)


def keep(lake: Lake, site: str, batch: DataFrame) -> None:
    """Merges a batch of results of this site into their tables."""
    try:
        for table, results in newest(_for_lake(batch, site)).items():
            merge(lake, ResultTable.parse(table), results)
    except Exception:
        # Spark's own message hides what happened behind many lines of its own.
        log.exception("a batch of results was not kept in the lake")
        raise


def newest(rows: Iterable[dict[str, Any]]) -> dict[str, list[Result]]:
    """By table, the newest version of each row."""
    tables: dict[str, dict[str, Result]] = defaultdict(dict)
    for row in rows:
        result = Result(row["key"], row["version"], row["value"])
        before = tables[row["table"]].get(result.row_id)
        if before is None or before.version_us <= result.version_us:
            tables[row["table"]][result.row_id] = result
    return {table: list(results.values()) for table, results in tables.items()}


def _for_lake(batch: DataFrame, site: str) -> list[dict[str, Any]]:
    ours = F.substring("key", 1, len(site) + 1) == F.lit(f"{site}/".encode())
    rows = batch.where(ours).select(
        F.decode("key", "UTF-8").alias("key"),
        _header(VERSION_HEADER).cast("bigint").alias("version"),
        "value",
        _header(TABLE_HEADER).alias("table"),
    )
    found: list[dict[str, Any]] = rows.where("table IS NOT NULL").toArrow().to_pylist()
    return found


def _header(name: str) -> Column:
    first = F.get(F.filter("headers", lambda header: header["key"] == name), F.lit(0))
    return F.decode(first["value"], "UTF-8")


def _asks_for_lake(query: DeployedQuery) -> bool:
    return any(output.to is Destination.LAKE for output in query.outputs.values())


def _query(declaration: Declaration) -> DeployedQuery | None:
    try:
        return DeployedQuery.model_validate_json(declaration.value)
    except ValidationError:
        return None
