"""A whole node for pages of the console, with devices that send to it."""

import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.browser.on_a_node.using import NodeInBrowser
from tests.running_node import RunningNode


@pytest.fixture(scope="session")
def devices_sending(whole_node: RunningNode, with_the_node: ExitStack) -> None:
    """Sensors of which one is registered and two are not, and objects that change."""
    whole_node.wait_until_ready()
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    sensors = ("simulate", "sensors", "--interval", "200")
    hall = whole_node.spawn(*sensors, "--sensor", "hall", "--register", **silent)
    twins = whole_node.spawn("simulate", "twins", "--declare", "--objects", "3", **silent)
    # The mapping of the first is for the others as well.
    whole_node.wait_until(lambda: "simulated" in whole_node.call("register", "mapping", "list").stdout)
    cellar = whole_node.spawn(*sensors, "--sensor", "cellar", "--sensors", "2", **silent)
    for sender in (hall, twins, cellar):
        with_the_node.callback(sender.wait, 20)
        with_the_node.callback(sender.terminate)


@pytest.fixture
def node(whole_node: RunningNode) -> NodeInBrowser:
    whole_node.wait_until_ready()
    return NodeInBrowser(whole_node)


@pytest.fixture
def api(node: NodeInBrowser, whole_node: RunningNode) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {node.token}"}
    trust = ssl.create_default_context(cafile=str(whole_node.config.paths.identities / "ca.crt"))
    with httpx.Client(base_url=f"{node.url}/api/v1", headers=headers, verify=trust, timeout=20) as client:
        yield client
