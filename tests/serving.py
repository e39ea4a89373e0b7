"""A served node for tests: the real service over HTTPS, on a ledger and a report kept in memory."""

import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from catchment.api.app import create_app
from catchment.api.service import Server, listen
from catchment.config import Config
from catchment.health import Report, Reporter, State
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.ledger.model import HopRow, LedgerRow, Mark
from catchment.node.status import Component, status_of
from catchment.security.authority import Authority
from catchment.security.tokens import Scope, Tokens
from catchment.twins.service import Twins

EVERYTHING = frozenset(Scope)


def row(stream: str = "boiler", received: int = 10, **fields: Any) -> LedgerRow:
    """A row of the ledger with nothing out of the ordinary, except for what is given."""
    usual: dict[str, Any] = {
        "site": "local",
        "gateway": "gateway",
        "epoch": 1,
        "version": received,
        "highest": received,
        "duplicates": 0,
        "out_of_order": 0,
        "missing": 0,
        "gaps": [],
        "first_origin_us": 1_000_000,
        "last_origin_us": time.time_ns() // 1_000,
    }
    return LedgerRow.model_validate({**usual, "stream": stream, "received": received, **fields})


class MemoryLedger:
    """A ledger that says what it was told."""

    def __init__(self, *rows: LedgerRow) -> None:
        self.caught_up = True
        self._rows = {row.source: row for row in rows}
        self._marks: list[Mark] = []
        self._hops: list[HopRow] = []

    def put(self, row: LedgerRow) -> None:
        self._rows[row.source] = row

    def put_mark(self, mark: Mark) -> None:
        self._marks.append(mark)

    def put_hop(self, hop: HopRow) -> None:
        self._hops.append(hop)

    def clear(self) -> None:
        self._rows.clear()
        self._marks.clear()
        self._hops.clear()

    def marks(self) -> list[Mark]:
        return list(self._marks)

    def hops(self) -> list[HopRow]:
        return list(self._hops)

    def rows(self) -> list[LedgerRow]:
        return sorted(self._rows.values(), key=lambda row: (row.site, row.gateway, row.stream, row.epoch))


class ServedNode:
    """What a test can do with a node that is being served."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.url = f"https://localhost:{config.api.port}"
        self.ledger = MemoryLedger()
        self.tokens = Tokens(config.paths.tokens)
        self.components: list[Component] = []
        self.tables = Tables(config, Party.API)
        self.app = create_app(config, self.ledger, self.tables)
        self.twins: Twins = self.app.state.services.twins
        self.reset()

    def reset(self) -> None:
        """A ledger without rows, and two components that run."""
        self.ledger.caught_up = True
        self.ledger.clear()
        self.components[:] = [
            Component(name="broker", state=State.RUNNING, pid=4211, uptime_s=754.2),
            Component(name="gateway", state=State.RUNNING, pid=4302, uptime_s=751.0, detail="port 8992"),
        ]

    def token(self, name: str = "tester", scopes: frozenset[Scope] = EVERYTHING) -> str:
        return self.tokens.create(name, scopes)

    def client(self, token: str | None = None) -> httpx.Client:
        """A client that trusts the node's authority, with a token or without."""
        context = ssl.create_default_context(cafile=str(self.config.paths.identities / "ca.crt"))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, verify=context, headers=headers, timeout=10)

    def report(self) -> Report:
        figures = status_of(self.config, self.components).model_dump(mode="json")
        metrics = "# TYPE catchment_restarts_total counter\ncatchment_restarts_total 3.0\n"
        return Report(state=State.RUNNING, figures=figures, metrics=metrics)


@contextmanager
def serve(config: Config, with_tables: bool = False, with_twins: bool = False) -> Iterator[ServedNode]:
    """Serves a node for as long as a `with` block lasts; with tables and twins if it has a broker."""
    node = ServedNode(config)
    if with_twins:
        node.twins.start()
    identity = Authority(config.paths.identities, config.hostnames).identity("api")
    server = Server(node.app, identity)
    supervisor = Reporter(config.paths.socket("node"), node.report)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listen(config)]})
    thread.start()
    if with_tables:
        node.tables.start()
        node.app.state.services.audit.start()
    try:
        while not server.started or node.tables.caught_up is not with_tables:
            time.sleep(0.01)
        # Instances that an earlier test killed count as alive for some seconds.
        while with_twins and not (node.twins.view.here.caught_up and len(node.twins.view.here.alive()) == 1):
            time.sleep(0.01)
        yield node
    finally:
        node.twins.stop()
        node.tables.stop()
        if with_tables:
            node.app.state.services.audit.stop()
        server.should_exit = True
        thread.join()
        supervisor.close()
