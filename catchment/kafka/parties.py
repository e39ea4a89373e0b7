"""Who talks to Kafka."""

from enum import StrEnum


class Party(StrEnum):
    """The common name of a certificate of ours, and so its owner's name for Kafka."""

    ADMIN = "admin"
    BROKER = "broker"
    GATEWAY = "gateway"
    PIPELINE = "pipeline"
    API = "api"
    RELAY = "relay"
    NOTIFIER = "notifier"
    REPLAYER = "replayer"
    OPERATOR = "operator"

    @property
    def principal(self) -> str:
        """The name in Kafka's access lists."""
        return f"User:{self.value}"

    @property
    def group(self) -> str:
        """The one consumer group of the party."""
        return f"catchment.{self.value}"
