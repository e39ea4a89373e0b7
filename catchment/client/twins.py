"""Twins for programs: found by an expression, read, changed, and watched."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from catchment.client.session import Session
from catchment.errors import NodeNotRunning, PartitionsMissing

PATH = "/api/v1/twins"
LINES = "application/x-ndjson"
PAGE_ITEMS = 1000
# How long a caller waits for the pipeline by default.
WAIT_S = 10

Twin = dict[str, Any]


class TwinCalls:
    """What can be asked of twins, over one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(
        self, where: str | None = None, sort: str | None = None, *, partial: bool = False, **only: Any
    ) -> Iterator[Twin]:
        """Every object that is meant; with `sort` in its order.

        If some cannot be reached at this moment it raises, unless `partial` is true.
        """
        given = {name: value for name, value in {"where": where, **only}.items() if value is not None}
        return self._sorted(sort, partial, given) if sort else self._all(partial, given)

    def page(self, limit: int, **wanted: Any) -> dict[str, Any]:
        """The first so many, and what is missing."""
        page: dict[str, Any] = self._session.get(PATH, limit=limit, **wanted)
        return page

    def get(self, identifier: str, site: str | None = None) -> Twin:
        twin: Twin = self._session.get(f"{PATH}/{identifier}", site=site)
        return twin

    def create(
        self, identifier: str, type_: str, values: Mapping[str, Any], *, wait_s: int = WAIT_S
    ) -> dict[str, Any]:
        """Makes an object that is not there yet."""
        body = {"type": type_, "values": dict(values)}
        return self._send("PUT", identifier, body, wait_s, {"If-None-Match": "*"})

    def change(
        self,
        identifier: str,
        values: Mapping[str, Any],
        *,
        add: Mapping[str, float] | None = None,
        if_version: int | None = None,
        wait_s: int = WAIT_S,
    ) -> dict[str, Any]:
        """Sets values (None removes one), and adds to others."""
        increments = {name: {"add": amount} for name, amount in (add or {}).items()}
        body = {"values": {**values, **increments}}
        headers = {"Content-Type": "application/merge-patch+json"}
        return self._send("PATCH", identifier, body, wait_s, {**headers, **_expected(if_version)})

    def delete(
        self, identifier: str, *, mark: bool = False, if_version: int | None = None, wait_s: int = WAIT_S
    ) -> dict[str, Any]:
        """Deletes an object for good, or marks it as deleted."""
        path = f"{identifier}?mark=true" if mark else identifier
        return self._send("DELETE", path, None, wait_s, _expected(if_version))

    def transaction(self, transaction: str) -> dict[str, Any]:
        """What became of a change."""
        known: dict[str, Any] = self._session.get(f"{PATH}/transactions/{transaction}")
        return known

    def watch(
        self, where: str | None = None, identifier: str | None = None, site: str | None = None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events `twin`, `ready` and `gone`, as they come, for as long as the stream lasts."""
        path = f"{PATH}/{identifier}" if identifier else PATH
        named = {name: value for name, value in (("where", where), ("site", site)) if value is not None}
        lines = self._session.lines(path, "text/event-stream", named)
        told = (line for line in lines if line and not line.startswith(":"))
        for line in told:
            yield line.removeprefix("event: "), orjson.loads(next(told).removeprefix("data: "))

    def _all(self, partial: bool, given: dict[str, Any]) -> Iterator[Twin]:
        last: Twin | None = None
        for line in self._session.lines(PATH, LINES, given):
            if last is not None:
                yield last
            last = orjson.loads(line)
        if last is None or "missing_partitions" not in last:
            raise NodeNotRunning("The answer ended before it was whole", "Ask again.")
        _check(last, partial)

    def _sorted(self, sort: str, partial: bool, given: dict[str, Any]) -> Iterator[Twin]:
        cursor = None
        while True:
            page = self._session.get(PATH, sort=sort, limit=PAGE_ITEMS, cursor=cursor, **given)
            _check(page, partial)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    def _send(
        self, method: str, path: str, body: Any, wait_s: int, headers: dict[str, str]
    ) -> dict[str, Any]:
        asked = {
            "Content-Type": "application/json",
            **headers,
            **({"Prefer": f"wait={wait_s}"} if wait_s else {}),
        }
        content = orjson.dumps(body) if body is not None else None
        answer: dict[str, Any] | None = self._session.request(
            method, f"{PATH}/{path}", content=content, headers=asked, timeout=wait_s + WAIT_S
        )
        return answer or {"state": "applied"}


def _expected(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def _check(answer: dict[str, Any], partial: bool) -> None:
    missing = answer["missing_partitions"]
    if missing and not partial:
        named = ", ".join(map(str, missing))
        raise PartitionsMissing(
            f"No instance answers for the partitions {named} of the twins", "Ask again in some seconds."
        )
