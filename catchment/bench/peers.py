"""Programs in Java that Catchment is compared with (bench/peers), as processes of a benchmark's site."""

import os
from typing import Any

import orjson

from catchment import jars
from catchment.bench.site import log_of
from catchment.config import Config
from catchment.kafka.clients import spark_options
from catchment.kafka.parties import Party
from catchment.node.process import Child
from catchment.security.files import write_private

# As the pipeline's driver has it.
JVM_OPTIONS = ("-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")


def start(site: Config, name: str, main_class: str, **settings: Any) -> Child:
    """Starts one with its settings, which it reads from a file."""
    file = site.data_dir / f"{name}.json"
    write_private(file, orjson.dumps({"kafka": _kafka(site), **settings}))
    heap = f"-Xmx{site.pipeline.driver_memory_mib}m"
    java = [str(jars.check_java()), heap, *JVM_OPTIONS, "-cp", jars.peers_classpath()]
    return Child([*java, main_class, str(file)], os.environ, log_of(site, name))


def _kafka(site: Config) -> dict[str, str]:
    """What every Java client of an administrator needs; Spark's options have the same names."""
    return {name.removeprefix("kafka."): value for name, value in spark_options(site, Party.ADMIN).items()}
