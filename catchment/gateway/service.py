"""The gateway as a process: start, report, and stop without losing what was heard."""

import asyncio
import logging
import signal
import time

import uvloop

from catchment.config import Config
from catchment.gateway.forwarder import Forwarder
from catchment.gateway.intake import Intake
from catchment.gateway.tcp import LineListener
from catchment.health import Report, Reporter, State, metrics_text
from catchment.security.authority import Authority
from catchment.security.providers import Providers

log = logging.getLogger(__name__)

DRAIN_S = 1.0
FLUSH_S = 5.0
STALL_S = 10.0


def run(config: Config) -> None:
    """Runs the gateway until SIGTERM or SIGINT."""
    uvloop.run(Gateway(config).run())


class Gateway:
    """Listener, intake and forwarder, wired."""

    def __init__(self, config: Config) -> None:
        self._config = config
        # Without a spool nothing survives the process, so each start is an epoch of its own.
        epoch = time.time_ns() // 1_000_000
        self._intake = Intake(config.site, config.gateway.name, epoch)
        self._forwarder = Forwarder(config, self._resume_reading)
        providers = Providers(config.paths.providers)
        self._listener = LineListener(config.gateway, providers, self._intake, self._forwarder)

    async def run(self) -> None:
        self._loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, stop.set)
        authority = Authority(self._config.paths.identities, self._config.hostnames)
        await self._listener.start(authority.identity("gateway"))
        reporter = Reporter(self._config.paths.socket("gateway"), self.report)
        marking = asyncio.create_task(self._publish_marks())
        await stop.wait()
        await self._listener.drain(DRAIN_S)
        marking.cancel()
        left = await self._loop.run_in_executor(None, self._forwarder.close, FLUSH_S)
        if left:
            log.error("Kafka did not answer: %d messages could not be handed on before the stop", left)
        reporter.close()

    def report(self) -> Report:
        stalled_for_s = self._forwarder.stalled_for_s
        connections = len(self._listener.connections)
        detail = f"port {self._config.gateway.port}, providers connected: {connections}"
        if stalled_for_s > STALL_S:
            detail += f"; Kafka has confirmed nothing for {stalled_for_s:.0f} s"
        return Report(
            state=State.DEGRADED if stalled_for_s > STALL_S else State.RUNNING,
            detail=detail,
            figures={
                "connections": connections,
                "confirmed": self._forwarder.confirmed_records,
                "queued": self._forwarder.queued_records,
            },
            metrics=metrics_text(),
        )

    def _resume_reading(self) -> None:
        self._loop.call_soon_threadsafe(self._listener.resume)

    async def _publish_marks(self) -> None:
        while True:
            await asyncio.sleep(self._config.gateway.mark_interval_s)
            self._forwarder.publish_marks()
