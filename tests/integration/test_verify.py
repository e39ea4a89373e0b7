"""`catchment verify` at every hop, from a site's gateway to the centre, and what it says of a lost record."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from catchment.kafka.clients import admin, read_all
from catchment.kafka.identities import bootstrap_servers
from catchment.kafka.parties import Party
from catchment.records import Kind
from tests.conftest import MakeConfig
from tests.running_node import RunningNode, running_node

COUNT = 3_000
DELETED = 5
TIMEOUT_S = 30.0


@pytest.fixture(scope="module")
def site(make_config: MakeConfig) -> Iterator[RunningNode]:
    """A whole site of its own: what is deleted there concerns nobody else."""
    config = make_config(site="oslo", role="site", min_free_mib=100, pipeline={"checkpoint_interval_s": 5})
    with running_node(config) as node:
        node.wait_until_ready()
        sent = node.call("simulate", "lines", "--count", str(COUNT), "--rate", "0", "--json")
        assert json.loads(sent.stdout)["sent"] == COUNT
        yield node


@pytest.fixture(scope="module")
def centre(site: RunningNode, whole_node: RunningNode) -> Iterator[RunningNode]:
    """The shared node, relaying from the site for as long as these tests run."""
    folder = str(site.config.data_dir / "hq")
    checked(site.call("site", "invite", "hq", "--to", folder))
    servers = bootstrap_servers(site.config)
    checked(whole_node.call("site", "add", "oslo", "--bootstrap", servers, "--identity", folder))
    yield whole_node
    checked(whole_node.call("site", "remove", "oslo"))


def checked(result: "subprocess.CompletedProcess[str]") -> str:
    assert result.returncode == 0, result.stderr
    return result.stdout


def stream_of(proof: dict[str, Any]) -> dict[str, Any]:
    (stream,) = [each for each in proof["streams"] if each["site"] == "oslo"]
    return dict(stream)


def test_the_centre_compares_at_the_site_and_here(site: RunningNode, centre: RunningNode) -> None:
    def both_have_all() -> bool:
        proof = json.loads(centre.call("verify", "--json", "--wait-s", "0").stdout)
        ours = [each for each in proof["streams"] if each["site"] == "oslo"]
        return [hop["received"] for each in ours for hop in each["hops"]] == [COUNT] * 4

    centre.wait_until(both_have_all)
    stream = stream_of(json.loads(checked(centre.call("verify", "--json"))))
    assert [(hop["node"], hop["stage"]) for hop in stream["hops"]] == [
        ("oslo", "broker"),
        ("oslo", "lake"),
        ("local", "broker"),
        ("local", "lake"),
    ]
    figures = [stream[name] for name in ("sent", "received", "missing", "under_way", "duplicated")]
    assert figures == [COUNT, COUNT, 0, 0, 0]
    table = checked(centre.call("verify"))
    heading = table.splitlines()[0]
    columns = ("accepted", "at its site", "lake at its site", "at local", "lake at local")
    places = [heading.index(f" {column}") for column in columns]
    assert places == sorted(places)


def test_a_recount_says_the_same(site: RunningNode) -> None:
    told, counted = (
        json.loads(checked(site.call("verify", "--json", *recount))) for recount in ([], ["--recount"])
    )
    assert counted == told


def test_a_deleted_record_is_found_and_named(site: RunningNode) -> None:
    # All of it has come to the ledger before: what is deleted now is missed by the recount alone.
    checked(site.call("verify", "--wait-s", "60"))
    (partition,) = {
        message.partition() for message in read_all(site.config, Party.OPERATOR, Kind.RECORDS.topic)
    }
    place = TopicPartition(Kind.RECORDS.topic, partition or 0, DELETED)
    client = admin(site.config)
    for deletion in client.delete_records([place]).values():
        deletion.result(TIMEOUT_S)
    checked(site.call("verify"))
    result = site.call("verify", "--recount", "--json")
    stream = stream_of(json.loads(result.stdout))
    assert result.returncode == 1
    assert (stream["stream"], stream["missing"], stream["gaps"]) == ("sim-1", DELETED, [[1, DELETED]])
    said = site.call("verify", "--recount").stdout
    assert f"missing at oslo (broker): 1 to {DELETED} of sim-1" in said
