"""The spool as a whole: accepts batches, commits them in groups, hands them out, lets go of what is safe.

Steps of a batch, and what a crash at each of them means:
1. `append`: it waits in memory. Lost in a crash; nobody has been told that it is safe.
2. A thread writes all that waits as one, and waits for the disk. A torn write is cut at the next start.
3. The sender is told, and the batch can be taken for Kafka. Found again at the next start.
4. `release`: it is safe downstream. Its numbers are saved first, then its segment is deleted.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from catchment.config.models import SpoolSettings
from catchment.gateway.spool.format import Batch, Placed, encode
from catchment.gateway.spool.progress import Progress, new_epoch
from catchment.gateway.spool.segments import Segments

log = logging.getLogger(__name__)

PENDING_BYTES = 32 * 1024 * 1024
RECENT_BYTES = 64 * 1024 * 1024
TAKE_BYTES = 4 * 1024 * 1024
KEYS_KEPT_S = 24 * 3600.0
DISK_RETRY_S = 1.0
# While much comes in, commits are so far apart: each waits for the disk, and wakes three threads.
GROUP_S = 0.005

WhenSafe = Callable[[], None]


class Spool:
    """Threads: the listeners' loop appends, one of our own commits, the forwarder takes, and one releases."""

    def __init__(self, directory: Path, settings: SpoolSettings) -> None:
        self._file = directory / "progress.json"
        self._max_bytes = settings.max_mib * 1024 * 1024
        self._segments = Segments(directory, settings.segment_mib * 1024 * 1024)
        lock = threading.Lock()
        self._appended = threading.Condition(lock)
        self._committed = threading.Condition(lock)
        self._pending: list[tuple[Batch, WhenSafe | None]] = []
        self._pending_bytes = 0
        self._recent: deque[Placed] = deque()
        self._recent_bytes = 0
        self._stopping = False
        self.disk_error = ""
        self.progress = Progress.load(self._file)
        self.sequences = dict(self.progress.sequences)
        self.numbers = dict(self.progress.numbers)
        self.keys = dict(self.progress.keys)
        self._recover()
        self.committed = {(self.epoch, stream): last for stream, last in self.sequences.items()}

    @property
    def epoch(self) -> int:
        return self.progress.epoch

    @property
    def end(self) -> int:
        """The position after the last batch that the disk has."""
        return self._segments.end

    @property
    def used_bytes(self) -> int:
        return self._segments.end - self.progress.position + self._pending_bytes

    @property
    def fill(self) -> float:
        """How full the spool is: 0 to 1, or more for a moment."""
        return self.used_bytes / self._max_bytes

    @property
    def has_room(self) -> bool:
        return self.fill < 1 and self._pending_bytes < PENDING_BYTES and not self.disk_error

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._committer = threading.Thread(target=self._commit_for_ever, name="spool", daemon=True)
        self._committer.start()

    def append(self, batch: Batch, when_safe: WhenSafe | None = None) -> None:
        """Queues a batch; `when_safe` is called in the loop once the disk has it."""
        with self._appended:
            if not self._pending:
                self._appended.notify()
            self._pending.append((batch, when_safe))
            self._pending_bytes += batch.payload_bytes

    def wait_beyond(self, position: int, timeout_s: float) -> bool:
        """Whether there is a batch at or after `position`; waits for one for a while."""
        with self._committed:
            return self._committed.wait_for(lambda: self.end > position, timeout_s)

    def take(self, position: int) -> list[Placed]:
        """Some batches from `position` on; from memory where possible."""
        with self._committed:
            while self._recent and self._recent[0].start < position:
                self._forget_oldest()
            if self._recent and self._recent[0].start == position:
                return _some(self._recent)
        return _some(self._segments.read(position))

    def release(self, position: int, released: list[Batch], offsets: dict[int, int]) -> None:
        """Lets go of everything before `position`, which is safe downstream.

        After an OSError, for example because the disk is full, nothing has been let go of.
        """
        sequences, numbers = dict(self.progress.sequences), dict(self.progress.numbers)
        for batch in released:
            if batch.epoch == self.epoch and not batch.reason:
                sequences[batch.stream] = batch.last_sequence
            if batch.number:
                numbers[batch.stream] = batch.number
        oldest = time.time() - KEYS_KEPT_S
        keys = {key: at for key, at in self.keys.copy().items() if at > oldest}
        progress = self.progress.model_copy(
            update={
                "position": position,
                "sequences": sequences,
                "numbers": numbers,
                "keys": keys,
                "offsets": {**self.progress.offsets, **offsets},
            }
        )
        progress.save(self._file)
        self.progress = progress
        self._segments.release(position)

    def close(self) -> None:
        """Commits what waits, and ends."""
        with self._appended:
            self._stopping = True
            self._appended.notify()
        self._committer.join()
        self._segments.close()

    def _recover(self) -> None:
        for placed in self._segments.open(self.progress.position):
            self._note(placed.batch)
        if self._segments.was_cut:
            # Numbers after the cut may have been given before: they must not be given again.
            self.progress = self.progress.model_copy(update={"epoch": new_epoch(), "sequences": {}})
            self.progress.save(self._file)
            self.sequences = {}

    def _note(self, batch: Batch) -> None:
        if batch.epoch == self.epoch and not batch.reason:
            self.sequences[batch.stream] = max(self.sequences.get(batch.stream, 0), batch.last_sequence)
        if batch.number:
            self.numbers[batch.stream] = max(self.numbers.get(batch.stream, 0), batch.number)
        if batch.key:
            self.keys[f"{batch.stream} {batch.key}"] = batch.origin_us / 1e6

    def _commit_for_ever(self) -> None:
        began_s = 0.0
        while True:
            with self._appended:
                self._appended.wait_for(lambda: bool(self._pending) or self._stopping)
            # What comes after a pause is committed at once.
            time.sleep(max(0.0, began_s + GROUP_S - time.monotonic()))
            began_s = time.monotonic()
            with self._appended:
                group, self._pending = self._pending, []
            if not group:
                return
            frames = [encode(batch) for batch, _ in group]
            if not self._write(b"".join(frames)):
                return
            self._publish(group, frames)

    def _write(self, data: bytes) -> bool:
        """Writes until the disk has it: a full or failing disk is waited for, and shown meanwhile."""
        while True:
            try:
                self._segments.append(data)
            except OSError as error:
                if not self.disk_error:
                    log.error("the spool cannot be written: %s", error.strerror)
                self.disk_error = error.strerror or "unknown error"
                if self._stopping:
                    return False
                time.sleep(DISK_RETRY_S)
            else:
                self.disk_error = ""
                return True

    def _publish(self, group: list[tuple[Batch, WhenSafe | None]], frames: list[bytes]) -> None:
        position = self.end - sum(map(len, frames))
        with self._committed:
            for (batch, _), frame in zip(group, frames, strict=True):
                start, position = position, position + len(frame)
                self._recent.append(Placed(start, position, batch))
                self._recent_bytes += batch.payload_bytes
                self._pending_bytes -= batch.payload_bytes
                if not batch.reason:
                    self.committed[batch.epoch, batch.stream] = batch.last_sequence
            while self._recent_bytes > RECENT_BYTES:
                self._forget_oldest()
            self._committed.notify()
        waiting = [when_safe for _, when_safe in group if when_safe]
        self._loop.call_soon_threadsafe(_call_all, waiting)

    def _forget_oldest(self) -> None:
        self._recent_bytes -= self._recent.popleft().batch.payload_bytes


def _some(batches: Iterable[Placed]) -> list[Placed]:
    taken, taken_bytes = [], 0
    for placed in batches:
        taken.append(placed)
        taken_bytes += placed.batch.payload_bytes
        if taken_bytes >= TAKE_BYTES:
            break
    return taken


def _call_all(callbacks: list[WhenSafe]) -> None:
    for callback in callbacks:
        callback()
