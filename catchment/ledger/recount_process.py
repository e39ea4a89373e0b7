"""A recount in a process of its own: it takes minutes of a core, which whoever asked for it has no time for.

The process is told its configuration on its input. On its output it says how many records it has counted, and
last of all the proof, or what went wrong. It is the operator for Kafka, as `catchment verify --recount` is:
the API itself has no right to read records.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

from pydantic import BaseModel

from catchment.config import Config
from catchment.errors import CatchmentError
from catchment.kafka.parties import Party
from catchment.ledger.proof import Proof

# The node's own work comes first.
_NICENESS = 10


class Failure(BaseModel, frozen=True):
    """Why there is no proof."""

    code: str
    detail: str
    remedy: str


class Said(BaseModel, frozen=True):
    """One line of the process."""

    records: int
    proof: Proof | None = None
    failure: Failure | None = None


class RecountProcess:
    """One recount, from its start to its end."""

    def __init__(self, config: Config, wait_s: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin
        # A process that has ended already says so by saying nothing.
        with suppress(BrokenPipeError), self._process.stdin as told:
            told.write(pickle.dumps((config, wait_s)))

    def said(self) -> Iterator[Said]:
        """What it says, until it ends."""
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in lines:
                yield Said.model_validate_json(line)
        self._process.wait()

    def end(self) -> None:
        """Ends it at once, whatever it does; `said` comes to its end then."""
        self._process.kill()


def main() -> None:
    """The process itself."""
    from catchment.ledger.reading import prove_anew

    os.nice(_NICENESS)
    # Only ever what the class above wrote.
    config, wait_s = pickle.load(sys.stdin.buffer)  # noqa: S301
    records = 0

    def count(more: int) -> None:
        nonlocal records
        records += more
        _say(Said(records=records))

    try:
        proof = prove_anew(config, Party.OPERATOR, wait_s, count)
    except CatchmentError as error:
        failure = Failure(code=error.code, detail=error.happened, remedy=error.remedy)
        _say(Said(records=records, failure=failure))
    else:
        _say(Said(records=records, proof=proof))


def _say(what: Said) -> None:
    # Nobody listens any more when the API has been killed: writing fails then, and ends the process.
    sys.stdout.write(what.model_dump_json() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
