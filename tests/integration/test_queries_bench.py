"""The benchmark of queries in small: whether everybody takes part and comes out right, not how fast."""

import orjson

from catchment.bench.queries import Course, queries
from tests.conftest import MakeConfig

TINY = Course(
    backlog=2_000,
    python_backlog=1_000,
    paced_s=0.5,
    together_s=0,
    works=("windowed-count",),
    # Those in Python would have to be installed first, which takes longer than all the rest.
    peers=("kafka_streams",),
)


def test_a_small_run_says_what_a_large_one_does(make_config: MakeConfig) -> None:
    config = make_config()
    result = queries(config, TINY)
    assert all(figure["value"] > 0 for figure in result.figures.values())
    subjects = ("windowed_count", "kafka_streams_windowed_count")
    assert set(result.figures) == {
        *(f"rate_{name}" for name in subjects),
        *(f"delay_{name}_1000_{at}" for name in subjects for at in ("p50", "p99")),
    }
    assert set(result.ratios) == {"of_kafka_streams"}
    assert orjson.loads(orjson.dumps(result.as_dict())) == result.as_dict()
    assert list(config.data_dir.iterdir()) == []
