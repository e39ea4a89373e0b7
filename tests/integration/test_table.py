"""Compacted topics as tables: what is written is seen at once, by others soon, and again after a restart."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from catchment.config import Config
from catchment.errors import AccessRefused, BrokerUnavailable, VersionChanged
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.kafka.table import KeyedTable, Tables
from catchment.records import Kind
from catchment.registry.model import Device, SensorType
from tests.conftest import MakeConfig
from tests.listening import wait_until

SITE = "table-test"


def device(name: str, version: int = 1) -> Device:
    return Device(site=SITE, id=name, name=f"{name}, {version}", version=version, updated_ms=1)


@contextmanager
def devices(config: Config, party: Party = Party.API) -> Iterator[KeyedTable[Device]]:
    tables = Tables(config, party)
    table = tables.add(Kind.DEVICES, Device.model_validate_json)
    tables.add(Kind.SENSOR_TYPES, SensorType.model_validate_json)
    tables.start()
    try:
        wait_until(lambda: tables.caught_up)
        yield table
    finally:
        tables.stop()


def put(table: KeyedTable[Device], entry: Device) -> None:
    table.update(entry.key, lambda _: entry)


def test_a_write_is_seen_when_it_returns_and_a_tombstone_removes_it(cluster: Config) -> None:
    with devices(cluster) as table:
        put(table, device("press"))
        assert table.get(f"{SITE}/press") == device("press")
        put(table, device("press", 2))
        assert table.all()[f"{SITE}/press"] == device("press", 2)
        assert table.update(f"{SITE}/press", lambda _: None) is None
        assert table.get(f"{SITE}/press") is None


def test_others_see_it_and_so_does_whoever_reads_the_topic_later(cluster: Config) -> None:
    with devices(cluster) as table, devices(cluster, Party.NOTIFIER) as other:
        put(table, device("lathe"))
        wait_until(lambda: other.get(f"{SITE}/lathe") is not None)
    with devices(cluster, Party.NOTIFIER) as later:
        assert later.get(f"{SITE}/lathe") == device("lathe")


def test_who_refuses_a_change_writes_nothing(cluster: Config) -> None:
    def refuse(present: Device | None) -> Device:
        raise VersionChanged("it is another version", "Read it again.")

    with devices(cluster) as table:
        put(table, device("kept"))
        with pytest.raises(VersionChanged):
            table.update(f"{SITE}/kept", refuse)
        assert table.get(f"{SITE}/kept") == device("kept")


def test_updates_from_many_sides_come_one_after_the_other(cluster: Config) -> None:
    def count(present: Device | None) -> Device:
        return device("counter", present.version + 1 if present else 1)

    with devices(cluster) as table:
        threads = [
            threading.Thread(target=table.update, args=(f"{SITE}/counter", count), daemon=True)
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        counted = table.get(f"{SITE}/counter")
        assert counted
        assert counted.version == 20


def test_an_entry_that_cannot_be_read_is_passed_over(
    cluster: Config, caplog: pytest.LogCaptureFixture
) -> None:
    with devices(cluster) as table:
        writer = producer(cluster, Party.ADMIN)
        writer.produce(Kind.DEVICES.topic, b"no device", f"{SITE}/broken")
        writer.flush()
        put(table, device("after"))
        assert table.get(f"{SITE}/broken") is None
    assert f"the entry {SITE}/broken of {Kind.DEVICES.topic} is passed over" in caplog.text


def test_who_may_not_write_is_told_so(cluster: Config) -> None:
    with devices(cluster, Party.NOTIFIER) as table, pytest.raises(AccessRefused, match=Kind.DEVICES.topic):
        put(table, device("foreign"))


def test_tables_that_are_not_current_refuse_writes(make_config: MakeConfig) -> None:
    table = Tables(make_config(), Party.API).add(Kind.DEVICES, Device.model_validate_json)
    began_s = time.monotonic()
    with pytest.raises(BrokerUnavailable, match="still being read"):
        put(table, device("early"))
    assert time.monotonic() - began_s < 5
