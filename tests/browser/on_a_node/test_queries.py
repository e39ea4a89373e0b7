"""Continuous queries in the browser."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.looking import row_of, table_overflow_px, visit
from tests.browser.on_a_node.using import ON_A_NODE, WIDTHS, NodeInBrowser, confirm, signed_in

pytestmark = ON_A_NODE


QUERY = """\
name: halls-{width}
about: How many readings each sensor sent
inputs:
  readings: {{measurements: TemperatureData}}
boxes:
  counts: {{aggregate: readings, by: [sensor_id], values: {{readings: {value}}}}}
outputs:
  counts: {{from: counts}}
"""


@WIDTHS
def test_a_query_is_written_deployed_watched_and_stopped(
    node: NodeInBrowser, open_page: OpenPage, width: int
) -> None:
    page = signed_in(open_page, node, width)
    visit(page, "queries/new", "New query")
    text = page.get_by_label("The query in YAML")
    text.fill(QUERY.format(width=width, value="count(*)"))
    expect(page.get_by_label("Graph of the query")).to_contain_text("counts")
    deploy = page.get_by_role("button", name="Deploy")
    expect(deploy).to_be_enabled()
    text.fill(QUERY.format(width=width, value="sum(warmth)"))
    expect(page.get_by_role("alert")).to_contain_text("box counts")
    expect(page.locator(".graph .node.wrong")).to_contain_text("counts")
    expect(deploy).to_be_disabled()
    text.fill(QUERY.format(width=width, value="count(*)"))
    expect(deploy).to_be_enabled()
    # Each test starts Spark: once is enough.
    if width > 390:
        tried_on_a_few_rows(page)
    deploy.click()
    expect(page.get_by_role("heading", level=1, name=f"halls-{width}")).to_be_visible()
    rows = row_of(page, "Stages", "output counts").locator("[data-label=Rows]")
    expect(rows).to_have_text(re.compile("^[1-9]"), timeout=90_000)
    expect(page.locator(".graph .arrow").first).to_contain_text(re.compile(r"\d /s"))
    for narrower in (width, 1200, 820):
        page.set_viewport_size({"width": min(width, narrower), "height": 900})
        assert table_overflow_px(page, "Stages") <= 0
    page.get_by_role("button", name="Stop…").click()
    confirm(page, "Stop it")
    expect(page.get_by_role("heading", level=1, name="Queries")).to_be_visible()


def tried_on_a_few_rows(page: Page) -> None:
    page.get_by_label("Rows of readings").fill("sensor_id,temperature\na,1\nb,2\na,3\n")
    page.get_by_label("Expected of counts").fill("sensor_id,readings\na,2\nb,2\n")
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_text("not as expected", exact=True)).to_be_visible(timeout=90_000)
    expect(page.get_by_text("missing: sensor_id=b, readings=2")).to_be_visible()
    expect(row_of(page, "Rows of counts", "a")).to_contain_text("2")
