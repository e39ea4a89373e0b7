"""How members of a consumer group and Kafka know that the other is alive."""

from typing import Any

from catchment.config import Config

# A member that is silent for so long is dead: the least that Kafka takes of older clients.
SESSION_TIMEOUT_S = 6.0
# Members hear of a change of the group by their heartbeats.
_HEARTBEAT_MS = 1000
_SESSION_MS = round(SESSION_TIMEOUT_S * 1000)


def broker_sessions() -> dict[str, object]:
    """What the embedded broker grants to members that speak its newer protocol."""
    return {
        "group.consumer.min.session.timeout.ms": _SESSION_MS,
        "group.consumer.session.timeout.ms": _SESSION_MS,
        "group.consumer.min.heartbeat.interval.ms": _HEARTBEAT_MS,
        "group.consumer.heartbeat.interval.ms": _HEARTBEAT_MS,
    }


def membership(config: Config) -> dict[str, Any]:
    """How a member joins its group, in librdkafka's words.

    In the older protocol, which any cluster speaks, a member whose broker was away for longer than a session
    comes back as somebody else, and the group first waits for the one it was. In the newer one it stays.
    """
    if config.kafka.embedded:
        return {"group.protocol": "consumer"}
    return {
        "partition.assignment.strategy": "cooperative-sticky",
        "session.timeout.ms": _SESSION_MS,
        "heartbeat.interval.ms": _HEARTBEAT_MS,
    }
