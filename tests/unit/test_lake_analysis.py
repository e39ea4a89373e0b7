"""Questions to a lake, exports of it and frames from it, on real tables."""

import csv
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import catchment
from catchment.cli.main import app
from catchment.config.lake import AnalysisSettings, MaintenanceSettings
from catchment.errors import AccessRefused, InvalidRequest, NotFound, RequestTimeout
from catchment.lake.answers import Answer, answer_of, plain
from catchment.lake.catalogue import tables_of
from catchment.lake.counting import recount_lake
from catchment.lake.layout import RECORDS
from catchment.lake.maintenance import Maintenance
from catchment.lake.seen import Seen, SourceCount
from catchment.lake.sql import ask
from catchment.lake.tables import Lake
from catchment.security.tokens import Scope
from tests.conftest import MakeConfig
from tests.lakes import FIRST, TEMPERATURES, add_rows, filled, lake_at, readings, records
from tests.serving import ServedNode, serve

LIMITS = AnalysisSettings()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return filled(tmp_path_factory.mktemp("lake"))


def asked(lake: Lake, question: str, limits: AnalysisSettings = LIMITS) -> Answer:
    with ask(lake, question, limits) as reader:
        return answer_of(reader, 1000)


def test_a_question_is_answered(lake: Lake) -> None:
    answer = asked(
        lake, "SELECT sensor, avg(temperature) AS mean FROM temperature_data GROUP BY ALL ORDER BY ALL"
    )
    assert answer.columns == ["sensor", "mean"]
    assert answer.rows == [["oslo/oven", 3.0], ["oslo/press", 5.5]]


def test_tables_are_joined(lake: Lake) -> None:
    answer = asked(
        lake,
        "SELECT count(*) FROM records r JOIN temperature_data t USING (sequence) WHERE t.sensor_id = 'press'",
    )
    assert answer.rows == [[3]]


@pytest.mark.parametrize(
    "question",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM lake",
        "COPY records TO '/tmp/stolen.csv'",
        "ATTACH '/tmp/other.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "CREATE TABLE mine AS SELECT 1",
        "DELETE FROM records",
        "SELECT 1; SELECT 2",
        "SELEC",
        "",
    ],
)
def test_what_is_no_question_to_the_tables_is_refused(lake: Lake, question: str) -> None:
    with pytest.raises(InvalidRequest):
        asked(lake, question)


def test_a_question_that_takes_too_long_is_stopped(lake: Lake) -> None:
    with pytest.raises(RequestTimeout):
        asked(
            lake,
            "SELECT count(*) FROM range(1000000000) a, range(1000000) b",
            AnalysisSettings(timeout_s=0.2),
        )


def test_an_answer_says_whether_it_is_complete(lake: Lake) -> None:
    with ask(lake, "SELECT * FROM range(10)", LIMITS) as reader:
        answer = answer_of(reader, 4)
    assert ([row for (row,) in answer.rows], answer.complete) == ([0, 1, 2, 3], False)


def test_bytes_become_text() -> None:
    assert plain(b"\xffa\n") == "\\xffa\n"


def test_the_list_of_tables(lake: Lake) -> None:
    records, temperatures = tables_of(lake)
    assert (records.name, records.rows, temperatures.rows) == ("records", 3, 15)
    assert (temperatures.first_day, temperatures.columns["temperature"]) == ("2026-11-17", "double")
    assert temperatures.bytes > 0


def test_small_files_become_one_and_old_ones_go(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    for number in range(4):
        add_rows(lake, TEMPERATURES, readings(f"s{number}", 3))
    before = asked(lake, "SELECT * FROM temperature_data ORDER BY ALL").rows
    settings = MaintenanceSettings(compact_files=3)
    Maintenance(lake, settings).run()
    (table,) = tables_of(lake)
    assert (table.files, table.rows) == (1, 12)
    assert len(list(tmp_path.rglob("*.parquet"))) == 5
    found = lake.find("temperature_data")
    assert found
    found.vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)
    assert len(list(tmp_path.glob("*/day=*/*.parquet"))) == 1
    assert asked(lake, "SELECT * FROM temperature_data ORDER BY ALL").rows == before


def test_maintenance_waits_for_its_time_and_for_the_writer(tmp_path: Path) -> None:
    lake, now_s = lake_at(tmp_path), [0.0]
    for number in range(3):
        add_rows(lake, TEMPERATURES, readings(f"s{number}", 3))
    settings = MaintenanceSettings(compact_files=2, interval_minutes=10)
    maintenance = Maintenance(lake, settings, clock=lambda: now_s[0])

    def files_after(at_s: float, keeps_up: bool) -> int:
        now_s[0] = at_s
        maintenance.after_batch(keeps_up)
        maintenance.wait()
        return tables_of(lake)[0].files

    assert files_after(599, keeps_up=True) == 3
    assert files_after(601, keeps_up=False) == 3
    assert files_after(602, keeps_up=True) == 1


def test_what_was_seen_is_there_after_a_restart(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "seen.db")
    seen.counts["oslo/gate/1/press"] = SourceCount()
    seen.counts["oslo/gate/1/press"].add([(1, 5), (8, 9)], 100, 200)
    seen.note("records", {"oslo/gate/1/press": 9}, ["oslo/gate/1/press"])
    seen.note("records", {"oslo/gate/1/press": 4})
    seen.close()
    again = Seen(tmp_path / "seen.db")
    assert (again.knows("records"), again.knows("events")) == (True, False)
    assert again.highest("records", "oslo/gate/1/press") == 9
    assert list(again.counts["oslo/gate/1/press"].numbers) == [(1, 5), (8, 9)]
    again.close()


def test_a_damaged_memory_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "seen.db").write_bytes(b"no database at all" * 100)
    seen = Seen(tmp_path / "seen.db")
    assert not seen.knows("records")
    seen.note("records", {"a": 1})
    seen.close()


@pytest.fixture(scope="module")
def node(make_config: MakeConfig) -> Iterator[ServedNode]:
    config = make_config()
    filled(config.paths.data / "lake")
    with serve(config) as served:
        yield served


@pytest.fixture
def client(node: ServedNode) -> Iterator[catchment.Client]:
    token = node.token("analyst", frozenset({Scope.DATA_READ}))
    with catchment.connect(node.url, token, node.config.paths.identities / "ca.crt") as connected:
        yield connected


def test_measurements_of_a_sensor_are_a_frame(client: catchment.Client) -> None:
    since, until = FIRST + timedelta(minutes=3), FIRST + timedelta(minutes=6)
    frame = client.measurements("oslo/press", since, until)
    assert isinstance(frame, pl.DataFrame)
    assert frame["temperature"].to_list() == [3.0, 4.0, 5.0]
    assert frame["time"][0] == since
    assert client.measurements("oslo/press", since.isoformat()).height == 8
    assert client.measurements("oslo/nobody").height == 0


def test_measurements_are_a_pandas_frame_where_that_is_wanted(client: catchment.Client) -> None:
    frame = client.measurements("oslo/oven", as_pandas=True)
    assert list(frame["temperature"]) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_question_through_the_client_is_a_frame(client: catchment.Client) -> None:
    assert client.sql("SELECT max(sequence) AS highest FROM records").to_dicts() == [{"highest": 4}]
    assert [table["name"] for table in client.tables()] == ["records", "temperature_data"]
    with pytest.raises(InvalidRequest):
        client.sql("SELECT * FROM read_text('/etc/passwd')")


def test_who_may_not_read_data_gets_none(node: ServedNode) -> None:
    token = node.token("watcher", frozenset({Scope.STATUS_READ}))
    with (
        catchment.connect(node.url, token, node.config.paths.identities / "ca.crt") as stranger,
        pytest.raises(AccessRefused),
    ):
        stranger.measurements("oslo/press")


def test_the_answer_in_json(node: ServedNode) -> None:
    with node.client(node.token("json")) as http:
        asked = http.post("/api/v1/sql", json={"sql": "SELECT value, time FROM records LIMIT 1"})
    assert asked.json()["rows"] == [["\\xffline 1", "2026-11-17T08:00:01+00:00"]]
    assert asked.json()["complete"] is True


def test_an_export_through_the_api(node: ServedNode) -> None:
    with node.client(node.token("exporter")) as http:
        answer = http.get("/api/v1/export/records", params={"format": "csv", "where": "sequence > 1"})
        missing = http.get("/api/v1/export/nothing")
    assert answer.headers["content-type"].startswith("text/csv")
    assert [row["sequence"] for row in csv.DictReader(answer.text.splitlines())] == ["2", "4"]
    assert (missing.status_code, missing.json()["code"]) == (404, NotFound.code)


def call(node: ServedNode, *arguments: str) -> str:
    file = node.config.data_dir / "node.yaml"
    file.write_text(json.dumps(node.config.model_dump(mode="json", exclude_none=True)))
    result = CliRunner().invoke(app, ["--config", str(file), *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_line_asks_the_lake(node: ServedNode) -> None:
    assert json.loads(call(node, "sql", "SELECT count(*) AS n FROM records", "--json")) == [{"n": 3}]
    assert "temperature_data" in call(node, "lake", "list")
    assert [each["rows"] for each in json.loads(call(node, "lake", "list", "--json"))] == [3, 15]


def test_the_command_line_exports(node: ServedNode, tmp_path: Path) -> None:
    file = tmp_path / "readings.parquet"
    since = ["--since", "2026-11-17T08:04:00", "--until", "2026-11-17T08:06:00"]
    call(node, "export", "temperature_data", "--to", str(file), *since)
    assert sorted(pq.read_table(file)["temperature"].to_pylist()) == [4.0, 4.0, 5.0, 5.0]
    text = tmp_path / "records.csv"
    call(node, "export", "records", "--to", str(text))
    with text.open() as opened:
        assert [row["value"] for row in csv.DictReader(opened)] == [f"\\xFFline {n}" for n in (1, 2, 4)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["readings.parquet", "records.csv"]


def test_a_recount_of_the_lake_names_what_is_missing_and_twice(make_config: MakeConfig) -> None:
    config = make_config()
    lake = filled(config.paths.data / "lake")
    (hop,) = recount_lake(config)
    assert (hop.node, hop.received, hop.highest, hop.gaps, hop.duplicates) == ("local", 3, 4, [(3, 3)], 0)
    add_rows(lake, RECORDS, records("press", [2, 3]))
    (hop,) = recount_lake(config)
    assert (hop.received, hop.missing, hop.duplicates) == (4, 0, 1)


def test_files_are_uploaded_where_the_lake_is_not_a_directory(tmp_path: Path) -> None:
    """As for object storage, with the one kind of address that needs no account."""
    lake = lake_at(tmp_path / "staged")
    lake.directory, lake.url = None, f"file://{tmp_path / 'store'}"
    (tmp_path / "store").mkdir()
    add_rows(lake, TEMPERATURES, readings("press", 4))
    add_rows(lake, TEMPERATURES, readings("oven", 2))
    assert lake.names() == ["temperature_data"]
    assert asked(lake, "SELECT count(*) FROM temperature_data").rows == [[6]]
    assert list((tmp_path / "staged").rglob("*.parquet")) == []
    assert len(list((tmp_path / "store").rglob("*.parquet"))) == 2
