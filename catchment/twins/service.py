"""All that `catchment serve` does with twins: shows them, takes changes to them, and tells of changes."""

from concurrent.futures import ThreadPoolExecutor

from catchment.config import Config
from catchment.health import State
from catchment.kafka.table import Tables
from catchment.metrics import gauge
from catchment.twins.transactions import Transactions
from catchment.twins.view import TwinView
from catchment.twins.watching import Watchers

_HELD = gauge("catchment_api_twins_held")
_LAG = gauge("catchment_api_twins_lag_records")
_MISSING = gauge("catchment_api_twins_missing_partitions")
_INSTANCES = gauge("catchment_api_twins_instances")


class Twins:
    """The view, the transactions and the live streams of one instance."""

    def __init__(self, config: Config, tables: Tables) -> None:
        self.view = TwinView(config, tables)
        self.transactions = Transactions(config)
        self.watchers = Watchers(config, self.view)
        self._is_started = False

    def start(self) -> None:
        """Begins to read."""
        self.view.here.start()
        self.transactions.start()
        self._is_started = True

    async def open(self) -> None:
        """Begins to talk to the other instances, in the loop that it is called in."""
        if self._is_started:
            await self.view.open()

    async def close(self) -> None:
        """Ends live streams, and talking to the others."""
        self.watchers.close()
        await self.view.close()

    def stop(self) -> None:
        # Side by side, because each may have to wait for a Kafka that is away.
        stops = [self.transactions.stop, self.view.here.stop_telling, self.view.here.stop_reading]
        with ThreadPoolExecutor(len(stops)) as pool:
            for stopped in [pool.submit(stop) for stop in stops]:
                stopped.result()

    def note(self) -> None:
        """Brings the metrics up to date."""
        _HELD.set(self.view.here.held)
        _LAG.set(self.view.here.lag_records)
        _MISSING.set(len(self.view.missing()))
        _INSTANCES.set(len(self.view.here.alive()))

    def state(self) -> tuple[State, str]:
        """How the view is, in a word and a sentence."""
        if not self.view.here.caught_up:
            return State.STARTING, f"reading twins, {self.view.here.lag_records:,} records to go"
        if missing := self.view.missing():
            named = ", ".join(map(str, missing))
            return State.DEGRADED, f"no instance answers for the partitions {named} of the twins"
        return State.RUNNING, ""
