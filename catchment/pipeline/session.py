"""The Spark session: local, quiet, on loopback, with our operators on its class path."""

import os
from pathlib import Path

from pyspark.sql import SparkSession

from catchment import class_archives, jars
from catchment.config import PipelineSettings
from catchment.kafka.clients import MAX_RECORD_BYTES

_STREAMING = "org.apache.spark.sql.execution.streaming"

FIXED_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.debug.maxToStringFields": "200",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    # Streams do not have it, and say so at every start.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.stateStore.providerClass": f"{_STREAMING}.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Counting rows would read before every write: puts are 2.5 times faster without.
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    # No state of ours expires, and what is called instead (BeforeCommit, in Java) waits for the checkpoint.
    "spark.sql.streaming.realTimeMode.transformWithState.ttlEvictionIntervalMs": "86400000",
    # It does not list `coalesce`, which is harmless to a query that one task reads (decision 45).
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    # How long a shuffled row may wait for company: most of the latency of a query with state.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "5",
    # Delta tables have no other time.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "zstd",
    # Every checkpoint interval of every query is a job: a driver that lives for months keeps only the last.
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.streaming.ui.retainedQueries": "10",
    "spark.sql.streaming.ui.retainedProgressUpdates": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    "spark.hadoop.fs.permissions.umask-mode": "077",
    "spark.hadoop.fs.file.impl": "catchment.pipeline.QuickLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

# A device that writes Avro can claim lengths of gigabytes: nothing is longer than the longest record.
_AVRO_LIMITS = " ".join(
    f"-Dorg.apache.avro.limits.{what}.maxLength={MAX_RECORD_BYTES}"
    for what in ("bytes", "string", "collectionItems")
)
# Spark's classes need so much in any case: to grow there step by step is a full collection for each.
_ROOM_FOR_CLASSES = "-XX:MetaspaceSize=256m"
JVM_OPTIONS = f"-XX:+UseSerialGC {_ROOM_FOR_CLASSES} {_AVRO_LIMITS}"


def create(settings: PipelineSettings, slots: int, work_dir: Path) -> SparkSession:
    """Starts Spark in this process; `slots` are threads, of which real-time queries hold several each."""
    # Without it Spark complains about host names that resolve to loopback, where we want to be.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_DIRS", str(work_dir))
    log_settings = Path(__file__).with_name("log4j2.properties")
    class_path = ":".join(str(jar) for jar in jars.spark_jars())
    archive = " ".join(class_archives.options(class_archives.SPARK))
    memory = f"-Xms{settings.driver_memory_mib}m {JVM_OPTIONS}"
    builder = (
        SparkSession.Builder()
        .master(f"local[{slots}]")
        .appName("catchment")
        .config("spark.driver.memory", f"{settings.driver_memory_mib}m")
        .config("spark.driver.extraClassPath", class_path)
        .config(
            "spark.driver.extraJavaOptions",
            f"{memory} {archive} -Dlog4j2.configurationFile={log_settings}",
        )
        .config("spark.sql.warehouse.dir", str(work_dir / "warehouse"))
        .config("spark.sql.shuffle.partitions", str(settings.shuffle_partitions))
    )
    for key, value in FIXED_SETTINGS.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
