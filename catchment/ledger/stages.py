"""The stages behind a node's broker that its records have to come to."""

from catchment.config import Config
from catchment.ledger.model import Stage
from catchment.records import Kind


def stages_of(config: Config) -> list[Stage]:
    """Those that the configuration asks for."""
    lake = config.lake.enabled and Kind.RECORDS in config.lake.topics
    return [Stage.LAKE] if lake else []
