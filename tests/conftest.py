"""What many tests share: configurations, and one broker for all that a worker runs."""

import os
import random
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import settings

from catchment.config import Config
from catchment.kafka.broker import command, prepare_cluster, wait_until_ready
from catchment.node.process import Child
from tests.receivers import WebReceiver
from tests.running_node import RunningNode, running_node
from tests.sharing import ON_A_NODE, ByWhatIsShared, group_of

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# In this order: quick answers first, then what takes longest, so that the last tests are short ones.
STAGES = ("unit", "faults", ON_A_NODE, "integration")
BROKER_START_TIMEOUT_S = 150.0
JAVA_OPTIONS = "JDK_JAVA_OPTIONS"
# Below the range from which the system takes ports for outgoing connections.
PORTS = range(20_000, 32_000)


class MakeConfig(Protocol):
    """Makes a configuration with a data directory and ports of its own; sections are merged into it."""

    def __call__(self, **sections: Any) -> Config: ...


RunBroker = Callable[[Config], AbstractContextManager[Child]]
WITH_THE_NODE = pytest.StashKey[ExitStack]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="try every fault at length, as `make faults` does")


def pytest_configure(config: pytest.Config) -> None:
    """Lets Java compile quickly instead of well: most of its processes live for seconds, and cost half."""
    if not config.getoption("--full"):
        os.environ.setdefault(JAVA_OPTIONS, "-XX:TieredStopAtLevel=1")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByWhatIsShared:
    return ByWhatIsShared(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the tests, and marks as slow what needs the shared broker or is no unit test."""
    items.sort(key=_stage_of)
    for item in items:
        fixtures: list[str] = getattr(item, "fixturenames", [])
        if "cluster" in fixtures or _folder_of(item) != "unit":
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Ends the shared node after the last test on it: it would take half a core from all that follow.

    So does the browser, whose event loop would stay with the main thread.
    """
    if nextitem is not None and _group_of(item) == ON_A_NODE != _group_of(nextitem):
        item.config.stash.get(WITH_THE_NODE, ExitStack()).close()


def _stage_of(item: pytest.Item) -> tuple[int, bool]:
    """On the node the browser comes last: for its pages devices begin to send."""
    group, folder = _group_of(item), _folder_of(item)
    return STAGES.index(group if group in STAGES else folder), folder == "browser"


def _group_of(item: pytest.Item) -> str:
    return group_of(item.nodeid.partition("::")[0])


def _folder_of(item: pytest.Item) -> str:
    return Path(item.path).relative_to(Path(__file__).parent).parts[0]


@pytest.fixture(scope="session")
def make_config(tmp_path_factory: pytest.TempPathFactory) -> MakeConfig:
    """A factory of configurations that do not get into each other's way."""

    def make(**sections: Any) -> Config:
        broker, controller, gateway, http, api = free_ports(5)
        values: dict[str, Any] = {
            "data_dir": tmp_path_factory.mktemp("node"),
            "kafka": {"port": broker, "controller_port": controller},
            "gateway": {"port": gateway, "http": {"port": http}},
            "api": {"port": api},
        }
        return Config.model_validate(_merged(values, sections))

    return make


@pytest.fixture(scope="session")
def run_broker() -> RunBroker:
    """Runs an embedded broker, ready with topics and access lists, for as long as a `with` block lasts."""
    return _run_broker


@pytest.fixture(scope="session")
def cluster(make_config: MakeConfig) -> Iterator[Config]:
    """The configuration of a broker that all tests share: leave its topics as they are declared."""
    config = make_config()
    with _run_broker(config):
        yield config


@pytest.fixture(scope="session")
def with_the_node(pytestconfig: pytest.Config) -> Iterator[ExitStack]:
    """What ends with the tests on the shared node and in the browser."""
    with ExitStack() as stack:
        pytestconfig.stash[WITH_THE_NODE] = stack
        yield stack


@pytest.fixture(scope="session")
def whole_node(
    make_config: MakeConfig, tmp_path_factory: pytest.TempPathFactory, with_the_node: ExitStack
) -> RunningNode:
    """A node that all tests share, ready at first; whoever kills a part of it waits until it is back.

    It tells of alerts on the channel `pager`.
    """
    receiver = WebReceiver(*free_ports(1))
    config = make_config(
        min_free_mib=100,
        pipeline={"checkpoint_interval_s": 5},
        alerts={"channels": {"pager": receiver.channel(tmp_path_factory.mktemp("pager"))}},
    )
    with_the_node.enter_context(receiver.open())
    node = with_the_node.enter_context(running_node(config))
    node.wait_until_ready()
    return node


def _merged(values: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """Both, of which the second wins; sections are merged likewise."""
    merged = dict(values)
    for name, other in others.items():
        inner = values.get(name)
        merged[name] = _merged(inner, other) if isinstance(inner, dict) and isinstance(other, dict) else other
    return merged


@contextmanager
def _run_broker(config: Config) -> Iterator[Child]:
    child = Child(command(config), os.environ, config.paths.logs / "broker.out")
    try:
        wait_until_ready(config, lambda: not child.exited(), BROKER_START_TIMEOUT_S)
        prepare_cluster(config)
        yield child
    finally:
        child.kill()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    found: list[int] = []
    while len(found) < count:
        port = random.choice(PORTS)
        with socket.socket() as probe:
            if port not in found and probe.connect_ex(("127.0.0.1", port)) != 0:
                found.append(port)
    return found
