"""Data of a node as frames: what analysts work with."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import polars as pl

from catchment.client.session import Session
from catchment.client.twins import TwinCalls

if TYPE_CHECKING:
    import pandas as pd

# A large answer takes its time: the node has limits of its own.
TIMEOUT_S = 600.0


class Client:
    """Asks a node's API, and gives Polars frames (or pandas frames, where that is installed)."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.twin_calls = TwinCalls(session)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.session.close()

    def tables(self) -> list[dict[str, Any]]:
        """The tables of the lake, with rows, bytes and columns."""
        items: list[dict[str, Any]] = self.session.get("/api/v1/lake")["items"]
        return items

    @overload
    def measurements(
        self,
        sensor: str,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        *,
        as_pandas: Literal[False] = False,
    ) -> pl.DataFrame: ...
    @overload
    def measurements(
        self,
        sensor: str,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        *,
        as_pandas: Literal[True],
    ) -> "pd.DataFrame": ...
    def measurements(
        self,
        sensor: str,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        *,
        as_pandas: bool = False,
    ) -> "pl.DataFrame | pd.DataFrame":
        """What a sensor (`site/id`) measured from `since` to before `until`, in the order of time."""
        given = {"sensor": sensor, "since": _iso(since), "until": _iso(until)}
        named = {name: value for name, value in given.items() if value is not None}
        frame = self._frame("GET", "/api/v1/measurements", params=named)
        return frame.to_pandas() if as_pandas else frame

    def sql(self, question: str) -> pl.DataFrame:
        """The answer to a question in SQL."""
        return self._frame("POST", "/api/v1/sql/rows", json={"sql": question})

    def twins(
        self, where: str | None = None, sort: str | None = None, *, partial: bool = False
    ) -> list[dict[str, Any]]:
        """The objects that an expression such as `temperature > 80` is true of."""
        return list(self.twin_calls.find(where, sort, partial=partial))

    def twin(self, identifier: str, site: str | None = None) -> dict[str, Any]:
        """One object as it is now."""
        return self.twin_calls.get(identifier, site)

    def change(
        self,
        identifier: str,
        values: Mapping[str, Any] | None = None,
        *,
        add: Mapping[str, float] | None = None,
        if_version: int | None = None,
    ) -> dict[str, Any]:
        """Sets values of an object (None removes one) and adds to others; returns what became of it."""
        return self.twin_calls.change(identifier, values or {}, add=add, if_version=if_version)

    def _frame(self, method: str, path: str, **arguments: Any) -> pl.DataFrame:
        answer = self.session.send(method, path, timeout=TIMEOUT_S, **arguments)
        return pl.read_ipc_stream(answer.content)


def connect(url: str, token: str, ca_file: Path | str | None = None) -> Client:
    """A client of the node at an address such as `https://centre:8443`.

    `ca_file` is the node's own certificate authority; without it the system's are trusted.
    """
    return Client(Session(url, token, Path(ca_file) if ca_file else None))


def _iso(time: datetime | str | None) -> str | None:
    return time.isoformat() if isinstance(time, datetime) else time
