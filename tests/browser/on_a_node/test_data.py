"""The lake and dead letters in the browser."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.looking import (
    expect_refused,
    row_of,
    visit,
)
from tests.browser.on_a_node.using import ON_A_NODE, WIDTHS, NodeInBrowser, confirm, signed_in
from tests.running_node import RunningNode

pytestmark = ON_A_NODE


@WIDTHS
def test_the_lake_is_asked_in_sql(
    node: NodeInBrowser, open_page: OpenPage, complaints: list[str], width: int
) -> None:
    page = signed_in(open_page, node, width)
    visit(page, "lake", "Lake")
    expect(row_of(page, "Tables", "temperature_data")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Ask temperature_data").click()
    expect(page.get_by_text(re.compile("100 rows in"))).to_be_visible(timeout=20_000)
    expect(page.get_by_role("img", name="The answer over time")).to_be_visible()
    page.get_by_label("SQL").fill("DROP TABLE records")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect_refused(complaints, 422)
    page.get_by_role("button", name="Export temperature_data").click()
    with page.expect_download() as download:
        confirm(page, "Download")
    assert download.value.suggested_filename == "temperature_data.csv"
    assert "temperature" in download.value.path().read_text().splitlines()[0]


@WIDTHS
def test_dead_letters_by_reason_with_bytes_and_replay(
    node: NodeInBrowser, open_page: OpenPage, whole_node: RunningNode, width: int
) -> None:
    arguments = ("simulate", "lines", "--name", f"sensors-bad{width}", "--count", "1")
    assert whole_node.call(*arguments).returncode == 0
    page = signed_in(open_page, node, width)
    visit(page, "deadletters", "Dead letters")
    letter = row_of(page, "Letters", f"sensors-bad{width}-1")
    expect(letter).to_be_visible(timeout=30_000)
    expect(page.get_by_role("table", name="Reasons")).to_be_visible()
    letter.get_by_role("link").click()
    page.get_by_role("button", name="Hex").click()
    expect(page.get_by_label("Bytes of the letter")).to_contain_text("000000  ")
    page.get_by_role("button", name="Send again…").click()
    confirm(page, "Send again")
    expect(page.get_by_text("The record was sent again.")).to_be_visible()
    expect(page.get_by_text(re.compile("by (token/)?operator"))).to_be_visible()
