"""The parts of the relay that need no broker: judgement, allow-list, registers, commands, states."""

from pathlib import Path

import orjson
import pytest
from confluent_kafka.admin import AclOperation
from hypothesis import given
from hypothesis import strategies as some
from pydantic import ValidationError

from catchment.config import Config, Role
from catchment.config.relay import RelaySettings
from catchment.errors import Conflict, NotFound
from catchment.health import Report, Reporter, State
from catchment.kafka.parties import Party
from catchment.kafka.relaying import relay_entries
from catchment.node.parts import parts_of
from catchment.node.status import Component, status_of
from catchment.records import Kind
from catchment.relay.allow import NEVER, allowed
from catchment.relay.model import Extent, Finding, Place, Position, SiteState, judge
from catchment.relay.register import IdentityFiles, Sites
from catchment.relay.states import site_states
from catchment.security.authority import Authority, Identity
from catchment.security.centres import Centres
from tests.conftest import MakeConfig
from tests.unit.conftest import RunCatchment

PLACE = Place("catchment.v1.records", 2)
OFFSETS = some.integers(min_value=0, max_value=10**6)


def position(next_offset: int, topic_id: str = "first") -> Position:
    return Position(
        site="oslo",
        topic=PLACE.topic,
        partition=2,
        topic_id=topic_id,
        next_offset=next_offset,
        leader_epoch=4,
    )


# Judgement


def test_a_source_that_is_new_is_read_from_its_beginning() -> None:
    assert judge("oslo", PLACE, None, Extent("first", 7, 9)) == (7, None)


@given(OFFSETS, OFFSETS, OFFSETS)
def test_only_what_is_there_is_read_and_what_is_not_is_named(reached: int, first: int, length: int) -> None:
    extent = Extent("first", first, first + length)
    start, incident = judge("oslo", PLACE, position(reached), extent)
    assert extent.first <= start <= extent.end
    assert (incident is None) == (extent.first <= reached <= extent.end)
    if incident is None:
        assert start == reached
    elif reached < first:
        found = (incident.finding, incident.first_offset, incident.last_offset)
        assert found == (Finding.TRUNCATED, reached, first - 1)
    else:
        found = (incident.finding, incident.first_offset, incident.last_offset)
        assert found == (Finding.SET_BACK, extent.end, reached - 1)


@pytest.mark.parametrize(("known_end", "last"), [(None, None), (50, None), (80, 79)])
def test_a_recreated_topic_is_read_from_its_beginning(known_end: int | None, last: int | None) -> None:
    start, incident = judge("oslo", PLACE, position(50), Extent("second", 3, 100), known_end)
    assert start == 3
    assert incident
    assert (incident.finding, incident.first_offset, incident.last_offset) == (Finding.RECREATED, 50, last)
    assert (incident.site, incident.topic, incident.partition) == ("oslo", *PLACE)


# What is relayed


def test_the_allow_list_has_names_and_beginnings() -> None:
    topics = {"plant.a", "plant.b", "plan", "other", "exact", "exactly"}
    assert allowed(topics, ["plant.*", "exact"]) == {"plant.a", "plant.b", "exact"}


def test_what_belongs_to_one_cluster_is_never_relayed() -> None:
    topics = {kind.topic for kind in Kind} | {"__consumer_offsets"}
    assert allowed(topics, ["catchment.v1.*", "__*"]) == {kind.topic for kind in Kind} - NEVER


@pytest.mark.parametrize("pattern", ["", "*", "a*b", "with space", "a/b", "a**"])
def test_a_pattern_that_kafka_could_not_grant_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError):
        RelaySettings.model_validate({"allow": [pattern]})


# The register of sites


@pytest.fixture
def config(make_config: MakeConfig) -> Config:
    return make_config()


@pytest.fixture
def invitation(tmp_path: Path) -> Identity:
    files = IdentityFiles(tmp_path / "invitation")
    files.fill_from(Authority(tmp_path / "authority").identity("relay.centre"))
    return files.identity


def test_a_site_keeps_its_identity_when_the_carried_files_are_gone(
    config: Config, invitation: Identity
) -> None:
    sites = Sites(config.paths.sites)
    key = invitation.key_file.read_bytes()
    sites.add("oslo", "oslo.example:9092", invitation)
    invitation.key_file.unlink()
    assert sites.identity_of("oslo").key_file.read_bytes() == key
    files = [config.paths.sites, *sites.identity_of("oslo").key_file.parent.iterdir()]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_a_paused_site_stays_paused_when_its_address_changes(config: Config, invitation: Identity) -> None:
    sites = Sites(config.paths.sites)
    sites.add("oslo", "oslo.example:9092", invitation)
    sites.pause("oslo", True)
    sites.add("oslo", "oslo.example:9192", invitation)
    assert sites.all()["oslo"].paused
    assert sites.all()["oslo"].bootstrap_servers == "oslo.example:9192"
    sites.pause("oslo", False)
    assert not sites.all()["oslo"].paused


def test_a_removed_site_leaves_no_key_behind(config: Config, invitation: Identity) -> None:
    sites = Sites(config.paths.sites)
    sites.add("oslo", "oslo.example:9092", invitation)
    sites.remove("oslo")
    assert sites.all() == {}
    assert not sites.identity_of("oslo").key_file.parent.exists()
    with pytest.raises(NotFound, match="oslo"):
        sites.remove("oslo")


def test_another_identity_is_noticed(config: Config, invitation: Identity) -> None:
    sites = Sites(config.paths.sites)
    assert sites.version_of("oslo") == 0
    sites.add("oslo", "oslo.example:9092", invitation)
    before = sites.version_of("oslo")
    sites.add("oslo", "oslo.example:9092", invitation)
    assert sites.version_of("oslo") > before > 0


# Invitations at a site


def test_an_invited_centre_may_read_and_nothing_else(config: Config) -> None:
    authority = Authority(config.paths.identities)
    centres = Centres(config.paths.centres)
    centres.invite("hq", authority)
    rights = [entry for entry in relay_entries(config) if entry.principal == "User:relay.hq"]
    assert {entry.name for entry in rights} == {*config.relay.allow, Party.RELAY.group}
    operations = {entry.operation for entry in rights}
    assert operations == {AclOperation.READ, AclOperation.DESCRIBE_CONFIGS, AclOperation.DESCRIBE}


def test_a_withdrawn_centre_has_no_right_and_is_not_invited_again(config: Config) -> None:
    authority = Authority(config.paths.identities)
    centres = Centres(config.paths.centres)
    identity = centres.invite("hq", authority)
    centres.withdraw("hq", authority)
    assert centres.names() == []
    assert not [entry for entry in relay_entries(config) if entry.principal == "User:relay.hq"]
    assert not identity.key_file.exists()
    with pytest.raises(Conflict, match="another name"):
        centres.invite("hq", authority)
    with pytest.raises(NotFound):
        centres.withdraw("hq", authority)


# States


def state(name: str, now: State) -> SiteState:
    return SiteState(name=name, bootstrap_servers="a:1", state=now, lag_records=5, restarts=3)


def test_sites_are_components_that_a_node_can_do_without(config: Config) -> None:
    sites = [state(*pair).model_dump(mode="json") for pair in [("a", State.RUNNING), ("b", State.RESTARTING)]]
    relay = Component(name="relay", state=State.RUNNING, pid=9, figures={"sites": sites})
    told = status_of(config, [relay])
    assert told.ready
    assert [(each.name, each.state) for each in told.components] == [
        ("relay", State.RUNNING),
        ("relay:a", State.RUNNING),
        ("relay:b", State.RESTARTING),
    ]
    assert (told.components[1].restarts, told.components[1].figures["lag_records"]) == (3, 5)


def test_states_are_the_relays_word_and_without_it_the_registers(
    config: Config, invitation: Identity
) -> None:
    sites = Sites(config.paths.sites)
    for name in ("a", "b"):
        sites.add(name, f"{name}:1", invitation)
    sites.pause("b", True)
    assert [(each.state, each.detail) for each in site_states(config)] == [
        (State.STOPPED, ""),
        (State.STOPPED, "paused"),
    ]
    figures = {"sites": [state("a", State.RUNNING).model_dump(mode="json")]}
    reporter = Reporter(config.paths.socket("relay"), lambda: Report(state=State.RUNNING, figures=figures))
    try:
        assert [each.state for each in site_states(config)] == [State.RUNNING, State.STOPPED]
    finally:
        reporter.close()


@pytest.mark.parametrize(
    ("role", "names"),
    [
        (Role.SITE, ["broker", "gateway", "pipeline", "notify", "api"]),
        (Role.CENTRE, ["broker", "relay", "pipeline", "notify", "api"]),
        (Role.BOTH, ["broker", "gateway", "relay", "pipeline", "notify", "api"]),
    ],
)
def test_the_relay_is_at_the_centre(make_config: MakeConfig, role: Role, names: list[str]) -> None:
    assert [part.name for part in parts_of(make_config(role=role.value))] == names


# Commands


def test_sites_are_registered_by_commands(run_catchment: RunCatchment, invitation: Identity) -> None:
    folder = str(invitation.key_file.parent)
    assert run_catchment("site", "add", "oslo", "--bootstrap", "h:1", "--identity", folder).returncode == 0
    assert run_catchment("site", "pause", "oslo").returncode == 0
    listed = orjson.loads(run_catchment("site", "list", "--json").stdout)
    assert [(each["name"], each["state"], each["paused"]) for each in listed] == [("oslo", "stopped", True)]
    assert run_catchment("site", "resume", "oslo").returncode == 0
    assert run_catchment("site", "remove", "oslo").returncode == 0
    assert run_catchment("site", "remove", "oslo").returncode == 1


def test_a_site_needs_an_identity(run_catchment: RunCatchment, tmp_path: Path) -> None:
    for arguments in (["--ca", "x"], ["--identity", str(tmp_path / "nothing")]):
        assert run_catchment("site", "add", "oslo", "--bootstrap", "h:1", *arguments).returncode == 2


def test_an_invitation_is_written_while_the_node_is_down(run_catchment: RunCatchment, tmp_path: Path) -> None:
    answer = run_catchment("site", "invite", "hq", "--to", str(tmp_path / "hq"), "--json")
    assert answer.returncode == 0, answer.stderr
    told = orjson.loads(answer.stdout)
    assert (told["centre"], told["granted"]) == ("hq", False)
    files = list((tmp_path / "hq").iterdir())
    assert sorted(file.name for file in files) == ["ca.crt", "relay.crt", "relay.key"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


@pytest.mark.parametrize("group", ["site", "centre"])
def test_each_side_has_a_command_that_brings_it_up(run_catchment: RunCatchment, group: str) -> None:
    # Too much free space is asked for, so that it ends where the machine is checked.
    broken = {"CATCHMENT_MIN_FREE_MIB": str(2**40)}
    answer = run_catchment(group, "up", environment=broken)
    assert answer.returncode == 2
    assert "machine" in answer.stderr
