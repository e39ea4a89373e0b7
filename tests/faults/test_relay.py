"""The relay dies, the centre is away, or the link between them is weak, while numbered lines flow."""

import random
import time

from tests.faults.conftest import Begin, Centre, Conclude, Site
from tests.faults.machines import wait_until
from tests.faults.trial import Scale

SEED = 4
KBIT_PER_S = 2_000


def test_relay_killed_again_and_again(centre: Centre, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    trial = begin("relay-killed", centre.far_end)
    moments = random.Random(SEED)
    for _ in range(scale.kills):
        with trial.fault():
            centre.machine.kill("relay")
        time.sleep(moments.uniform(1, 3))
    conclude(
        trial,
        8,
        "Relay killed",
        f"`kill -9` of its process {scale.kills} times, at random moments (seed {SEED})",
    )


def test_centre_away(site: Site, centre: Centre, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    with centre.machine.host.cut_off():
        trial = begin("centre-away", centre.far_end, flowing=False)
        with trial.fault():
            time.sleep(scale.fault_s + scale.flow_s)
            sent, streams = trial.sending.finish(), trial.sending.streams
            wait_until(lambda: site.far_end.distinct(streams) == sent, "all lines at the site's own consumer")
            assert centre.far_end.distinct(streams) == 0
    done = "cut off before the first line, and until the site itself had them all"
    conclude(trial, 11, "Centre away", done, flowing=False)


def test_weak_links(site: Site, centre: Centre, begin: Begin, conclude: Conclude, scale: Scale) -> None:
    moments = random.Random(SEED)
    trial = begin("weak-links", centre.far_end)
    hosts = site.gateway.host, centre.machine.host
    with trial.fault(), hosts[0].narrow(KBIT_PER_S), hosts[1].narrow(KBIT_PER_S):
        for number in range(scale.kills):
            time.sleep(moments.uniform(0.5, 2))
            with hosts[number % 2].cut_off():
                time.sleep(moments.uniform(0.2, 2))
    conclude(
        trial,
        12,
        "Weak links of gateway and centre",
        f"{KBIT_PER_S / 1000:g} Mbit/s, and cut {scale.kills} times for up to 2 s, by turns (seed {SEED})",
    )
