"""Which topics are relayed: those on the allow-list, and never what belongs to one cluster alone."""

from collections.abc import Iterable

from catchment.records import Kind

# The ledger is made anew from the records, and positions are each node's own.
NEVER = frozenset({Kind.LEDGER.topic, Kind.RELAYED.topic, Kind.NOTIFIED.topic})


def allowed(topics: Iterable[str], allow: Iterable[str]) -> set[str]:
    """Those of the topics that may be relayed."""
    patterns = list(allow)
    return {
        topic
        for topic in topics
        if topic not in NEVER
        and not topic.startswith("__")
        and any(_matches(topic, pattern) for pattern in patterns)
    }


def _matches(topic: str, pattern: str) -> bool:
    return topic.startswith(pattern[:-1]) if pattern.endswith("*") else topic == pattern
