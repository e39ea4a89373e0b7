"""The manual in a real browser: found from the console, searched, and within its policy."""

import re

import pytest
from playwright.sync_api import Page, expect

from catchment.manual.build import build
from tests.browser.conftest import OpenPage
from tests.browser.looking import overflow_px, serious_issues, sign_in
from tests.serving import ServedNode


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build()


def open_manual(page: Page, address: str = "") -> None:
    page.goto(f"{page.url.partition('#')[0].rstrip('/')}/docs/{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_the_manual_is_found_and_searched(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Manual")
    expect(link).to_have_attribute("href", "/docs/")
    open_manual(page)
    page.keyboard.press("/")
    page.keyboard.type("hysteresis thresh")
    expect(page.locator("#found a").first).to_contain_text("hysteresis")
    page.get_by_label("Search the manual").fill("restore certificate qqqq")
    expect(page.locator("#found")).to_have_text("Nothing has all these words. Try fewer.")
    page.get_by_label("Search the manual").fill("dead letters")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=re.compile("Dead letters"))).to_be_visible()
    expect(page.get_by_role("link", name="Console", exact=True)).to_be_visible()


@pytest.mark.parametrize("width", [390, 1440])
def test_a_page_of_the_manual_is_well_at_any_width(open_page: OpenPage, width: int) -> None:
    page = open_page(width, 900, "dark" if width == 390 else "light")
    for address in ("index.html", "how-to/connect-a-device.html", "reference/configuration.html"):
        open_manual(page, address)
        assert serious_issues(page) == []
        assert overflow_px(page) == 0
        page.goto(page.url.partition("/docs/")[0])
