"""Archives of Java's classes, with which Kafka and Spark start in two thirds of the time.

Reading thousands of classes from their jars, checking and laying them out is most of what such a process does
in its first seconds. Java can keep the result in a file (class data sharing) and map it at the next start. A
file fits one Java and one class path, so that both are in its name; without one all works as before.
`catchment.rehearsal` makes them.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from catchment import jars

ARCHIVES = jars.PROJECT / "build" / "archives"
BROKER, SPARK = "broker", "spark"


def options(program: str) -> list[str]:
    """What Java is to be told to start a program from its archive: nothing where there is none."""
    file = archive_of(program)
    # What it would say of an archive that does not fit after all is of no use to whoever reads the log.
    quiet = ["-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
    return [f"-XX:SharedArchiveFile={file}", *quiet] if file.exists() else []


def archive_of(program: str) -> Path:
    """Where the archive of a program is, or would be, for the jars and the Java that are there now."""
    return ARCHIVES / f"{program}-{_fingerprint(_class_path(program))}.jsa"


def remove_others(files: Iterable[Path]) -> None:
    """Removes all archives but these: they were for other jars, or for another Java."""
    for outdated in set(ARCHIVES.glob("*.jsa")) - set(files):
        outdated.unlink()


def _class_path(program: str) -> list[Path]:
    if program == BROKER:
        return sorted((jars.JARS / "broker").glob("*.jar"))
    return [*sorted(jars.pyspark_jars().glob("*.jar")), *jars.spark_jars()]


def _fingerprint(class_path: Iterable[Path]) -> str:
    """Of what Java itself compares: its own version, and each jar's place, length and time."""
    java = jars.find_java().resolve()
    described = ((file, file.stat()) for file in (java, *class_path))
    text = "\n".join(f"{file} {stat.st_size} {stat.st_mtime_ns}" for file, stat in described)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
