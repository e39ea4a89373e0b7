"""Twins on their topic, as the pipeline would write them: many at first, and many changes at an even pace.

`python -m catchment.bench.twin_changes CONFIG TWINS CHANGES` is a process of its own, so that whoever
measures meanwhile is not held up; it prints the changes a second.
"""

import random
import sys
import time
from pathlib import Path

from catchment.config import Config, load
from catchment.errors import PartFailed
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.records import Kind
from catchment.twins.model import Twin, TwinType

CHANGES_PER_S = 26_000
SEED = 1
_AT_ONCE = 260
_FLUSH_S = 120.0
_STATES = ("on", "off", "idle")
_CREATED_MS = 1_794_878_753_278


def fill(site: Config, twins: int) -> None:
    """Declares a type, and writes so many objects of it."""
    # The pipeline's sink is a Java client.
    writer = producer(site, Party.ADMIN, partitioner="murmur2_random", queue_buffering_max_messages=twins + 1)
    kind = TwinType(site=site.site, id="machine", version=1, updated_ms=1, name="machine")
    writer.produce(Kind.TWIN_TYPES.topic, kind.model_dump_json(), kind.key)
    for twin in _twins(site.site, twins):
        writer.produce(Kind.TWINS.topic, twin.model_dump_json(), twin.key)
    _check(writer.flush(_FLUSH_S))


def change(site: Config, twins: int, changes: int) -> float:
    """Changes one object after the other, and from the first again; gives the changes a second."""
    bodies = [(twin.key, twin.model_dump_json()) for twin in _twins(site.site, twins)]
    writer = producer(site, Party.ADMIN, partitioner="murmur2_random")
    began_s = time.perf_counter()
    for number in range(changes):
        if number % _AT_ONCE == 0:
            writer.poll(0)
            time.sleep(max(0.0, began_s + number / CHANGES_PER_S - time.perf_counter()))
        key, body = bodies[number % twins]
        writer.produce(
            Kind.TWINS.topic, body.replace('"version":1,', f'"version":{2 + number // twins},'), key
        )
    _check(writer.flush(_FLUSH_S))
    return changes / (time.perf_counter() - began_s)


def name_of(number: int) -> str:
    """The id of an object."""
    return f"machine-{number:06d}"


def _twins(site: str, count: int) -> list[Twin]:
    numbers = random.Random(SEED)  # noqa: S311 - readings, not secrets
    return [
        Twin(
            site=site,
            id=name_of(number),
            type="machine",
            version=1,
            owner="feed/bench",
            created_ms=_CREATED_MS,
            updated_ms=_CREATED_MS + number,
            transaction=f"bench-{number}",
            values={
                "temperature": round(numbers.uniform(0, 100), 2),
                "count": numbers.randrange(1000),
                "state": numbers.choice(_STATES),
                "alarm": numbers.random() < 0.1,
            },
        )
        for number in range(count)
    ]


def _check(left: int) -> None:
    if left:
        raise PartFailed("Kafka did not take all twins in time", "Run it on a machine less busy.")


if __name__ == "__main__":
    file, twins, changes = sys.argv[1:]
    print(change(load(Path(file)), int(twins), int(changes)))  # noqa: T201 - what the caller reads
