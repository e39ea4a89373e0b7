"""The design that twins replace: every object in PostgreSQL, read, changed and written for each change."""

from collections.abc import Sequence
from pathlib import Path

import orjson

from catchment.bench import peers
from catchment.bench.postgres import PASSWORD, USER, Postgres, running_postgres
from catchment.bench.result import Result
from catchment.bench.site import free_ports, log_of, wait_for
from catchment.bench.twin_load import Changes
from catchment.bench.twin_subjects import POSTGRES_CLASS, check, common_settings, cpu_s
from catchment.bench.twin_trial import SETTLING_SHARE, START_S, WARM_UP_SHARE, note_delays
from catchment.config import Config
from catchment.node.process import Child

# Four for each of two cores; other numbers were not tried.
WORKERS = 8
TABLE = "CREATE TABLE twins (key text PRIMARY KEY, version bigint NOT NULL, state jsonb NOT NULL)"
SLOWEST_PER_S = 200
# When a change was committed, and how long after its origin.
Committed = tuple[int, float]


class PostgresTrial:
    """A server with some settings and the peer that applies changes to it."""

    def __init__(self, site: Config, name: str, changes: Changes) -> None:
        self._site = site
        self._name = name
        self._changes = changes
        self._committed = Reports(log_of(site, name))

    def run(
        self, backlog: int, rates_per_s: Sequence[int], paced_s: float, result: Result, **settings: str
    ) -> None:
        """Lets it apply a backlog, then changes at each of the rates."""
        self._changes.restart()
        self._changes.fill(backlog)
        (port,) = free_ports(1)
        with running_postgres(port, **settings) as server:
            server.rows(TABLE)
            child = self._start(server)
            try:
                self._drain(backlog, child, server, result)
                for rate in rates_per_s:
                    self._pace(rate, paced_s, child, result)
            finally:
                child.kill()

    def _start(self, server: Postgres) -> Child:
        database = {
            "database": server.jdbc_url,
            "database_user": USER,
            "database_password": PASSWORD,
        }
        return peers.start(
            self._site, self._name, POSTGRES_CLASS, **common_settings(self._name, WORKERS), **database
        )

    def _drain(self, backlog: int, child: Child, server: Postgres, result: Result) -> None:
        def used_s() -> float:
            return cpu_s(child.pid) + cpu_s(server.session)

        self._take(round(WARM_UP_SHARE * backlog), child)
        before_s = used_s()
        warm = self._take(backlog - round(WARM_UP_SHARE * backlog), child)
        seconds = (warm[-1][0] - warm[0][0]) / 1e6
        result.add(f"rate_{self._name}", len(warm) / seconds, "objects/s")
        result.add(f"cpu_{self._name}", (used_s() - before_s) * 1e6 / len(warm), "µs/object")

    def _pace(self, rate: int, paced_s: float, child: Child, result: Result) -> None:
        sent_before = self._changes.sent
        self._changes.pace(rate, paced_s)
        taken = self._take(self._changes.sent - sent_before, child)
        settled = taken[int(SETTLING_SHARE * len(taken)) :]
        note_delays(result, f"delay_{self._name}_{rate}", sorted(delay_ms for _, delay_ms in settled))

    def _take(self, count: int, child: Child) -> list[Committed]:
        """The next so many that are committed."""
        wait_for(
            lambda: self._committed.read() >= count,
            lambda: check(self._site, self._name, child),
            START_S + count / SLOWEST_PER_S,
        )
        return self._committed.take(count)


class Reports:
    """What the peer says in its log: lines of JSON with delays, and the time of each line."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read_to = 0
        self._waiting: list[Committed] = []

    def read(self) -> int:
        """Reads what is new, and says how many changes wait to be taken."""
        with self._log.open("rb") as file:
            file.seek(self._read_to)
            while (line := file.readline()).endswith(b"\n"):
                self._read_to = file.tell()
                if line.startswith(b"{"):
                    said = orjson.loads(line)
                    self._waiting += [(said["at_us"], delay_ms) for delay_ms in said["delays_ms"]]
        return len(self._waiting)

    def take(self, count: int) -> list[Committed]:
        """The first so many."""
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken
