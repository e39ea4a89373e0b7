"""Keeping the lake tidy: small files become large ones, and files of old versions are deleted.

It follows batches, in a thread of its own, and only while the writer keeps up. Appending and compacting do
not get into each other's way: neither touches the other's files, and deltalake orders their commits.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from catchment.config.lake import MaintenanceSettings
from catchment.errors import CatchmentError
from catchment.lake.layout import DAY
from catchment.lake.tables import Lake, actions_of

log = logging.getLogger(__name__)

MIB = 1 << 20


class Maintenance:
    """Looks after all tables at an interval."""

    def __init__(
        self, lake: Lake, settings: MaintenanceSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lake = lake
        self._settings = settings
        self._clock = clock
        self._due_at = clock() + settings.interval_minutes * 60
        self._thread: threading.Thread | None = None

    def after_batch(self, keeps_up: bool) -> None:
        """Starts when it is due, the writer keeps up, and the last time is over."""
        running = self._thread is not None and self._thread.is_alive()
        if keeps_up and not running and self._clock() >= self._due_at:
            self._due_at = self._clock() + self._settings.interval_minutes * 60
            self._thread = threading.Thread(target=self.run, name="lake maintenance", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Waits until what was started is over."""
        if self._thread:
            self._thread.join()

    def run(self) -> None:
        """Looks after every table once."""
        for name in self._lake.names():
            try:
                table = self._lake.find(name)
                if table:
                    self._compact(table)
                    self._vacuum(table)
            except (CatchmentError, DeltaError) as error:
                log.warning("%s is left as it is until next time: %s", name, error)

    def _compact(self, table: DeltaTable) -> None:
        target_bytes = self._settings.file_mib * MIB
        small = Counter(
            str(action["partition"][DAY])
            for action in actions_of(table)
            if action["size_bytes"] < target_bytes // 2
        )
        for day, files in small.items():
            if files >= self._settings.compact_files:
                table.optimize.compact([(DAY, "=", day)], target_size=target_bytes, max_concurrent_tasks=1)

    def _vacuum(self, table: DeltaTable) -> None:
        # A vacuum that finds nothing would be a version of its own all the same.
        for dry_run in (True, False):
            if not table.vacuum(
                self._settings.keep_hours, dry_run=dry_run, enforce_retention_duration=False, full=True
            ):
                break
