"""Reports over a socket."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.errors import NodeNotRunning
from catchment.health import Report, Reporter, State, ask, metrics_text

figures = st.dictionaries(
    st.text(), st.integers() | st.text() | st.none() | st.lists(st.booleans()), max_size=5
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "part.sock"


@pytest.fixture
def reporter(path: Path) -> Iterator[Reporter]:
    running = Reporter(
        path, lambda: Report(state=State.RUNNING, detail="well", figures={"a": 1}, metrics="m 1\n")
    )
    yield running
    running.close()


def test_a_report_arrives_as_it_was_made(path: Path, reporter: Reporter) -> None:
    assert ask(path) == Report(state=State.RUNNING, detail="well", figures={"a": 1}, metrics="m 1\n")


def test_only_the_owner_can_reach_the_socket(path: Path, reporter: Reporter) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_closed_reporter_does_not_answer(path: Path) -> None:
    Reporter(path, lambda: Report(state=State.RUNNING)).close()
    with pytest.raises(NodeNotRunning, match="part does not answer"):
        ask(path)
    assert not path.exists()


def test_a_reporter_takes_over_the_socket_of_a_dead_one(path: Path) -> None:
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    reporter = Reporter(path, lambda: Report(state=State.STARTING))
    assert ask(path).state is State.STARTING
    reporter.close()


def test_silence_is_no_answer(path: Path) -> None:
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(path))
        mute.listen()
        with pytest.raises(NodeNotRunning, match="TimeoutError"):
            ask(path, timeout_s=0.1)


def test_nonsense_is_no_answer(path: Path) -> None:
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as confused:
        confused.bind(str(path))
        confused.listen()

        def answer() -> None:
            connection, _ = confused.accept()
            with connection:
                connection.sendall(b"{")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(NodeNotRunning, match="ValidationError"):
            ask(path)
        thread.join()


def test_a_directory_too_deep_for_a_socket_is_not_too_deep_for_us(tmp_path: Path) -> None:
    path = tmp_path / ("deep" * 20) / ("er" * 40) / "part.sock"
    reporter = Reporter(path, lambda: Report(state=State.RUNNING))
    assert ask(path).state is State.RUNNING
    reporter.close()


@given(state=st.sampled_from(State), detail=st.text(), figures=figures)
def test_any_report_survives_the_way(state: State, detail: str, figures: dict[str, object]) -> None:
    report = Report(state=state, detail=detail, figures=figures)
    assert Report.model_validate_json(report.model_dump_json()) == report


def test_metrics_are_in_prometheus_format() -> None:
    assert "# TYPE python_info gauge" in metrics_text()
