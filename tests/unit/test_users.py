"""Users: a role and a password that nobody can read, and how guessing is slowed down."""

import stat
from pathlib import Path

import pytest

from catchment.api.attempts import FIRST_WAIT_S, FREE_FAILURES, LONGEST_WAIT_S, Attempts, key_of_address
from catchment.config import Config
from catchment.errors import (
    AccessRefused,
    Conflict,
    InvalidRequest,
    NotFound,
    TooManyAttempts,
    Unauthenticated,
)
from catchment.node.first_start import create_administrator
from catchment.security.tokens import Scope
from catchment.security.users import ROLE_SCOPES, UserRole, Users
from tests.conftest import MakeConfig
from tests.unit.test_tokens import RunCatchment

PASSWORD = "a long sentence"


@pytest.fixture
def users(tmp_path: Path) -> Users:
    return Users(tmp_path / "users.json")


def test_a_user_is_known_by_the_password_alone(users: Users) -> None:
    assert users.add("alice", UserRole.OPERATOR, PASSWORD) is None
    assert users.check("alice", PASSWORD).role is UserRole.OPERATOR
    for name, password in (("alice", "another sentence"), ("nobody", PASSWORD)):
        with pytest.raises(Unauthenticated, match="The name or the password is wrong"):
            users.check(name, password)


def test_what_is_kept_is_a_hash_that_others_cannot_read(users: Users, tmp_path: Path) -> None:
    users.add("alice", UserRole.VIEWER, PASSWORD)
    file = tmp_path / "users.json"
    assert PASSWORD not in file.read_text()
    assert "$argon2id$" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_one_time_password_allows_nothing_but_to_replace_it(users: Users) -> None:
    one_time = users.add("alice", UserRole.ADMINISTRATOR)
    assert one_time is not None
    user = users.check("alice", one_time)
    assert user.scopes == frozenset()
    with pytest.raises(AccessRefused, match="one-time password"):
        user.require(Scope.STATUS_READ)
    users.set_password("alice", PASSWORD)
    users.check("alice", PASSWORD).require(Scope.USERS_WRITE)
    with pytest.raises(Unauthenticated):
        users.check("alice", one_time)


def test_each_role_may_all_that_the_one_before_may() -> None:
    sizes = [len(scopes) for scopes in ROLE_SCOPES.values()]
    assert sizes == sorted(set(sizes))
    for less, more in zip(UserRole, list(UserRole)[1:], strict=False):
        assert ROLE_SCOPES[less] < ROLE_SCOPES[more]
    assert all(scope.value.endswith(":read") for scope in ROLE_SCOPES[UserRole.VIEWER])
    assert ROLE_SCOPES[UserRole.ADMINISTRATOR] == frozenset(Scope)


@pytest.mark.parametrize("password", ["short", "x" * 201, "alice-2026-and-on"])
def test_a_poor_password_is_refused(users: Users, password: str) -> None:
    with pytest.raises(InvalidRequest, match="easy to guess"):
        users.add("alice", UserRole.VIEWER, password)
    assert users.all() == {}


def test_the_last_administrator_stays(users: Users) -> None:
    users.add("alice", UserRole.ADMINISTRATOR, PASSWORD)
    with pytest.raises(Conflict, match="last administrator"):
        users.remove("alice")
    with pytest.raises(Conflict, match="last administrator"):
        users.set_role("alice", UserRole.VIEWER)
    users.add("bertha", UserRole.ADMINISTRATOR, PASSWORD)
    users.remove("alice")
    assert list(users.all()) == ["bertha"]


def test_a_name_is_given_once_and_has_to_be_there(users: Users) -> None:
    users.add("alice", UserRole.VIEWER, PASSWORD)
    with pytest.raises(Conflict):
        users.add("alice", UserRole.VIEWER, PASSWORD)
    with pytest.raises(NotFound):
        users.set_password("bertha")


def test_the_first_start_makes_an_administrator_once(make_config: MakeConfig) -> None:
    config: Config = make_config()
    password = create_administrator(config)
    assert password is not None
    assert Users(config.paths.users).check("admin", password).role is UserRole.ADMINISTRATOR
    assert create_administrator(config) is None


class Clock:
    """A clock that a test sets."""

    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def waits_s(attempts: Attempts, *keys: str) -> int:
    """How long they have to wait, or 0 after a failure that was let through."""
    try:
        attempts.begin(*keys)
    except TooManyAttempts as refused:
        return refused.retry_after_s
    return 0


def test_the_wait_grows_with_every_failure_and_has_an_end() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    assert [waits_s(attempts, "name/alice") for _ in range(FREE_FAILURES)] == [0] * FREE_FAILURES
    waits = []
    for _ in range(8):
        waits.append(waits_s(attempts, "name/alice"))
        clock.now_s += waits[-1]
        assert waits_s(attempts, "name/alice") == 0
    assert waits[:3] == [FIRST_WAIT_S, 2 * FIRST_WAIT_S, 4 * FIRST_WAIT_S]
    assert waits[-1] == LONGEST_WAIT_S


def test_a_name_waits_wherever_it_is_tried_from_and_others_do_not() -> None:
    attempts = Attempts(Clock())
    for number in range(FREE_FAILURES):
        attempts.begin("name/alice", f"address/{number}")
    assert waits_s(attempts, "name/alice", "address/9") > 0
    assert waits_s(attempts, "name/bertha", "address/9") == 0


def test_who_succeeds_clears_the_name_and_not_the_address() -> None:
    attempts = Attempts(Clock())
    for _ in range(FREE_FAILURES):
        attempts.begin("name/alice", "address/1")
        attempts.succeeded("name/alice", "address/1")
    for number in range(FREE_FAILURES):
        attempts.begin(f"name/{number}", "address/1")
    assert waits_s(attempts, "name/alice", "address/1") > 0
    assert waits_s(attempts, "name/alice", "address/2") == 0


def test_a_network_counts_as_one_address() -> None:
    assert key_of_address("2001:db8::1") == key_of_address("2001:db8::ffff:1")
    assert key_of_address("2001:db8::1") != key_of_address("2001:db8:0:1::1")
    assert key_of_address("192.0.2.1") != key_of_address("192.0.2.2")


def test_the_command_line_makes_lists_changes_and_removes(run_catchment: RunCatchment) -> None:
    assert run_catchment("user", "add", "alice", "--role", "administrator").returncode == 0
    made = run_catchment("user", "add", "bertha")
    assert len(made.stdout.strip()) == 19
    assert run_catchment("user", "role", "bertha", "installer").returncode == 0
    listed = run_catchment("user", "list").stdout
    assert "bertha" in listed
    assert "installer" in listed
    assert "argon2" not in run_catchment("user", "list", "--json").stdout
    assert run_catchment("user", "password", "bertha", "--json").returncode == 0
    assert run_catchment("user", "remove", "bertha").returncode == 0
    last = run_catchment("user", "remove", "alice")
    assert last.returncode == 1
    assert "conflict: 'alice' is the last administrator" in last.stderr
