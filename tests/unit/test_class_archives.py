"""An archive of classes is used by whom it fits, and by nobody else."""

from pathlib import Path

import pytest

from catchment import class_archives, jars, rehearsal
from catchment.class_archives import BROKER, SPARK, archive_of, options, remove_others


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class path of one jar, and no archive yet."""
    (tmp_path / "jars" / "broker").mkdir(parents=True)
    (tmp_path / "jars" / "broker" / "kafka.jar").write_bytes(b"classes")
    (tmp_path / "archives").mkdir()
    monkeypatch.setattr(jars, "JARS", tmp_path / "jars")
    monkeypatch.setattr(class_archives, "ARCHIVES", tmp_path / "archives")
    return tmp_path


def test_without_an_archive_java_is_told_nothing(workshop: Path) -> None:
    assert options(BROKER) == []


def test_an_archive_is_used_as_long_as_the_jars_are_the_same(workshop: Path) -> None:
    archive = archive_of(BROKER)
    archive.touch()
    assert options(BROKER)[0] == f"-XX:SharedArchiveFile={archive}"
    (workshop / "jars" / "broker" / "kafka.jar").write_bytes(b"other classes")
    assert options(BROKER) == []


def test_an_archive_is_for_one_java(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive_of(BROKER).touch()
    java = workshop / "java"
    java.touch()
    monkeypatch.setattr(jars, "find_java", lambda: java)
    assert options(BROKER) == []


def test_archives_that_fit_no_longer_are_removed(workshop: Path) -> None:
    current, outdated = archive_of(BROKER), workshop / "archives" / "broker-0123456789abcdef.jsa"
    for file in (current, outdated):
        file.touch()
    remove_others([current])
    assert list((workshop / "archives").iterdir()) == [current]


def test_a_rehearsal_starts_from_no_archive(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def place(program: str) -> Path:
        return workshop / "archives" / f"{program}-0123456789abcdef.jsa"

    found: list[list[Path]] = []
    monkeypatch.setattr(rehearsal, "ARCHIVES", workshop / "archives")
    monkeypatch.setattr(rehearsal, "archive_of", place)
    monkeypatch.setattr(rehearsal, "_run_once", lambda _: found.append([*workshop.glob("archives/*.jsa")]))
    place(BROKER).touch()
    assert rehearsal.rehearse()
    assert found == [[]]


def test_set_up_has_made_both() -> None:
    assert options(BROKER)
    assert options(SPARK)
