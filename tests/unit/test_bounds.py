"""Where the records of a partition begin and end, also while a broker that came back looks for its leader."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from catchment.kafka.clients import bounds

PLACE = TopicPartition("readings", 3)


class Broker:
    """Answers as it is told to."""

    def __init__(self, *answers: Any) -> None:
        self._answers: Iterator[Any] = iter(answers)

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int] | None:
        assert place is PLACE
        answer: Any = next(self._answers)
        if isinstance(answer, int):
            raise KafkaException(KafkaError(answer))
        return cast("tuple[int, int] | None", answer)

    def asked(self, timeout_s: float = 10) -> tuple[int, int]:
        return bounds(cast(Consumer, self), PLACE, timeout_s)


def test_while_a_leader_is_sought_it_is_asked_again() -> None:
    sought = KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE
    assert Broker(*sought, (5, 9)).asked() == (5, 9)


def test_but_not_for_ever() -> None:
    with pytest.raises(KafkaException, match="NOT_LEADER"):
        Broker(*[KafkaError.NOT_LEADER_FOR_PARTITION] * 20).asked(timeout_s=0.3)


def test_what_is_refused_is_told_at_once() -> None:
    with pytest.raises(KafkaException, match="AUTHORIZATION"):
        Broker(KafkaError.TOPIC_AUTHORIZATION_FAILED, (5, 9)).asked()


def test_no_answer_is_a_time_out() -> None:
    with pytest.raises(KafkaException, match="_TIMED_OUT"):
        Broker(None).asked()
