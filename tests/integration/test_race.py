"""The race in small: whether everybody takes part, not how fast."""

import orjson

from catchment.bench.race import Course, race
from tests.conftest import MakeConfig

TINY = Course(
    paced_s=0.2,
    most_records=4_000,
    latency_records=2_000,
    fastest_records=4_000,
    rounds=1,
    warm_up_records=2_000,
    connections=50,
    lines=1,
)


def test_a_small_race_says_what_a_large_one_does(make_config: MakeConfig) -> None:
    config = make_config()
    result = race(config, TINY).as_dict()
    figures = {name: figure["value"] for name, figure in result["figures"].items()}
    assert result["bench"] == "race"
    assert {name for name, value in figures.items() if value == 0} == {
        "lost",
        "repeated",
        "out_of_order",
        "connections_refused",
    }
    assert {name for name, value in figures.items() if value > 0} == {
        "rate_20000",
        "rate_40000",
        "rate_fastest",
        "rate_librdkafka",
        "latency_p50",
        "latency_p95",
        "latency_p99",
        "latency_max",
        "connections",
        "connections_opened",
        "gateway_memory",
    }
    assert set(result["ratios"]) == {"held_20000", "held_40000", "of_librdkafka"}
    assert orjson.loads(orjson.dumps(result)) == result
    assert list(config.data_dir.iterdir()) == []
