"""Simulated devices with objects through a real gateway."""

import asyncio
from collections import defaultdict

from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Stamp
from catchment.simulate.twins import Fleet, Messages, send
from tests.listening import wait_until
from tests.running_part import running_part

FLEET = Fleet("trial", devices=3, objects=20, interval_ms=50, seed=7)


def records(config: Config) -> dict[str, list[tuple[int, bytes]]]:
    """What came from the fleet: number and message, by stream."""
    found: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    for message in read_all(config, Party.OPERATOR, Kind.RECORDS.topic):
        header = dict(message.headers() or []).get(STAMP_HEADER)
        assert isinstance(header, bytes)
        stamp = Stamp.decode(header)
        if stamp.source.stream.startswith("twins-trial-"):
            found[stamp.source.stream].append((stamp.sequence, message.value() or b""))
    return found


def test_every_message_arrives_from_its_device_in_order(cluster: Config) -> None:
    safe: list[int] = []
    with running_part(cluster, "gateway"):
        asyncio.run(send(cluster, FLEET, 20, asyncio.Event(), safe.append))
        wait_until(lambda: sum(map(len, records(cluster).values())) >= 20, timeout_s=30)
    assert sum(safe) == 20
    expected = {
        FLEET.stream(device): list(
            enumerate(Messages(FLEET, device, 0).lines(1, FLEET.share(device, 20)).splitlines(), 1)
        )
        for device in range(3)
    }
    assert records(cluster) == expected
