"""Deployed queries in the running pipeline: started, changed with their state, watched and stopped."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from catchment.alerts.known import Known
from catchment.alerts.model import Event
from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.pipeline.objectives import RULE
from catchment.queries.signature import DIGITS
from catchment.records import REASON_HEADER, Kind
from catchment.schemas.shipped import TEMPERATURE, TWIN_NOTICE, shipped
from tests.deploying import (
    SITE,
    Sender,
    degrees,
    deploy,
    figures,
    minutes,
    notices,
    place,
    register,
    results,
    wait_for,
    write,
)
from tests.events import alert
from tests.running_part import running_part
from tests.twinning import twin_type

EXAMPLES = Path(__file__).parents[2] / "examples" / "queries"
WORDS = (EXAMPLES / "word-count" / "query.yaml").read_text(encoding="utf-8")
SECONDS = (EXAMPLES / "packets-per-second" / "query.yaml").read_text(encoding="utf-8")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def config(cluster: Config, tmp_path_factory: pytest.TempPathFactory) -> Config:
    queries = ["deployed", "lake-results", "twins"]
    changes = {"checkpoint_interval_s": 5, "restart_backoff_max_s": 2, "queries": queries}
    pipeline = cluster.pipeline.model_copy(update=changes)
    lake = cluster.lake.model_copy(update={"url": str(tmp_path_factory.mktemp("lake")), "interval_s": 1})
    return cluster.model_copy(update={"site": SITE, "pipeline": pipeline, "lake": lake})


@pytest.fixture(scope="module", autouse=True)
def pipeline(config: Config) -> Iterator[None]:
    with running_part(config, "pipeline"):
        yield


def counted(config: Config) -> dict[str, int]:
    return {row["word"]: row["times"] for row in results(config, "word-count", "words")}


def test_a_query_runs_is_changed_with_its_state_and_stopped(config: Config) -> None:
    sentences = Sender(config, "sentences/one")
    sentences.send(b"the cow jumped over the moon")
    deploy(config, "name: wrong\ninputs: {i: {measurements: Unknown}}\noutputs: {o: {from: i}}")
    deploy(config, WORDS)
    wait_for(config, lambda: counted(config) == {"the": 2, "cow": 1, "jumped": 1, "over": 1, "moon": 1})
    wrong = figures(config, "wrong")
    assert wrong
    assert (wrong["state"], wrong["needed"]) == ("degraded", False)
    assert "the columns of the subject Unknown are not known" in wrong["detail"]

    def boxes() -> dict[str, Any]:
        return dict((figures(config, "word-count") or {}).get("boxes", {}))

    wait_for(config, lambda: boxes().get("output words", {}).get("rows", 0) >= 5)
    assert (boxes()["sentences"]["rows"], boxes()["said"]["rows"]) == (1, 6)
    assert boxes()["output words"]["p50_ms"] >= 0

    time.sleep(6)  # until the next checkpoint, so that the state is known to be kept by it
    said = WORDS.replace("words: {from: counts}", "words: {from: counts, say: '{word}!'}")
    deploy(config, said, version=2)
    wait_for(config, lambda: (figures(config, "word-count") or {}).get("version") == 2)
    sentences.send(b"the moon")
    wait_for(config, lambda: counted(config).get("moon") == 2)
    assert counted(config)["the"] == 3

    state = [*config.paths.checkpoints.glob("deployed/word-count-*")]
    assert len(state) == 1
    left = config.paths.checkpoints / "deployed" / f"gone-{'0' * DIGITS}"
    left.mkdir()
    write(config, f"{SITE}/word-count", None)
    write(config, f"{SITE}/wrong", None)
    wait_for(config, lambda: figures(config, "word-count") is None and figures(config, "wrong") is None)
    wait_for(config, lambda: not state[0].exists() and not left.exists())


def test_windows_close_by_ticks_when_nothing_comes_and_a_missed_objective_is_an_event(config: Config) -> None:
    deploy(config, f"{SECONDS}objective: {{delay_ms: 1}}\n")
    packets = Sender(config, "packets/lo")
    begin = time.time_ns() // 1_000_000_000 // 2 * 2 - 10
    packets.send(
        *(orjson.dumps({"time": begin * 1000 + ms, "protocol": "tcp"}) for ms in (0, 400, 1500, 2000))
    )
    wait_for(config, lambda: len(results(config, "packets-per-second", "counts")) == 2)
    said = {row["text"] for row in results(config, "packets-per-second", "counts")}
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))
    assert f"For time interval starting at {moment} tuple count was 2" in said

    def missed() -> list[Event]:
        messages = read_all(config, Party.OPERATOR, Kind.EVENTS.topic)
        ours = [message.value() for message in messages if RULE.encode() in (message.value() or b"")]
        events = [Known(SITE).decode(value) for value in ours]
        return [each for each in events if isinstance(each, Event) and each.rule == RULE]

    wait_for(config, missed)
    event = missed()[0]
    assert (event.sensor_id, event.temperature_threshold, event.unit) == ("packets-per-second", 1.0, "ms")
    write(config, f"{SITE}/packets-per-second", None)
    wait_for(config, lambda: figures(config, "packets-per-second") is None)


WATCH = """
name: watch
inputs:
  readings: {measurements: TemperatureData, time: timestamp}
tables:
  sensors: {registry: sensors}
  limits: {lake: limits, key: kind, schema: {kind: string, most: double}}
  rooms: {twins: room}
boxes:
  placed:
    join: [readings, sensors]
    on: sensor_id = id
    select:
      at: readings.timestamp
      room: sensors.device_id
      kind: sensors.sensor_type_id
      degrees: readings.temperature
  judged: {join: [placed, limits], on: kind, select: {at: at, room: room, degrees: degrees, most: most}}
  hot: {filter: judged, where: degrees > most}
  compared:
    join: [hot, rooms]
    on: room = id
    kind: left
    select: {room: room, degrees: hot.degrees, before: rooms.degrees}
  state: {map: judged, select: {room: room, degrees: degrees}}
  minutes: {aggregate: judged, by: [room], time: at, window: {tumbling: 1m}, values: {n: count(*)}}
outputs:
  hot: {from: compared, to: alerts, say: "{room}: {degrees} after {before}"}
  rooms: {from: state, to: twins, type: room, object: room}
  minutes: {from: minutes, to: lake}
"""
FOLLOW = """
name: follow
inputs:
  said: {events: TwinNotice}
  raised: {alerts: true}
  updates: {twin-history: room}
  minutes: {results: watch/minutes}
boxes:
  by_user: {aggregate: said, by: [user], values: {n: count(*)}}
  rooms: {aggregate: updates, by: [id], values: {highest: max(degrees)}}
  readings: {aggregate: minutes, by: [room], values: {n: sum(n)}}
outputs:
  by_user: {from: by_user}
  sentences: {from: raised}
  rooms: {from: rooms}
  readings: {from: readings}
"""
ROOM = {"name": "Room", "values": {"degrees": {"kind": "number"}}, "writers": ["query/watch"]}
NEWER = shipped()[TEMPERATURE].replace(
    '"fields": [', '"fields": [{"name": "battery", "type": "int", "default": 0}, '
)


def test_results_go_to_alerts_twins_and_the_lake_and_tables_are_followed(config: Config) -> None:
    for subject in (TEMPERATURE, TWIN_NOTICE):
        register(config, shipped()[subject], subject, 1)
    room = twin_type(SITE, "room", ROOM)
    write(config, room.key, room.model_dump_json().encode(), Kind.TWIN_TYPES)
    write_deltalake(f"{config.lake.url}/limits", pa.table({"kind": ["thermo"], "most": [30.0]}))
    place(config, "hall", 1)
    deploy(config, WATCH)
    deploy(config, FOLLOW)
    sender = Sender(config, "rooms")
    began_ms = time.time_ns() // 1_000_000

    def measure(temperature: float, schema: str = shipped()[TEMPERATURE], **fields: Any) -> None:
        usual = {"sensor_id": "s1", "timestamp": began_ms, "temperature": temperature, "unit": "C"}
        sender.measure(schema, "s1", {**usual, **fields})

    measure(25.0)
    measure(35.0)
    wait_for(config, lambda: degrees(config).get("hall") == 35.0)
    wait_for(config, lambda: notices(config) == {"hall: 35.0 after null"})

    def heard_of_twin() -> bool:
        measure(36.0)
        return any(each.startswith("hall: 36.0 after 3") for each in notices(config))

    wait_for(config, heard_of_twin)
    # What is under way while the sensor moves may count for either room.
    wait_for(config, lambda: minutes(config) == {"hall": sender.sent})
    in_hall = sender.sent
    place(config, "attic", 2)

    def heard_of_sensor() -> bool:
        measure(40.0)
        return "attic" in degrees(config)

    wait_for(config, heard_of_sensor)
    register(config, NEWER, TEMPERATURE, 2)
    measure(41.0, NEWER, battery=7)
    wait_for(config, lambda: degrees(config)["attic"] == 41.0)
    wait_for(config, lambda: sum(minutes(config).values()) == sender.sent)
    assert minutes(config)["hall"] >= in_hall

    def followed(output: str) -> list[dict[str, Any]]:
        return results(config, "follow", output)

    wait_for(config, lambda: {each["room"]: each["n"] for each in followed("readings")} == minutes(config))
    wait_for(config, lambda: {each["id"]: each["highest"] for each in followed("rooms")}.get("attic") == 41.0)
    wait_for(config, lambda: any(each["user"] == "query/watch" for each in followed("by_user")))
    raised = alert(sensor="hot")
    write(config, raised.key, raised.model_dump_json().encode(), Kind.ALERTS, Party.NOTIFIER)
    wait_for(config, lambda: any(each["sentence"] == raised.sentence for each in followed("sentences")))
    for name in ("watch", "follow"):
        write(config, f"{SITE}/{name}", None)
    wait_for(config, lambda: figures(config, "watch") is None and figures(config, "follow") is None)


LATE = """
name: tardy
inputs:
  packets: {records: 'tardy/*', schema: {at: timestamp, host: string}, time: at}
boxes:
  sides: {aggregate: packets, by: [host], window: {tumbling: 10s}, values: {n: count(*)}, late: side}
  letters: {aggregate: packets, window: {tumbling: 10s}, values: {n: count(*)}, late: deadletter}
outputs:
  sides: {from: sides}
  late: {from: sides.late}
  letters: {from: letters}
"""


def test_late_rows_go_where_the_query_says_and_are_counted(config: Config) -> None:
    deploy(config, LATE)
    packets = Sender(config, "tardy/one")

    def send(at_s: int) -> None:
        packets.send(orjson.dumps({"at": at_s * 1000, "host": "a"}))

    send(1005)
    send(1100)
    wait_for(config, lambda: len(results(config, "tardy", "sides")) == 2)
    send(1006)
    wait_for(config, lambda: len(results(config, "tardy", "late")) == 1)
    assert results(config, "tardy", "late")[0]["at"] == "1970-01-01T00:16:46Z"

    def reasons() -> list[str]:
        letters = read_all(config, Party.OPERATOR, Kind.DEADLETTER.topic)
        found = [str(dict(each.headers() or []).get(REASON_HEADER)) for each in letters]
        return [each for each in found if "query tardy, box letters: late" in each]

    wait_for(config, lambda: len(reasons()) == 1)
    assert [row["n"] for row in results(config, "tardy", "sides")] == [1, 1]

    def counted_late() -> tuple[int, int]:
        boxes = (figures(config, "tardy") or {}).get("boxes", {})
        return boxes.get("sides", {}).get("late", 0), boxes.get("letters", {}).get("late", 0)

    wait_for(config, lambda: counted_late() == (1, 1))
    write(config, f"{SITE}/tardy", None)
    wait_for(config, lambda: figures(config, "tardy") is None)
