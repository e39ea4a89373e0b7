"""Java and the jars: Kafka and Spark's connector, resolved by PySpark's own Ivy, and our operators, compiled.

`python -m catchment.jars` makes all of it below `build/jars`, and does nothing when all is there. What
benchmarks compare with (`bench/peers`) is fetched and compiled by the first that needs it, or with `--peers`.
`jvm/jars.sha256` locks what `jvm/ivy.xml` resolves to: a jar with another checksum is refused.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from catchment.errors import CatchmentError, MachineError
from catchment.security.files import exclusive

PROJECT = Path(__file__).resolve().parent.parent
JVM = PROJECT / "jvm"
JARS = PROJECT / "build" / "jars"

IVY_FILE = JVM / "ivy.xml"
LOCK_FILE = JVM / "jars.sha256"
SOURCES = JVM / "src"
OPERATORS = JARS / "catchment-operators.jar"
CONFIGURATIONS = ("broker", "spark")
PEERS = "peers"
PEER_SOURCES = PROJECT / "bench" / "peers"
PEER_PROGRAMS = JARS / "catchment-peers.jar"

JAVA_VERSIONS = ("17", "21")
JDK_PACKAGE = "openjdk-17-jdk-headless"
VECTOR_MODULE = "jdk.incubator.vector"

_console = Console(stderr=True)


def broker_classpath() -> str:
    """The class path of the embedded broker; Java itself expands the star."""
    return f"{_made(JARS / 'broker')}/*"


def pyspark_jars() -> Path:
    """The folder of Spark's own jars."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "jars"


def spark_jars() -> list[Path]:
    """What Spark needs beside its own jars: the Kafka connector and our operators."""
    return [*sorted(_made(JARS / "spark").glob("*.jar")), _made(OPERATORS)]


def peers_classpath() -> str:
    """The class path of the programs that benchmarks compare with."""
    return f"{_made(PEER_PROGRAMS)}:{_made(JARS / PEERS)}/*"


def find_java() -> Path:
    """The Java that is used: JAVA_HOME first, then the PATH."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    if java is None:
        raise _wrong_java(f"There is no Java in {f'JAVA_HOME ({home})' if home else 'the PATH'}")
    return Path(java)


def check_java() -> Path:
    """Finds a Java that Kafka and Spark both run on."""
    java = find_java()
    listing = subprocess.run([java, "--list-modules"], capture_output=True, text=True).stdout
    modules = dict(line.split("@", 1) for line in listing.splitlines() if "@" in line)
    java_version = modules.get("java.base", "unknown")
    if re.split(r"[.+-]", java_version)[0] not in JAVA_VERSIONS:
        raise _wrong_java(
            f"{java} is Java {java_version}, and Spark runs on Java {' or '.join(JAVA_VERSIONS)}"
        )
    if VECTOR_MODULE not in modules:
        raise _wrong_java(f"{java} lacks the module {VECTOR_MODULE}, which Spark needs")
    return java


def prepare(*, update_lock: bool = False) -> None:
    """Makes whatever is missing or out of date; needs the network only for jars that are not there."""
    JARS.mkdir(parents=True, exist_ok=True)
    with exclusive(JARS / ".lock"):
        if update_lock:
            everything = (*CONFIGURATIONS, PEERS)
            _retrieve(everything, expected_jars=0)
            found = sorted(_found(everything).items())
            LOCK_FILE.write_text("".join(f"{sha256}  {name}\n" for name, sha256 in found))
        else:
            _fetch(CONFIGURATIONS)
        beside = [*sorted(pyspark_jars().glob("*.jar")), *sorted((JARS / "spark").glob("*.jar"))]
        _compile(SOURCES, beside, OPERATORS)


def prepare_peers() -> None:
    """The same for what benchmarks compare with."""
    JARS.mkdir(parents=True, exist_ok=True)
    with exclusive(JARS / ".lock"):
        _fetch((PEERS,))
        _compile(PEER_SOURCES, sorted((JARS / PEERS).glob("*.jar")), PEER_PROGRAMS)


def read_lock(configurations: Iterable[str] = (*CONFIGURATIONS, PEERS)) -> dict[str, str]:
    """Checksums by `configuration/file.jar`."""
    lines = map(str.split, LOCK_FILE.read_text().splitlines())
    return {name: sha256 for sha256, name in lines if name.partition("/")[0] in configurations}


def cache_directory() -> Path:
    """Where Ivy keeps what it downloaded, for all clones of this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "catchment" / "ivy"


def _made(path: Path) -> Path:
    if not path.exists():
        raise MachineError(f"{path} is missing", "Run `make setup`, which fetches and compiles all jars.")
    return path


def _wrong_java(happened: str) -> MachineError:
    return MachineError(happened, f"Install the package {JDK_PACKAGE}, or set JAVA_HOME to a JDK 17.")


def _fetch(configurations: Sequence[str]) -> None:
    locked = read_lock(configurations)
    if _found(configurations) != locked:
        _retrieve(configurations, expected_jars=len(locked))
        _refuse_unlocked(locked, _found(configurations))


def _found(configurations: Sequence[str]) -> dict[str, str]:
    files = [file for conf in configurations for file in (JARS / conf).glob("*.jar")]
    return {str(file.relative_to(JARS)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _refuse_unlocked(locked: dict[str, str], found: dict[str, str]) -> None:
    wrong = sorted(name for name in found.keys() | locked.keys() if found.get(name) != locked.get(name))
    for name in wrong:
        (JARS / name).unlink(missing_ok=True)
    if wrong:
        raise MachineError(
            f"These jars are not what {LOCK_FILE.name} locks, and were not kept: {', '.join(wrong)}",
            f"Delete {cache_directory()} to fetch them anew. After a change of {IVY_FILE.name}, "
            "check them and run `python -m catchment.jars --update-lock`.",
        )


def _retrieve(configurations: Sequence[str], expected_jars: int) -> None:
    for conf in configurations:
        shutil.rmtree(JARS / conf, ignore_errors=True)
    (ivy,) = pyspark_jars().glob("ivy-*.jar")
    lookups = [f"-Divy.maven.lookup.{extra}=false" for extra in ("sources", "javadoc")]
    pattern = f"{JARS}/[conf]/[artifact]-[revision].[ext]"
    options = ["-cache", str(cache_directory()), "-ivy", str(IVY_FILE), "-retrieve", pattern]
    arguments = [str(check_java()), *lookups, "-jar", str(ivy), *options, "-confs", *configurations]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        lines = _follow(process.stdout, expected_jars)
    if process.returncode != 0:
        problems = [line.strip() for line in lines if re.search("not found|error|exception", line, re.I)]
        raise MachineError(
            f"Kafka's and Spark's jars could not be fetched: {'; '.join(problems[:3]) or 'Ivy failed'}",
            "Check that this machine reaches Maven Central; JAVA_TOOL_OPTIONS can name a proxy.",
        )


def _follow(output: Iterable[str], expected_jars: int) -> list[str]:
    """Shows Ivy's progress: each jar is found once and, unless it is in the cache, downloaded once."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    lines = []
    with Progress(*columns, console=_console) as progress:
        task = progress.add_task("Kafka and the Spark connector", total=2 * expected_jars or None)
        for line in output:
            lines.append(line)
            if line.startswith(("\tfound ", "\t[SUCCESSFUL ]")):
                progress.advance(task)
        progress.update(task, total=1, completed=1)
    return lines


def _compile(folder: Path, class_path: Sequence[Path], jar: Path) -> None:
    """Compiles what is in a folder into a jar, unless that was made of just this."""
    sources, made_of = sorted(folder.rglob("*.java")), jar.with_suffix(".stamp")
    stamp = _stamp_of(folder, sources)
    if not sources or (jar.exists() and made_of.exists() and made_of.read_text() == stamp):
        return
    javac = check_java().with_name("javac")
    if not javac.exists():
        raise _wrong_java(f"There is no compiler beside Java ({javac})")
    with tempfile.TemporaryDirectory() as scratch:
        classes = Path(scratch, "classes")
        argument_file = Path(scratch, "arguments")
        argument_file.write_text("\n".join(f'"{each}"' for each in _javac_arguments(class_path, classes)))
        _run_javac(javac, argument_file, sources)
        _pack(classes, jar)
    made_of.write_text(stamp)


def _stamp_of(folder: Path, sources: list[Path]) -> str:
    digest = hashlib.sha256(version("pyspark").encode())
    for source in sources:
        digest.update(f"{source.relative_to(folder)}\n".encode() + source.read_bytes())
    return digest.hexdigest()


def _javac_arguments(class_path: Sequence[Path], classes: Path) -> list[str]:
    # Not linted: jars of PySpark whose manifests name others that it leaves out.
    options = ["-Xlint:all,-path", "-Werror", "-proc:none", "--release", "17", "-encoding", "UTF-8"]
    return [*options, "-cp", ":".join(map(str, class_path)), "-d", str(classes)]


def _run_javac(javac: Path, argument_file: Path, sources: Sequence[Path]) -> None:
    compiled = subprocess.run([javac, f"@{argument_file}", *sources], capture_output=True, text=True)
    if compiled.returncode != 0:
        raise MachineError(
            f"These Java sources do not compile:\n{compiled.stderr or compiled.stdout}",
            "Correct them: a warning counts as an error.",
        )


def _pack(classes: Path, jar: Path) -> None:
    """Same classes, same bytes: entries are sorted and their time is fixed."""
    draft = jar.with_suffix(".draft")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF"), "Manifest-Version: 1.0\r\n\r\n")
        for file in sorted(classes.rglob("*.class")):
            archive.writestr(zipfile.ZipInfo(str(file.relative_to(classes))), file.read_bytes())
    draft.replace(jar)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m catchment.jars", description=__doc__)
    parser.add_argument("--update-lock", action="store_true", help="lock what Ivy finds now")
    parser.add_argument("--peers", action="store_true", help="also what benchmarks compare with")
    wanted = parser.parse_args()
    try:
        prepare(update_lock=wanted.update_lock)
        if wanted.peers:
            prepare_peers()
    except CatchmentError as error:
        _console.print(f"[bold red]{error.code}[/]: {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
