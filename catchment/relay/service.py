"""The relay as a process: one thread a site, started and stopped as the register of sites says."""

import logging
import signal
import threading

from catchment.config import Config
from catchment.garbage import collect_rarely
from catchment.health import Report, Reporter, State, metrics_text
from catchment.metrics import gauge
from catchment.relay.model import SiteState
from catchment.relay.register import Site, Sites
from catchment.relay.runner import SiteRelay
from catchment.relay.states import PART, idle_state

log = logging.getLogger(__name__)

TEND_S = 0.5

UP = gauge("catchment_relay_up")
LAG = gauge("catchment_relay_lag_records")
DELAY = gauge("catchment_relay_delay_seconds")
RELAYED = gauge("catchment_relay_relayed_records")
INCIDENTS = gauge("catchment_relay_incidents")
RESTARTS = gauge("catchment_relay_restarts")
_GAUGES = (UP, LAG, DELAY, RELAYED, INCIDENTS, RESTARTS)


def run(config: Config) -> None:
    """Runs the relay until SIGTERM or SIGINT."""
    collect_rarely()
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    relay = Relay(config)
    reporter = Reporter(config.paths.socket(PART), relay.report)
    try:
        relay.run(stopping)
    finally:
        reporter.close()


class Relay:
    """All sites of the register."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sites = Sites(config.paths.sites)
        self._registered: dict[str, Site] | None = None
        self._running: dict[str, tuple[Site, int, SiteRelay]] = {}

    def run(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            self._tend()
            stopping.wait(TEND_S)
        for _, _, relay in self._running.values():
            relay.stop()
        for _, _, relay in self._running.values():
            relay.join()

    def report(self) -> Report:
        if self._registered is None:
            return Report(state=State.STARTING)
        sites = [self._state_of(site) for site in self._registered.values()]
        for state in sites:
            _measure(state)
        away = [state.name for state in sites if state.state is not State.RUNNING and not state.paused]
        detail = f"sites: {len(sites)}" + (f", not running: {', '.join(away)}" if away else "")
        # A site that is away is that site's affair: the relay does its job.
        return Report(
            state=State.RUNNING,
            detail=detail,
            figures={"sites": [state.model_dump(mode="json") for state in sites]},
            metrics=metrics_text(),
        )

    def _tend(self) -> None:
        """Makes what runs match the register; another address or identity is another relay."""
        registered = self._sites.all()
        for name, (site, version, relay) in list(self._running.items()):
            if registered.get(name) != site or self._sites.version_of(name) != version:
                relay.stop()
                del self._running[name]
                _forget(name)
        for name, site in registered.items():
            if name not in self._running and not site.paused:
                version = self._sites.version_of(name)
                relay = SiteRelay(self._config, site, self._sites.identity_of(name))
                self._running[name] = (site, version, relay)
                relay.start()
        self._registered = registered

    def _state_of(self, site: Site) -> SiteState:
        running = self._running.get(site.name)
        if running:
            return running[2].report()
        return idle_state(site, State.STARTING)


def _measure(state: SiteState) -> None:
    UP.labels(state.name).set(state.state is State.RUNNING)
    LAG.labels(state.name).set(state.lag_records or 0)
    DELAY.labels(state.name).set((state.delay_ms or 0) / 1000)
    RELAYED.labels(state.name).set(state.relayed_records)
    INCIDENTS.labels(state.name).set(state.incident_count)
    RESTARTS.labels(state.name).set(state.restarts)


def _forget(site: str) -> None:
    for each in _GAUGES:
        each.remove(site)
