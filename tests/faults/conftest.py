"""A site and a centre on hosts of their own, shared by all fault tests."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from catchment.kafka.identities import bootstrap_servers
from catchment.node.first_start import issue_identities
from catchment.relay.register import Sites
from catchment.security.authority import Authority
from catchment.security.centres import Centres
from tests.conftest import MakeConfig
from tests.faults.hosts import CannotMakeHosts, Host, Network
from tests.faults.machines import Machine, share_identities
from tests.faults.outcome import FULL_RUNS, SHORT_RUNS
from tests.faults.power import CannotMount, Disk
from tests.faults.traffic import FarEnd, Sending
from tests.faults.trial import FULL, SHORT, Scale, Trial

BROKER_DISK_MIB = 1024
GATEWAY_DISK_MIB = 64
TOOLS = ("ip", "tc", "nsenter", "mkfs.ext4", "mount")
# So that a part that dies often comes back as quickly as one that dies once.
QUICK = {"supervisor": {"restart_backoff_max_s": 0.5}}


@dataclass(frozen=True)
class Site:
    """Devices, a gateway, a broker and a consumer, each on a host of its own."""

    devices: Host
    gateway: Machine
    broker: Machine
    far_end: FarEnd


@dataclass(frozen=True)
class Centre:
    """A broker and the relay on one host, a consumer on another."""

    machine: Machine
    far_end: FarEnd


class Begin(Protocol):
    """Lets lines flow, and gives the trial when the first have come to the far end."""

    def __call__(self, name: str, far_end: FarEnd, *, flowing: bool = True) -> Trial: ...


class Conclude(Protocol):
    """Judges a trial, after some more lines have come: nothing lost, nothing twice, nothing out of order."""

    def __call__(self, trial: Trial, number: int, fault: str, done: str, *, flowing: bool = True) -> None: ...


@pytest.fixture(scope="session")
def scale(request: pytest.FixtureRequest) -> Scale:
    return FULL if request.config.getoption("--full") else SHORT


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"these commands are missing: {', '.join(missing)}")
    try:
        network = Network()
    except CannotMakeHosts as error:
        pytest.skip(f"no hosts can be made here: {error}")
    yield network
    network.close()


@pytest.fixture(scope="session")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Iterator["MakeDisk"]:
    with ExitStack() as stack:

        def make(directory: Path, mib: int) -> Disk:
            image = tmp_path_factory.mktemp("disk") / "image"
            try:
                disk = Disk(image, directory, mib)
            except CannotMount as error:
                pytest.skip(f"no disk of its own can be mounted here: {error}")
            stack.callback(disk.unmount)
            return disk

        yield make


class MakeDisk(Protocol):
    """Makes a disk, mounted at a directory until the end of the run."""

    def __call__(self, directory: Path, mib: int) -> Disk: ...


@pytest.fixture(scope="session")
def site(network: Network, make_config: MakeConfig, disks: MakeDisk) -> Iterator[Site]:
    devices, gateway, broker, reader = map(network.host, ("devices", "gateway", "broker", "reader"))
    usual: dict[str, Any] = {"site": "oslo", "role": "site", "kafka": {"host": broker.address}, **QUICK}
    brokers = make_config(**usual)
    usual["kafka"] = brokers.kafka.model_dump(include={"host", "port", "controller_port"})
    # Small files, because the spool frees room on its small disk by whole files.
    spool = {"segment_mib": 4}
    gateways = make_config(**usual, gateway={"host": gateway.address, "spool": spool})
    readers = make_config(**usual)
    issue_identities(brokers)
    Centres(brokers.paths.centres).invite("hq", Authority(brokers.paths.identities))
    for config in (gateways, readers):
        share_identities(brokers, config)
    broker_disk = disks(brokers.paths.kafka, BROKER_DISK_MIB)
    gateway_disk = disks(gateways.paths.spool, GATEWAY_DISK_MIB)
    site = Site(
        devices,
        Machine(gateway, gateways, ("gateway",), gateway_disk),
        Machine(broker, brokers, ("broker",), broker_disk),
        FarEnd(Machine(reader, readers, ())),
    )
    with ExitStack() as stack:
        for machine in (site.broker, site.gateway):
            stack.callback(machine.stop)
            machine.start()
            machine.wait_until_ready()
        site.far_end.start()
        stack.callback(site.far_end.close)
        yield site


@pytest.fixture(scope="session")
def centre(site: Site, network: Network, make_config: MakeConfig) -> Iterator[Centre]:
    """A centre that relays from the site."""
    host, reader = map(network.host, ("centre", "analyst"))
    usual: dict[str, Any] = {"site": "hq", "role": "centre", "kafka": {"host": host.address}, **QUICK}
    config = make_config(**usual)
    usual["kafka"] = config.kafka.model_dump(include={"host", "port", "controller_port"})
    readers = make_config(**usual)
    issue_identities(config)
    share_identities(config, readers)
    brokers = site.broker.config
    invitation = Centres(brokers.paths.centres).invite("hq", Authority(brokers.paths.identities))
    Sites(config.paths.sites).add("oslo", bootstrap_servers(brokers), invitation)
    centre = Centre(Machine(host, config, ("broker", "relay")), FarEnd(Machine(reader, readers, ())))
    with ExitStack() as stack:
        stack.callback(centre.machine.stop)
        centre.machine.start()
        centre.machine.wait_until_ready()
        centre.far_end.start()
        stack.callback(centre.far_end.close)
        yield centre


@pytest.fixture
def begin(site: Site, scale: Scale) -> Iterator[Begin]:
    with ExitStack() as stack:

        def start(name: str, far_end: FarEnd, *, flowing: bool = True) -> Trial:
            for machine in (site.broker, site.gateway):
                machine.wait_until_ready()
            sending = Sending(site.gateway, site.devices, name, scale.rate)
            stack.callback(sending.close)
            trial = Trial(sending, far_end, scale)
            if flowing:
                trial.let_flow()
            return trial

        yield start


@pytest.fixture
def conclude(request: pytest.FixtureRequest) -> Conclude:
    def judge(trial: Trial, number: int, fault: str, done: str, *, flowing: bool = True) -> None:
        if flowing:
            trial.let_flow()
        outcome = trial.outcome(number, fault, done)
        outcome.save(FULL_RUNS if request.config.getoption("--full") else SHORT_RUNS)
        assert (outcome.lost, outcome.twice, outcome.out_of_order) == (0, 0, 0), outcome
        assert outcome.recovery_s < float("inf"), outcome

    return judge
