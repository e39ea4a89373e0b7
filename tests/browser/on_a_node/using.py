"""What tests on a whole node do with its pages: sign in, fill in, confirm."""

import re

import pytest
from playwright.sync_api import Page, expect

from catchment.node.status import console_address
from tests.browser.conftest import OpenPage
from tests.browser.looking import sign_in
from tests.running_node import RunningNode

WIDTHS = pytest.mark.parametrize("width", [390, 1440])
# An element, as it would be if a name were taken for HTML.
SCRIPT = "<img src=x onerror=alert(1)>"
# Every test of a page needs the browser's patience, and devices that send.
ON_A_NODE = pytest.mark.usefixtures("devices_sending")


class NodeInBrowser:
    """What opening a page needs to know of a node."""

    def __init__(self, node: RunningNode) -> None:
        self.url = console_address(node.config)
        self.token = node.config.paths.operator_token.read_text().strip()


def signed_in(open_page: OpenPage, node: NodeInBrowser, width: int, scheme: str = "light") -> Page:
    page = open_page(width, colour_scheme=scheme)
    page.set_default_timeout(10_000)
    sign_in(page, node.token)
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    return page


def fill(page: Page, **values: str) -> None:
    """Fills in fields by what stands above them."""
    for label, value in values.items():
        page.get_by_label(re.compile(rf"^{label.replace('_', ' ')}( needed)?\s*$")).fill(value)


def confirm(page: Page, action: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=action, exact=True).click()
