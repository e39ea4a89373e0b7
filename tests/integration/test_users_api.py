"""People over HTTPS: signing in by name, roles, sessions that end everywhere, users and tokens managed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from catchment.security.tokens import Scope
from catchment.security.users import UserRole, Users
from tests.conftest import MakeConfig
from tests.integration.test_api import SAME_ORIGIN, assert_problem, next_event
from tests.serving import ServedNode, serve

PASSWORD = "a long sentence"
ROLES = {
    "vera": UserRole.VIEWER,
    "otto": UserRole.OPERATOR,
    "ines": UserRole.INSTALLER,
    "ada": UserRole.ADMINISTRATOR,
}


@pytest.fixture(scope="module")
def node(make_config: MakeConfig) -> Iterator[ServedNode]:
    with serve(make_config()) as served:
        for name, role in ROLES.items():
            Users(served.config.paths.users).add(name, role, PASSWORD)
        yield served


@contextmanager
def signed_in(node: ServedNode, name: str, password: str = PASSWORD) -> Iterator[httpx.Client]:
    with node.client() as client:
        client.headers.update(SAME_ORIGIN)
        answer = client.post("/api/v1/session", json={"name": name, "password": password})
        assert answer.status_code == 201, answer.text
        yield client


def made(administrator: httpx.Client, name: str, **spec: Any) -> dict[str, Any]:
    answer = administrator.put(f"/api/v1/users/{name}", json={"role": "viewer", **spec})
    assert answer.status_code == 201, answer.text
    user: dict[str, Any] = answer.json()
    return user


@pytest.mark.parametrize("name", ROLES)
def test_who_signs_in_by_name_may_do_what_the_role_may(node: ServedNode, name: str) -> None:
    with signed_in(node, name) as client:
        who = client.get("/api/v1/session").json()
        assert (who["name"], who["kind"], who["role"]) == (name, "user", ROLES[name])
        assert client.get("/api/v1/status").status_code == 200
        users = client.get("/api/v1/users").status_code
    assert users == (200 if name == "ada" else 403)


def test_a_one_time_password_has_to_be_replaced_first(node: ServedNode) -> None:
    with signed_in(node, "ada") as administrator:
        one_time = made(administrator, "nora", role="operator")["one_time_password"]
    with signed_in(node, "nora", one_time) as client:
        assert client.get("/api/v1/session").json()["must_change_password"] is True
        assert_problem(client.get("/api/v1/status"), 403, "access-refused")
        wrong = client.put("/api/v1/session/password", json={"current": "wrong", "new": PASSWORD})
        assert_problem(wrong, 401, "unauthenticated")
        weak = client.put("/api/v1/session/password", json={"current": one_time, "new": "short"})
        assert_problem(weak, 422, "invalid-request")
        changed = client.put("/api/v1/session/password", json={"current": one_time, "new": PASSWORD})
        assert changed.status_code == 200
        assert changed.json()["must_change_password"] is False
        assert client.get("/api/v1/status").status_code == 200


def test_a_password_change_ends_the_sessions_elsewhere(node: ServedNode) -> None:
    with signed_in(node, "ada") as administrator:
        made(administrator, "paul", password=PASSWORD)
    with signed_in(node, "paul") as here, signed_in(node, "paul") as there:
        body = {"current": PASSWORD, "new": "another sentence"}
        assert here.put("/api/v1/session/password", json=body).status_code == 200
        assert here.get("/api/v1/status").status_code == 200
        assert_problem(there.get("/api/v1/status"), 401, "unauthenticated")


def test_signing_out_everywhere_ends_every_session_and_stream(node: ServedNode) -> None:
    with signed_in(node, "vera") as here, signed_in(node, "vera") as there:
        listed = here.get("/api/v1/sessions").json()["items"]
        assert [each["current"] for each in listed][-2:] == [True, False]
        with there.stream("GET", "/api/v1/live") as response:
            lines = response.iter_lines()
            next_event(lines)
            assert here.delete("/api/v1/session", params={"everywhere": True}).status_code == 204
            assert "".join(lines) == ""
        assert there.get("/api/v1/session").status_code == 204


def test_a_session_can_be_ended_by_its_owner_and_by_an_administrator_alone(node: ServedNode) -> None:
    with signed_in(node, "vera") as vera, signed_in(node, "otto") as otto, signed_in(node, "ada") as ada:
        assert_problem(otto.get("/api/v1/sessions", params={"everybody": True}), 403, "access-refused")
        everybody = ada.get("/api/v1/sessions", params={"everybody": True}).json()["items"]
        hers = [each["id"] for each in everybody if each["name"] == "vera"][-1]
        assert_problem(otto.delete(f"/api/v1/sessions/{hers}"), 404, "not-found")
        assert vera.get("/api/v1/status").status_code == 200
        assert ada.delete(f"/api/v1/sessions/{hers}").status_code == 204
        assert_problem(vera.get("/api/v1/status"), 401, "unauthenticated")


@pytest.mark.parametrize("change", ["role", "password", "removal"])
def test_a_change_by_an_administrator_ends_the_users_sessions(node: ServedNode, change: str) -> None:
    with signed_in(node, "ada") as administrator:
        made(administrator, change, password=PASSWORD)
        with signed_in(node, change) as client:
            if change == "role":
                assert (
                    administrator.put(f"/api/v1/users/{change}", json={"role": "operator"}).status_code == 200
                )
            elif change == "password":
                assert administrator.put(f"/api/v1/users/{change}/password", json={}).json()[
                    "one_time_password"
                ]
            else:
                assert administrator.delete(f"/api/v1/users/{change}").status_code == 204
            assert_problem(client.get("/api/v1/status"), 401, "unauthenticated")


def test_the_last_administrator_cannot_be_removed(node: ServedNode) -> None:
    with signed_in(node, "ada") as administrator:
        assert_problem(administrator.delete("/api/v1/users/ada"), 409, "conflict")
        assert_problem(administrator.put("/api/v1/users/vera", json={"role": "none"}), 422, "invalid-request")
        assert_problem(administrator.delete("/api/v1/users/nobody"), 404, "not-found")


def test_tokens_are_made_listed_and_revoked(node: ServedNode) -> None:
    with signed_in(node, "ada") as administrator:
        spec = {"scopes": ["ledger:read"], "days": 1}
        new = administrator.put("/api/v1/tokens/dashboard", json=spec).json()
        listed = administrator.get("/api/v1/tokens").json()["items"]
        assert {key: new[key] for key in new if key != "token"} in listed
        assert new["token"] not in str(listed)
        with node.client(new["token"]) as program:
            assert program.get("/api/v1/ledger").status_code == 200
            assert administrator.delete("/api/v1/tokens/dashboard").status_code == 204
            assert_problem(program.get("/api/v1/ledger"), 401, "unauthenticated")


def test_nobody_can_give_away_more_than_they_have(node: ServedNode) -> None:
    token = node.token("clerk", frozenset({Scope.USERS_WRITE, Scope.LEDGER_READ}))
    with node.client(token) as clerk:
        refused = clerk.put("/api/v1/tokens/more", json={"scopes": ["data:read"]})
        assert_problem(refused, 403, "access-refused")
        assert clerk.put("/api/v1/tokens/same", json={"scopes": ["ledger:read"]}).status_code == 201
        assert_problem(clerk.put("/api/v1/users/own", json={"role": "administrator"}), 403, "access-refused")
        assert_problem(clerk.put("/api/v1/users/ada/password", json={}), 403, "access-refused")
        assert_problem(clerk.delete("/api/v1/users/ada"), 403, "access-refused")


def test_a_token_has_no_password_to_change(node: ServedNode) -> None:
    with node.client(node.token()) as client:
        body = {"current": PASSWORD, "new": PASSWORD}
        assert_problem(client.put("/api/v1/session/password", json=body), 403, "access-refused")
        assert [each["name"] for each in client.get("/api/v1/roles").json()["items"]] == list(UserRole)


def test_a_sign_in_is_a_token_or_a_name_with_a_password(node: ServedNode) -> None:
    with node.client() as client:
        for body in ({}, {"name": "ada"}, {"password": "x"}, {"token": "x", "name": "y", "password": "z"}):
            assert_problem(client.post("/api/v1/session", json=body), 422, "invalid-request")


def test_a_name_is_locked_after_failures_whether_it_exists_or_not(make_config: MakeConfig) -> None:
    """The same answers for both, so that nobody learns which one is there."""
    with serve(make_config()) as served, served.client() as client:
        Users(served.config.paths.users).add("vera", UserRole.VIEWER, PASSWORD)
        told = [
            client.post("/api/v1/session", json={"name": "vera", "password": "wrong"}).status_code
            for _ in range(6)
        ]
        assert told == [401] * 5 + [429]
