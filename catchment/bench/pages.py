"""What open pages cost the node, and how fast a chart over a great many readings opens.

Everything is real: `catchment serve` in a process of its own, HTTPS, tokens, live streams as the overview
opens them, and a lake of Delta tables.
"""

import asyncio
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

import httpx

from catchment.bench.page_data import STREAMS, fill_lake, streams_growing, supervised
from catchment.bench.result import Result, percentile
from catchment.bench.site import broker, free_ports, log_of, start, wait_for, write
from catchment.bench.twin_subjects import cpu_s
from catchment.config import Config
from catchment.errors import NodeNotRunning, PartFailed
from catchment.health import State, ask
from catchment.node.process import Child, last_words
from catchment.security.tokens import Scope, Tokens

PAGES = 20
READINGS = 1_000_000
# What the requirements allow.
MOST_CORES = 0.25
MOST_CHART_S = 2.0
_SETTLE_S = 3.0
_NEWEST_EVERY_S = 10.0
_POINTS = 1_000
_TIMEOUT_S = 30.0
_PART = "api"


def run(config: Config, *, short: bool) -> Result:
    """Measures on a site of the run's own, with a broker and an API and nothing else."""
    result = Result("pages")
    [port] = free_ports(1)
    with broker(config, "pages", api={"port": port}) as site:
        sensor = fill_lake(site, READINGS)
        token = Tokens(site.paths.tokens).create("bench", frozenset(Scope))
        with supervised(site), streams_growing(site), _serving(site) as api:
            _measure_pages(result, Viewer(site, token), api, 8.0 if short else 30.0)
            _measure_chart(result, Viewer(site, token), sensor, 3 if short else 9)
    result.notes.append(f"{STREAMS} streams go on each second while pages are open")
    return result


def _measure_pages(result: Result, viewer: "Viewer", api: Child, seconds: float) -> None:
    time.sleep(_SETTLE_S)
    idle = _cores(api, partial(time.sleep, seconds))
    events = 0

    def look() -> None:
        nonlocal events
        events = asyncio.run(viewer.look_on(PAGES, seconds))

    watched = _cores(api, look)
    if events < PAGES * (seconds - _SETTLE_S):
        raise PartFailed(f"Only {events} events came to {PAGES} pages", "Look at the log of the api.")
    result.add("api_without_pages", idle, "cores")
    result.add(f"api_with_{PAGES}_pages", watched, "cores")
    result.add(f"cost_of_{PAGES}_pages", max(0.0, watched - idle), "cores")
    result.add("most_cost", MOST_CORES, "cores")
    result.compare("pages_of_quarter_core", f"cost_of_{PAGES}_pages", "most_cost")


def _cores(api: Child, act: Callable[[], None]) -> float:
    """The share of a core that the API takes while something is done."""
    before_s, began_s = cpu_s(api.pid), time.monotonic()
    act()
    return (cpu_s(api.pid) - before_s) / (time.monotonic() - began_s)


def _measure_chart(result: Result, viewer: "Viewer", sensor: str, turns: int) -> None:
    took = sorted(viewer.chart_s(sensor) for _ in range(turns))
    result.add("readings", READINGS, "readings")
    result.add("chart_p50", percentile(took, 0.5), "s")
    result.add("chart_slowest", took[-1], "s")
    result.add("most_chart", MOST_CHART_S, "s")
    result.compare("chart_of_two_seconds", "chart_slowest", "most_chart")


class Viewer:
    """Opens pages as a browser does."""

    def __init__(self, site: Config, token: str) -> None:
        self._url = f"https://localhost:{site.api.port}/api/v1"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._context = ssl.create_default_context(cafile=str(site.paths.identities / "ca.crt"))

    async def look_on(self, pages: int, seconds: float) -> int:
        """Keeps so many pages open for a while; says how many events came to them."""
        async with asyncio.TaskGroup() as group:
            looks = [group.create_task(self._page(seconds)) for _ in range(pages)]
        return sum(each.result() for each in looks)

    async def _page(self, seconds: float) -> int:
        """The overview: one live stream, and again and again the newest alerts and changes."""
        events = 0
        async with httpx.AsyncClient(verify=self._context, headers=self._headers, timeout=_TIMEOUT_S) as page:
            newest = asyncio.create_task(self._newest(page))
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds), page.stream("GET", f"{self._url}/live") as stream:
                    async for chunk in stream.aiter_raw():
                        events += chunk.count(b"event: ")
            newest.cancel()
        return events

    async def _newest(self, page: httpx.AsyncClient) -> None:
        while True:
            await page.get(f"{self._url}/overview")
            await asyncio.sleep(_NEWEST_EVERY_S)

    def chart_s(self, sensor: str) -> float:
        """The seconds until a chart over all readings of a sensor has what it draws."""
        with httpx.Client(verify=self._context, headers=self._headers, timeout=_TIMEOUT_S) as client:
            began_s = time.perf_counter()
            answer = client.get(f"{self._url}/readings", params={"sensor": sensor, "points": _POINTS})
            took_s = time.perf_counter() - began_s
        if answer.status_code != 200 or answer.json()["count"] != READINGS:
            raise PartFailed(f"The chart has not all readings: {answer.text[:200]}", "Look at the lake.")
        return took_s


@contextmanager
def _serving(site: Config) -> Iterator[Child]:
    child = start(site, _PART, ["catchment", "--config", str(write(site)), "serve"])
    try:
        wait_for(partial(_runs, site), partial(_check, child, site))
        yield child
    finally:
        child.kill()


def _runs(site: Config) -> bool:
    try:
        return ask(site.paths.socket(_PART)).state is State.RUNNING
    except NodeNotRunning:
        return False


def _check(child: Child, site: Config) -> None:
    if child.exited():
        raise PartFailed(f"The API ended: {last_words(log_of(site, _PART))}", "Run the benchmark again.")
