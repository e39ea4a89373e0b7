"""`python -m catchment.rehearsal`: a broker and a pipeline run once, so that Java archives their classes.

Nothing is left of the rehearsal but the archives (`catchment.class_archives`). A node works without them too,
so that a machine on which the rehearsal fails is told so, and set up all the same.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import KafkaException
from rich.console import Console

from catchment import class_archives
from catchment.bench.site import free_ports, write
from catchment.class_archives import ARCHIVES, BROKER, SPARK, archive_of
from catchment.config import Config, Role
from catchment.config.loading import PREFIX
from catchment.errors import CatchmentError, PartFailed
from catchment.kafka.broker import command, prepare_cluster, wait_until_ready
from catchment.kafka.clients import consumer, end_offsets, producer
from catchment.kafka.parties import Party
from catchment.node.process import Child, last_words, session_members
from catchment.records import STAMP_HEADER, Kind, Source, encode_stamp
from catchment.security.files import exclusive

RECORDS = 100
PATIENCE_S = 180.0
POLL_S = 0.2


def rehearse() -> bool:
    """Makes the archives that are missing; says whether there were any."""
    ARCHIVES.mkdir(parents=True, exist_ok=True)
    with exclusive(ARCHIVES / ".lock"):
        wanted = [archive_of(BROKER), archive_of(SPARK)]
        missing = not all(file.exists() for file in wanted)
        if missing:
            # Java makes no archive of a program that starts from one: all begin anew, also if one is there.
            class_archives.remove_others([])
            with tempfile.TemporaryDirectory(prefix="rehearsal-") as directory:
                _run_once(_configuration(Path(directory)))
        class_archives.remove_others(wanted)
    return missing


def _configuration(directory: Path) -> Config:
    port, controller_port = free_ports(2)
    kafka = {"port": port, "controller_port": controller_port}
    return Config.model_validate({"data_dir": directory, "role": Role.SITE, "kafka": kafka})


def _run_once(config: Config) -> None:
    with _archived(config, BROKER, command(config)) as broker:
        wait_until_ready(config, lambda: not broker.exited(), PATIENCE_S)
        prepare_cluster(config)
        pipeline = [sys.executable, "-m", "catchment", "--config", str(write(config)), "pipeline"]
        with _archived(config, SPARK, pipeline) as running:
            _send(config)
            _wait(lambda: _has_worked(config), running, "The pipeline took nothing")


@contextmanager
def _archived(config: Config, program: str, arguments: list[str]) -> Iterator[Child]:
    """Runs a program that archives its classes when it ends, which it is asked to do after the block."""
    draft = ARCHIVES / f"{program}.draft"
    draft.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    environment["JDK_JAVA_OPTIONS"] = f"-XX:ArchiveClassesAtExit={draft}"
    child = Child(arguments, environment, config.paths.logs / f"{program}.out")
    try:
        yield child
        child.terminate()
        # Spark's Java outlives the Python that started it by the time that it takes to write.
        _wait(lambda: child.exited() and not _members(child), None, f"The {program} did not end")
    except CatchmentError as error:
        words = last_words(config.paths.logs / f"{program}.out")
        raise PartFailed(f"{error.happened} ({program}: {words or 'no word'})", error.remedy) from None
    finally:
        child.kill()
    if not draft.exists():
        raise PartFailed(f"The {program} left no archive of its classes", "Check the free space.")
    draft.replace(archive_of(program))


def _members(child: Child) -> list[int]:
    """What else is in its session: a process that has ended stays there until it is buried."""
    return [pid for pid in session_members(child.pid) if pid != child.pid]


def _send(config: Config) -> None:
    source = Source(config.site, "rehearsal", 1, "rehearsal")
    writer = producer(config, Party.GATEWAY)
    for number in range(1, RECORDS + 1):
        stamp = encode_stamp(source.identity, number, time.time_ns() // 1000)
        writer.produce(Kind.RECORDS.topic, b"", source.key, headers=[(STAMP_HEADER, stamp)])
    writer.flush(PATIENCE_S)


def _has_worked(config: Config) -> bool:
    """Whether what was sent is in the ledger and in the lake."""
    reader = consumer(config, Party.ADMIN)
    try:
        return all(any(end_offsets(reader, kind.topic).values()) for kind in (Kind.LEDGER, Kind.HOPS))
    except KafkaException:
        return False
    finally:
        reader.close()


def _wait(reached: Callable[[], bool], child: Child | None, otherwise: str) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not reached():
        if (child and child.exited()) or time.monotonic() > deadline_s:
            raise PartFailed(otherwise, "Run `make setup` again on a machine less busy.")
        time.sleep(POLL_S)


def main() -> None:
    console = Console(stderr=True)
    try:
        with console.status("Rehearsing a start, so that the next ones are quick"):
            made = rehearse()
        console.print("Kafka's and Spark's classes are archived." if made else "The archives are up to date.")
    except CatchmentError as error:
        console.print(f"Nodes will start slowly. {error}", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
