"""Supervision with real little processes: restart, back-off, hanging, the order and the time of a stop."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import psutil
import pytest

from catchment.config import Config
from catchment.errors import MachineError
from catchment.health import State, ask
from catchment.node.keeper import Keeper, Part
from catchment.node.lock import NodeLock
from catchment.node.process import birth, last_words
from catchment.node.remains import MARK

HONEST = """
    import signal, sys, time
    from pathlib import Path
    from catchment.health import Report, Reporter, State
    reporter = Reporter(Path(sys.argv[1]), lambda: Report(state=State.RUNNING, figures={"served": 7}))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        time.sleep(0.05)
"""
DEAF = HONEST.replace("lambda *_: sys.exit(0)", "signal.SIG_IGN")
SHORT_LIVED = "print('out of paper'); raise SystemExit(3)"
WITH_GRANDCHILD = """
    import subprocess, sys
    print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
    raise SystemExit(1)
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    settings = {"restart_backoff_max_s": 2, "stop_timeout_s": 4, "silence_max_s": 1, "start_max_s": 2}
    return Config.model_validate({"data_dir": tmp_path, "supervisor": settings})


def script(source: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(source), *map(str, arguments)]


def part(config: Config, name: str, source: str, *, after: str = "", rank: int = 0) -> Part:
    socket = config.paths.socket(name)
    return Part(
        name=name,
        command=lambda: script(source, socket),
        ask=lambda: ask(socket),
        waits_for=frozenset({after} - {""}),
        stop_rank=rank,
        ask_interval_s=0.2,
    )


@pytest.fixture
def keeper_of(config: Config) -> Iterator[Callable[[Part], Keeper]]:
    keepers: list[Keeper] = []

    def make(kept: Part) -> Keeper:
        environment = {**os.environ, MARK: str(config.data_dir)}
        keepers.append(Keeper(kept, config.supervisor, environment, config.paths.logs))
        return keepers[-1]

    yield make
    for keeper in keepers:
        keeper.kill()


def step_until(keeper: Keeper, reached: Callable[[], bool], timeout_s: float = 15) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline_s, keeper.component(time.monotonic())
        keeper.step(time.monotonic())
        time.sleep(0.05)


def wait_until(reached: Callable[[], bool], timeout_s: float = 15) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


KeeperOf = Callable[[Part], Keeper]


def test_a_part_runs_when_it_says_so(config: Config, keeper_of: KeeperOf) -> None:
    keeper = keeper_of(part(config, "honest", HONEST))
    assert keeper.state is State.STARTING
    step_until(keeper, lambda: keeper.state is State.RUNNING)
    component = keeper.component(time.monotonic())
    assert component.figures == {"served": 7}
    assert keeper.child
    assert component.pid == keeper.child.pid
    assert component.restarts == 0


def test_a_part_that_died_is_started_again(config: Config, keeper_of: KeeperOf) -> None:
    keeper = keeper_of(part(config, "honest", HONEST))
    step_until(keeper, lambda: keeper.state is State.RUNNING)
    assert keeper.child
    first_pid = keeper.child.pid
    os.kill(first_pid, signal.SIGKILL)
    step_until(keeper, lambda: keeper.state is State.RESTARTING)
    assert "killed by SIGKILL" in keeper.component(0).detail
    step_until(keeper, lambda: keeper.state is State.RUNNING)
    assert keeper.child
    assert keeper.child.pid != first_pid
    assert keeper.component(0).restarts == 1


def test_the_pause_doubles_up_to_the_limit_and_the_reason_is_told(
    config: Config, keeper_of: KeeperOf
) -> None:
    keeper = keeper_of(part(config, "short-lived", SHORT_LIVED))
    pauses: list[str] = []
    now_s = 0.0
    for _ in range(4):
        keeper.step(now_s)
        assert keeper.child
        wait_until(keeper.child.exited)
        keeper.step(now_s)
        detail = keeper.component(now_s).detail
        assert "ended with exit code 3 (out of paper)" in detail
        pauses.append(detail.partition(":")[0])
        keeper.step(now_s + 0.4)
        assert keeper.component(now_s).pid is None
        now_s += 10
    assert pauses == ["again in 0.5 s", "again in 1 s", "again in 2 s", "again in 2 s"]


def test_the_pause_is_short_again_after_a_steady_run(config: Config, keeper_of: KeeperOf) -> None:
    keeper = keeper_of(part(config, "short-lived", SHORT_LIVED))
    for now_s, lived_s in ((0.0, 0.0), (10.0, 0.0), (20.0, 31.0)):
        keeper.step(now_s)
        assert keeper.child
        wait_until(keeper.child.exited)
        keeper.step(now_s + lived_s)
    assert keeper.component(0).detail.startswith("again in 0.5 s")


def test_what_a_dead_part_had_started_dies_with_it(config: Config, keeper_of: KeeperOf) -> None:
    keeper = keeper_of(part(config, "parent", WITH_GRANDCHILD))
    step_until(keeper, lambda: keeper.state is State.RESTARTING)
    grandchild = int(last_words(config.paths.logs / "parent.log"))
    wait_until(lambda: birth(grandchild) is None)


def test_a_part_that_hangs_is_started_again(config: Config, keeper_of: KeeperOf) -> None:
    keeper = keeper_of(part(config, "honest", HONEST))
    step_until(keeper, lambda: keeper.state is State.RUNNING)
    assert keeper.child
    os.kill(keeper.child.pid, signal.SIGSTOP)
    step_until(keeper, lambda: keeper.state is State.RESTARTING)
    assert "hung: no answer for" in keeper.component(0).detail
    step_until(keeper, lambda: keeper.state is State.RUNNING)


def test_a_part_that_never_answers_is_given_longer(config: Config, keeper_of: KeeperOf) -> None:
    keeper = keeper_of(part(config, "mute", "import time; time.sleep(600)"))
    started_s = time.monotonic()
    step_until(keeper, lambda: keeper.state is State.RESTARTING)
    assert time.monotonic() - started_s > config.supervisor.start_max_s


def test_a_first_start_that_cannot_be_is_an_error(config: Config, keeper_of: KeeperOf) -> None:
    nothing = Part("none", lambda: ["/nonexistent"], lambda: ask(Path("/none")), stop_rank=0)
    with pytest.raises(FileNotFoundError):
        keeper_of(nothing).step(0)


NODE = """
    import os, sys
    from pathlib import Path
    sys.path.insert(0, sys.argv[2])
    from test_supervisor import *
    from catchment.node.supervisor import Supervisor
    os.umask(0o077)
    config = Config.model_validate_json(sys.argv[1])
    lock = NodeLock(config.paths.lock)
    lock.acquire()
    def show(status):
        for each in status.components:
            print(each.name, each.state, flush=True)
        print("ready" if status.ready else "not ready", flush=True)
    parts = [
        part(config, "store", HONEST, rank=2),
        part(config, "worker", DEAF if "deaf" in sys.argv else HONEST, after="store", rank=1),
        part(config, "door", HONEST, after="store", rank=0),
    ]
    Supervisor(config, parts, {**os.environ, MARK: str(config.data_dir)}, show).run()
    lock.release()
"""


class Node:
    """A supervisor with three small parts, in a process of its own."""

    def __init__(self, config: Config, *flags: str) -> None:
        self.config = config
        arguments = (config.model_dump_json(), Path(__file__).parent, *flags)
        self.process = subprocess.Popen(script(NODE, *arguments), stdout=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.strip())
            if line == "ready\n":
                break
        self.pids = [entry["pid"] for entry in orjson.loads(config.paths.processes.read_bytes()).values()]

    def finish(self) -> float:
        """Waits for its end and gives the seconds that it took."""
        started_s = time.monotonic()
        rest, _ = self.process.communicate(timeout=20)
        self.lines += rest.splitlines()
        return time.monotonic() - started_s

    def order_of(self, state: str) -> list[str]:
        names = [line.partition(" ")[0] for line in self.lines if line.endswith(f" {state}")]
        return list(dict.fromkeys(names))


@pytest.fixture
def start_node(config: Config) -> Iterator[Callable[..., Node]]:
    nodes: list[Node] = []

    def start(*flags: str) -> Node:
        nodes.append(Node(config, *flags))
        return nodes[-1]

    yield start
    for node in nodes:
        node.process.kill()
        node.process.communicate()
        for pid in node.pids:
            if psutil.pid_exists(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_parts_start_when_due_and_stop_in_order(start_node: Callable[..., Node], number: int) -> None:
    node = start_node()
    assert node.order_of("running")[0] == "store"
    assert node.lines.index("store running") < node.lines.index("door running")
    report = ask(node.config.paths.socket("node"))
    assert report.state is State.RUNNING
    assert report.figures["ready"] is True
    assert [each["name"] for each in report.figures["components"]] == ["store", "worker", "door"]
    node.process.send_signal(number)
    node.finish()
    assert node.process.returncode == 0
    assert node.order_of("stopped") == ["door", "worker", "store"]
    assert [pid for pid in node.pids if birth(pid)] == []
    assert not node.config.paths.processes.exists()


def test_one_that_will_not_stop_is_killed_in_time_and_the_others_stop_properly(
    start_node: Callable[..., Node],
) -> None:
    node = start_node("deaf")
    node.process.send_signal(signal.SIGTERM)
    assert 1 < node.finish() < node.config.supervisor.stop_timeout_s
    assert node.order_of("stopped") == ["door", "worker", "store"]
    assert [pid for pid in node.pids if birth(pid)] == []


def test_a_second_signal_ends_all_at_once(start_node: Callable[..., Node]) -> None:
    node = start_node("deaf")
    node.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    node.process.send_signal(signal.SIGINT)
    assert node.finish() < 1
    assert [pid for pid in node.pids if birth(pid)] == []


def test_nothing_is_left_when_the_supervisor_is_killed(start_node: Callable[..., Node]) -> None:
    node = start_node("deaf")
    node.process.kill()
    node.finish()
    wait_until(lambda: not any(birth(pid) for pid in node.pids), timeout_s=5)


def test_one_node_to_a_data_directory(start_node: Callable[..., Node], config: Config) -> None:
    node = start_node()
    assert NodeLock(config.paths.lock).holder() == node.process.pid
    with pytest.raises(MachineError, match="running already"):
        NodeLock(config.paths.lock).acquire()
    node.process.kill()
    node.finish()
    assert NodeLock(config.paths.lock).holder() is None
    lock = NodeLock(config.paths.lock)
    lock.acquire()
    assert lock.holder() == os.getpid()
    lock.release()
    assert lock.holder() is None
