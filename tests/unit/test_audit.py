"""The audit log: nothing is lost between a change and the topic, and nothing is listed twice."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.audit.entry import AuditEntry, entry
from catchment.audit.journal import AuditJournal
from catchment.audit.log import AuditBook
from catchment.cli.console import LOCAL_CHANGES
from catchment.cli.reference import commands
from tests.unit.test_tokens import RunCatchment


def change(number: int) -> AuditEntry:
    return entry("local", "user/alice", "put_rule", f"/api/v1/rules/r{number}", 200, "127.0.0.1")


@pytest.fixture
def journal(tmp_path: Path) -> AuditJournal:
    return AuditJournal(tmp_path / "audit")


def test_what_is_appended_waits_in_order_until_it_was_sent(journal: AuditJournal, tmp_path: Path) -> None:
    entries = [change(number) for number in range(3)]
    for each in entries:
        journal.append(each)
    assert stat.S_IMODE((tmp_path / "audit" / "waiting.jsonl").stat().st_mode) == 0o600
    with journal.batch() as batch:
        assert batch == entries
        journal.append(change(3))
    with journal.batch() as rest:
        assert [each.target for each in rest] == ["/api/v1/rules/r3"]
    assert not journal.has_waiting


def test_what_could_not_be_sent_is_sent_later_before_what_came_after(journal: AuditJournal) -> None:
    first, second = change(1), change(2)
    journal.append(first)
    with pytest.raises(RuntimeError), journal.batch():
        raise RuntimeError("the broker is away")
    journal.append(second)
    sent = []
    for _ in range(2):
        with journal.batch() as batch:
            sent += batch
    assert sent == [first, second]


def test_a_line_that_was_cut_off_is_passed_over(journal: AuditJournal, tmp_path: Path) -> None:
    journal.append(change(1))
    with (tmp_path / "audit" / "waiting.jsonl").open("ab") as file:
        file.write(b'{"id": "cut o')
    with journal.batch() as batch:
        assert len(batch) == 1


@given(st.lists(st.integers(0, 20), max_size=60), st.integers(1, 10))
def test_the_book_has_the_newest_once(numbers: list[int], kept: int) -> None:
    entries = {number: change(number).model_copy(update={"id": str(number)}) for number in set(numbers)}
    book = AuditBook(kept)
    for number in numbers:
        book.put(entries[number])
    listed = book.newest()
    assert len(listed) == len({each.id for each in listed}) == min(kept, len(listed))
    assert [each.at_ms for each in listed] == sorted((each.at_ms for each in listed), reverse=True)


def test_every_command_that_is_noted_exists() -> None:
    known = {name.removeprefix("catchment ") for name, _ in commands()}
    assert known >= LOCAL_CHANGES


def test_a_command_is_noted_with_who_and_what_and_never_its_secret(
    run_catchment: RunCatchment, tmp_path: Path
) -> None:
    made = run_catchment("token", "create", "dashboard", "--scope", "metrics:read")
    run_catchment("token", "revoke", "nobody")
    (file,) = tmp_path.rglob("waiting.jsonl")
    first, second = (AuditEntry.model_validate_json(line) for line in file.read_text().splitlines())
    assert (first.what, first.target, first.outcome) == ("token create", "dashboard", 0)
    assert (second.what, second.target, second.outcome) == ("token revoke", "nobody", 1)
    assert first.who.startswith("shell/")
    assert made.stdout.strip().rpartition(".")[2] not in file.read_text()
