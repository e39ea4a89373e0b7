"""Split, apply and view killed at random moments while messages flow: twins are what the model says.

Sometimes objects are kept in RocksDB, sometimes in memory: each goes on where the other was killed.
"""

import os
import random
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from confluent_kafka import Message

from catchment.config import Config
from catchment.config.twins import StateStore
from catchment.kafka.clients import consumer, end_offsets, producer, read_all
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.security.tokens import Scope, Tokens
from catchment.twins.model import Change, TwinMessage
from tests import twinning
from tests.running_node import clean_environment
from tests.running_part import running_part
from tests.serving import ServedNode
from tests.twins_model import Model, Sent

# `CATCHMENT_TEST_KILLS=20` takes some minutes.
KILLS = int(os.environ.get("CATCHMENT_TEST_KILLS", "2"))
WAIT_S = 150.0
SITE = "twins-killed"
SOURCES = [Source(SITE, f"api-{number}", 1, "twins") for number in range(3)]
OBJECTS = [f"o{number}" for number in range(40)]
TYPE = twinning.twin_type(SITE, "kiln", twinning.KILN)
# The two queries alone, in a Spark of their own.
PROGRAM = """
import sys
from pathlib import Path
from catchment.config import load
from catchment.pipeline import session
from catchment.pipeline.queries import TWINS
from catchment.pipeline.query import start

config = load(Path(sys.argv[1]))
spark = session.create(config.pipeline, 40, config.paths.data / "spark")
queries = [start(query, spark, config) for query in TWINS]
spark.streams.awaitAnyTermination()
"""

pytestmark = pytest.mark.timeout(WAIT_S * (KILLS + 2))

Sequences = dict[str, list[dict[str, Any]]]


@pytest.fixture
def config(cluster: Config, tmp_path: Path) -> Config:
    """A pipeline of its own beside the shared broker."""
    (tmp_path / "identities").symlink_to(cluster.paths.identities)
    pipeline = cluster.pipeline.model_copy(update={"checkpoint_interval_s": 5})
    return cluster.model_copy(update={"site": SITE, "data_dir": tmp_path, "pipeline": pipeline})


@contextmanager
def messages_flowing(config: Config, sent: Sequences) -> Iterator[None]:
    """Writes messages all the time, and notes what each source said of every object."""
    ended = threading.Event()
    thread = threading.Thread(target=_write, args=(config, ended, sent))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _write(config: Config, ended: threading.Event, sent: Sequences) -> None:
    chance, writer, number = random.Random(5), producer(config, Party.API), 0
    while not ended.wait(0.1):
        number += 1
        for source in SOURCES:
            objects = {name: _wish(chance) for name in chance.sample(OBJECTS, 15)}
            body = {"transaction": f"t{number}", "user": "token/test", "objects": objects}
            header = twinning.stamp(source, number, origin_ms=number)
            writer.produce(Kind.TWIN_MESSAGES.topic, orjson.dumps(body), source.key, headers=[header])
            for name in objects:
                sent[f"{source.gateway}/{name}"].append({"number": number, "change": objects[name]})
        assert writer.flush(30) == 0


def _wish(chance: random.Random) -> dict[str, Any]:
    action = chance.choice(["put"] * 12 + ["change", "create", "delete", "mark-deleted"])
    if action in ("delete", "mark-deleted"):
        return {"action": action}
    values = {
        "serial": {"set": "k1"},
        "heat": chance.choice([{"set": chance.randint(0, 3)}, {"add": 0.5}, {"unset": True}]),
        "runs": chance.choice([{"add": 1}, {"add": -1}, {"set": 0}, {"set": 9}]),
    }
    return {"action": action, "type": "kiln", "values": values}


@contextmanager
def twins_running(config: Config, store: StateStore) -> Iterator[None]:
    """Both queries, killed at the end."""
    file = config.data_dir / "twins.yaml"
    values = config.model_dump(mode="json", exclude_none=True)
    file.write_text(yaml.safe_dump({**values, "twins": {"state_store": store.value}}))
    errors = (config.data_dir / "twins.err").open("ab")
    command = [sys.executable, "-c", PROGRAM, str(file)]
    with errors, subprocess.Popen(command, env=clean_environment(), stderr=errors) as process:
        try:
            yield
        finally:
            process.kill()


def written(config: Config, kind: Kind) -> Iterator[tuple[str, Message]]:
    """What is on a topic of this site's objects, by their ids."""
    for message in read_all(config, Party.OPERATOR, kind.topic):
        site, _, identifier = (message.key() or b"").decode().partition("/")
        if site == SITE:
            yield identifier, message


def rows_on(config: Config, kind: Kind) -> int:
    looking = consumer(config, Party.OPERATOR)
    try:
        return sum(end_offsets(looking, kind.topic).values())
    finally:
        looking.close()


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def stamp_of(message: Message) -> Stamp:
    header = dict(message.headers() or [])[STAMP_HEADER]
    assert isinstance(header, bytes)
    return Stamp.decode(header)


def changes_on_topic(config: Config) -> dict[str, list[Sent]]:
    """What split made, of every object, in the order in which it is applied."""
    found: dict[str, list[Sent]] = defaultdict(list)
    for identifier, message in written(config, Kind.TWIN_CHANGES):
        stamp = stamp_of(message)
        change = Change.model_validate_json(message.value() or b"")
        found[identifier].append(Sent(stamp.source.gateway, 1, stamp.sequence, change))
    return found


def without_repeats(changes: dict[str, list[Sent]]) -> Sequences:
    """What each source said of every object, once each."""
    found: Sequences = defaultdict(list)
    for identifier, those in changes.items():
        highest = dict.fromkeys((each.source for each in those), 0)
        for each in those:
            if each.sequence > highest[each.source]:
                highest[each.source] = each.sequence
                wish = each.change.change.model_dump(mode="json", exclude_unset=True)
                found[f"{each.source}/{identifier}"].append({"number": each.sequence, "change": wish})
    return found


def current(changes: dict[str, list[Sent]], sent: Sequences) -> bool:
    return sum(map(len, without_repeats(changes).values())) == sum(map(len, sent.values()))


def as_modelled(config: Config, changes: dict[str, list[Sent]]) -> bool:
    """Whether the changelog has come to where the model is."""
    newest: dict[str, dict[str, Any] | None] = {}
    for identifier, message in written(config, Kind.TWINS):
        newest[identifier] = twinning.parsed(message.value())
    return newest == {identifier: folded(those).twin for identifier, those in changes.items()}


def shown(config: Config, token: str) -> dict[str, Any]:
    """What the view has of this site's objects; nothing until it has all that there are."""
    with ServedNode(config).client(token) as client:
        answer = client.get("/api/v1/twins", headers={"Accept": "application/x-ndjson"})
    *lines, last = [orjson.loads(line) for line in answer.text.splitlines()]
    if not answer.is_success or last["missing_partitions"]:
        return {}
    return {each["id"]: each for each in lines if each["site"] == SITE}


def modelled(changes: dict[str, list[Sent]]) -> dict[str, Any]:
    twins = {identifier: folded(those).twin for identifier, those in changes.items()}
    return {identifier: twin for identifier, twin in twins.items() if twin is not None}


def folded(changes: list[Sent]) -> Model:
    model = Model({"kiln": TYPE})
    for each in changes:
        model.take(each)
    return model


def check_history(config: Config, changes: dict[str, list[Sent]]) -> None:
    """Every version is there, and came out the same whenever it was written again."""
    found: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for identifier, message in written(config, Kind.TWIN_HISTORY):
        update = twinning.parsed(message.value())
        assert found[identifier].setdefault(update["version"], update) == update
    for identifier, those in changes.items():
        assert list(found[identifier].values()) == folded(those).told.history


def test_twins_are_what_the_model_makes_of_the_messages(config: Config) -> None:
    chance = random.Random(11)
    sent: Sequences = defaultdict(list)
    writer = producer(config, Party.API)
    writer.produce(Kind.TWIN_TYPES.topic, TYPE.model_dump_json(), TYPE.key)
    assert writer.flush(WAIT_S) == 0
    stores = cycle(StateStore)
    with messages_flowing(config, sent):
        for store, _ in zip(stores, range(KILLS), strict=False):
            before = rows_on(config, Kind.TWINS)
            with twins_running(config, store):
                wait_until(partial(lambda rows: rows_on(config, Kind.TWINS) > rows, before))
                with running_part(config, "serve", "api"):
                    time.sleep(chance.uniform(0, 4))
                time.sleep(chance.uniform(1, 4))
    token = Tokens(config.paths.tokens).create("viewer", frozenset({Scope.TWINS_READ}))
    with twins_running(config, next(stores)), running_part(config, "serve", "api"):
        wait_until(lambda: current(changes_on_topic(config), sent))
        changes = changes_on_topic(config)
        assert without_repeats(changes) == sent
        wait_until(lambda: as_modelled(config, changes))
        wait_until(lambda: shown(config, token) == modelled(changes))
    check_history(config, changes)


def test_what_is_sent_here_is_a_message() -> None:
    """The test writes what the vocabulary allows."""
    wish = _wish(random.Random(1))
    TwinMessage.model_validate({"transaction": "t", "objects": {"o": wish}})
