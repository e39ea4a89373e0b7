"""Consumers: take records from Kafka, hand them on, and acknowledge them only then.

from catchment.config import load
from catchment.consume import Subscription

Subscription(load(), lambda batch: print(len(batch))).run()
"""

from catchment.config.consume import ConsumeSettings, Mode, Start
from catchment.consume.source import Batch, Handler, NotAllHandled
from catchment.consume.subscription import Subscription

__all__ = ["Batch", "ConsumeSettings", "Handler", "Mode", "NotAllHandled", "Start", "Subscription"]
