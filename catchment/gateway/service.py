"""The gateway as a process: start, report, and stop without losing what was heard."""

import asyncio
import logging
import resource
import signal

import uvloop

from catchment.config import Config
from catchment.garbage import collect_rarely
from catchment.gateway.adapters import Listener
from catchment.gateway.forwarder import Forwarder
from catchment.gateway.intake import Intake
from catchment.gateway.limits import RateLimit
from catchment.gateway.listeners import further_listeners
from catchment.gateway.spool import Spool
from catchment.gateway.tcp import TcpListener
from catchment.health import Report, Reporter, State, metrics_text
from catchment.metrics import gauge
from catchment.security.authority import Authority
from catchment.security.providers import Providers

log = logging.getLogger(__name__)

DRAIN_S = 1.0
FLUSH_S = 4.0
STALL_S = 10.0

SPOOL_BYTES = gauge("catchment_gateway_spool_bytes")
SPOOL_FILL = gauge("catchment_gateway_spool_fill")


def run(config: Config) -> None:
    """Runs the gateway until SIGTERM or SIGINT."""
    allow_many_files()
    collect_rarely()
    uvloop.run(Gateway(config).run())


def allow_many_files() -> None:
    """Every connection is an open file, and the usual limit is a thousand; the system lets us have more."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Gateway:
    """Listeners, intake, spool and forwarder, wired."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._spool = Spool(config.paths.spool, config.gateway.spool)
        self._forwarder = Forwarder(config, self._spool)
        intake = Intake(self._spool, config.gateway.spool.when_full)
        providers = Providers(config.paths.providers)
        identity = Authority(config.paths.identities, config.hostnames).identity("gateway")
        rate = RateLimit(config.gateway.limits.max_records_per_s)
        self._tcp = TcpListener(config.gateway, providers, intake, identity, rate)
        self._listeners: list[Listener] = [
            self._tcp,
            *further_listeners(config, intake, providers, identity, rate),
        ]

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        self._spool.start()
        self._forwarder.start()
        for listener in self._listeners:
            await listener.start()
        reporter = Reporter(self._config.paths.socket("gateway"), self.report)
        await stop.wait()
        await asyncio.gather(*(listener.drain(DRAIN_S) for listener in self._listeners))
        left_bytes = await loop.run_in_executor(None, self._close)
        if left_bytes:
            log.warning("%d bytes stay in the spool and are handed on at the next start", left_bytes)
        reporter.close()

    def report(self) -> Report:
        SPOOL_BYTES.set(self._spool.used_bytes)
        SPOOL_FILL.set(self._spool.fill)
        trouble = self._trouble()
        connections = len(self._tcp.connections)
        usual = f"port {self._config.gateway.port}, providers connected: {connections}"
        return Report(
            state=State.DEGRADED if trouble else State.RUNNING,
            detail=f"{usual}; {trouble}" if trouble else usual,
            figures={
                "connections": connections,
                "listeners": {listener.name: listener.figures() for listener in self._listeners},
                "confirmed": self._forwarder.confirmed_records,
                "queued": self._forwarder.queued_records,
                "behind_bytes": self._forwarder.behind_bytes,
                "spool_bytes": self._spool.used_bytes,
                "spool_fill": round(self._spool.fill, 4),
            },
            metrics=metrics_text(),
        )

    def _trouble(self) -> str:
        """What a person should look at, in words; empty when all is well."""
        if self._spool.disk_error:
            return f"the spool cannot be written: {self._spool.disk_error}"
        if self._spool.fill >= self._config.gateway.spool.warn_at:
            return f"the spool is {self._spool.fill:.0%} full"
        if self._forwarder.stalled_for_s > STALL_S:
            return f"Kafka has confirmed nothing for {self._forwarder.stalled_for_s:.0f} s"
        return ""

    def _close(self) -> int:
        self._spool.close()
        return self._forwarder.close(FLUSH_S)
