"""From a device to the browser: the console of a whole running node."""

import re
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.looking import row_of, sign_in, visit
from tests.browser.on_a_node.using import NodeInBrowser
from tests.running_node import RunningNode


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
    visit(page, "components", "Components")
    for part in ("broker", "gateway", "pipeline", "query:ledger", "api"):
        expect(page.get_by_role("row", name=re.compile(f"^{part} running"))).to_be_visible()
    visit(page, "ledger", "Ledger")
    stream = page.get_by_role("row", name=re.compile("^sim-1 local"))
    expect(stream).to_be_visible(timeout=30_000)
    received, rate = (stream.locator(f"[data-label='{title}']") for title in ("At local", "Rate /s"))
    expect(rate).to_have_text(re.compile("^[1-9]"), timeout=30_000)
    seen = received.inner_text()
    expect(received).not_to_have_text(seen, timeout=30_000)
    expect(page.get_by_text("Nothing is missing.")).to_be_visible()
    counted_again(page)
    visit(page, "components", "Components")
    expect(row_of(page, "Configuration", "min_free_mib")).to_contain_text("file")
    page.get_by_label("Find a key").fill("gateway.compression")
    expect(row_of(page, "Configuration", "gateway.compression")).to_contain_text("default")


@pytest.mark.usefixtures("devices_sending")
def test_the_first_page_tells_what_arrived(
    node: NodeInBrowser, open_page: OpenPage, record_property: Callable[[str, object], None]
) -> None:
    page = open_page()
    sign_in(page, node.token)
    arrived = page.get_by_role("region", name="Ledger").get_by_text(re.compile("^[1-9][0-9,]*$")).first
    expect(arrived).to_be_visible()
    began_s = time.perf_counter()
    page.reload()
    expect(arrived).to_be_visible()
    record_property("first_page_ms", round(1000 * (time.perf_counter() - began_s)))


def counted_again(page: Page) -> None:
    page.get_by_role("button", name="Count again").click()
    found = page.get_by_role("region", name="Count again").get_by_role("status")
    expect(found).to_contain_text(re.compile(r"[1-9][\d,]* records read"), timeout=90_000)
