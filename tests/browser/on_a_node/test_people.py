"""Users and tokens in the browser."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.looking import (
    row_of,
    sign_in_by_name,
    sign_out,
    visit,
)
from tests.browser.on_a_node.using import ON_A_NODE, NodeInBrowser, confirm, fill, signed_in

pytestmark = ON_A_NODE


def test_a_user_is_added_and_may_only_look(node: NodeInBrowser, open_page: OpenPage) -> None:
    page = signed_in(open_page, node, 1440)
    visit(page, "users", "Users and tokens")
    page.get_by_role("button", name="Add a user").click()
    fill(page, Name="vera")
    confirm(page, "Add")
    password = page.get_by_role("dialog").locator("pre").inner_text()
    confirm(page, "Done")
    expect(row_of(page, "Users", "vera")).to_contain_text("viewer")
    visit(page, "audit", "Audit")
    expect(row_of(page, "Changes", "/api/v1/users/vera")).to_contain_text("operator")
    sign_out(page)

    sign_in_by_name(page, "vera", password)
    fill(page, The_password_you_were_given=password, New_password="short", New_password_again="shorter")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("The two differ")).to_be_visible()
    # By its keys: what is typed into one field does not end up in another that is still wrong.
    new = page.get_by_label("New password", exact=True)
    new.clear()
    new.press_sequentially("a river of its own")
    expect(new).to_have_value("a river of its own")
    fill(page, New_password_again="a river of its own")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    expect(page.get_by_role("link", name="Users and tokens")).to_have_count(0)
    visit(page, "rules", "Rules")
    expect(page.get_by_role("button", name="New rule")).to_have_count(0)


def test_a_token_is_made_and_revoked(node: NodeInBrowser, open_page: OpenPage) -> None:
    page = signed_in(open_page, node, 1440)
    visit(page, "users/tokens", "Users and tokens")
    page.get_by_role("button", name="New token").click()
    page.get_by_label(re.compile("^Name")).fill("meter")
    confirm(page, "Make it")
    expect(page.get_by_role("alert")).to_contain_text("Choose at least one thing")
    page.get_by_label("status:read").check()
    confirm(page, "Make it")
    expect(page.get_by_role("dialog").locator("pre")).to_have_text(re.compile(r"^ctm\.meter\."))
    confirm(page, "Done")
    page.get_by_role("button", name="Revoke meter").click()
    confirm(page, "Revoke")
    expect(row_of(page, "Tokens", "meter")).to_have_count(0)
