"""`kill -9` of any component, of all and of the supervisor while lines flow: the counts stay exact."""

import json
import os
import signal
import subprocess
from collections import Counter
from typing import Any

import pytest

from catchment.health import ask
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from tests.running_node import RunningNode

RATE = 2500
COUNT = 10_000
PARTS = ["broker", "gateway", "pipeline", "notify", "api"]


def send_lines(node: RunningNode) -> "subprocess.Popen[bytes]":
    """A sender whose lines have begun to come to Kafka."""
    confirmed = gateway_figures(node)["confirmed"]
    sender = node.spawn(
        "simulate",
        "lines",
        "--rate",
        str(RATE),
        "--count",
        str(COUNT),
        "--providers",
        "2",
        stderr=subprocess.DEVNULL,
    )
    node.wait_until(lambda: gateway_figures(node)["confirmed"] > confirmed)
    return sender


def gateway_figures(node: RunningNode) -> dict[str, Any]:
    return ask(node.config.paths.socket("gateway")).figures


def kill_parts(node: RunningNode, names: list[str]) -> None:
    killed = {name: node.components()[name] for name in names}
    for part in killed.values():
        assert part.pid
        os.kill(part.pid, signal.SIGKILL)
    node.wait_until(
        lambda: all(node.components()[name].restarts > part.restarts for name, part in killed.items())
    )


def records_in_kafka(node: RunningNode) -> Counter[Source]:
    """Counted without the ledger: how many different records of each source are in Kafka."""
    seen: set[Stamp] = set()
    for message in read_all(node.config, Party.OPERATOR, Kind.RECORDS.topic):
        header = dict(message.headers() or [])[STAMP_HEADER]
        assert isinstance(header, bytes)
        stamp = Stamp.decode(header)
        seen.add(Stamp(stamp.source, stamp.sequence, 0))
    return Counter(stamp.source for stamp in seen)


def proven(node: RunningNode) -> dict[Source, int]:
    """What `catchment verify` says was received of each source, when nothing is missing."""
    result = node.call("verify", "--json", "--wait-s", "60")
    assert result.stdout, result.stderr
    proof = json.loads(result.stdout)
    assert (result.returncode, proof["missing"], proof["under_way"]) == (0, 0, 0), proof
    assert proof["sent"] == proof["received"]
    return {
        Source(row["site"], row["gateway"], row["epoch"], row["stream"]): row["received"]
        for row in proof["streams"]
    }


def count_before(node: RunningNode) -> int:
    node.wait_until_ready()
    return records_in_kafka(node).total()


def check_counts(node: RunningNode) -> int:
    """The ledger agrees with Kafka, source by source; gives the number of records in all."""
    node.wait_until_ready()
    node.wait_until(lambda: gateway_figures(node)["behind_bytes"] == 0)
    in_kafka = records_in_kafka(node)
    assert proven(node) == in_kafka
    return in_kafka.total()


@pytest.mark.parametrize("names", [["broker"], ["pipeline"], ["api"], ["gateway"], PARTS], ids="+".join)
def test_after_the_death_of_parts_the_counts_are_exact(whole_node: RunningNode, names: list[str]) -> None:
    before = count_before(whole_node)
    sender = send_lines(whole_node)
    kill_parts(whole_node, names)
    assert sender.wait(120) == 0
    assert check_counts(whole_node) - before == COUNT


def test_after_the_death_of_the_supervisor_the_counts_are_exact(whole_node: RunningNode) -> None:
    before = count_before(whole_node)
    sender = send_lines(whole_node)
    whole_node.stop_by(signal.SIGKILL)
    whole_node.start()
    assert sender.wait(120) == 0
    assert check_counts(whole_node) - before == COUNT
