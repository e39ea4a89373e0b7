"""The notifier as a process: one thread that makes alerts, one thread a channel that sends them."""

import logging
import signal
import threading
from collections.abc import Callable

from catchment.alerts.channels import open_channel
from catchment.alerts.courier import Courier
from catchment.alerts.journal import Journal, Remembered
from catchment.alerts.raiser import BACKOFF_MAX_S, FIRST_BACKOFF_S, Raiser
from catchment.config import Config
from catchment.errors import BrokerUnavailable, CatchmentError
from catchment.health import Report, Reporter, State, metrics_text
from catchment.metrics import gauge

log = logging.getLogger(__name__)

PART = "notify"
STOP_S = 5.0

ALERTS = gauge("catchment_notify_alerts")
UNREADABLE = gauge("catchment_notify_unreadable_events")
DELIVERED = gauge("catchment_notify_delivered")
FAILED = gauge("catchment_notify_failed_attempts")
UP = gauge("catchment_notify_channel_up")


def run(config: Config) -> None:
    """Runs the notifier until SIGTERM or SIGINT."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    # At its usual level the library logs whole addresses, and Telegram's hold the token.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    notifier = Notifier(config, stopping)
    reporter = Reporter(config.paths.socket(PART), notifier.report)
    try:
        notifier.run()
    finally:
        reporter.close()


class Notifier:
    """The threads, and what they say of themselves."""

    def __init__(self, config: Config, stopping: threading.Event) -> None:
        self._config = config
        self._stopping = stopping
        self._journal = Journal(config)
        self._raiser = Raiser(config, self._journal, stopping)
        self._senders = {
            name: open_channel(channel, config.alerts.timeout_s)
            for name, channel in config.alerts.channels.items()
        }
        self._couriers: dict[str, Courier] = {}
        self._last_error: CatchmentError | None = None

    def run(self) -> None:
        """Until it is told to stop, or one of its threads ends with an error."""
        remembered = self._recover()
        if remembered is None:
            return
        for name in remembered.channels.keys() - self._senders.keys():
            log.warning("the channel %s is not in the configuration: what waits for it goes on waiting", name)
        for name, sender in self._senders.items():
            state = remembered.channels.get(name)
            self._couriers[name] = Courier(self._config, name, sender, self._journal, state, self._stopping)
        threads = [
            self._thread("raise", lambda: self._raiser.run(remembered)),
            *(self._thread(f"send {name}", courier.run) for name, courier in self._couriers.items()),
        ]
        self._stopping.wait()
        for thread in threads:
            thread.join(STOP_S)
        if self._last_error:
            raise self._last_error

    def report(self) -> Report:
        self._measure()
        away = [name for name, courier in self._couriers.items() if courier.figures.waiting]
        told = f"channels: {len(self._senders)}" + (f", not answering: {', '.join(away)}" if away else "")
        channels = [{"name": name, **vars(courier.figures)} for name, courier in list(self._couriers.items())]
        # A channel that is away is tried again: the notifier does its job.
        return Report(
            state=self._raiser.state,
            detail=told if self._raiser.state is State.RUNNING else self._raiser.last_error,
            figures={"alerts": self._raiser.alerts, "channels": channels},
            metrics=metrics_text(),
        )

    def _recover(self) -> Remembered | None:
        backoff_s = FIRST_BACKOFF_S
        while not self._stopping.is_set():
            try:
                return self._journal.recover()
            except BrokerUnavailable as error:
                self._raiser.last_error = str(error)
                self._stopping.wait(backoff_s)
                backoff_s = min(2 * backoff_s, BACKOFF_MAX_S)
        return None

    def _thread(self, name: str, work: Callable[[], None]) -> threading.Thread:
        def guarded() -> None:
            try:
                work()
            except CatchmentError as error:
                self._last_error = error
            finally:
                # One of them cannot go on: the process ends, and is started anew.
                self._stopping.set()

        thread = threading.Thread(target=guarded, name=name, daemon=True)
        thread.start()
        return thread

    def _measure(self) -> None:
        ALERTS.set(self._raiser.alerts)
        UNREADABLE.set(self._raiser.unreadable)
        for name, courier in list(self._couriers.items()):
            DELIVERED.labels(name).set(courier.figures.delivered)
            FAILED.labels(name).set(courier.figures.failed)
            UP.labels(name).set(not courier.figures.waiting)
