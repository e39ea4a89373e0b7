"""Rights on the embedded broker that changed while it runs, or while it does not."""

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.access import ensure_access
from catchment.kafka.broker import probe

PROBE_TIMEOUT_S = 3.0


def apply_rights(config: Config) -> bool:
    """Makes Kafka know of changed rights; False if it will only when the node, or its owner, sees to it."""
    if not config.kafka.embedded:
        return False
    try:
        probe(config, timeout_s=PROBE_TIMEOUT_S)
        ensure_access(config)
    except BrokerUnavailable:
        return False
    return True
