"""The benchmark of twins in small: whether everybody takes part and comes out right, not how fast."""

import orjson

from catchment.bench.twins import Course, twins
from tests.conftest import MakeConfig

TINY = Course(
    stores=("rocksdb",),
    backlog=2_000,
    rates_per_s=(10_000,),
    paced_s=0.2,
    postgres_backlog=500,
    postgres_rates_per_s=(100,),
    objects=2,
)


def test_a_small_run_says_what_a_large_one_does(make_config: MakeConfig) -> None:
    config = make_config()
    result = twins(config, TINY)
    # Of so few the time of CPU and the delay may be too short to be told; a rate never is.
    rates = [figure["value"] for name, figure in result.figures.items() if name.startswith("rate_")]
    assert all(rate > 0 for rate in rates)
    appliers = ("rocksdb", "kafka_streams_rocksdb")
    timed = (*(f"{name}_10000" for name in appliers), "postgres_100")
    assert set(result.figures) == {
        *(f"{kind}_{name}" for kind in ("rate", "cpu") for name in (*appliers, "postgres")),
        *(f"delay_{name}_{at}" for name in timed for at in ("p50", "p99")),
    }
    assert set(result.ratios) == {"of_kafka_streams", "delay_of_kafka_streams", "of_postgres"}
    assert [plot.title for plot in result.plots] == [
        "Objects a second, from a backlog",
        "CPU time of an object",
        "Median delay from change to changelog",
        "99th percentile of the delay",
    ]
    assert orjson.loads(orjson.dumps(result.as_dict())) == result.as_dict()
    assert list(config.data_dir.iterdir()) == []
