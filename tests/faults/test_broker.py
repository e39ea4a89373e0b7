"""The broker dies, loses power, is cut off, or has no room left, while numbered lines flow."""

import time

from tests.faults.conftest import Begin, Conclude, Site
from tests.faults.trial import Scale


def test_broker_killed(site: Site, begin: Begin, conclude: Conclude) -> None:
    trial = begin("broker-killed", site.far_end)
    with trial.fault():
        site.broker.kill("broker")
    conclude(trial, 1, "Broker killed", "`kill -9` of the broker's process")


def test_broker_without_power(site: Site, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    trial = begin("broker-power", site.far_end)
    with trial.fault():
        site.broker.lose_power()
        time.sleep(scale.fault_s)
    site.broker.get_power_back()
    conclude(
        trial,
        2,
        "Broker's host without power",
        f"all of it gone at one moment; after {scale.fault_s:g} s it starts with its disk as it was then",
    )


def test_broker_cut_off(site: Site, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    trial = begin("broker-cut", site.far_end)
    with trial.fault(), site.broker.host.cut_off():
        time.sleep(scale.fault_s)
    conclude(trial, 3, "Broker cut off the network", f"no packet to or from its host for {scale.fault_s:g} s")


def test_broker_without_room(site: Site, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    trial = begin("broker-full", site.far_end)
    assert site.broker.disk
    with trial.fault(), site.broker.disk.full():
        time.sleep(scale.fault_s)
    conclude(trial, 10, "Broker's disk full", f"not a byte free for {scale.fault_s:g} s")
