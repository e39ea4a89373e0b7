"""Twins, and what is declared of them, in the browser."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.looking import (
    expect_refused,
    row_of,
    visit,
)
from tests.browser.on_a_node.using import ON_A_NODE, SCRIPT, WIDTHS, NodeInBrowser, confirm, fill, signed_in
from tests.running_node import RunningNode

pytestmark = ON_A_NODE

# A change goes through the pipeline, which may be between two checkpoints while others use the machine.
DECIDED_MS = 60_000


@pytest.fixture
def pumps(api: httpx.Client, whole_node: RunningNode) -> None:
    """A type of which the console may make objects."""
    spec = {"name": "Pump", "values": {"pressure": {"kind": "number", "unit": "bar", "max": 16}}}
    assert api.put("/twin-types/pump", json=spec).status_code == 200
    # The queries of twins begin with the first of them, which takes a while on a busy machine.
    whole_node.wait_until(lambda: api.get("/twins/sim-1-1").status_code == 200)
    first = {"type": "pump", "values": {"pressure": 1.0}}
    whole_node.wait_until(
        lambda: api.put("/twins/first", json=first, headers={"Prefer": "wait=20"}).status_code in (200, 201)
    )


@contextmanager
def types_late(page: Page) -> Iterator[None]:
    """Holds back the answer that tells the types of objects, until the block ends."""
    held: list[Route] = []
    page.route("**/api/v1/twin-types?*", lambda route: held.append(route))
    yield
    assert held
    for route in held:
        route.continue_()
    page.unroute("**/api/v1/twin-types?*")


@WIDTHS
@pytest.mark.usefixtures("pumps")
def test_twins_are_searched_watched_and_changed(
    node: NodeInBrowser, open_page: OpenPage, complaints: list[str], width: int
) -> None:
    page = signed_in(open_page, node, width)
    visit(page, "twins", "Twins")
    search = page.get_by_label("Which ones")
    search.fill("value >> 3")
    search.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Column 8: expected a number")
    expect(page.locator("mark")).to_have_text(">")
    expect_refused(complaints, 422)
    search.fill('id = "sim-1-1"')
    search.press("Enter")
    row_of(page, "Objects", "sim-1-1").get_by_role("link").click()
    count = row_of(page, "Values", "count").locator("[data-label=Now]")
    seen = count.inner_text()
    expect(count).not_to_have_text(seen)

    visit(page, "twins", "Twins")
    thing = f"made-{width}"
    with types_late(page):
        page.get_by_role("button", name="New object").click()
        fill(page, Id=thing, Values="{wrong")
    expect(page.get_by_label(re.compile("^Type"))).to_have_value("pump")
    confirm(page, "Make")
    expect(page.get_by_text("Not JSON")).to_be_visible()
    fill(page, Values='{"pressure": 17}')
    confirm(page, "Make")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("16", timeout=DECIDED_MS)
    fill(page, Values='{"pressure": 1.5}')
    confirm(page, "Make")
    expect(page.get_by_text(re.compile("Applied as version [0-9]+"))).to_be_visible(timeout=DECIDED_MS)
    visit(page, f"twins/of/local/{thing}", thing)
    page.get_by_role("button", name="Change values").click()
    fill(page, pressure="17")
    confirm(page, "Change")
    expect(page.get_by_role("dialog")).to_contain_text("above the highest", timeout=DECIDED_MS)
    # A refusal that came within the time that the page waits is noted by the browser too.
    complaints[:] = [complaint for complaint in complaints if "status of 422" not in complaint]
    fill(page, pressure="2.5")
    confirm(page, "Change")
    expect(row_of(page, "Values", "pressure").locator("[data-label=Now]")).to_have_text(
        "2.5 bar", timeout=DECIDED_MS
    )
    page.get_by_role("button", name="Delete").click()
    confirm(page, "Delete")
    expect(page.get_by_role("heading", level=1, name="Twins")).to_be_visible()


@WIDTHS
def test_types_and_feeds_are_declared(
    node: NodeInBrowser, open_page: OpenPage, complaints: list[str], width: int
) -> None:
    kiln, feed = f"x-kiln-{width}", f"kilns-{width}"
    page = signed_in(open_page, node, width)
    visit(page, "twins/types", "Twins")
    page.get_by_role("button", name="Declare a type").click()
    fill(page, Id=kiln, Name=SCRIPT, Values='{"heat": {"kind": "number", "max": "hot"}}')
    confirm(page, "Declare")
    expect(page.get_by_text("valid number")).to_be_visible()
    expect_refused(complaints, 422)
    fill(page, Values='{"heat": {"kind": "number", "max": 1300}}')
    confirm(page, "Declare")
    expect(row_of(page, "Types", kiln)).to_contain_text(SCRIPT)
    page.get_by_role("button", name=f"Change {kiln}").click()
    fill(page, Name="Kiln")
    confirm(page, "Save")
    expect(row_of(page, "Types", kiln)).to_contain_text("Kiln")

    visit(page, "twins/feeds", "Twins")
    page.get_by_role("button", name="Declare a feed").click()
    fill(page, Id=feed, Schema="TemperatureData", Sensors="kiln-*", Type_of_new_objects=kiln)
    fill(page, Values='{"heat": "temperature"}')
    confirm(page, "Declare")
    expect(row_of(page, "Feeds", feed)).to_contain_text("TemperatureData of sensors kiln-* to {sensor}")
    visit(page, "twins/types", "Twins")
    page.get_by_role("button", name=f"Delete {kiln}").click()
    confirm(page, "Delete")
    expect(page.get_by_text("is referred to by the feeds")).to_be_visible()
    expect_refused(complaints, 409)
    visit(page, "twins/feeds", "Twins")
    page.get_by_role("button", name=f"Delete {feed}").click()
    confirm(page, "Delete")
    expect(row_of(page, "Feeds", feed)).to_have_count(0)
