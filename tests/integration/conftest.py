"""One Spark for all tests that need it."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from catchment.config import PipelineSettings
from catchment.pipeline import session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark as the pipeline runs it."""
    running = session.create(PipelineSettings(), slots=16, work_dir=tmp_path_factory.mktemp("spark"))
    yield running
    running.stop()
