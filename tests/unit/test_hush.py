"""Spark is silent while queries are stopped, and speaks again afterwards."""

from catchment.pipeline.hush import LASTS_S, Hush


def test_spark_speaks_again_a_while_after_the_last_query_was_stopped() -> None:
    levels: list[str] = []
    now = [0.0]
    hush = Hush(levels.append, lambda: now[0])
    hush.tend()
    assert levels == []
    hush.begin()
    now[0] = LASTS_S - 1
    hush.begin()
    now[0] = LASTS_S
    hush.tend()
    assert levels == ["OFF", "OFF"]
    now[0] = 2 * LASTS_S
    hush.tend()
    hush.tend()
    assert levels == ["OFF", "OFF", "WARN"]
