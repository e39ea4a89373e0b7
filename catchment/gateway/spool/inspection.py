"""Looking at a spool without touching it, while the gateway runs or not."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from catchment.gateway.spool.format import BadFrameError, Batch, decode
from catchment.gateway.spool.progress import Progress
from catchment.gateway.spool.segments import SUFFIX


class StreamInSpool(BaseModel):
    """What a spool holds of one stream, and how much of it still has to become safe downstream."""

    stream: str
    epoch: int
    first: int
    last: int
    records: int
    waiting: int


class SpoolContent(BaseModel):
    """A spool as it stands on disk. `damage` says where it would be cut at the next start."""

    epoch: int
    segments: int
    bytes_on_disk: int
    bytes_waiting: int
    dead_letters: int
    damage: str
    streams: list[StreamInSpool]


def inspect(directory: Path) -> SpoolContent:
    """Reads a spool from beginning to end."""
    progress = Progress.model_validate_json((directory / "progress.json").read_bytes())
    files = sorted(directory.glob(f"*{SUFFIX}"))
    damage: list[str] = []
    streams: dict[tuple[int, str], StreamInSpool] = {}
    dead_letters, end = 0, progress.position
    for position, batch in _batches(files, damage):
        end = position
        if batch.reason:
            dead_letters += len(batch.payloads)
        elif batch.payloads:
            _count(streams, batch, waits=position > progress.position)
    return SpoolContent(
        epoch=progress.epoch,
        segments=len(files),
        bytes_on_disk=sum(file.stat().st_size for file in files),
        bytes_waiting=end - progress.position,
        dead_letters=dead_letters,
        damage=" ".join(damage),
        streams=sorted(streams.values(), key=lambda each: (each.epoch, each.stream)),
    )


def _batches(files: list[Path], damage: list[str]) -> Iterator[tuple[int, Batch]]:
    for file in files:
        content, offset, start = file.read_bytes(), 0, int(file.stem)
        while offset < len(content):
            try:
                batch, offset = decode(content, offset)
            except BadFrameError as error:
                damage.append(f"At position {start + offset} {error}.")
                return
            yield start + offset, batch


def _count(streams: dict[tuple[int, str], StreamInSpool], batch: Batch, waits: bool) -> None:
    held = streams.setdefault(
        (batch.epoch, batch.stream),
        StreamInSpool(
            stream=batch.stream, epoch=batch.epoch, first=batch.first_sequence, last=0, records=0, waiting=0
        ),
    )
    held.last = batch.last_sequence
    held.records += len(batch.payloads)
    held.waiting += len(batch.payloads) if waits else 0
