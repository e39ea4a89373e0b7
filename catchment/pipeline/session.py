"""The Spark session: local, quiet, on loopback, with our operators on its class path."""

import os
from pathlib import Path

from pyspark.sql import SparkSession

from catchment import jars
from catchment.config import PipelineSettings

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
    # How long a shuffled row may wait for company: most of the latency of a query with state.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "5",
    # Delta tables have no other time.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.hadoop.fs.permissions.umask-mode": "077",
    "spark.hadoop.fs.file.impl": "catchment.pipeline.QuickLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

JVM_OPTIONS = "-XX:+UseSerialGC"


def create(settings: PipelineSettings, slots: int, work_dir: Path) -> SparkSession:
    """Starts Spark in this process; `slots` are threads, of which real-time queries hold several each."""
    # Without it Spark complains about host names that resolve to loopback, where we want to be.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_DIRS", str(work_dir))
    log_settings = Path(__file__).with_name("log4j2.properties")
    class_path = ":".join(str(jar) for jar in jars.spark_jars())
    builder = (
        SparkSession.Builder()
        .master(f"local[{slots}]")
        .appName("catchment")
        .config("spark.driver.memory", f"{settings.driver_memory_mib}m")
        .config("spark.driver.extraClassPath", class_path)
        .config("spark.driver.extraJavaOptions", f"{JVM_OPTIONS} -Dlog4j2.configurationFile={log_settings}")
        .config("spark.sql.warehouse.dir", str(work_dir / "warehouse"))
        .config("spark.sql.shuffle.partitions", str(settings.shuffle_partitions))
    )
    for key, value in FIXED_SETTINGS.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
