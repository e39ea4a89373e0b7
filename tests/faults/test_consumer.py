"""The consumer is cut off while numbered lines flow."""

import time

from tests.faults.conftest import Begin, Conclude, Site
from tests.faults.trial import Scale


def test_consumer_cut_off(site: Site, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    trial = begin("consumer-cut", site.far_end)
    with trial.fault(), site.far_end.machine.host.cut_off():
        time.sleep(scale.fault_s)
    conclude(trial, 4, "Consumer cut off", f"no packet to or from its host for {scale.fault_s:g} s")
