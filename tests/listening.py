"""Listeners for tests: in an event loop of their own, in front of a real spool, without Kafka."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import uvloop

from catchment.config import Config
from catchment.gateway.adapters import Listener
from catchment.gateway.intake import Intake
from catchment.gateway.spool import Batch, Spool
from catchment.security.authority import Authority, Identity
from catchment.security.providers import Providers

TIMEOUT_S = 20.0

Result = TypeVar("Result")


class GatedIntake(Intake):
    """The intake, behind a gate that a test can shut: what is accepted then waits."""

    def __init__(self, spool: Spool, config: Config) -> None:
        super().__init__(spool, config.gateway.spool.when_full)
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = 0

    def let_waiting_pass(self) -> None:
        """Opens the gate for those who wait at it now."""
        self.gate.set()
        self.gate.clear()

    async def accept(
        self,
        stream: str,
        payloads: Sequence[bytes],
        *,
        origin_us: int | None = None,
        number: int = 0,
        key: str = "",
    ) -> int:
        self.asked += len(payloads)
        await self.gate.wait()
        return await super().accept(stream, payloads, origin_us=origin_us, number=number, key=key)


class Inside:
    """What a test sees of the inside of a gateway: the loop, the intake, and what is in the spool."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.spool = Spool(config.paths.spool, config.gateway.spool)
        self.intake = GatedIntake(self.spool, config)
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def open(self) -> None:
        self._thread.start()
        self.call(self.spool.start)

    def close(self) -> None:
        self.spool.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[None, None, Result]) -> Result:
        """Runs in the loop what a listener's methods give."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(TIMEOUT_S)

    def call(self, function: Callable[[], Result]) -> Result:
        async def called() -> Result:
            return function()

        return self.run(called())

    def messages(self, stream: str) -> list[bytes]:
        """The records of a stream, in order."""
        return [each for batch in self._batches(stream) if not batch.reason for each in batch.payloads]

    def letters(self, stream: str) -> list[tuple[str, bytes]]:
        """The dead letters of a stream."""
        return [
            (batch.reason, each) for batch in self._batches(stream) if batch.reason for each in batch.payloads
        ]

    def wait_for(self, stream: str, count: int) -> list[bytes]:
        wait_until(lambda: len(self.messages(stream)) >= count)
        return self.messages(stream)

    def _batches(self, stream: str) -> list[Batch]:
        taken = self.spool.take(self.spool.progress.position)
        return [placed.batch for placed in taken if placed.batch.stream == stream]


@contextmanager
def inside(config: Config) -> Iterator[Inside]:
    """A spool and an intake in a running loop, for as long as a `with` block lasts."""
    running = Inside(config)
    running.open()
    try:
        yield running
    finally:
        running.close()


@contextmanager
def listening(running: Inside, listener: Listener) -> Iterator[Listener]:
    """The listener at work, and drained after the block."""
    running.run(listener.start())
    try:
        yield listener
    finally:
        running.call(running.intake.gate.set)
        running.run(listener.drain(2))


def authority_of(config: Config) -> Authority:
    return Authority(config.paths.identities, config.hostnames)


def provider(config: Config, name: str) -> Identity:
    return Providers(config.paths.providers).add(name, authority_of(config))


def wait_until(reached: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline_s, "it did not come to that"
        time.sleep(0.02)
