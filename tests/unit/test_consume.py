"""What consumers write, where they refuse to, and who may be one."""

import base64
import json
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from confluent_kafka import Message, TopicPartition
from confluent_kafka.admin import AclOperation, ResourceType
from hypothesis import given
from hypothesis import strategies as st

from catchment.config import Config
from catchment.config.consume import ConsumeSettings, To
from catchment.consume import NotAllHandled
from catchment.consume.identity import group_at_kafka, sign_in_settings
from catchment.consume.member import Member
from catchment.consume.outlets import open_outlet, program
from catchment.consume.outlets.file import FileOutlet, append_durably
from catchment.consume.outlets.lines import json_line, raw_line
from catchment.consume.outlets.program import ProgramOutlet
from catchment.consume.outlets.web import DeadLetters, WebOutlet
from catchment.errors import ConfigurationError, Conflict, NotFound
from catchment.kafka.access import consumer_entries
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.security.authority import Authority
from catchment.security.consumers import Consumers, Grant
from tests.conftest import MakeConfig
from tests.web_server import Server, running_server

RunCatchment = Callable[..., "subprocess.CompletedProcess[str]"]
STAMP = Stamp(Source("oslo", "gate", 7, "press"), 5, 1_000)


def message(value: bytes, offset: int = 3) -> Message:
    headers: list[tuple[str, str | bytes | None]] = [(STAMP_HEADER, STAMP.encode())]
    return Message("catchment.v1.records", 1, offset, b"oslo/press", value, headers, timestamp=(1, 99))


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


class TestLines:
    def test_raw_is_the_payload_and_a_newline(self) -> None:
        assert raw_line(message(b"\xff 1")) == b"\xff 1\n"

    def test_json_has_stamp_and_place(self) -> None:
        assert json.loads(json_line(message(b"42"))) == {
            "topic": "catchment.v1.records",
            "partition": 1,
            "offset": 3,
            "timestamp_ms": 99,
            "key": "oslo/press",
            "stamp": {
                "site": "oslo",
                "gateway": "gate",
                "epoch": "7",
                "stream": "press",
                "sequence": 5,
                "origin_us": 1000,
            },
            "value": "42",
        }

    def test_a_stamp_that_cannot_be_read_is_none(self) -> None:
        broken = Message("t", 0, 0, None, b"x", [(STAMP_HEADER, b"\x09")])
        assert json.loads(json_line(broken))["stamp"] is None

    @given(st.binary())
    def test_any_bytes_come_back_from_json(self, value: bytes) -> None:
        line = json_line(message(value))
        read = json.loads(line)
        text = read.get("value")
        assert line.count(b"\n") == 1
        assert value == (base64.b64decode(read["value_base64"]) if text is None else text.encode())


class TestFile:
    def test_lines_are_appended_and_private(self, tmp_path: Path) -> None:
        outlet = FileOutlet(tmp_path / "new" / "out.txt", raw_line)
        outlet.handle([message(b"1"), message(b"2")])
        outlet.handle([message(b"3")])
        assert (tmp_path / "new" / "out.txt").read_bytes() == b"1\n2\n3\n"
        assert stat.S_IMODE((tmp_path / "new" / "out.txt").stat().st_mode) == 0o600

    @pytest.mark.parametrize("torn", [b"", b"hal", b"x" * 200_000])
    def test_half_a_line_of_a_crash_is_cut_off(self, tmp_path: Path, torn: bytes) -> None:
        file = tmp_path / "out.txt"
        file.write_bytes(b"1\n" + torn)
        append_durably(file, b"2\n")
        assert file.read_bytes() == b"1\n2\n"

    def test_many_writers_do_not_mix_their_lines(self, tmp_path: Path) -> None:
        file = tmp_path / "out.txt"
        lines = [bytes([65 + writer]) * 1000 + b"\n" for writer in range(4)]

        def write(line: bytes) -> None:
            for _ in range(10):
                append_durably(file, line * 3)

        threads = [threading.Thread(target=write, args=(line,)) for line in lines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        written = file.read_bytes().splitlines(keepends=True)
        assert sorted(written) == sorted(line for line in lines for _ in range(30))


class TestProgram:
    def test_a_program_gets_lines_and_is_waited_for(self, tmp_path: Path) -> None:
        outlet = ProgramOutlet(["tee", str(tmp_path / "out")], raw_line)
        outlet.handle([message(b"1"), message(b"2")])
        outlet.close()
        assert (tmp_path / "out").read_bytes() == b"1\n2\n"

    def test_a_program_that_ended_is_started_again(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        outlet = ProgramOutlet(["sh", "-c", f"read line; echo $line >> {out}"], raw_line)
        for number in range(3):
            outlet.handle([message(str(number).encode())])
            (running,) = outlet._running
            running.wait(10)
        outlet.close()
        assert out.read_bytes() == b"0\n1\n2\n"

    def test_a_program_that_reads_no_more_holds_nobody_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(program, "END_S", 0.3)
        outlet = ProgramOutlet(["sleep", "1000"], raw_line)
        broken = threading.Event()

        def hand_on() -> None:
            try:
                outlet.handle([message(b"x" * 1_000_000)])
            except BrokenPipeError:
                broken.set()

        worker = threading.Thread(target=hand_on)
        worker.start()
        worker.join(0.5)
        assert worker.is_alive()
        outlet.close()
        worker.join(10)
        assert broken.is_set()

    def test_a_program_that_is_not_there_is_wrong_usage(self) -> None:
        with pytest.raises(ConfigurationError, match="no-such-program cannot be started"):
            ProgramOutlet(["no-such-program"], raw_line).handle([message(b"1")])


class TestWeb:
    @contextmanager
    def outlet(
        self, url: str, tmp_path: Path, as_json: bool = False, **settings: object
    ) -> Iterator[WebOutlet]:
        consume = ConsumeSettings.model_validate(settings)
        outlet = WebOutlet(url, consume, DeadLetters(tmp_path / "letters.ndjson"), as_json)
        try:
            yield outlet
        finally:
            outlet.close()

    def test_each_record_is_a_body_with_source_and_number(self, server: Server, tmp_path: Path) -> None:
        token = tmp_path / "token"
        token.write_text("secret\n")
        with self.outlet(server.url, tmp_path, http_token_file=token) as outlet:
            outlet.handle([message(b"a"), message(b"b\xff")])
        assert server.taken == [b"a", b"b\xff"]
        assert server.headers[0]["Catchment-Source"] == "oslo/gate/7/press"
        assert server.headers[0]["Catchment-Sequence"] == "5"
        assert server.headers[0]["Authorization"] == "Bearer secret"

    @pytest.mark.parametrize("status", [408, 429, 500, 503])
    def test_what_can_be_tried_again_says_how_far_it_came(
        self, server: Server, tmp_path: Path, status: int
    ) -> None:
        server.statuses = [200, status]
        batch = [message(b"a"), message(b"b"), message(b"c")]
        with (
            self.outlet(server.url, tmp_path) as outlet,
            pytest.raises(NotAllHandled, match=str(status)) as caught,
        ):
            outlet.handle(batch)
        assert caught.value.handled == 1
        assert server.taken == [b"a"]

    def test_a_server_that_is_away_is_tried_again(self, tmp_path: Path) -> None:
        with running_server() as gone:
            url = gone.url
        with self.outlet(url, tmp_path) as outlet, pytest.raises(NotAllHandled, match="does not answer"):
            outlet.handle([message(b"a")])

    def test_a_refused_record_is_a_dead_letter_with_the_reason(self, server: Server, tmp_path: Path) -> None:
        server.refuses = b"bad"
        with self.outlet(server.url, tmp_path) as outlet:
            outlet.handle([message(b"a"), message(b"bad \xff"), message(b"c")])
        assert server.taken == [b"a", b"c"]
        (letter,) = map(json.loads, (tmp_path / "letters.ndjson").read_text().splitlines())
        assert letter["reason"].endswith("answered 422")
        assert base64.b64decode(letter["bytes_base64"]) == b"bad \xff"
        assert letter["record"]["stamp"]["sequence"] == 5

    def test_of_a_refused_batch_only_the_record_at_fault_is_set_aside(
        self, server: Server, tmp_path: Path
    ) -> None:
        server.refuses = b"bad"
        values = [b"a", b"b", b"bad", b"c", b"d"]
        with self.outlet(server.url, tmp_path, as_json=True) as outlet:
            outlet.handle([message(value) for value in values])
        taken = [json.loads(line)["value"] for body in server.taken for line in body.splitlines()]
        assert taken == ["a", "b", "c", "d"]
        assert len((tmp_path / "letters.ndjson").read_text().splitlines()) == 1

    @pytest.mark.parametrize(
        "url", ["http://example.com/", "ftp://127.0.0.1/", "https://", "https://me:secret@example.com/"]
    )
    def test_an_address_that_is_not_safe_is_refused(self, tmp_path: Path, url: str) -> None:
        with pytest.raises(ConfigurationError), self.outlet(url, tmp_path):
            pass


class TestCommand:
    def test_every_place_but_the_terminal_needs_a_target(self, make_config: MakeConfig) -> None:
        config = make_config()
        for to in (To.FILE, To.HTTP, To.EXEC):
            with pytest.raises(ConfigurationError, match="needs a target"):
                open_outlet(config, to, None, False, "lab")
        with pytest.raises(ConfigurationError, match="takes no target"):
            open_outlet(config, To.STDOUT, "out.txt", False, "lab")

    def test_a_wrong_group_is_wrong_usage(self, run_catchment: RunCatchment) -> None:
        refused = run_catchment("consume", "--group", "two words")
        assert refused.returncode == 2
        assert "consume.group" in refused.stderr


class Flapping:
    """A partition as librdkafka shows it, which goes in the midst of a take and comes back at once."""

    def __init__(self, member: Member, committed: int, end: int) -> None:
        self._member = member
        self._committed = self._position = committed
        self._end = end
        self._places = [TopicPartition("catchment.v1.records", 1)]
        self._stays = False

    def poll(self, _: float) -> Message | None:
        return next(iter(self._read(1)), None)

    def consume(self, most: int, _: float) -> list[Message]:
        if not self._stays:
            self._stays = True
            self._member._on_revoke(cast(Any, self), self._places)
            self._member._on_assign(cast(Any, self), self._places)
        return self._read(most)

    def incremental_assign(self, _: list[TopicPartition]) -> None:
        self._position = self._committed

    def assignment(self) -> list[TopicPartition]:
        return self._places

    def seek(self, place: TopicPartition) -> None:
        self._position = place.offset

    def commit(self, **_: Any) -> None:
        """Where it stands does not matter here."""

    def _read(self, most: int) -> list[Message]:
        offsets = range(self._position, min(self._position + most, self._end))
        self._position += len(offsets)
        return [message(b"%d" % offset, offset) for offset in offsets]


class TestMember:
    def test_what_is_dropped_from_a_partition_that_comes_back_at_once_is_read_again(self) -> None:
        nowhere = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}
        member = Member(nowhere, "lab", "catchment.v1.records", ConsumeSettings())
        member._consumer.close()
        member._consumer = cast(Any, Flapping(member, committed=5, end=12))
        taken = [each.offset() for _ in range(3) for each in member.take()]
        assert taken == [5, 6, 7, 8, 9, 10, 11]


class TestIdentity:
    @pytest.fixture
    def authority(self, tmp_path: Path) -> Authority:
        return Authority(tmp_path / "identities")

    @pytest.fixture
    def consumers(self, tmp_path: Path) -> Consumers:
        return Consumers(tmp_path / "consumers.json")

    def test_a_consumer_is_listed_until_it_is_removed(
        self, consumers: Consumers, authority: Authority
    ) -> None:
        identity = consumers.add("lab", (Kind.RECORDS,), authority)
        consumers.add("lab", (Kind.RECORDS, Kind.LEDGER), authority)
        assert consumers.grants() == {"lab": Grant(topics=(Kind.RECORDS, Kind.LEDGER))}
        consumers.remove("lab", authority)
        assert consumers.grants() == {}
        assert not identity.key_file.exists()
        with pytest.raises(NotFound):
            consumers.remove("lab", authority)

    def test_a_removed_name_is_never_given_again(self, consumers: Consumers, authority: Authority) -> None:
        consumers.add("lab", (Kind.RECORDS,), authority)
        consumers.remove("lab", authority)
        with pytest.raises(Conflict, match="would count again"):
            consumers.add("lab", (Kind.RECORDS,), authority)

    def test_a_consumer_cannot_pass_for_the_operator(
        self, consumers: Consumers, authority: Authority
    ) -> None:
        with pytest.raises(Conflict, match="command line"):
            consumers.add(Party.OPERATOR, (Kind.RECORDS,), authority)

    def test_rights_are_for_the_topics_and_for_groups_of_its_own(self) -> None:
        entries = list(consumer_entries({"lab": Grant(topics=(Kind.RECORDS,))}))
        assert {(entry.restype, entry.name, entry.operation) for entry in entries} == {
            (ResourceType.TOPIC, "catchment.v1.records", AclOperation.READ),
            (ResourceType.GROUP, "lab/", AclOperation.READ),
            (ResourceType.GROUP, "lab/", AclOperation.ALTER_CONFIGS),
        }
        assert {entry.principal for entry in entries} == {"User:consumer.lab"}

    def test_groups_begin_with_their_owners_name(self, make_config: MakeConfig) -> None:
        config = make_config(consume={"group": "archive"})
        assert group_at_kafka(config, "lab") == "lab/archive"
        assert group_at_kafka(config, None) == "operator/archive"

    def test_on_an_existing_cluster_its_owner_names_groups_and_identities(self, tmp_path: Path) -> None:
        files = {}
        for key in ("ca_file", "certificate_file", "key_file"):
            files[key] = tmp_path / key
            files[key].write_text("")
        kafka = {"bootstrap_servers": "host:9092", "tls": files}
        config = Config.model_validate({"kafka": kafka, "consume": {"group": "archive"}})
        assert group_at_kafka(config, None) == "archive"
        with pytest.raises(ConfigurationError, match="owner gives identities"):
            sign_in_settings(config, "lab")

    def test_a_consumer_that_is_not_registered_is_not_found(self, make_config: MakeConfig) -> None:
        with pytest.raises(NotFound, match="nobody"):
            sign_in_settings(make_config(), "nobody")
