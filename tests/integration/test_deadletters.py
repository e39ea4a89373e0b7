"""Dead letters through API and command line: found, shown, sent again, and never twice by accident."""

import base64
import time
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from confluent_kafka import Message
from typer.testing import CliRunner

from catchment.cli.main import app
from catchment.client import Session, local_session
from catchment.config import Config
from catchment.deadletters.model import OWN_HEADERS, headers_of
from catchment.errors import AccessRefused, Conflict, InvalidRequest, NotFound
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.records import REASON_HEADER, STAMP_HEADER, TOPIC_HEADER, Kind
from catchment.security.tokens import Scope
from tests.serving import EVERYTHING, ServedNode, serve
from tests.storing import stamp

PATH = "/api/v1/deadletters"
RECORDS = Kind.RECORDS.topic


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    with serve(cluster, with_tables=True) as served:
        cluster.paths.operator_token.write_text(served.token("letter-opener", EVERYTHING))
        yield served


@pytest.fixture
def session(node: ServedNode) -> Iterator[Session]:
    with local_session(node.config) as opened:
        yield opened


def bury(
    config: Config, reason: str, value: bytes, key: str, topic: str | None = RECORDS, **stamped: Any
) -> str:
    """Writes a dead letter as the pipeline does, and gives its id."""
    headers: list[tuple[str, str | bytes | None]] = [("colour", b"blue")]
    if stamped:
        headers.append((STAMP_HEADER, stamp(**stamped)))
    headers.append((REASON_HEADER, reason.encode()))
    if topic:
        headers.append((TOPIC_HEADER, topic.encode()))
    places: list[str] = []
    writer = producer(config, Party.PIPELINE)
    writer.produce(
        Kind.DEADLETTER.topic,
        value,
        key,
        headers=headers,
        on_delivery=lambda _, sent: places.append(f"{sent.partition()}-{sent.offset()}"),
    )
    assert writer.flush(30) == 0
    return places[0]


def records_of(config: Config, key: str) -> list[Message]:
    return [each for each in read_all(config, Party.OPERATOR, RECORDS) if each.key() == key.encode()]


def test_the_newest_come_first_page_by_page(cluster: Config, session: Session) -> None:
    ids = [bury(cluster, "paged: on purpose", b"%d" % number, "local/paged") for number in range(5)]
    first = session.get(PATH, reason="paged: on", limit=3)
    second = session.get(PATH, reason="paged: on", limit=3, cursor=first["next"])
    found = [letter["id"] for letter in first["items"] + second["items"]]
    assert found == ids[::-1]
    assert second["next"] is None


def test_they_are_found_by_reason_topic_and_time(cluster: Config, session: Session) -> None:
    before_ms = time.time_ns() // 1_000_000
    mine = bury(cluster, "sought: one", b"x", "local/sought", stream="sought", number=4)
    bury(cluster, "sought: two", b"x", "local/sought", topic=Kind.MEASUREMENTS.topic)

    def ids(**wanted: Any) -> list[str]:
        return [letter["id"] for letter in session.get(PATH, **wanted)["items"]]

    assert ids(reason="sought: one") == [mine]
    assert ids(reason="sought", topic=RECORDS) == [mine]
    assert len(ids(reason="sought", since_ms=before_ms - 1000)) == 2
    assert ids(reason="sought", until_ms=before_ms - 60_000) == []
    (letter,) = session.get(PATH, reason="sought: one")["items"]
    told = [letter[name] for name in ("site", "stream", "number", "key", "topic", "size_bytes", "replay")]
    assert told == ["local", "sought", 4, "local/sought", RECORDS, 1, None]


def test_one_is_shown_with_its_bytes(cluster: Config, session: Session) -> None:
    text = session.get(f"{PATH}/{bury(cluster, 'shown', b'{}', 'local/shown')}")
    raw = session.get(f"{PATH}/{bury(cluster, 'shown', bytes([0, 255]), 'local/shown')}")
    assert (text["text"], base64.b64decode(text["value_base64"])) == ("{}", b"{}")
    assert (raw["text"], base64.b64decode(raw["value_base64"])) == (None, b"\x00\xff")
    assert {"name": "colour", "value_base64": base64.b64encode(b"blue").decode()} in raw["headers"]


def test_it_goes_back_as_it_was_and_not_a_second_time(cluster: Config, session: Session) -> None:
    identifier = bury(cluster, "mended", b"payload", "local/mended", stream="mended", number=9)
    sent = session.post(f"{PATH}/{identifier}/replay")
    (record,) = records_of(cluster, "local/mended")
    headers = headers_of(record)
    assert record.value() == b"payload"
    assert [name for name, _ in headers] == ["colour", STAMP_HEADER]
    assert not {name for name, _ in headers} & set(OWN_HEADERS)
    assert (sent["replay"]["progress"], sent["replay"]["by"]) == ("sent", "letter-opener")
    assert session.get(f"{PATH}/{identifier}")["replay"] == sent["replay"]
    with pytest.raises(Conflict, match=r"was sent again at .* by letter-opener"):
        session.post(f"{PATH}/{identifier}/replay")
    assert len(records_of(cluster, "local/mended")) == 1
    session.post(f"{PATH}/{identifier}/replay", {"again": True})
    assert len(records_of(cluster, "local/mended")) == 2


def test_the_same_letter_written_twice_counts_as_one(cluster: Config, session: Session) -> None:
    stamped: dict[str, Any] = {"stream": "sent-again", "number": 1, "origin_us": 1}
    first, second = (bury(cluster, "sent-again", b"payload", "local/twice", **stamped) for _ in range(2))
    session.post(f"{PATH}/{first}/replay")
    with pytest.raises(Conflict):
        session.post(f"{PATH}/{second}/replay")


def test_what_cannot_go_back_is_refused_with_what_to_do(cluster: Config, session: Session) -> None:
    homeless = bury(cluster, "line-too-long", b"x", "homeless", topic=None)
    private = bury(cluster, "odd", b"x", "local/odd", topic=Kind.LEDGER.topic)
    foreign = bury(cluster, "unmappable", b"x", "oslo/odd", stream="odd", number=1, site="oslo")
    for identifier, advice in ((homeless, "from the device"), (private, "cannot go back"), (foreign, "oslo")):
        with pytest.raises(InvalidRequest, match=advice):
            session.post(f"{PATH}/{identifier}/replay")
    with pytest.raises(NotFound):
        session.get(f"{PATH}/0-99999999")
    with pytest.raises(InvalidRequest):
        session.get(f"{PATH}/nonsense")


def test_looking_and_sending_are_rights_apart(cluster: Config, node: ServedNode) -> None:
    identifier = bury(cluster, "guarded", b"x", "local/guarded")
    token = node.token("looker", frozenset({Scope.DEADLETTER_READ}))
    with Session(node.url, token, cluster.paths.identities / "ca.crt") as session:
        assert session.get(f"{PATH}/{identifier}")["reason"] == "guarded"
        with pytest.raises(AccessRefused):
            session.post(f"{PATH}/{identifier}/replay")
    assert records_of(cluster, "local/guarded") == []


def test_the_command_line_lists_shows_and_sends_again(
    cluster: Config, node: ServedNode, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("letters") / "catchment.yaml"
    file.write_text(yaml.safe_dump(cluster.model_dump(mode="json", exclude_none=True)))

    def call(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["--config", str(file), "deadletter", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    ids = [bury(cluster, "by hand", b"line %d" % number, "local/by-hand") for number in range(3)]
    assert [line.split()[0] for line in call("list", "--reason", "by hand").splitlines()[1:]] == ids[::-1]
    assert "line 0" in call("show", ids[0])
    assert call("show", ids[0], "--raw") == "line 0"
    assert "1 sent again" in call("replay", ids[0])
    assert "2 sent again" in call("replay", "--all", "--reason", "by hand", "--topic", "records")
    assert [record.value() for record in records_of(cluster, "local/by-hand")] == [
        b"line 0",
        b"line 1",
        b"line 2",
    ]
    assert call("list", "--reason", "by hand").count("sent 20") == 3
