"""The console in a real browser, served over HTTPS under its strict policy."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from catchment.health import State
from catchment.ledger.model import HopRow, Mark, Stage
from catchment.node.status import Component
from catchment.security.tokens import Scope
from tests.browser.conftest import OpenPage
from tests.browser.looking import (
    expect_refused,
    open_menu,
    overflow_px,
    row_of,
    serious_issues,
    sign_in,
    sign_out,
    visit,
)
from tests.serving import ServedNode, row


@contextmanager
def records_arriving(node: ServedNode, per_second: int) -> Iterator[None]:
    """Lets the ledger grow as if a gateway sent, until the block ends."""
    done = threading.Event()

    def grow() -> None:
        started_s = time.monotonic()
        while not done.wait(0.05):
            node.ledger.put(row("boiler/temperature", int((time.monotonic() - started_s) * per_second) + 1))

    sender = threading.Thread(target=grow)
    sender.start()
    try:
        yield
    finally:
        done.set()
        sender.join()


def test_a_wrong_token_is_refused_with_a_reason(
    node: ServedNode, open_page: OpenPage, complaints: list[str]
) -> None:
    page = open_page()
    sign_in(page, "ctm.tester.wrong")
    expect(page.get_by_role("alert")).to_contain_text("The token is not valid")
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    page.get_by_label("Token", exact=True).fill(node.token())
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect_refused(complaints, 401)


def test_the_console_works_by_keyboard_alone(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    press(page, "Tab", times=3)
    expect(page.get_by_role("button", name="Use a token")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    page.keyboard.type(node.token())
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Message rate")).to_be_visible()

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.get_by_role("link", name="Ledger", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Ledger")).to_be_focused()

    page.get_by_role("button", name="tester").focus()
    page.keyboard.press("Enter")
    press(page, "Tab", times=2)
    expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()


def press(page: Page, key: str, times: int) -> None:
    for _ in range(times):
        page.keyboard.press(key)


def test_components_and_what_is_not_ready(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_label("Node", exact=True)).to_contain_text("Ready")
    visit(page, "components", "Components")
    gateway = row_of(page, "Processes", "gateway")
    expect(gateway).to_contain_text("running")
    expect(gateway).to_contain_text("port 8992")
    expect(gateway).to_contain_text("12 min")
    expect(page.get_by_role("table", name="Metrics")).to_contain_text("catchment_part_up")

    node.components.append(
        Component(name="pipeline", state=State.RESTARTING, detail="exit code 1", restarts=2)
    )
    expect(page.get_by_label("Node", exact=True)).to_contain_text("Not ready")
    expect(page.get_by_label("Node", exact=True)).to_contain_text("pipeline (restarting)")
    expect(row_of(page, "Processes", "pipeline")).to_contain_text("exit code 1")


def test_the_live_rate_and_the_streams(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    with records_arriving(node, per_second=400):
        expect(page.get_by_test_id("rate")).to_have_text(re.compile(r"^(3[5-9]\d|4[0-4]\d) messages/s$"))
        expect(page.get_by_text("Nothing is missing.")).to_be_visible()
    expect(page.get_by_test_id("rate")).to_have_text("0 messages/s")

    visit(page, "ledger", "Ledger")
    node.ledger.put(row("boiler/temperature", 10_000, missing=7, gaps=[(4, 9), (12, 12)], duplicates=3))
    expect(page.get_by_text("7 records are missing.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="boiler/temperature").first).to_contain_text(
        "numbers 4 to 9, 12"
    )


def test_an_empty_ledger_says_what_to_do_first(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    visit(page, "ledger", "Ledger")
    expect(page.get_by_text("No records have arrived yet")).to_be_visible()


def test_a_long_list_shows_what_is_in_sight(node: ServedNode, open_page: OpenPage) -> None:
    for number in range(2_000):
        node.ledger.put(row(f"stream-{number:04}", 1))
    page = open_page()
    sign_in(page, node.token())
    visit(page, "ledger", "Ledger")
    table = page.get_by_role("table", name="Streams")
    expect(table.get_by_role("row").filter(has_text="stream-0000")).to_be_visible()
    assert table.get_by_role("row").count() < 200
    page.keyboard.press("End")
    expect(table.get_by_role("row").filter(has_text="stream-1999")).to_be_visible()
    page.get_by_label("Filter streams").fill("stream-0815")
    expect(table.get_by_role("row")).to_have_count(2)


def test_a_page_stays_where_one_scrolls_as_soon_as_it_is_there(node: ServedNode, open_page: OpenPage) -> None:
    for number in range(200):
        node.ledger.put(row(f"stream-{number:04}", 1))
    page = open_page()
    sign_in(page, node.token())
    # The next page is long from the first moment on only if its rows are there already.
    expect(page.get_by_text("records received of 200 that gateways accepted")).to_be_visible()
    page.evaluate(
        """() => {
            const watcher = new MutationObserver(() => {
                if (document.querySelector("h1")?.textContent !== "Ledger") return;
                watcher.disconnect();
                scrollTo(0, 500);
            });
            watcher.observe(document.querySelector("main"), { childList: true, subtree: true });
            location.hash = "#/ledger";
        }"""
    )
    expect(page.get_by_role("heading", level=1, name="Ledger")).to_be_focused()
    assert page.evaluate("scrollY") == 500


def test_a_stream_through_every_hop(node: ServedNode, open_page: OpenPage) -> None:
    received = row("press", 7, site="oslo")
    node.ledger.put(received)
    node.ledger.put_mark(Mark(site="oslo", gateway="gateway", epoch=1, stream="press", accepted=9))
    at_site = received.model_dump() | {"received": 8, "highest": 8, "version": 8}
    node.ledger.put_hop(HopRow(**at_site, node="oslo", stage=Stage.BROKER))
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_text("records received of 9 that gateways accepted")).to_be_visible()
    visit(page, "ledger", "Ledger")
    titles = page.get_by_role("table", name="Streams").get_by_role("columnheader")
    expect(titles.filter(has_text=re.compile("^(Accepted|At .*|Under way)$"))).to_have_text(
        ["Accepted", "At its site", "At local", "Under way"]
    )
    stream = page.get_by_role("row").filter(has_text="press")
    for title, value in {"Accepted": "9", "At its site": "8", "At local": "7", "Under way": "2"}.items():
        expect(stream.locator(f"[data-label='{title}']")).to_have_text(value)


def test_sign_out_closes_the_stream_and_the_page(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    assert node.app.state.services.hub.open_pages == 1
    sign_out(page)
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    expect(page.get_by_role("heading", name="Overview")).to_have_count(0)
    wait_until_no_page_is_open(node)
    page.reload()
    expect(page.get_by_label("Name", exact=True)).to_be_visible()


def test_an_address_is_kept_through_the_sign_in(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    page.goto(f"{node.url}/#/components")
    sign_in(page, node.token())
    expect(page.get_by_role("heading", level=1, name="Components")).to_be_visible()
    page.get_by_role("link", name="Ledger", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Ledger")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Components")).to_be_visible()
    page.goto(f"{node.url}/#/nowhere")
    expect(page.get_by_role("heading", level=1, name="There is no such page")).to_be_visible()


def test_light_and_dark_can_be_chosen(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page(colour_scheme="light")
    sign_in(page, node.token())
    light = background(page)
    open_menu(page)
    page.get_by_label("Dark", exact=True).check()
    assert background(page) != light
    page.reload()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert background(page) != light


def background(page: Page) -> str:
    colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


def test_a_revoked_token_ends_the_page(node: ServedNode, open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    node.tokens.revoke("tester")
    expect(page.get_by_text("Your session has ended.")).to_be_visible(timeout=10_000)
    # What the page asks for now and then may have been refused before the live stream ended.
    complaints[:] = [complaint for complaint in complaints if "status of 401" not in complaint]


def test_a_lost_connection_is_shown_and_comes_back(
    node: ServedNode, open_page: OpenPage, complaints: list[str]
) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.context.set_offline(True)
    node.app.state.services.hub.drop_pages()
    expect(page.get_by_text("Connection lost, retrying")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("Live", exact=True)).to_be_visible(timeout=10_000)
    complaints[:] = [complaint for complaint in complaints if "ERR_INTERNET_DISCONNECTED" not in complaint]


def test_a_token_that_lacks_a_scope_is_told_so(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token(scopes=frozenset({Scope.STATUS_READ})))
    expect(page.get_by_text("It lacks ledger:read.")).to_be_visible()
    names = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(names).to_have_text(["Overview", "Sites and gateways", "Components", "Manual"])


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_nothing_needs_scrolling_sideways(node: ServedNode, open_page: OpenPage, width: int) -> None:
    node.ledger.put(row("a/stream/with-a-rather-long-name/that-goes-on-and-on:and-on-for-ever", 123_456_789))
    page = open_page(width)
    assert overflow_px(page) == 0
    sign_in(page, node.token())
    expect(page.get_by_test_id("rate")).to_be_visible()
    assert overflow_px(page) == 0
    visit(page, "ledger", "Ledger")
    expect(page.get_by_role("row").filter(has_text="a/stream")).to_be_visible()
    assert overflow_px(page) == 0


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_the_sign_in_has_no_serious_issue(open_page: OpenPage, colour_scheme: str) -> None:
    assert serious_issues(open_page(390, colour_scheme=colour_scheme)) == []


def wait_until_no_page_is_open(node: ServedNode) -> None:
    deadline_s = time.monotonic() + 2
    while node.app.state.services.hub.open_pages:
        assert time.monotonic() < deadline_s, "the stream is open still"
        time.sleep(0.02)
