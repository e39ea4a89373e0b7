"""Sites in the browser."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.looking import (
    row_of,
    visit,
)
from tests.browser.on_a_node.using import ON_A_NODE, WIDTHS, NodeInBrowser, confirm, fill, signed_in
from tests.conftest import free_ports

pytestmark = ON_A_NODE


@WIDTHS
def test_a_site_is_added_with_one_command(node: NodeInBrowser, open_page: OpenPage, width: int) -> None:
    page = signed_in(open_page, node, width)
    visit(page, "sites", "Sites and gateways")
    expect(row_of(page, "Gateways", "gateway")).to_contain_text("running")
    expect(row_of(page, "Certificates", "gateway")).to_contain_text("days")
    page.get_by_role("button", name="Add a site").click()
    page.get_by_label(re.compile("^Name of the site")).fill(f"oslo-{width}")
    confirm(page, "Make the command")
    expect(page.get_by_role("dialog")).to_contain_text("catchment site join https://")
    confirm(page, "Done")


@pytest.fixture
def relayed(api: httpx.Client) -> str:
    """A site that is registered, and away."""
    identity = api.put("/centres/browsed").json()["identity"]
    spec = {"bootstrap_servers": f"127.0.0.1:{free_ports(1)[0]}", **identity}
    assert api.put("/sites/far", json=spec).status_code == 204
    return "far"


@WIDTHS
def test_the_relay_of_a_site_is_held_and_the_site_removed(
    node: NodeInBrowser, open_page: OpenPage, relayed: str, width: int
) -> None:
    page = signed_in(open_page, node, width)
    visit(page, "sites", "Sites and gateways")
    site = row_of(page, "Relayed sites", relayed)
    site.get_by_role("button", name="Pause").click()
    expect(site).to_contain_text("paused")
    site.get_by_role("button", name="Resume").click()
    expect(site).not_to_contain_text("paused")
    page.get_by_role("button", name=f"Remove {relayed}").click()
    confirm(page, "Cancel")
    expect(site).to_be_visible()
    page.get_by_role("button", name=f"Remove {relayed}").click()
    confirm(page, "Remove")
    expect(site).to_have_count(0)


@WIDTHS
def test_who_may_send_is_added_with_an_identity_shown_once(
    node: NodeInBrowser, open_page: OpenPage, width: int
) -> None:
    name = f"meter-{width}"
    page = signed_in(open_page, node, width)
    visit(page, "sites", "Sites and gateways")
    page.get_by_role("button", name="Add a provider").click()
    fill(page, Name=name)
    confirm(page, "Add")
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text("BEGIN PRIVATE KEY")
    confirm(page, "Done")
    expect(page.get_by_text("BEGIN PRIVATE KEY")).to_have_count(0)
    party = row_of(page, "Who may send and read", name)
    expect(party).to_contain_text("send to the gateway")
    page.get_by_role("button", name=f"Remove {name}").click()
    confirm(page, "Remove")
    expect(party).to_have_count(0)
