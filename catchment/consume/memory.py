"""What a worker has handed on: so that a record which Kafka delivers again is not handed on again.

Kafka goes back to the last acknowledgement when a member was out of touch, and further when the broker lost
power. Offsets alone do not tell what came before: after a power cut they may be given to other records.
Stamps do, because the numbers of a source only rise.
"""

from confluent_kafka import Message

from catchment.consume.source import Batch, stamp_of
from catchment.records import Stamp


class HandedOn:
    """The newest record of each key. It is looked at only where Kafka may have gone back: that is rare."""

    def __init__(self) -> None:
        self._newest: dict[object, Message] = {}
        self._reached: dict[int, int] = {}
        self._doubtful: dict[int, int] = {}

    def note(self, batch: Batch) -> None:
        """Remembers records that have been handed on."""
        self._newest.update({message.key(): message for message in batch})
        last = {message.partition(): message for message in batch}
        self._reached.update({place or 0: message.offset() or 0 for place, message in last.items()})

    def doubt(self, partition: int) -> None:
        """What comes from this partition may have come before, up to where it was read."""
        if partition in self._reached:
            self._doubtful[partition] = self._reached[partition]

    def new(self, batch: Batch) -> Batch:
        """Those of the records that have not been handed on yet."""
        first = {message.partition(): message for message in reversed(batch)}
        if not any(map(self._may_have_come_before, first.values())):
            return batch
        return [message for message in batch if self._is_new(message)]

    def _may_have_come_before(self, first: Message) -> bool:
        """Whether a partition goes on with this record anywhere but behind what was handed on."""
        partition, offset = first.partition() or 0, first.offset() or 0
        return partition in self._doubtful or offset <= self._reached.get(partition, -1)

    def _is_new(self, message: Message) -> bool:
        partition, offset = message.partition() or 0, message.offset() or 0
        if offset <= self._reached.get(partition, -1) and partition not in self._doubtful:
            self.doubt(partition)
        if partition not in self._doubtful:
            return True
        if self._came_before(message):
            return False
        if offset > self._doubtful[partition]:
            del self._doubtful[partition]
        return True

    def _came_before(self, message: Message) -> bool:
        newest = self._newest.get(message.key())
        before, now = stamp_of(newest) if newest else None, stamp_of(message)
        return before is not None and now is not None and _is_not_after(now, before)


def _is_not_after(now: Stamp, before: Stamp) -> bool:
    return now.source == before.source and now.sequence <= before.sequence
