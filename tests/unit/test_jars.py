"""Java is checked, jars are locked, and operators are compiled without a warning or not at all."""

import hashlib
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest

from catchment import jars
from catchment.errors import MachineError

FINE = "package probe; public final class Fine { private Fine() {} }"
SLOPPY = (
    "package probe; public final class Sloppy { static Object make() { return new java.util.ArrayList(); } }"
)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where jars are made, empty, with a lock that names one jar."""
    for name, path in {
        "JARS": "jars",
        "SOURCES": "src",
        "LOCK_FILE": "jars.sha256",
        "OPERATORS": "jars/operators.jar",
        "PEER_SOURCES": "peers",
        "PEER_PROGRAMS": "jars/peers.jar",
    }.items():
        monkeypatch.setattr(jars, name, tmp_path / path)
    (tmp_path / "src").mkdir()
    (tmp_path / "jars" / "broker").mkdir(parents=True)
    (tmp_path / "jars" / "spark").mkdir()
    _lock(tmp_path, b"right")
    return tmp_path


def _lock(workshop: Path, content: bytes) -> None:
    (workshop / "jars.sha256").write_text(f"{hashlib.sha256(content).hexdigest()}  broker/some.jar\n")


def _java(home: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Puts a `java` of our own making in the place of the real one."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o700)
    monkeypatch.setenv("JAVA_HOME", str(home))
    return java


def _listing(version: str, *modules: str) -> str:
    return "\n".join(f"echo {module}@{version}" for module in ("java.base", *modules))


@pytest.mark.parametrize("version", ["17.0.15", "21", "21.0.2+13"])
def test_a_java_that_fits_is_found_in_java_home(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = _java(tmp_path, monkeypatch, _listing(version, jars.VECTOR_MODULE))
    assert jars.check_java() == java


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (_listing("11.0.2", jars.VECTOR_MODULE), "Java 11.0.2"),
        (_listing("170.1", jars.VECTOR_MODULE), "Java 170.1"),
        (_listing("17.0.15"), "lacks the module"),
        ("exit 1", "Java unknown"),
    ],
)
def test_a_java_that_does_not_fit_is_refused(
    script: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _java(tmp_path, monkeypatch, script)
    with pytest.raises(MachineError, match=complaint) as refusal:
        jars.check_java()
    assert "openjdk-17-jdk-headless" in refusal.value.remedy


def test_no_java_at_all_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="no Java in the PATH"):
        jars.check_java()


def test_the_lock_holds_every_jar_that_is_declared() -> None:
    locked = jars.read_lock()
    declared = [each.attrib for each in ET.parse(jars.IVY_FILE).iter("dependency")]
    names = {f"{each['conf'].split('->')[0]}/{each['name']}-{each['rev']}.jar" for each in declared}
    assert len(names) == 10
    assert names <= locked.keys()


def test_a_jar_with_another_checksum_is_refused_and_not_kept(
    workshop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = workshop / "jars" / "broker" / "some.jar"
    fetch = f"mkdir -p {jar.parent}; printf wrong > {jar}"
    _java(workshop / "java", monkeypatch, f"{_listing('17', jars.VECTOR_MODULE)}\n{fetch}")
    with pytest.raises(MachineError, match=r"broker/some\.jar") as refusal:
        jars.prepare()
    assert "--update-lock" in refusal.value.remedy
    assert not jar.exists()


def test_jars_that_cannot_be_fetched_are_reported(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = "case $1 in --list*) ;; *) echo 'UnknownHostException: maven'; exit 1;; esac"
    _java(workshop / "java", monkeypatch, f"{_listing('17', jars.VECTOR_MODULE)}\n{failure}")
    with pytest.raises(MachineError, match="UnknownHostException"):
        jars.prepare()


def test_what_is_there_needs_no_java_and_no_network(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workshop / "jars" / "broker" / "some.jar").write_bytes(b"right")
    (workshop / "src" / "Fine.java").write_text(FINE)
    jars.prepare()
    made = jars.OPERATORS.read_bytes()
    monkeypatch.setenv("JAVA_HOME", str(workshop / "nowhere"))
    jars.prepare()
    assert jars.spark_jars() == [jars.OPERATORS]
    (workshop / "src" / "Fine.java").write_text(f"{FINE} ")
    with pytest.raises(MachineError, match="no Java"):
        jars.prepare()
    assert jars.OPERATORS.read_bytes() == made


def test_the_same_sources_make_the_same_jar(workshop: Path) -> None:
    (workshop / "jars" / "broker" / "some.jar").write_bytes(b"right")
    (workshop / "src" / "Fine.java").write_text(FINE)
    jars.prepare()
    first = jars.OPERATORS.read_bytes()
    jars.OPERATORS.with_suffix(".stamp").unlink()
    jars.prepare()
    assert jars.OPERATORS.read_bytes() == first
    assert zipfile.ZipFile(jars.OPERATORS).namelist() == ["META-INF/MANIFEST.MF", "probe/Fine.class"]


def test_a_warning_of_the_compiler_is_an_error(workshop: Path) -> None:
    (workshop / "jars" / "broker" / "some.jar").write_bytes(b"right")
    (workshop / "src" / "Sloppy.java").write_text(SLOPPY)
    with pytest.raises(MachineError, match="rawtypes"):
        jars.prepare()
    assert not jars.OPERATORS.exists()


def test_what_benchmarks_compare_with_is_fetched_only_for_them(workshop: Path) -> None:
    (workshop / "jars" / "broker" / "some.jar").write_bytes(b"right")
    peer = workshop / "peer.jar"
    with zipfile.ZipFile(peer, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n")
    with (workshop / "jars.sha256").open("a") as lock:
        lock.write(f"{hashlib.sha256(peer.read_bytes()).hexdigest()}  peers/peer.jar\n")
    (workshop / "peers").mkdir()
    (workshop / "peers" / "Fine.java").write_text(FINE)
    jars.prepare()
    assert not (workshop / "jars" / "peers").exists()
    (workshop / "jars" / "peers").mkdir()
    peer.rename(workshop / "jars" / "peers" / "peer.jar")
    jars.prepare_peers()
    assert jars.peers_classpath() == f"{jars.PEER_PROGRAMS}:{workshop}/jars/peers/*"
    assert (workshop / "jars" / "broker" / "some.jar").exists()


def test_a_part_that_is_not_made_yet_says_how_to_make_it(workshop: Path) -> None:
    with pytest.raises(MachineError, match="make setup"):
        jars.spark_jars()
