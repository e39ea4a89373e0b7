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
from tests.serving import ServedNode, row


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


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


def expect_refused(complaints: list[str], status: int) -> None:
    """Takes out what the browser itself notes of a refused request."""
    noted = [complaint for complaint in complaints if f"status of {status}" in complaint]
    assert noted
    for complaint in noted:
        complaints.remove(complaint)


def test_a_wrong_token_is_refused_with_a_reason(
    node: ServedNode, open_page: OpenPage, complaints: list[str]
) -> None:
    page = open_page()
    sign_in(page, "ctm.tester.wrong")
    expect(page.get_by_role("alert")).to_contain_text("The token is not valid")
    expect(page.get_by_label("Token")).to_be_focused()
    sign_in(page, node.token())
    expect(page.get_by_role("heading", name="Components")).to_be_visible()
    expect_refused(complaints, 401)


def test_sign_in_works_by_keyboard_alone(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type(node.token())
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Components")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Sign out")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Token")).to_be_focused()


def test_components_and_what_is_not_ready(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_label("Node")).to_contain_text("Ready")
    gateway = page.get_by_role("row").filter(has_text="gateway")
    expect(gateway).to_contain_text("running")
    expect(gateway).to_contain_text("port 8992")
    expect(gateway).to_contain_text("12 min")

    node.components.append(
        Component(name="pipeline", state=State.RESTARTING, detail="exit code 1", restarts=2)
    )
    expect(page.get_by_label("Node")).to_contain_text("Not ready")
    expect(page.get_by_label("Node")).to_contain_text("pipeline (restarting)")
    expect(page.get_by_role("row").filter(has_text="pipeline")).to_contain_text("exit code 1")


def test_the_live_rate_and_the_streams(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_text("No records have arrived yet")).to_be_visible()
    with records_arriving(node, per_second=400):
        stream = page.get_by_role("row").filter(has_text="boiler/temperature")
        expect(stream).to_be_visible()
        expect(page.get_by_test_id("rate")).to_have_text(re.compile(r"^(3[5-9]\d|4[0-4]\d) messages/s$"))
        expect(page.get_by_text("Nothing is missing.")).to_be_visible()
    expect(page.get_by_test_id("rate")).to_have_text("0 messages/s")

    node.ledger.put(row("boiler/temperature", 10_000, missing=7, gaps=[(4, 9), (12, 12)], duplicates=3))
    expect(page.get_by_text("7 records are missing.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="boiler/temperature")).to_contain_text(
        "numbers 4 to 9, 12"
    )


def test_a_stream_through_every_hop(node: ServedNode, open_page: OpenPage) -> None:
    received = row("press", 7, site="oslo")
    node.ledger.put(received)
    node.ledger.put_mark(Mark(site="oslo", gateway="gateway", epoch=1, stream="press", accepted=9))
    at_site = received.model_dump() | {"received": 8, "highest": 8, "version": 8}
    node.ledger.put_hop(HopRow(**at_site, node="oslo", stage=Stage.BROKER))
    page = open_page()
    sign_in(page, node.token())
    titles = page.get_by_role("table").filter(has_text="Stream").get_by_role("columnheader")
    expect(titles.filter(has_text=re.compile("^(Accepted|At .*|Under way)$"))).to_have_text(
        ["Accepted", "At its site", "At local", "Under way"]
    )
    stream = page.get_by_role("row").filter(has_text="press")
    for title, value in {"Accepted": "9", "At its site": "8", "At local": "7", "Under way": "2"}.items():
        expect(stream.locator(f"[data-label='{title}']")).to_have_text(value)
    expect(page.get_by_text("records received of 9 that gateways accepted")).to_be_visible()


def test_sign_out_closes_the_stream_and_the_page(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    assert node.app.state.services.hub.open_pages == 1
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    expect(page.get_by_role("heading", name="Components")).to_have_count(0)
    wait_until_no_page_is_open(node)
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()


def test_a_revoked_token_ends_the_page(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    node.tokens.revoke("tester")
    expect(page.get_by_text("Your session has ended.")).to_be_visible(timeout=10_000)


def test_a_lost_connection_is_shown_and_comes_back(
    node: ServedNode, open_page: OpenPage, complaints: list[str]
) -> None:
    page = open_page()
    sign_in(page, node.token())
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.context.set_offline(True)
    node.app.state.services.hub.drop_pages()
    expect(page.get_by_role("alert")).to_contain_text("Connection lost, retrying")
    page.context.set_offline(False)
    expect(page.get_by_text("Live", exact=True)).to_be_visible(timeout=10_000)
    complaints[:] = [complaint for complaint in complaints if "ERR_INTERNET_DISCONNECTED" not in complaint]


def test_a_token_that_lacks_a_scope_is_told_so(node: ServedNode, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, node.token(scopes=frozenset({Scope.STATUS_READ})))
    expect(page.get_by_text("It lacks ledger:read.")).to_be_visible()


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_nothing_needs_scrolling_sideways(node: ServedNode, open_page: OpenPage, width: int) -> None:
    node.ledger.put(row("a/stream/with-a-rather-long-name/that-goes-on-and-on:and-on-for-ever", 123_456_789))
    page = open_page(width)
    assert overflow_px(page) == 0
    sign_in(page, node.token())
    expect(page.get_by_role("row").filter(has_text="a/stream")).to_be_visible()
    assert overflow_px(page) == 0


def overflow_px(page: Page) -> int:
    wider: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wider


def wait_until_no_page_is_open(node: ServedNode) -> None:
    deadline_s = time.monotonic() + 2
    while node.app.state.services.hub.open_pages:
        assert time.monotonic() < deadline_s, "the stream is open still"
        time.sleep(0.02)
