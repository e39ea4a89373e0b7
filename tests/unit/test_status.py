"""What a node says of itself, and how `catchment up` shows it."""

import errno
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from catchment.cli.display import Display
from catchment.config import Config
from catchment.health import State
from catchment.node.parts import parts_of
from catchment.node.status import Component, NodeStatus, console_address, status_of
from catchment.security.authority import Authority
from tests.conftest import MakeConfig


@pytest.fixture
def config(make_config: MakeConfig) -> Config:
    return make_config()


def pipeline(state: State = State.RUNNING, query_state: str = "running") -> Component:
    queries = [{"name": "ledger", "state": query_state, "restarts": 2, "rows_in_per_s": 5.0}]
    return Component(name="pipeline", state=state, pid=7, figures={"queries": queries, "memory": 1})


def status(config: Config, **states: str) -> NodeStatus:
    return status_of(config, [Component(name=name, state=State(state)) for name, state in states.items()])


def test_a_node_is_ready_when_all_that_it_needs_runs(config: Config) -> None:
    idle = Component(name="demonstration", state=State.STARTING, needed=False)
    running = Component(name="broker", state=State.RUNNING)
    assert status_of(config, [running, idle]).ready
    assert not status(config, broker="running", gateway="degraded").ready


def test_queries_are_components_of_their_own(config: Config) -> None:
    told = status_of(config, [pipeline()])
    assert [component.name for component in told.components] == ["pipeline", "query:ledger"]
    assert told.components[0].figures == {"memory": 1}
    query = told.components[1]
    assert (query.pid, query.restarts, query.figures) == (7, 2, {"rows_in_per_s": 5.0})


@pytest.mark.parametrize(
    ("state", "query_state", "expected"),
    [
        (State.RUNNING, "restarting", State.RESTARTING),
        (State.DEGRADED, "running", State.RUNNING),
        (State.RESTARTING, "running", State.RESTARTING),
        (State.STOPPED, "running", State.STOPPED),
    ],
)
def test_a_query_is_never_better_off_than_its_process(
    config: Config, state: State, query_state: str, expected: State
) -> None:
    told = status_of(config, [pipeline(state, query_state)])
    assert told.components[1].state is expected
    assert not told.ready


@pytest.mark.parametrize(
    ("host", "address"), [("127.0.0.1", "localhost"), ("0.0.0.0", "localhost"), ("10.0.0.5", "10.0.0.5")]
)
def test_the_console_is_where_a_browser_finds_it(make_config: MakeConfig, host: str, address: str) -> None:
    config = make_config(api={"host": host, "port": 8443})
    assert console_address(config) == f"https://{address}:8443"


def shown(config: Config, *statuses: NodeStatus, terminal: bool = False) -> str:
    text = io.StringIO()
    display = Display(Console(file=text, force_terminal=terminal, width=100), config)
    for each in statuses:
        display.show(each)
    display.close()
    return text.getvalue()


def test_each_change_is_one_line(config: Config) -> None:
    starting, degraded = status(config, broker="starting"), status(config, broker="degraded")
    lines = shown(config, starting, starting, degraded, degraded).splitlines()
    assert [line.split()[1:] for line in lines] == [["broker", "starting"], ["broker", "degraded"]]


@pytest.mark.parametrize("terminal", [False, True])
def test_the_welcome_comes_once_and_says_how_to_sign_in(config: Config, terminal: bool) -> None:
    config.paths.operator_token.parent.mkdir(exist_ok=True)
    config.paths.operator_token.write_text("secret")
    ready, not_ready = status(config, broker="running"), status(config, broker="restarting")
    text = shown(config, not_ready, ready, not_ready, ready, terminal=terminal)
    assert text.count(f"https://localhost:{config.api.port}") == 1
    assert f"cat {config.paths.operator_token}" in text
    assert str(config.paths.logs) in text
    assert "secret" not in text


def test_the_first_administrator_is_told_the_password_once(config: Config) -> None:
    text = io.StringIO()
    display = Display(Console(file=text, width=200), config)
    display.greet("abcd-efgh")
    assert "abcd-efgh" not in text.getvalue()
    for _ in range(2):
        display.show(status(config, broker="running"))
    display.close()
    assert text.getvalue().count("Sign in as admin with the one-time password abcd-efgh") == 1


@pytest.mark.parametrize("error", [BrokenPipeError(errno.EPIPE, "pipe"), OSError(errno.EIO, "terminal")])
def test_a_terminal_that_went_away_does_no_harm(
    config: Config, error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise error

    with (tmp_path / "stdout").open("w") as stdout:
        monkeypatch.setattr("sys.stdout", stdout)  # Rich points it elsewhere
        display = Display(Console(file=Gone()), config)
        display.show(status(config, broker="running"))
        display.close()


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, ["broker", "gateway", "relay", "pipeline", "notify", "api", "demonstration"]),
        ({"role": "centre"}, ["broker", "relay", "pipeline", "notify", "api"]),
    ],
)
def test_a_role_has_its_parts(make_config: MakeConfig, values: dict[str, Any], names: list[str]) -> None:
    parts = parts_of(make_config(**values), demonstration=True)
    assert [part.name for part in parts] == names
    assert [part.name for part in sorted(parts, key=lambda part: part.stop_rank)][-4:] == [
        "pipeline",
        "notify",
        "api",
        "broker",
    ]
    assert [part.name for part in parts if not part.needed] == names[6:]


def test_an_existing_cluster_is_asked_and_not_started(config: Config, make_config: MakeConfig) -> None:
    identity = Authority(config.paths.identities).identity("admin")
    tls = {
        "ca_file": identity.ca_file,
        "certificate_file": identity.certificate_file,
        "key_file": identity.key_file,
    }
    existing = make_config(kafka={"bootstrap_servers": "127.0.0.1:9", "tls": tls})
    assert parts_of(existing)[0].command is None
