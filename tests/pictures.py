"""`python -m tests.pictures`: takes the pictures of the manual from the console of a node with devices."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from catchment.config import Config
from catchment.console.build import build
from catchment.manual.build import DOCS
from catchment.node.status import console_address
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.looking import sign_in, visit
from tests.conftest import free_ports
from tests.running_node import RunningNode, running_node

FOLDER = DOCS / "images"
MOST_BYTES = 150_000
# So long the devices send before anything is shown: charts of a few seconds say little.
WARM_UP_S = 60
DESK, WIDE, PHONE = (1200, 750), (1600, 750), (390, 780)
SITE = "oslo"

QUERY = """\
name: warmest
about: The warmest sensor of every ten seconds
inputs:
  readings: {measurements: TemperatureData}
boxes:
  averages:
    aggregate: readings
    by: [sensor_id]
    window: {tumbling: 10s}
    values: {temperature: avg(temperature), readings: count(*)}
  warm: {filter: averages, where: temperature > 20}
  warmest: {top: warm, by: [window_start], order_by: temperature desc, limit: 1}
outputs:
  warmest: {from: warmest, say: "{sensor_id} is the warmest with {temperature} °C"}
"""


@dataclass(frozen=True)
class Picture:
    """A page of the console as it is shown in the manual."""

    name: str
    route: str
    heading: str
    shown: Callable[[Page], None]
    size: tuple[int, int] = DESK
    scheme: str = "light"


def chart(page: Page) -> None:
    expect(page.get_by_role("img").first).to_be_visible()


def rows(page: Page) -> None:
    expect(page.locator("tbody tr").first).to_be_visible()


def figures(page: Page) -> None:
    """Waits until the arrows of a graph say how much flows over them."""
    expect(page.locator(".graph .arrow").first).to_contain_text(re.compile(r"\d /s"), timeout=90_000)


def rate(page: Page) -> None:
    expect(page.get_by_test_id("rate")).to_be_visible()


PICTURES = [
    Picture("console-overview", "", "Overview", rate),
    Picture("console-overview-phone", "", "Overview", rate, PHONE, "dark"),
    Picture("console-sensor", f"sensors/of/{SITE}/oven", "oven", chart),
    Picture("console-alerts-phone", "alerts", "Alerts", rows, PHONE),
    Picture("console-rules", "rules", "Rules", rows),
    Picture("console-twins", "twins", "Twins", rows),
    Picture("console-query", f"queries/of/{SITE}/warmest", "warmest", figures, WIDE),
    Picture("console-ledger", "ledger", "Ledger", rows, scheme="dark"),
]


def configured(folder: Path) -> Config:
    broker, controller, gateway, http, api = free_ports(5)
    return Config.model_validate(
        {
            "site": SITE,
            "data_dir": folder,
            "min_free_mib": 100,
            "kafka": {"port": broker, "controller_port": controller},
            "gateway": {"port": gateway, "http": {"port": http}},
            "api": {"port": api},
        }
    )


@contextmanager
def demonstration(node: RunningNode) -> Iterator[None]:
    """Ovens that get hot, objects that change, a rule and a query, until the block ends."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    ovens = ("simulate", "sensors", "--interval", "500", "--spikes", "0")
    sent = [
        node.spawn(*ovens, "--sensor", "oven", "--register", "--start", "20", "--target", "240", **silent),
        node.spawn("simulate", "twins", "--declare", "--devices", "2", "--objects", "4", **silent),
    ]
    node.wait_until(lambda: "simulated" in node.call("register", "mapping", "list").stdout)
    sent.append(node.spawn(*ovens, "--sensor", "cellar", "--sensors", "3", "--target", "14", **silent))
    query = node.config.data_dir / "warmest.yaml"
    query.write_text(QUERY, encoding="utf-8")
    rule = ("rules", "add", "oven-hot", "--field", "temperature", "--above", "180", "--unit", "C")
    for command in ((*rule, "--hysteresis", "5", "--sensor", "oven"), ("query", "deploy", str(query))):
        done = node.call(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    try:
        yield
    finally:
        for sender in sent:
            sender.terminate()
            sender.wait(20)


def signed_in(browser: Browser, node: RunningNode, picture: Picture) -> Page:
    """The console in a window as it is wanted."""
    context = browser.new_context(
        ignore_https_errors=True,
        viewport={"width": picture.size[0], "height": picture.size[1]},
        color_scheme="dark" if picture.scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(console_address(node.config))
    sign_in(page, node.config.paths.operator_token.read_text().strip())
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    return page


def take(browser: Browser, node: RunningNode, picture: Picture) -> None:
    """Goes to the page, waits for what it shows, and writes the file."""
    page = signed_in(browser, node, picture)
    visit(page, picture.route, picture.heading)
    picture.shown(page)
    # Live figures need two looks to compare.
    page.wait_for_timeout(3_000)
    file = FOLDER / f"{picture.name}.png"
    page.screenshot(path=file)
    page.context.close()
    size_bytes = file.stat().st_size
    assert size_bytes < MOST_BYTES, f"{file.name} has {size_bytes:,} bytes"
    sys.stdout.write(f"{file.name}: {size_bytes:,} bytes\n")
    sys.stdout.flush()


def main() -> None:
    """Takes all pictures anew, or those that are named."""
    wanted = [each for each in PICTURES if each.name in sys.argv[1:] or not sys.argv[1:]]
    build()
    with tempfile.TemporaryDirectory() as folder, running_node(configured(Path(folder))) as node:
        node.wait_until_ready()
        with demonstration(node), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            # The rate of the last minutes is kept while somebody looks.
            signed_in(browser, node, PICTURES[0]).wait_for_timeout(WARM_UP_S * 1_000)
            for picture in wanted:
                take(browser, node, picture)
            browser.close()


if __name__ == "__main__":
    main()
