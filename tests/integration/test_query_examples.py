"""Every example of a query, on the tables beside it, as `catchment query test` runs it."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from catchment.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples" / "queries"
QUERIES = sorted(EXAMPLES.glob("*/query.yaml"))

pytestmark = pytest.mark.slow


def test_there_are_examples() -> None:
    assert len(QUERIES) >= 6


@pytest.mark.parametrize("file", QUERIES, ids=lambda file: file.parent.name)
def test_an_example_gives_what_is_expected(spark: SparkSession, file: Path) -> None:
    outcome = CliRunner().invoke(app, ["query", "test", str(file)])
    assert outcome.exit_code == 0, outcome.output
    assert "as expected" in outcome.output


def test_what_differs_is_told(spark: SparkSession, tmp_path: Path) -> None:
    for file in (EXAMPLES / "word-count").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    expected = (tmp_path / "expected.words.csv").read_text().replace("moon,3", "moon,2")
    (tmp_path / "expected.words.csv").write_text(expected)
    outcome = CliRunner().invoke(app, ["query", "test", str(tmp_path / "query.yaml")])
    assert outcome.exit_code == 1
    assert "missing: word=moon, times=2" in outcome.output
    assert "not expected: word=moon, times=3" in outcome.output


def test_what_passes_each_arrow_is_printed(spark: SparkSession) -> None:
    file = EXAMPLES / "busiest-host" / "query.yaml"
    outcome = CliRunner().invoke(app, ["query", "run", str(file), "--sample", "1"])
    assert outcome.exit_code == 0, outcome.output
    for line in ("packets: 9 rows", "tcp: 7 rows", "contacts: 4 rows", "busiest: 2 rows"):
        assert line in outcome.output
