"""The embedded broker: Apache Kafka as one Java process, to be started and watched by a supervisor."""

import base64
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from catchment import class_archives
from catchment.config import Config
from catchment.errors import BrokerUnavailable, MachineError, PartFailed
from catchment.jars import broker_classpath, check_java
from catchment.kafka.access import ensure_access
from catchment.kafka.broker_files import write_log_settings, write_properties
from catchment.kafka.clients import client_settings
from catchment.kafka.failures import explain
from catchment.kafka.parties import Party
from catchment.kafka.topics import ensure_topics
from catchment.records import Kind
from catchment.security.files import sync, write_private

PROBE_INTERVAL_S = 0.1
# As syslog counts.
_CRITICAL = 2


def command(config: Config) -> list[str]:
    """Writes all that the broker needs, formats its storage the first time, and says how to start it."""
    properties = write_properties(config)
    logging = write_log_settings(config)
    java = str(check_java())
    _format_once(java, config, properties)
    heap = f"{config.kafka.heap_mib}m"
    # Measured: with the serial collector half the memory of G1, and ready in two thirds of the time.
    memory = [f"-Xms{heap}", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=64m"]
    return [
        java,
        *memory,
        *class_archives.options(class_archives.BROKER),
        "-Djdk.nio.maxCachedBufferSize=262144",
        "-XX:+ExitOnOutOfMemoryError",
        f"-Dkafka.logs.dir={config.paths.logs}",
        f"-Dlog4j2.configurationFile={logging}",
        "-cp",
        broker_classpath(),
        "kafka.Kafka",
        str(properties),
    ]


class BrokerProbe:
    """Asks again and again whether Kafka answers, with one client."""

    def __init__(self, config: Config, party: Party = Party.ADMIN) -> None:
        # A broker that is away is what it finds out, and nothing to log.
        self._client = AdminClient({**client_settings(config, party), "log_level": _CRITICAL})

    def check(self, timeout_s: float) -> None:
        """Raises BrokerUnavailable unless a request with our identity is answered in time."""
        try:
            answer = self._client.list_topics(Kind.RECORDS.topic, timeout=timeout_s)
        except KafkaException as error:
            raise explain("Asking Kafka", error) from None
        if not answer.brokers:
            raise BrokerUnavailable("Kafka knows no broker that is ready yet", "Wait a little.")


def probe(config: Config, timeout_s: float) -> None:
    """Raises BrokerUnavailable unless Kafka answers in time."""
    BrokerProbe(config).check(timeout_s)


def wait_until_ready(config: Config, alive: Callable[[], bool], timeout_s: float) -> None:
    """Returns as soon as Kafka answers; fails at once when the broker's process is not alive."""
    prober = BrokerProbe(config)
    deadline_s = time.monotonic() + timeout_s
    while True:
        try:
            return prober.check(timeout_s=1.0)
        except BrokerUnavailable as error:
            if not alive():
                raise PartFailed("The broker stopped while it started", _see_log(config)) from None
            if time.monotonic() > deadline_s:
                happened = f"The broker is not ready after {timeout_s:g} s ({error.happened})"
                raise BrokerUnavailable(happened, _see_log(config)) from None
        time.sleep(PROBE_INTERVAL_S)


def prepare_cluster(config: Config) -> list[str]:
    """Topics and, where the broker is ours, access lists as declared; says what it changed."""
    changes = ensure_topics(config)
    if config.kafka.embedded:
        changed = ensure_access(config)
        changes += [f"{changed} access rights changed"] if changed else []
    return changes


def _see_log(config: Config) -> str:
    return f"Look at {config.paths.logs / 'broker.log'}."


def _format_once(java: str, config: Config, properties: Path) -> None:
    # Kafka writes this file last, so a crash in between formats again.
    if (config.paths.kafka / "log" / "meta.properties").exists():
        return
    classes = [*class_archives.options(class_archives.BROKER), "-cp", broker_classpath()]
    tool = [java, *classes, "kafka.tools.StorageTool", "format", "--ignore-formatted"]
    # With the equals sign, because an id may start with a dash.
    arguments = [f"--cluster-id={_cluster_id(config)}", f"--config={properties}"]
    formatted = subprocess.run([*tool, *arguments], capture_output=True, text=True)
    if formatted.returncode != 0:
        last_words = (formatted.stderr or formatted.stdout).strip().splitlines()[-1:]
        raise MachineError(
            f"Kafka's storage in {config.paths.kafka} could not be formatted: {''.join(last_words)}",
            "Check the rights and the free space there.",
        )
    # Kafka itself does not wait for the disk here, and does not start from half of these after a power cut.
    for path in (*(config.paths.kafka / "log").iterdir(), config.paths.kafka / "log", config.paths.kafka):
        sync(path)


def _cluster_id(config: Config) -> str:
    """Made once and kept: Kafka refuses storage of a cluster with another id."""
    file = config.paths.kafka / "cluster-id"
    if not file.exists():
        write_private(file, base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"="))
    return file.read_text()
