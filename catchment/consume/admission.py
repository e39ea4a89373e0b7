"""Letting one consumer at a time into a group, for the modes exclusive and failover.

A consumer looks whether the group has members of others, joins if it has none, and looks again before it
hands anything on. Two that come at the same moment see each other, and both step back for a random time. From
then on Kafka's own fencing holds: whoever falls silent loses its partitions and can commit nothing more.
"""

import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import ConsumerGroupState
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from catchment.config.consume import Mode
from catchment.consume.member import Member
from catchment.errors import AccessRefused, BrokerUnavailable
from catchment.kafka.failures import outcome
from catchment.kafka.sessions import SESSION_TIMEOUT_S

log = logging.getLogger(__name__)

LOOK_S = 0.5
STEP_BACK_MAX_S = 2.0
# One that was killed stays in the list until its session ends.
PATIENCE_S = SESSION_TIMEOUT_S + 2.0


class Admission:
    """Waits at the door of a group until nobody else is in it."""

    def __init__(self, sign_in: dict[str, Any], group: str, stopping: threading.Event) -> None:
        self._client_id = sign_in["client.id"]
        self._admin = AdminClient(sign_in)
        self._group = group
        self._stopping = stopping

    def wait(self, mode: Mode, join: Callable[[], Member]) -> Member | None:
        """The first member of this consumer, alone in its group; nothing when stopped before that."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not self._stopping.is_set():
            group = self._look()
            others = self._others(group)
            if group and not others and (member := self._try(join)):
                return member
            if others and mode is Mode.EXCLUSIVE and time.monotonic() > deadline_s:
                raise AccessRefused(
                    f"The group {self._group} has a consumer already: {others[0]}",
                    "Stop that one, take another --group, or use --mode failover to stand by.",
                )
            self._stopping.wait(LOOK_S if others else random.uniform(LOOK_S, STEP_BACK_MAX_S))  # noqa: S311
        return None

    def _try(self, join: Callable[[], Member]) -> Member | None:
        """Joins, and leaves again if somebody else did so at the same time."""
        member = join()
        while not self._stopping.is_set():
            member.join()
            group = self._look()
            if self._others(group):
                break
            if group and self._is_in(group, member):
                return member
        member.close()
        return None

    def _is_in(self, group: ConsumerGroupDescription, member: Member) -> bool:
        stable = group.state is ConsumerGroupState.STABLE
        return stable and any(each.member_id == member.member_id for each in group.members)

    def _others(self, group: ConsumerGroupDescription | None) -> list[str]:
        members = group.members if group else []
        return [f"{each.client_id} at {each.host}" for each in members if each.client_id != self._client_id]

    def _look(self) -> ConsumerGroupDescription | None:
        """The group as Kafka sees it; nothing while Kafka does not answer."""
        future = self._admin.describe_consumer_groups([self._group])[self._group]
        try:
            group: ConsumerGroupDescription = outcome(f"Looking at the group {self._group}", future)
        except BrokerUnavailable as error:
            log.warning("%s", error.happened)
            return None
        return group
