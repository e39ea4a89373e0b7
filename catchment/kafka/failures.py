"""From Kafka's errors to ours."""

from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from catchment.errors import AccessRefused, BrokerUnavailable, CatchmentError, ConfigurationError

_REFUSALS = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}
_WRONG_SETTINGS = {
    KafkaError.INVALID_CONFIG,
    KafkaError.INVALID_PARTITIONS,
    KafkaError.INVALID_REPLICATION_FACTOR,
    KafkaError.POLICY_VIOLATION,
}


def explain(what: str, error: KafkaError | KafkaException) -> CatchmentError:
    """The error of ours for one of Kafka's; `what` was being done."""
    cause = error.args[0] if isinstance(error, KafkaException) else error
    if cause.code() in _REFUSALS:
        return AccessRefused(
            f"{what} was refused by Kafka ({cause.name()}: {cause.str()})",
            "Use the identity of a party that has the right, or let the cluster's owner grant it.",
        )
    if cause.code() in _WRONG_SETTINGS:
        return ConfigurationError(
            f"{what} was refused by Kafka ({cause.str()})",
            "Check `kafka.topics` and `kafka.replication_factor`.",
        )
    return BrokerUnavailable(
        f"{what} failed ({cause.name()}: {cause.str()})",
        "Check that the broker runs, and kafka.host and kafka.port or kafka.bootstrap_servers.",
    )


def outcome(what: str, future: "Future[Any]") -> Any:
    """What an administrative request came to."""
    try:
        return future.result()
    except KafkaException as error:
        raise explain(what, error) from None
