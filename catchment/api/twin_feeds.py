"""Feeds of twins: which streams and measurements their changes come from."""

from catchment.api.shelves import Addresses
from catchment.twins.model import TwinFeed, TwinFeedSpec

router = Addresses(
    path="twin-feeds",
    group="twins",
    one="feed of twins",
    many="feeds of twins",
    made="Declare",
    model=TwinFeed,
    spec=TwinFeedSpec,
    shelf=lambda services: services.twin_declarations.feeds,
    put=lambda services: services.twin_declarations.put_feed,
    delete=lambda services: services.twin_declarations.feeds.delete,
).router()
