"""The manual as the real service gives it out: to everybody, and under the policy of the console."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from catchment.api.guard import HEADERS
from catchment.errors import PartFailed
from catchment.lake.tables import lake_of
from catchment.manual.build import build
from catchment.manual.pages import Pages
from tests.conftest import MakeConfig
from tests.lakes import TEMPERATURES, add_rows, readings
from tests.serving import ServedNode, serve
from tests.snippets import python_of


@pytest.fixture(scope="module")
def node(make_config: MakeConfig) -> Iterator[ServedNode]:
    build()
    with serve(make_config()) as served:
        yield served


@pytest.fixture(scope="module")
def client(node: ServedNode) -> Iterator[httpx.Client]:
    """Somebody without a token."""
    with node.client() as client:
        yield client


def test_everybody_may_read_it_under_the_policy_of_the_console(client: httpx.Client) -> None:
    page = client.get("/docs", follow_redirects=True)
    assert page.url.path == "/docs/"
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "Catchment takes data streams" in page.text
    assert page.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_pages_scripts_and_the_index_are_there(client: httpx.Client) -> None:
    for path, kind in (
        ("how-to/verify.html", "text/html; charset=utf-8"),
        ("search.js", "text/javascript; charset=utf-8"),
        ("manual.css", "text/css; charset=utf-8"),
        ("search/search_index.json", "application/json"),
        ("images/flow.svg", "image/svg+xml"),
    ):
        answer = client.get(f"/docs/{path}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind), path
        assert answer.headers["cache-control"] == "no-cache"


def test_a_page_that_did_not_change_is_not_sent_again(client: httpx.Client) -> None:
    first = client.get("/docs/search.js")
    again = client.get("/docs/search.js", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304


def test_an_address_without_a_page_says_so_to_people(client: httpx.Client) -> None:
    answer = client.get("/docs/how-to/nothing.html")
    assert answer.status_code == 404
    assert "There is no such page" in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_written_to_it(client: httpx.Client, method: str) -> None:
    assert client.request(method, "/docs/index.html").status_code == 405


def test_a_manual_that_was_not_built_is_told_of(tmp_path: Path) -> None:
    scope = {"type": "http", "method": "GET", "headers": []}
    with pytest.raises(PartFailed, match=r"has not been built\. Run `make setup`"):
        asyncio.run(Pages(tmp_path / "none").get_response("index.html", scope))


def test_the_recipe_for_analysts_gives_a_frame(node: ServedNode, monkeypatch: pytest.MonkeyPatch) -> None:
    add_rows(lake_of(node.config), TEMPERATURES, readings("press-7", 3))
    monkeypatch.chdir(node.config.paths.identities)
    names: dict[str, Any] = {"token": node.token("analyst")}
    recipe = python_of("analyse.md", "measurements(")
    exec(recipe.replace("https://centre.example:8443", node.url), names)
    names["node"].close()
    assert names["frame"]["temperature"].to_list() == [1.0, 2.0, 3.0]
