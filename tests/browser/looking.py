"""What tests do in a browser: sign in, go to a page, and look for what keeps people from using it."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from catchment.console.build import WEB

_AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
_SERIOUS = {"serious", "critical"}


def sign_in(page: Page, token: str) -> None:
    """Signs in with a token."""
    page.get_by_role("button", name="Use a token").click()
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_in_by_name(page: Page, name: str, password: str) -> None:
    """Signs in as a user."""
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def open_menu(page: Page) -> None:
    """Opens who is signed in."""
    page.locator(".account .who").click()


def sign_out(page: Page) -> None:
    """Signs out over the menu."""
    open_menu(page)
    page.get_by_role("button", name="Sign out", exact=True).click()


def visit(page: Page, route: str, heading: str | re.Pattern[str]) -> None:
    """Goes to a page of the console, and waits until it is there."""
    page.evaluate("address => { location.hash = address }", f"#/{route}")
    expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()


def row_of(page: Page, table: str, text: str) -> Locator:
    """A row of a table by something that stands in it."""
    rows = page.get_by_role("table", name=table, exact=True).locator("tbody").get_by_role("row")
    return rows.filter(has_text=text).first


def overflow_px(page: Page) -> int:
    """How much wider the page is than the window."""
    wider: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wider


def table_overflow_px(page: Page, table: str) -> int:
    """How much wider a table is than what it stands in."""
    wider: int = page.get_by_role("table", name=table, exact=True).evaluate(
        "table => table.scrollWidth - table.parentElement.clientWidth"
    )
    return wider


def serious_issues(page: Page) -> list[str]:
    """What axe finds to be serious. It runs beside the page's policy, which stays in force."""
    session = page.context.new_cdp_session(page)
    try:
        _evaluate(session, _AXE.read_text())
        found = _evaluate(session, "axe.run(document, {resultTypes: ['violations']})")
    finally:
        session.detach()
    return [
        f"{issue['id']}: {issue['help']} ({', '.join(node['html'][:120] for node in issue['nodes'][:3])})"
        for issue in found["violations"]
        if issue["impact"] in _SERIOUS
    ]


def _evaluate(session: Any, expression: str) -> Any:
    answer = session.send(
        "Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True}
    )
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"].get("value")


def expect_refused(complaints: list[str], status: int) -> None:
    """Takes out what the browser itself notes of a refused request."""
    noted = [complaint for complaint in complaints if f"status of {status}" in complaint]
    assert noted
    for complaint in noted:
        complaints.remove(complaint)
