"""Those who take part in a benchmark, each a process: `python -m catchment.bench.runners NAME JSON`.

What one has to say it says as a line of JSON on its standard output.
"""

import asyncio
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import uvloop
from confluent_kafka import Producer

from catchment.bench.tally import Sighting, Tally, connection_of, stream_of
from catchment.config import Config, load
from catchment.consume import Batch, Subscription
from catchment.kafka.clients import consumer, producer
from catchment.kafka.parties import Party
from catchment.security.authority import Authority, Identity
from catchment.security.providers import PARTY_PREFIX
from catchment.simulate.lines import LineSource, Load, Sender, client_context
from catchment.simulate.sensors import Plant
from catchment.simulate.sensors import send as send_readings
from catchment.simulate.temperature import Curve

PREFETCH_RECORDS = 10_000
QUEUED_RECORDS = 200_000
HANDSHAKES_AT_ONCE = 64
CONNECT_S = 60.0


def main(name: str, arguments: str) -> None:
    """Runs one of them."""
    given = orjson.loads(arguments)
    RUNNERS[name](load(Path(given.pop("config")), {}), given)


def say(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
    sys.stdout.buffer.flush()


class TimedSource(LineSource):
    """Lines that note when they were handed to the connection."""

    def __init__(self, share: Load, provider: int) -> None:
        super().__init__(share, provider)
        self.handed_out: list[Sighting] = []

    def lines(self, first: int, count: int) -> bytes:
        made = super().lines(first, count)
        self.handed_out.append((first + count - 1, time.time_ns()))
        return made


def provide(config: Config, given: dict[str, Any]) -> None:
    """One data provider: sends a load on every SIGUSR1, and says when it sent what once that is safe."""
    uvloop.run(_provide(config, given["name"], given["provider"], [Load(**each) for each in given["loads"]]))


async def _provide(config: Config, name: str, provider: int, loads: list[Load]) -> None:
    begin, stop = asyncio.Event(), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, begin.set)
    for share in loads:
        source = TimedSource(share, provider)
        sender = Sender(config, share, provider, source, _identity(config, name), stop, lambda _: None)
        say({})
        await begin.wait()
        begin.clear()
        await sender.run()
        say({"sent": source.handed_out})


def consume(config: Config, given: dict[str, Any]) -> None:
    """The consumer of the race: reports on every interval, and on an unfinished one when stopped."""
    tallies = Tallies(given["intervals"])
    subscription = Subscription(config, tallies.see)
    signal.signal(signal.SIGTERM, lambda *_: subscription.stop())
    subscription.run()
    tallies.give_up()


def consume_plainly(config: Config, given: dict[str, Any]) -> None:
    """The same with nothing but librdkafka."""
    tallies = Tallies(given["intervals"])
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    with consumer(config, Party.ADMIN, group_id="race") as reader:
        reader.subscribe([given["topic"]])
        while not stopping:
            if first := reader.poll(0.2):
                tallies.see([first, *reader.consume(PREFETCH_RECORDS, 0)])
    tallies.give_up()


class Tallies:
    """One tally for each interval, in turn."""

    def __init__(self, intervals: list[dict[str, Any]]) -> None:
        self._tallies = [_tally(**each) for each in intervals]

    def see(self, batch: Batch) -> None:
        self._tallies[0].see(batch)
        if self._tallies[0].is_complete:
            say(self._tallies.pop(0).report())

    def give_up(self) -> None:
        if self._tallies:
            say(self._tallies[0].report())


def _tally(
    expected: dict[str, int] | None = None, timed: bool = False, connections: int = 0, lines: int = 0
) -> Tally:
    """Of what each stream is to bring, or each of so many connections."""
    if expected:
        return Tally(expected, stream_of, timed)
    return Tally({connection_name(each).decode(): lines for each in range(connections)}, connection_of)


def produce_plainly(config: Config, given: dict[str, Any]) -> None:
    """The messages of all providers, straight to Kafka, as any program with librdkafka would send them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    settings = config.gateway
    writer = producer(
        config,
        Party.ADMIN,
        linger_ms=settings.linger_ms,
        compression_type=settings.compression.value,
        queue_buffering_max_messages=QUEUED_RECORDS,
    )
    for share in (Load(**each) for each in given["loads"]):
        sources = [
            [(line, key.encode()) for line in _lines_of(share, provider)]
            for provider, key in enumerate(given["keys"])
        ]
        say({})
        signal.sigwait({signal.SIGUSR1})
        for in_turn in zip(*sources, strict=True):
            for line, key in in_turn:
                _produce(writer, given["topic"], line, key)
        writer.flush()
        say({})


def _lines_of(share: Load, provider: int) -> list[bytes]:
    return LineSource(share, provider).lines(1, share.share(provider) or 0).splitlines()


def _produce(writer: Producer, topic: str, line: bytes, key: bytes) -> None:
    while True:
        try:
            writer.produce(topic, line, key)
        except BufferError:
            writer.poll(0.01)
        else:
            return


def crowd(config: Config, given: dict[str, Any]) -> None:
    """Very many connections, each of which sends a line now and then."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    uvloop.run(Crowd(config, given).run())


class Crowd:
    """Connects them all, says so, and then sends a line on each at every interval."""

    def __init__(self, config: Config, given: dict[str, Any]) -> None:
        self._address = (config.gateway.host, config.gateway.port)
        self._contexts = [client_context(_identity(config, name)) for name in given["names"]]
        self._connections: int = given["connections"]
        self._lines: int = given["lines"]
        self._interval_s: float = given["interval_s"]
        self._door = asyncio.Semaphore(HANDSHAKES_AT_ONCE)

    async def run(self) -> None:
        began_s = time.monotonic()
        opened = await asyncio.gather(*map(self._open, range(self._connections)))
        writers = {number: writer for number, writer in enumerate(opened) if writer}
        say({"connected": len(writers), "seconds": time.monotonic() - began_s})
        await asyncio.gather(*(self._talk(number, writer) for number, writer in writers.items()))
        say({"connected": sum(not writer.transport.is_closing() for writer in writers.values())})
        for writer in writers.values():
            writer.close()

    async def _open(self, number: int) -> asyncio.StreamWriter | None:
        context = self._contexts[number % len(self._contexts)]
        async with self._door:
            try:
                _, writer = await asyncio.wait_for(
                    asyncio.open_connection(*self._address, ssl=context, server_hostname="localhost"),
                    CONNECT_S,
                )
            except (OSError, TimeoutError):
                return None
        return writer

    async def _talk(self, number: int, writer: asyncio.StreamWriter) -> None:
        # Spread over the interval, as devices that know nothing of each other are.
        await asyncio.sleep(self._interval_s * number / self._connections)
        for line in range(1, self._lines + 1):
            writer.write(b"%012d %b and what else a device has to say\n" % (line, connection_name(number)))
            await asyncio.sleep(self._interval_s)


def read_sensors(config: Config, given: dict[str, Any]) -> None:
    """Simulated sensors: says when they begin, and when all their readings are safe."""
    plant = Plant(**{**given["plant"], "curve": Curve(**given["plant"]["curve"])})
    say({})
    uvloop.run(send_readings(config, plant, given["count"], asyncio.Event(), lambda _: None))
    say({})


def run_pipeline(config: Config, given: dict[str, Any]) -> None:
    """The pipeline, and on SIGUSR1 single queries over what is there by then."""
    # Spark is loaded by this one alone.
    from catchment.bench.backlog import run_pipeline

    say(run_pipeline(config, **given))


def connection_name(number: int) -> bytes:
    return b"connection-%d" % number


def _identity(config: Config, provider: str) -> Identity:
    return Authority(config.paths.identities, config.hostnames).files_of(PARTY_PREFIX + provider)


RUNNERS: dict[str, Callable[[Config, dict[str, Any]], None]] = {
    "provider": provide,
    "consumer": consume,
    "crowd": crowd,
    "pipeline": run_pipeline,
    "sensors": read_sensors,
    "plain-producer": produce_plainly,
    "plain-consumer": consume_plainly,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
