"""Live data for open pages: one look at the node a second, serialised once for all of them.

Nothing runs while no page is open. A page that reads too slowly, or whose caller may no longer see it, is
closed; a browser then asks again.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable

from catchment.api.events import AlertCounts, RatePoint, Snapshot, difference, encode
from catchment.api.rates import LONGEST_STEP_S, Look, look
from catchment.api.site_health import site_health
from catchment.api.sources import LedgerSource
from catchment.errors import NodeNotRunning
from catchment.ledger.proof import compare
from catchment.node.status import NodeStatus

INTERVAL_S = 1.0
HISTORY_S = 300
_MOST_UNREAD = 8
_LOG = logging.getLogger(__name__)

Permission = Callable[[], bool]


class Page:
    """One open page: what it has not read yet, and whether it may be there."""

    def __init__(self, permission: Permission) -> None:
        self.permission = permission
        self.has_snapshot = False
        self._unread: asyncio.Queue[bytes | None] = asyncio.Queue(_MOST_UNREAD)

    def send(self, event: bytes) -> None:
        if self._unread.full():
            self.close()
        else:
            self._unread.put_nowait(event)

    def close(self) -> None:
        while not self._unread.empty():
            self._unread.get_nowait()
        self._unread.put_nowait(None)

    async def next_event(self) -> bytes | None:
        return await self._unread.get()


class Hub:
    """Looks at the node while pages are open, and tells them."""

    def __init__(
        self,
        site: str,
        ledger: LedgerSource,
        read_status: Callable[[], NodeStatus],
        kept_since_us: Callable[[], int] = lambda: 0,
        count_alerts: Callable[[], AlertCounts] = lambda: AlertCounts(open=0, unacknowledged=0, changed=0),
    ) -> None:
        self._count_alerts = count_alerts
        self._site = site
        self._kept_since_us = kept_since_us
        self._ledger = ledger
        self._read_status = read_status
        self._pages: set[Page] = set()
        self._task: asyncio.Task[None] | None = None
        self._look: Look | None = None
        self._shown: Snapshot | None = None
        self._history: deque[RatePoint] = deque(maxlen=int(HISTORY_S / INTERVAL_S))
        self._closed = False

    @property
    def open_pages(self) -> int:
        return len(self._pages)

    async def events(self, permission: Permission) -> AsyncIterator[bytes]:
        """The events of one page, until either side closes it."""
        page = Page(permission)
        if self._shown:
            self._tell({page}, self._shown, b"")
        self._pages.add(page)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            while not self._closed and (event := await page.next_event()) is not None:
                yield event
        finally:
            self._pages.discard(page)

    def review(self) -> None:
        """Closes the pages whose caller has signed out or lost the right."""
        for page in self._pages:
            if not page.permission():
                page.close()

    def close(self) -> None:
        """Closes every page for good."""
        self._closed = True
        self.drop_pages()

    def drop_pages(self) -> None:
        """Closes every page that is open now; they may come back."""
        for page in self._pages:
            page.close()

    async def _run(self) -> None:
        try:
            while self._pages and not self._closed:
                started_s = time.monotonic()
                self.review()
                await self._look_again()
                await asyncio.sleep(max(0.0, INTERVAL_S - (time.monotonic() - started_s)))
        except Exception:
            _LOG.exception("Live data failed; open pages will ask again")
            self.drop_pages()
        finally:
            self._shown = None

    async def _look_again(self) -> None:
        after = await asyncio.to_thread(self._take_snapshot)
        delta = encode(difference(self._shown, after)) if self._shown else b""
        self._shown = after
        self._tell(self._pages, after, delta)

    def _tell(self, pages: set[Page], snapshot: Snapshot, delta: bytes) -> None:
        whole = b""
        for page in pages:
            if page.has_snapshot:
                page.send(delta)
                continue
            whole = whole or encode(snapshot)
            page.send(whole)
            page.has_snapshot = True

    @property
    def newest_look(self) -> Look | None:
        """The ledger as pages were told of it last, if that was a moment ago: it has rates."""
        recent = self._look is not None and time.monotonic() - self._look.at_s <= LONGEST_STEP_S
        return self._look if recent else None

    def _take_snapshot(self) -> Snapshot:
        at_ms = time.time_ns() // 1_000_000
        known = self._ledger
        proof = compare(
            self._site, known.marks(), known.rows(), known.hops(), kept_since_us=self._kept_since_us()
        )
        self._look = look(proof.streams, time.monotonic(), self._look)
        self._history.append(RatePoint(at_ms=at_ms, rate_per_s=self._look.totals.rate_per_s))
        status = self._status()
        return Snapshot(
            at_ms=at_ms,
            ledger_current=self._ledger.caught_up,
            status=without_figures(status) if status else None,
            totals=self._look.totals,
            sites=site_health(self._site, self._look.streams.values(), status),
            alerts=self._count_alerts(),
            streams=list(self._look.streams.values()),
            history=[point for point in self._history if point.at_ms > at_ms - HISTORY_S * 1000],
        )

    def _status(self) -> NodeStatus | None:
        try:
            return self._read_status()
        except NodeNotRunning:
            return None


def without_figures(status: NodeStatus) -> NodeStatus:
    """The status without the figures of each component, which change all the time."""
    components = [component.model_copy(update={"figures": {}}) for component in status.components]
    return status.model_copy(update={"components": components})
