"""The MQTT listener: a client of the devices' own broker, which acknowledges what stands on our disk.

The steps of a message, and what a crash at each of them means:
1. It is read and waits its turn. The broker has it still, and sends it again.
2. The inlet accepts it. The broker has it still, and sends it again: it is there twice, unless its publisher
   gave it a key.
3. It is acknowledged, and the broker forgets it.
"""

import asyncio
import hashlib
import logging
import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from paho.mqtt.client import topic_matches_sub

from catchment.config import Config
from catchment.config.listeners import TOPIC_PLACE, MqttSettings
from catchment.gateway.adapters import Inlet
from catchment.gateway.limits import RateLimit
from catchment.gateway.mqtt_session import Arrival, Session

log = logging.getLogger(__name__)

TOO_LONG = "message-too-long"
RETRY_S = 1.0
ROOM_POLL_S = 0.2
MAX_STREAM_CHARACTERS = 200
DIGEST_CHARACTERS = 16

_FOREIGN = re.compile(r"[^A-Za-z0-9._/-]")


class MqttListener:
    """Takes what devices publish; see docs/how-to/send-over-mqtt.md."""

    name = "mqtt"

    def __init__(self, config: Config, settings: MqttSettings, inlet: Inlet, rate: RateLimit) -> None:
        self._settings = settings
        self._inlet = inlet
        self._rate = rate
        self._max_message_bytes = config.gateway.max_line_bytes
        self._arrivals: asyncio.Queue[Arrival] = asyncio.Queue()
        self._room = threading.Semaphore(settings.max_unacknowledged)
        self._draining = threading.Event()
        self._stream_of = lru_cache(10_000)(self._find_stream)
        self._accepted = 0
        client_id = settings.client_id or f"catchment-{config.site}-{config.gateway.name}"
        self._session = Session(settings, client_id, self._queue)

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._taking = asyncio.create_task(self._take_for_ever())
        self._session.open()

    async def drain(self, timeout_s: float) -> None:
        self._draining.set()
        try:
            await asyncio.wait_for(self._arrivals.join(), timeout_s)
        except TimeoutError:
            log.warning("the MQTT broker will send again what could not be accepted before the stop")
        self._taking.cancel()
        await self._loop.run_in_executor(None, self._session.close)

    def figures(self) -> dict[str, Any]:
        return {
            "broker": f"{self._settings.host}:{self._settings.port}",
            "connected": self._session.connected,
            "subscribed": self._session.subscribed,
            "trouble": self._session.trouble,
            "waiting": self._arrivals.qsize(),
            "accepted": self._accepted,
        }

    def _queue(self, arrival: Arrival) -> None:
        """In paho's thread: brokers that know no bound on what is under way are made to wait here."""
        while not self._room.acquire(timeout=ROOM_POLL_S):
            if self._draining.is_set():
                return
        if not self._draining.is_set():
            self._loop.call_soon_threadsafe(self._arrivals.put_nowait, arrival)

    async def _take_for_ever(self) -> None:
        while True:
            arrivals = [await self._arrivals.get()]
            while not self._arrivals.empty():
                arrivals.append(self._arrivals.get_nowait())
            await self._take(arrivals)
            # In the order in which they came, as MQTT wants it.
            for arrival in arrivals:
                self._session.acknowledge(arrival)
                self._arrivals.task_done()
                self._room.release()
            await asyncio.sleep(self._rate.wait_s(self.name))

    async def _take(self, arrivals: Sequence[Arrival]) -> None:
        """Accepts all, those of different streams at the same time so that they share a write to the disk."""
        by_stream: dict[str, list[Arrival]] = {}
        for arrival in arrivals:
            by_stream.setdefault(self._stream_of(arrival.topic), []).append(arrival)
        await asyncio.gather(*(self._take_stream(stream, each) for stream, each in by_stream.items()))
        self._rate.spend(self.name, len(arrivals))

    async def _take_stream(self, stream: str, arrivals: Sequence[Arrival]) -> None:
        for (key, fits), group in groupby(arrivals, lambda each: (each.key, self._fits(each))):
            payloads = [arrival.payload for arrival in group]
            if not fits:
                await self._bury(stream, payloads)
            else:
                # With the same key, all after the first are the first again.
                await self._accept(stream, payloads[:1] if key else payloads, key)

    def _fits(self, arrival: Arrival) -> bool:
        return len(arrival.payload) <= self._max_message_bytes

    async def _bury(self, stream: str, payloads: Sequence[bytes]) -> None:
        for payload in payloads:
            await self._inlet.bury(payload[: self._max_message_bytes], stream, TOO_LONG)

    async def _accept(self, stream: str, payloads: Sequence[bytes], key: str) -> None:
        while True:
            try:
                self._accepted += await self._inlet.accept(stream, payloads, key=key)
                return
            except Exception as error:
                log.warning("messages for %s are not accepted yet: %s", stream, error)
                await asyncio.sleep(RETRY_S)

    def _find_stream(self, topic: str) -> str:
        for topic_filter, template in self._settings.subscriptions.items():
            if topic_matches_sub(_without_share(topic_filter), topic):
                return stream_name(template, topic)
        return stream_name(TOPIC_PLACE, topic)


def stream_name(template: str, topic: str) -> str:
    """The stream of a topic: what streams may not hold is written as `:` and hexadecimal digits.

    Different topics have different streams, however long or strange they are.
    """
    name = template.replace(TOPIC_PLACE, _FOREIGN.sub(_as_hex, topic))
    if not name[:1].isalnum():
        name = f"mqtt:{name}"
    if len(name) > MAX_STREAM_CHARACTERS:
        digest = hashlib.sha256(name.encode()).hexdigest()[:DIGEST_CHARACTERS]
        name = f"{name[: MAX_STREAM_CHARACTERS - DIGEST_CHARACTERS - 1]}:{digest}"
    return name


def _as_hex(match: re.Match[str]) -> str:
    return f":{match[0].encode().hex()}"


def _without_share(topic_filter: str) -> str:
    """The filter inside a shared subscription, `$share/GROUP/FILTER`."""
    return topic_filter.split("/", 2)[2] if topic_filter.startswith("$share/") else topic_filter
