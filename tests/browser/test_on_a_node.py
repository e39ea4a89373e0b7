"""From a device to the browser: the console of a whole running node."""

import re
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from catchment.node.status import console_address
from tests.browser.conftest import OpenPage
from tests.browser.test_console import sign_in
from tests.running_node import RunningNode

pytestmark = pytest.mark.timeout(300)


class NodeInBrowser:
    """What opening a page needs to know of a node."""

    def __init__(self, node: RunningNode) -> None:
        self.url = console_address(node.config)
        self.token = node.config.paths.operator_token.read_text().strip()


@pytest.fixture
def node(whole_node: RunningNode) -> NodeInBrowser:
    whole_node.wait_until_ready()
    return NodeInBrowser(whole_node)


@pytest.fixture
def lines_flowing(whole_node: RunningNode) -> Iterator[None]:
    arguments = ("simulate", "lines", "--rate", "200", "--count", "0", "--seed", "5")
    sender = whole_node.spawn(*arguments, stderr=subprocess.DEVNULL)
    yield
    sender.terminate()
    assert sender.wait(20) == 0


@pytest.mark.usefixtures("lines_flowing")
def test_lines_of_a_device_are_seen_in_the_browser(node: NodeInBrowser, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token)
    for part in ("broker", "gateway", "pipeline", "query:ledger", "api"):
        expect(page.get_by_role("row", name=re.compile(f"^{part} running"))).to_be_visible()
    stream = page.get_by_role("row", name="sim-1 local")
    expect(stream).to_be_visible(timeout=30_000)
    received, rate = (stream.locator(f"[data-label='{title}']") for title in ("At local", "Rate /s"))
    expect(rate).to_have_text(re.compile("^[1-9]"), timeout=30_000)
    seen = received.inner_text()
    expect(received).not_to_have_text(seen, timeout=30_000)
    expect(page.get_by_text("Nothing is missing.")).to_be_visible()
