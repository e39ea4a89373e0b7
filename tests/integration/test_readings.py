"""A reading on its whole way through a node: to people, the lake, PostgreSQL, the proof, and to its twin."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from catchment.health import State
from tests.conftest import MakeConfig, free_ports
from tests.postgres import Postgres, running_postgres
from tests.receivers import MailReceiver, TelegramReceiver
from tests.running_node import RunningNode, running_node

TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
READINGS = 60
# It cools so fast that it is below the limit after little more than a second, and stays there.
COOLING = ("--start", "90", "--target", "-200", "--noise", "0", "--spikes", "0", "--interval", "50")


class Plant(NamedTuple):
    """A node with a fast store, and those that it tells."""

    node: RunningNode
    postgres: Postgres
    telegram: TelegramReceiver
    mail: MailReceiver


@pytest.fixture(scope="module")
def plant(make_config: MakeConfig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    database, bot, post = free_ports(3)
    telegram, mail = TelegramReceiver(bot, TOKEN), MailReceiver(post)
    token_file: Path = tmp_path_factory.mktemp("bot") / "token"
    token_file.write_text(TOKEN)
    channels = {
        "phone": {
            "kind": "telegram",
            "token_file": str(token_file),
            "chat_id": "42",
            "api_url": telegram.url,
        },
        "post": {
            "kind": "mail",
            "host": "127.0.0.1",
            "port": post,
            "security": "none",
            "sender": "node@plant.example",
            "to": "team@plant.example",
        },
    }
    with ExitStack() as stack:
        postgres = stack.enter_context(running_postgres(database))
        stack.enter_context(telegram.open())
        stack.enter_context(mail.open())
        config = make_config(
            min_free_mib=100,
            lake={"interval_s": 0.5},
            alerts={"channels": channels},
            store={"postgres": {"fast": postgres.settings()}},
        )
        node = stack.enter_context(running_node(config))
        node.wait_until_ready()
        yield Plant(node, postgres, telegram, mail)


def checked(result: "subprocess.CompletedProcess[str]") -> str:
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_readings_reach_people_stores_and_the_proof(plant: Plant) -> None:
    call = plant.node.call
    checked(call("rules", "add", "hot", "--field", "temperature", "--above", "80", "--hysteresis", "2"))
    sending = ("simulate", "sensors", "--sensor", "oven", "--register", "--count", str(READINGS), "--json")
    sent = json.loads(checked(call(*sending, *COOLING)))
    assert sent["sent"] == READINGS

    received = (plant.telegram, plant.mail)
    plant.node.wait_until(lambda: all(len(each.texts) >= 2 for each in received), timeout_s=120)
    # A store that has told nothing yet is no hop; it tells what it has every other second.
    plant.node.wait_until(lambda: len(hops_of(json.loads(call("verify", "--json").stdout))) == 3)
    proof = json.loads(checked(call("verify", "--json")))
    assert hops_of(proof) == [(stage, READINGS, 0) for stage in ("broker", "lake", "postgres")]
    assert (proof["sent"], proof["missing"], proof["holds"]) == (READINGS, 0, True)

    phases = [("oven", "START"), ("oven", "END")]
    in_postgres = "SELECT count(*), min(temperature) < 78, max(delay_ms) > 0 FROM catchment.temperature_data"
    assert plant.postgres.rows(in_postgres) == [(READINGS, True, True)]
    of_events = "SELECT sensor_id, phase FROM catchment.temperature_threshold_exceeded ORDER BY sequence"
    assert plant.postgres.rows(of_events) == phases
    question = "SELECT count(DISTINCT sequence) AS readings FROM temperature_data WHERE sensor_id = 'oven'"
    # The proof is of records; the measurements made of them may be in the next batch.
    plant.node.wait_until(
        lambda: json.loads(call("sql", question, "--json").stdout or "[]") == [{"readings": READINGS}],
        timeout_s=120,
    )

    for each in received:
        raised, cleared = each.texts
        assert "oven" in raised
        assert "Simulator" in raised
        assert "no longer above 80" in cleared


def test_a_recount_says_the_same(plant: Plant) -> None:
    told, counted = (
        json.loads(checked(plant.node.call("verify", "--json", *recount))) for recount in ([], ["--recount"])
    )
    assert counted["holds"]
    assert [hops_of(counted), READINGS] == [hops_of(told), counted["received"]]


def test_objects_are_made_changed_refused_found_and_fed(plant: Plant) -> None:
    call = plant.node.call
    values = ("--value", "temperature=number", "--value", "count=integer", "--required", "temperature")
    checked(call("register", "twin-type", "add", "kiln", *values))
    feed = ("--subject", "TemperatureData", "--type", "kiln", "--value", "temperature=temperature")
    checked(call("register", "twin-feed", "add", "kilns", *feed))
    plant.node.wait_until(lambda: awake(plant.node) >= {"query:twins", "query:twin-feed-measurements"})

    checked(call("twins", "create", "kiln-1", "--type", "kiln", "temperature=20", "--wait", "30"))
    checked(call("twins", "change", "kiln-1", "temperature=90", "count+=2", "--wait", "30"))
    refused = call("twins", "change", "kiln-1", "colour=red", "--wait", "30")
    assert (refused.returncode, "colour" in refused.stderr) == (1, True)
    checked(call("simulate", "sensors", "--sensor", "kiln-2", "--register", "--count", "1", *COOLING))
    plant.node.wait_until(lambda: call("twins", "get", "kiln-2").returncode == 0, timeout_s=120)

    found = json.loads(checked(call("twins", "search", "temperature > 80", "--sort", "id", "--json")))
    assert [(twin["id"], twin["version"], twin["owner"]) for twin in found] == [
        ("kiln-1", 2, "token/operator"),
        ("kiln-2", 1, "feed/kilns"),
    ]
    assert found[0]["values"] == {"temperature": 90.0, "count": 2}


def awake(node: RunningNode) -> set[str]:
    status = node.status()
    return {
        each.name
        for each in (status.components if status else [])
        if each.state is State.RUNNING and each.figures.get("resting") is False
    }


def hops_of(proof: dict[str, Any]) -> list[tuple[str, int, int]]:
    (stream,) = proof["streams"]
    return [(hop["stage"], hop["received"], hop["missing"]) for hop in stream["hops"]]
