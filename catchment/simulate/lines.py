"""Numbered, seeded lines from one or many providers, at a given rate, through the gateway's TLS listener."""

import asyncio
import random
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from catchment.config import Config
from catchment.errors import NodeNotRunning
from catchment.security.authority import Authority, Identity
from catchment.security.providers import Providers

TICK_S = 0.005
LARGEST_WRITE_LINES = 2_000
POOL = 1_024
FIRST_PAUSE_S = 0.1
RECONNECT_MAX_S = 5.0


@dataclass(frozen=True)
class Load:
    """What to send: `count` lines in all (0: without end), `rate` a second in all (0: as fast as it goes)."""

    providers: int
    count: int
    rate: float
    line_bytes: int
    seed: int

    def share(self, provider: int) -> int | None:
        """How many lines fall to a provider; none means without end."""
        if self.count == 0:
            return None
        return self.count // self.providers + (provider < self.count % self.providers)


class LineSource:
    """The lines of one provider: the same for the same seed, whenever and however they are sent."""

    def __init__(self, load: Load, provider: int) -> None:
        choice = random.Random(f"{load.seed}/{provider}")  # noqa: S311 - payloads, not secrets
        digits = max(0, load.line_bytes - len("000000000000 "))
        self._pool = [choice.randbytes(digits // 2 + 1).hex()[:digits].encode() for _ in range(POOL)]

    def lines(self, first: int, count: int) -> bytes:
        """Lines number `first` and following, each with its newline."""
        pool = self._pool
        return b"".join(
            b"%012d %b\n" % (number, pool[number % POOL]) for number in range(first, first + count)
        )


def register(config: Config, load: Load) -> list[Identity]:
    """Identities for the simulated providers, registered like any other."""
    authority = Authority(config.paths.identities, config.hostnames)
    providers = Providers(config.paths.providers)
    return [providers.add(f"sim-{number}", authority) for number in range(1, load.providers + 1)]


async def send(config: Config, load: Load, stop: asyncio.Event, on_sent: Callable[[int], None]) -> None:
    """Sends the whole load; returns when the gateway has read the last line, or soon after `stop` is set."""
    identities = register(config, load)
    senders = (
        Sender(config, load, provider, identity, stop, on_sent).run()
        for provider, identity in enumerate(identities)
    )
    await asyncio.gather(*senders)


class Sender:
    """One provider. After a cut it connects again and goes on with the next line."""

    def __init__(
        self,
        config: Config,
        load: Load,
        provider: int,
        identity: Identity,
        stop: asyncio.Event,
        on_sent: Callable[[int], None],
    ) -> None:
        self._address = (config.gateway.host, config.gateway.port)
        self._context = client_context(identity)
        self._source = LineSource(load, provider)
        self._share = load.share(provider)
        self._rate = load.rate / load.providers
        self._stop = stop
        self._on_sent = on_sent
        self._sent = 0

    async def run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._done():
            try:
                await self._send_over_one_connection()
                pause_s = FIRST_PAUSE_S
            except OSError as error:
                if not self._sent:
                    raise self._no_gateway(error) from None
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, RECONNECT_MAX_S)

    def _no_gateway(self, error: OSError) -> NodeNotRunning:
        host, port = self._address
        return NodeNotRunning(
            f"No gateway takes lines at {host}:{port} ({error})",
            "Start the node with `catchment up`, or correct gateway.host and gateway.port.",
        )

    async def _send_over_one_connection(self) -> None:
        host, port = self._address
        _, writer = await asyncio.open_connection(host, port, ssl=self._context, server_hostname="localhost")
        try:
            for due in self._pace():
                if self._done():
                    break
                if due:
                    writer.write(self._source.lines(self._sent + 1, due))
                    await writer.drain()
                    self._sent += due
                    self._on_sent(due)
                else:
                    await asyncio.sleep(TICK_S)
        finally:
            writer.close()
            # Ends when the gateway has read to the end: only then is the last line sent for certain.
            await writer.wait_closed()

    def _pace(self) -> Iterator[int]:
        """How many lines are due now, again and again."""
        began_at, sent_before = time.monotonic(), self._sent
        while True:
            due = LARGEST_WRITE_LINES
            if self._rate:
                on_schedule = int((time.monotonic() - began_at) * self._rate)
                due = min(due, on_schedule - (self._sent - sent_before))
            if self._share is not None:
                due = min(due, self._share - self._sent)
            yield due

    def _done(self) -> bool:
        return self._stop.is_set() or (self._share is not None and self._sent >= self._share)


def client_context(identity: Identity) -> ssl.SSLContext:
    """TLS as a provider speaks it: it shows its certificate and checks the gateway's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    context.load_verify_locations(identity.ca_file)
    return context
