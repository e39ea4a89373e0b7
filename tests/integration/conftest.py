"""One Spark for all tests that need it, and what becomes of them when it dies."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from catchment.config import PipelineSettings
from catchment.pipeline import session

CRASH_LINES = 40


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark as the pipeline runs it."""
    running = session.create(PipelineSettings(), slots=16, work_dir=tmp_path_factory.mktemp("spark"))
    yield running
    running.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if words := _last_words_of_spark():
        report.sections.append(("How Spark's Java ended", words))
    return report


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    """Ends a worker whose Spark is dead, so that another takes its place: all later tests would fail."""
    if "PYTEST_XDIST_WORKER" in os.environ and _last_words_of_spark():
        os._exit(1)


def _last_words_of_spark() -> str | None:
    """How Java ended, with the beginning of what it wrote if it crashed; nothing while it lives."""
    gateway = SparkContext._gateway
    java = getattr(gateway, "proc", None)
    if java is None or java.poll() is None:
        return None
    crash = Path(f"hs_err_pid{java.pid}.log")
    lines = crash.read_text().splitlines()[:CRASH_LINES] if crash.exists() else ["It left no word."]
    return "\n".join([f"Exit code {java.returncode}.", *lines])
