"""Recounts that somebody asked for: one at a time, followed until it ends, the last one kept."""

import threading
import time
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from catchment.config import Config
from catchment.errors import Conflict
from catchment.ledger.proof import Proof
from catchment.ledger.recount_process import Failure, RecountProcess, Said

_WITHOUT_A_WORD = Failure(
    code="failed", detail="The recount ended without a result", remedy="Look at the log of the api."
)


class RecountState(StrEnum):
    """How far a recount is."""

    COUNTING = "counting"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class Recount(BaseModel, frozen=True):
    """One recount."""

    state: RecountState
    by: str = Field(description="Who asked for it.")
    started_ms: int
    ended_ms: int | None = None
    records: int = Field(0, description="How many records have been read so far.")
    proof: Proof | None = Field(None, description="What it found, when it is done.")
    failure: Failure | None = Field(None, description="Why it failed.")


class Recounts:
    """The recount of this process, if there is or was one."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._latest: Recount | None = None
        self._process: RecountProcess | None = None

    @property
    def latest(self) -> Recount | None:
        with self._lock:
            return self._latest

    def start(self, by: str, wait_s: float) -> Recount:
        """Begins one, unless another is under way."""
        with self._lock:
            if self._latest and self._process:
                raise Conflict(
                    f"A recount that {self._latest.by} asked for is under way", "Wait for it, or stop it."
                )
            process = self._process = RecountProcess(self._config, wait_s)
            begun = Recount(state=RecountState.COUNTING, by=by, started_ms=_now_ms())
            self._latest = begun
        threading.Thread(target=self._follow, args=(process,), name="recount", daemon=True).start()
        return begun

    def stop(self) -> None:
        """Ends the one that is under way, if there is one."""
        with self._lock:
            if self._process:
                self._change(state=RecountState.STOPPED, ended_ms=_now_ms())
                self._process.end()

    def _follow(self, process: RecountProcess) -> None:
        last: Said | None = None
        for last in process.said():
            with self._lock:
                self._change(records=last.records)
        with self._lock:
            self._process = None
            if self._latest and self._latest.state is RecountState.COUNTING:
                self._change(**_outcome(last), ended_ms=_now_ms())

    def _change(self, **fields: Any) -> None:
        self._latest = self._latest.model_copy(update=fields) if self._latest else None


def _outcome(last: Said | None) -> dict[str, Any]:
    if last and last.proof:
        return {"state": RecountState.DONE, "proof": last.proof}
    failure = last.failure if last else None
    return {"state": RecountState.FAILED, "failure": failure or _WITHOUT_A_WORD}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
