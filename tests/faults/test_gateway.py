"""The gateway is cut off, dies, loses power, or has no room left, while numbered lines flow."""

import time

from tests.faults.conftest import Begin, Conclude, Site
from tests.faults.trial import Scale


def test_gateway_cut_off(site: Site, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    trial = begin("gateway-cut", site.far_end)
    with trial.fault(), site.gateway.host.cut_off():
        time.sleep(scale.fault_s)
    conclude(trial, 5, "Gateway cut off", f"no packet to or from its host for {scale.fault_s:g} s")


def test_gateway_killed(site: Site, begin: Begin, conclude: Conclude) -> None:
    trial = begin("gateway-killed", site.far_end)
    with trial.fault():
        site.gateway.kill("gateway")
    conclude(trial, 6, "Gateway killed", "`kill -9` of its process")


def test_gateway_without_power(site: Site, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    trial = begin("gateway-power", site.far_end)
    with trial.fault():
        site.gateway.lose_power()
        time.sleep(scale.fault_s)
    site.gateway.get_power_back()
    conclude(
        trial,
        7,
        "Gateway's host without power",
        f"all of it gone at one moment; after {scale.fault_s:g} s it starts with its disk as it was then",
    )


def test_gateway_without_room(site: Site, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    trial = begin("gateway-full", site.far_end)
    assert site.gateway.disk
    with trial.fault(), site.gateway.disk.full():
        time.sleep(scale.fault_s)
    conclude(trial, 9, "Gateway's disk full", f"not a byte free for {scale.fault_s:g} s")
