"""Tokens: shown once, hashed at rest, limited to their scopes."""

import datetime
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.errors import AccessRefused, InvalidRecord, NotFound, Unauthenticated
from catchment.security.tokens import Scope, Tokens

RunCatchment = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "tokens.json")


def test_a_token_is_known_by_its_secret_and_limited_to_its_scopes(tokens: Tokens) -> None:
    token = tokens.check(tokens.create("reader", frozenset({Scope.LEDGER_READ})))
    assert token.name == "reader"
    token.require(Scope.LEDGER_READ)
    with pytest.raises(AccessRefused, match="lacks the scope status:read"):
        token.require(Scope.STATUS_READ)


def test_the_secret_is_not_kept(tokens: Tokens, tmp_path: Path) -> None:
    secret = tokens.create("reader", frozenset(Scope)).rpartition(".")[2]
    file = tmp_path / "tokens.json"
    assert secret not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_another_process_sees_a_change_at_once(tokens: Tokens, tmp_path: Path) -> None:
    other = Tokens(tmp_path / "tokens.json")
    secret = tokens.create("reader", frozenset(Scope))
    assert other.check(secret).name == "reader"
    tokens.revoke("reader")
    with pytest.raises(Unauthenticated):
        other.check(secret)


def test_a_new_secret_ends_the_old_one(tokens: Tokens) -> None:
    old = tokens.create("reader", frozenset(Scope))
    new = tokens.create("reader", frozenset(Scope))
    assert tokens.check(new).name == "reader"
    with pytest.raises(Unauthenticated):
        tokens.check(old)


def test_a_token_expires(tokens: Tokens) -> None:
    lasting = tokens.create("lasting", frozenset(Scope), datetime.timedelta(hours=1))
    over = tokens.create("over", frozenset(Scope), datetime.timedelta(seconds=-1))
    assert tokens.check(lasting).name == "lasting"
    with pytest.raises(Unauthenticated):
        tokens.check(over)


@given(st.text())
def test_nothing_else_is_a_token(tmp_path_factory: pytest.TempPathFactory, presented: str) -> None:
    tokens = Tokens(tmp_path_factory.mktemp("tokens") / "tokens.json")
    secret = tokens.create("reader", frozenset(Scope))
    for attempt in (presented, f"ctm.reader.{presented}", f"{secret}{presented or '.'}", secret[1:]):
        with pytest.raises(Unauthenticated):
            tokens.check(attempt)


def test_names_may_hold_dots_and_nothing_odd(tokens: Tokens) -> None:
    assert tokens.check(tokens.create("a.b.c", frozenset(Scope))).name == "a.b.c"
    with pytest.raises(InvalidRecord):
        tokens.create("a b", frozenset(Scope))


def test_an_unknown_token_cannot_be_revoked(tokens: Tokens) -> None:
    with pytest.raises(NotFound, match="no token 'nobody'"):
        tokens.revoke("nobody")


def test_the_command_makes_lists_and_revokes(run_catchment: RunCatchment, tmp_path: Path) -> None:
    made = run_catchment("token", "create", "reader", "--scope", "ledger:read", "--days", "7")
    assert made.returncode == 0
    tokens = Tokens(tmp_path / "data" / "tokens.json")
    assert tokens.check(made.stdout.strip()).scopes == {Scope.LEDGER_READ}
    (listed,) = json.loads(run_catchment("token", "list", "--json").stdout)
    assert (listed["name"], listed["scopes"]) == ("reader", ["ledger:read"])
    lifetime = datetime.datetime.fromisoformat(listed["expires_at"]) - datetime.datetime.now(datetime.UTC)
    assert datetime.timedelta(days=6) < lifetime <= datetime.timedelta(days=7)
    assert run_catchment("token", "revoke", "reader").returncode == 0
    assert run_catchment("token", "revoke", "reader").returncode == 1
    assert tokens.all() == {}


@pytest.mark.parametrize(
    "arguments",
    [["reader"], ["reader", "--scope", "everything"], ["a b", "--scope", "status:read"]],
    ids=["no scope", "unknown scope", "odd name"],
)
def test_wrong_usage_is_refused(run_catchment: RunCatchment, tmp_path: Path, arguments: list[str]) -> None:
    assert run_catchment("token", "create", *arguments).returncode == 2
    assert not (tmp_path / "data").exists()
