"""Three real instances of `catchment serve` share the twins, answer for each other, and take over."""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from subprocess import Popen

import httpx
import orjson
import pytest

from catchment.config import Config
from catchment.health import State
from catchment.kafka.hashing import murmur2
from catchment.kafka.topics import TOPICS
from catchment.records import Kind
from catchment.security.authority import Authority
from catchment.security.tokens import Scope, Tokens
from catchment.twins.model import Twin
from tests.conftest import free_ports
from tests.running_part import report_of, running_part
from tests.serving import ServedNode
from tests.twins import TwinWriter, eventually, twin, type_of

PATH = "/api/v1/twins"
LINES = {"Accept": "application/x-ndjson"}
NAMES = ("one", "two", "three")
OBJECTS = 400
PARTITIONS = TOPICS[Kind.TWINS].partitions
BACK_WITHIN_S = 10.0
MINE = 'id like "shared-*"'


class Instances:
    """The instances by their names."""

    def __init__(self, configs: dict[str, Config], processes: "dict[str, Popen[bytes]]", token: str) -> None:
        self.configs = configs
        self.processes = processes
        self._token = token

    def client(self, name: str) -> httpx.Client:
        return ServedNode(self.configs[name]).client(self._token)

    def held(self, name: str) -> set[int]:
        report = report_of(self.configs[name], f"api-{name}")
        return set(report.figures["partitions"]) if report else set()

    def is_settled(self, count: int) -> bool:
        held = [self.held(name) for name in NAMES[-count:]]
        return set().union(*held) == set(range(PARTITIONS)) and sum(map(len, held)) == PARTITIONS


@pytest.fixture(scope="module")
def instances(cluster: Config) -> Iterator[Instances]:
    writer = TwinWriter(cluster)
    writer.types(type_of("machine"))
    writer.put(shared())
    token = Tokens(cluster.paths.tokens).create("instances", frozenset(Scope))
    configs, processes = {}, {}
    with ExitStack() as stack:
        for name, port in zip(NAMES, free_ports(len(NAMES)), strict=True):
            changed = {
                "api": cluster.api.model_copy(update={"port": port}),
                "twin_view": cluster.twin_view.model_copy(update={"instance": name}),
            }
            configs[name] = cluster.model_copy(update=changed)
            processes[name] = stack.enter_context(running_part(configs[name], "serve", f"api-{name}"))
        running = Instances(configs, processes, token)
        eventually(lambda: running.is_settled(3), timeout_s=60)
        yield running


def shared() -> list[Twin]:
    return [twin(f"shared-{number}", values={"number": number}) for number in range(OBJECTS)]


def owner_of(instances: Instances, identifier: str) -> str:
    partition = murmur2(f"local/{identifier}".encode()) % PARTITIONS
    return next(name for name in NAMES if partition in instances.held(name))


def test_any_instance_shows_any_object(instances: Instances) -> None:
    for name in NAMES:
        with instances.client(name) as client:
            for number in range(0, OBJECTS, 40):
                found = client.get(f"{PATH}/shared-{number}")
                assert found.json()["values"] == {"number": number}, found.text
            assert client.get(f"{PATH}/shared-absent").status_code == 404
            page = client.get(PATH, params={"where": MINE, "sort": "-number", "limit": 3}).json()
            assert [each["values"]["number"] for each in page["items"]] == [399, 398, 397]
            lines = client.get(PATH, params={"where": MINE}, headers=LINES).text.splitlines()
            assert len(lines) == OBJECTS + 1
            assert orjson.loads(lines[-1]) == {"missing_partitions": []}
    assert {owner_of(instances, f"shared-{number}") for number in range(40)} == set(NAMES)


def test_a_stream_tells_of_changes_that_another_instance_holds(instances: Instances) -> None:
    writer = TwinWriter(instances.configs["one"])
    names = [f"shared-live-{number}" for number in range(6)]
    with (
        instances.client("two") as client,
        client.stream(
            "GET", PATH, params={"where": 'id like "shared-live-*"'}, headers={"Accept": "text/event-stream"}
        ) as response,
    ):
        lines = (line for line in response.iter_lines() if line.startswith("data: "))
        assert orjson.loads(next(lines).removeprefix("data: ")) == {"missing_partitions": []}
        writer.put([twin(name) for name in names])
        told = {orjson.loads(next(lines).removeprefix("data: "))["id"] for _ in names}
    assert told == set(names)
    for name in names:
        writer.delete(twin(name, 2))


def test_only_instances_of_ours_are_answered(instances: Instances, cluster: Config) -> None:
    report = report_of(instances.configs["one"], "api-one")
    assert report is not None
    port = report.figures["peer_port"]
    stranger = Authority(cluster.paths.identities).identity("provider.stranger")
    context = ssl.create_default_context(cafile=str(stranger.ca_file))
    assert answer_to(context, port) == b""
    context.load_cert_chain(stranger.certificate_file, stranger.key_file)
    assert answer_to(context, port) == b""
    ours = Authority(cluster.paths.identities).identity("api")
    context.load_cert_chain(ours.certificate_file, ours.key_file)
    assert b"shared-" in answer_to(context, port)


def answer_to(context: ssl.SSLContext, port: int) -> bytes:
    """What an instance says to somebody who asks for objects by id, until one is there."""
    answer = b""
    with (
        suppress(OSError),
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        for number in range(10):
            key = f"local/shared-{number}".encode()
            secure.sendall(struct.pack(">IIB", 5 + len(key), number, 1) + key)
        while b"shared-" not in answer and (some := secure.recv(4096)):
            answer += some
    return answer


def test_a_killed_instance_costs_seconds_and_no_wrong_answer(instances: Instances) -> None:
    wrong: list[str] = []
    partial_at_s: list[float] = []
    whole_at_s: list[float] = []
    stop = threading.Event()

    def ask() -> None:
        with instances.client("two") as client:
            number = 0
            while not stop.is_set():
                number = (number + 1) % OBJECTS
                one = client.get(f"{PATH}/shared-{number}")
                if one.status_code != 200 and (one.status_code, one.json()["code"]) != (
                    503,
                    "partitions-missing",
                ):
                    wrong.append(one.text)
                lines = client.get(PATH, params={"where": MINE}, headers=LINES).text.splitlines()
                missing = orjson.loads(lines[-1])["missing_partitions"]
                if not missing and len(lines) != OBJECTS + 1:
                    wrong.append(f"{len(lines)} lines, and nothing is said to be missing")
                (partial_at_s if missing or one.status_code != 200 else whole_at_s).append(time.monotonic())

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        eventually(lambda: len(whole_at_s) > 3)
        instances.processes["one"].kill()
        killed_s = time.monotonic()
        eventually(lambda: instances.is_settled(2), timeout_s=30)
        time.sleep(0.5)
    finally:
        stop.set()
        asking.join()
    assert wrong == []
    assert partial_at_s
    assert max(partial_at_s) - killed_s < BACK_WITHIN_S
    assert max(whole_at_s) > max(partial_at_s)
    with instances.client("three") as client:
        lines = client.get(PATH, params={"where": MINE}, headers=LINES).text.splitlines()
    shown = {each["id"]: each for each in map(orjson.loads, lines[:-1])}
    assert shown == {each.id: each.model_dump() for each in shared()}
    report = report_of(instances.configs["two"], "api-two")
    assert report is not None
    assert (report.state, report.figures["instances"]) == (State.RUNNING, 2)
