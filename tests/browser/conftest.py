"""A browser whose every complaint fails the test: policy violations, errors, requests to elsewhere."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from catchment.console.build import build
from tests.conftest import MakeConfig
from tests.serving import ServedNode, serve

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A page waits for whatever else runs on the machine.
expect.set_options(timeout=30_000)

OpenPage = Callable[..., Page]
PAGES = pytest.StashKey[list[Page]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that failed tells what its pages showed."""
    report = yield
    if report.when == "call" and report.failed:
        shown = [page.locator("body").aria_snapshot() for page in item.stash.get(PAGES, [])]
        report.sections += [("What a page showed", each) for each in shown]
    return report


@pytest.fixture(scope="session")
def browser(with_the_node: ExitStack) -> Browser:
    build()
    playwright = with_the_node.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    with_the_node.callback(browser.close)
    return browser


@pytest.fixture
def node(make_config: MakeConfig) -> Iterator[ServedNode]:
    with serve(make_config()) as served:
        yield served


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained of so far; a test takes out what it expects."""
    return []


@pytest.fixture
def open_page(
    browser: Browser, node: ServedNode, complaints: list[str], request: pytest.FixtureRequest
) -> Iterator[OpenPage]:
    """Opens the console in a window of the given size and scheme; at the end nothing may have gone wrong."""
    pages = request.node.stash.setdefault(PAGES, [])

    def open_one(width: int = 1440, height: int = 900, colour_scheme: str = "light") -> Page:
        context = browser.new_context(
            ignore_https_errors=True,
            viewport={"width": width, "height": height},
            color_scheme="dark" if colour_scheme == "dark" else "light",
        )
        page = context.new_page()
        pages.append(page)
        _listen(page, node.url, complaints)
        page.goto(node.url)
        return page

    yield open_one
    for page in pages:
        page.context.close()
    assert complaints == []


def _listen(page: Page, url: str, complaints: list[str]) -> None:
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
    page.on(
        "request",
        lambda request: None if request.url.startswith(url) else complaints.append(f"request: {request.url}"),
    )
