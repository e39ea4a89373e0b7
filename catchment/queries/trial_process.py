"""A trial in a process of its own: whoever asks for it need not hold Spark, and can end it at any moment.

The process is told the checked query and its rows in a file that only this user can read, and answers in
another beside it.
"""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from catchment.errors import InvalidQuery, RequestTimeout
from catchment.queries.graph import Graph
from catchment.queries.tables import Row

_QUESTION = "question"
_ANSWER = "answer"

Outputs = dict[str, list[Row]]


def outputs_of(graph: Graph, rows: dict[str, list[Row]], timeout_s: float) -> Outputs:
    """What comes out of every output of a query, given the rows of its inputs and tables."""
    with tempfile.TemporaryDirectory(prefix="catchment-trial-") as name:
        folder = Path(name)
        (folder / _QUESTION).write_bytes(pickle.dumps((graph, rows)))
        _run(graph.name, folder, timeout_s)
        answer: Outputs = _read(folder / _ANSWER)
        return answer


def _run(query: str, folder: Path, timeout_s: float) -> None:
    errors = folder / "errors"
    with errors.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise RequestTimeout(
                f"The query did not come to an end within {timeout_s:g} s", "Try it with fewer rows."
            ) from None
        finally:
            _end(process)
    if code:
        *_, last = errors.read_text(errors="replace").strip().splitlines() or ["it ended without a word"]
        raise InvalidQuery(query, [f"{last.rstrip('.')}. Correct the expression, or the rows."])


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends what is left of it: Spark's Java is a process of the same group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def _read(file: Path) -> Any:
    # Only ever what this module wrote, in a folder that nobody else can open.
    return pickle.loads(file.read_bytes())  # noqa: S301


def main(folder: Path) -> None:
    """The process itself."""
    from catchment.queries.trial import Trial, trial_session

    graph, rows = _read(folder / _QUESTION)
    try:
        with trial_session() as spark:
            trial = Trial.on_tables(spark, graph, rows)
            outputs = {name: trial.output(name) for name in graph.query.outputs}
    except Exception as error:
        # Spark says in the first line what went wrong, and then where inside of it.
        sys.exit(next(iter(str(error).splitlines()), type(error).__name__))
    (folder / _ANSWER).write_bytes(pickle.dumps(outputs))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
