"""The configuration: precedence, references, and a refusal for everything that is wrong."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from catchment.config import Config, Role, load
from catchment.config.loading import known_keys, section_of, variable_of
from catchment.config.shown import settings_of
from catchment.errors import ConfigurationError

RunCatchment = Callable[..., "subprocess.CompletedProcess[str]"]

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)
ports = st.integers(1, 65535)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_file(text: str) -> Path:
        file = tmp_path / "catchment.yaml"
        file.write_text(text)
        return file

    return write_file


def test_every_key_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load(environment={})
    assert config.data_dir == tmp_path / "var"
    assert (config.gateway.port, config.api.port, config.role) == (8992, 8443, Role.BOTH)


def test_a_variable_wins_over_the_file_and_the_file_over_the_default(write: Callable[[str], Path]) -> None:
    file = write("site: harbour\ngateway: {port: 7001}\napi: {port: 7002}\n")
    config = load(file, {"CATCHMENT_GATEWAY__PORT": "7003"})
    assert (config.site, config.gateway.port, config.api.port) == ("harbour", 7003, 7002)


def test_the_file_is_named_by_the_option_then_the_variable_then_it_is_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("option", "variable", "catchment"):
        (tmp_path / f"{name}.yaml").write_text(f"site: {name}")
    by_variable = {"CATCHMENT_CONFIG": "variable.yaml"}
    assert load(Path("option.yaml"), by_variable).site == "option"
    assert load(None, by_variable).site == "variable"
    assert load(None, {}).site == "catchment"


def test_the_environment_stands_in_for_references(write: Callable[[str], Path]) -> None:
    file = write("site: ${PLACE}\nhostnames: ['${HOST:-here}', 'a.${DOMAIN:-example}']\n")
    config = load(file, {"PLACE": "pier"})
    assert config.site == "pier"
    assert config.hostnames == ["here", "a.example"]


def test_topics_are_keyed_by_kind(write: Callable[[str], Path]) -> None:
    config = load(write("kafka: {topics: {records: {partitions: 12}}}"), {})
    assert [(kind.value, topic.partitions) for kind, topic in config.kafka.topics.items()] == [
        ("records", 12)
    ]


def test_a_centre_has_no_gateway_port() -> None:
    assert "gateway.port" not in Config.model_validate({"role": "centre"}).ports


@given(site=names, port=ports)
def test_what_is_in_the_file_is_what_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, site: str, port: int
) -> None:
    file = tmp_path_factory.mktemp("config") / "catchment.yaml"
    kafka = {"port": port % 65535 + 1, "controller_port": (port + 1) % 65535 + 1}
    values = {"role": "centre", "site": site, "api": {"port": port}, "kafka": kafka}
    file.write_text(yaml.safe_dump(values))
    config = load(file, {})
    assert (config.site, config.api.port) == (site, port)


@given(st.sampled_from(sorted(known_keys())))
def test_every_key_has_a_variable_and_a_sentence(key: str) -> None:
    assert variable_of(key).removeprefix("CATCHMENT_").lower().split("__") == key.split(".")
    model: type = Config
    for name in key.split("."):
        field = model.model_fields[name]  # type: ignore[attr-defined]
        model = section_of(field.annotation) or model
    assert field.description
    assert field.description.endswith((".", "`."))


REFUSALS = [
    ("gatway: {port: 1}", {}, "gatway is not a setting. Did you mean gateway"),
    ("gateway: {prot: 1}", {}, "Did you mean gateway.port?"),
    ("gateway: {port: 99999}", {}, "gateway.port: input should be less than or equal to 65535 (it is 99999)"),
    ("gateway: {port: many}", {}, "gateway.port: input should be a valid integer"),
    (
        "gateway: {send_timeout_s: 0}",
        {},
        "gateway.send_timeout_s: input should be greater than or equal to 1",
    ),
    (
        "gateway: {queue_records: 10}",
        {},
        "gateway.queue_records: input should be greater than or equal to 1000",
    ),
    ("gateway: {queue_partition_records: 0}", {}, "greater than or equal to 1000 (it is 0)"),
    ("gateway: {routing: random}", {}, "gateway.routing: input should be 'key' or 'round-robin'"),
    ("gateway: {hashing: md5}", {}, "gateway.hashing: input should be 'crc32', 'fnv1a' or 'murmur2'"),
    ("gateway: {compression: zlib}", {}, "'none', 'gzip', 'lz4', 'snappy' or 'zstd' (it is 'zlib')"),
    (
        "gateway: {spool: {when_full: drop}}",
        {},
        "gateway.spool.when_full: input should be 'block' or 'refuse'",
    ),
    ("consume: {prefetch_records: 0}", {}, "consume.prefetch_records: input should be greater than"),
    ("site: 'a b'", {}, "site: use 1 to 64 letters"),
    ("role: boss", {}, "'site', 'centre' or 'both'"),
    ("gateway: 7", {}, "gateway: input should be a valid dictionary"),
    ("kafka: {topics: {rekords: {partitions: 2}}}", {}, "'records'"),
    ("kafka: {bootstrap_servers: 'a:1'}", {}, "set kafka.tls as well"),
    ("kafka: {bootstrap_servers: 'a:1,b'}", {}, "kafka.bootstrap_servers: name each broker as host:port"),
    ("kafka: {bootstrap_servers: ':1'}", {}, "with commas between several (it is ':1')"),
    ("api: {port: 9092}", {}, "are both 9092: give one of them another port"),
    ("site: ${NOWHERE}", {}, "site refers to ${NOWHERE}, which is not set. Set the variable"),
    ("site: [", {}, "is not valid YAML"),
    ("- a\n- b", {}, "is not a mapping of keys to values"),
    ("", {"CATCHMENT_GATEWAY__PROT": "1"}, "Did you mean CATCHMENT_GATEWAY__PORT?"),
    ("", {"CATCHMENT_GATEWAY__PORT": "many"}, "gateway.port: input should be a valid integer"),
]


@pytest.mark.parametrize(("text", "environment", "message"), REFUSALS)
def test_what_is_wrong_is_refused_with_what_to_change(
    write: Callable[[str], Path], text: str, environment: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(write(text), environment)
    assert message in str(refusal.value)


def one_message(result: "subprocess.CompletedProcess[str]") -> str:
    """What a refused command said: exit code 2, one line, nothing on standard output."""
    assert (result.returncode, result.stdout) == (2, ""), result
    assert len(result.stderr.splitlines()) == 1, result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gateway: {prot: 1}", "Did you mean gateway.port?"),
        ("gateway: {port: 0}", "greater than or equal to 1 (it is 0)"),
        ("site: [", "is not valid YAML"),
    ],
)
@pytest.mark.parametrize("command", [["config", "check"], ["up"]])
def test_every_command_refuses_a_wrong_file(
    run_catchment: RunCatchment, write: Callable[[str], Path], text: str, message: str, command: list[str]
) -> None:
    assert message in one_message(run_catchment("--config", str(write(text)), *command))


def test_a_missing_file_is_refused(run_catchment: RunCatchment) -> None:
    message = one_message(run_catchment("--config", "nowhere.yaml", "config", "check"))
    assert "nowhere.yaml cannot be read: No such file or directory" in message


def test_a_wrong_variable_is_refused(run_catchment: RunCatchment) -> None:
    result = run_catchment("status", environment={"CATCHMENT_API__PROT": "1"})
    assert "Did you mean CATCHMENT_API__PORT?" in one_message(result)


def test_help_needs_no_configuration(run_catchment: RunCatchment) -> None:
    result = run_catchment("--config", "nowhere.yaml", "up", "--help")
    assert result.returncode == 0
    assert "--demonstration" in result.stdout


def test_check_says_which_file(run_catchment: RunCatchment, write: Callable[[str], Path]) -> None:
    file = write("site: harbour")
    assert run_catchment("--config", str(file), "config", "check").stdout == f"ok: {file}\n"


def test_show_says_where_each_value_came_from(
    run_catchment: RunCatchment, write: Callable[[str], Path]
) -> None:
    file = write("site: harbour")
    variables = {"CATCHMENT_API__PORT": "7002"}
    result = run_catchment("--config", str(file), "config", "show", "--json", environment=variables)
    shown = json.loads(result.stdout)
    assert list(shown) == list(known_keys())
    assert shown["site"] == {"value": "harbour", "from": "file"}
    assert shown["api.port"] == {"value": 7002, "from": "CATCHMENT_API__PORT"}
    assert shown["gateway.port"] == {"value": 8992, "from": "default"}
    table = run_catchment("--config", str(file), "config", "show").stdout
    assert "harbour" in table


def test_what_is_secret_is_never_shown() -> None:
    secret = "told-to-nobody-0123456789"
    config = Config.model_validate(
        {
            "alerts": {
                "channels": {
                    "bot": {"kind": "telegram", "token": secret, "chat_id": 1},
                    "mail": {"kind": "mail", "host": "h", "user": "u", "password": secret}
                    | {"sender": "a@b", "to": "a@b"},
                    "hook": {"kind": "webhook", "url": "https://h/", "secret": secret},
                    "apprise": {"kind": "apprise", "url": secret},
                }
            },
            "store": {"postgres": {"fast": {"url": "postgresql://u@h/d", "password": secret}}},
            "lake": {"storage_options": {"aws_secret_access_key": secret}},
            "gateway": {"adapters": [{"class": "a:B", "settings": {"key": secret}}]},
        }
    )
    shown = {each.key: each for each in settings_of(config, {})}
    assert secret not in str([each.model_dump() for each in shown.values()])
    assert shown["lake.storage_options"].value == {"aws_secret_access_key": "**********"}
    assert shown["gateway.adapters"].value == [{"class": "a:B", "settings": {"key": "**********"}}]
    assert shown["lake.storage_options"].source == "file"


def test_a_wrong_key_of_object_storage_is_refused_without_being_shown(write: Callable[[str], Path]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(write("lake: {storage_options: {account_key: 12345}}"), {})
    assert "lake.storage_options.account_key" in str(refused.value)
    assert "12345" not in str(refused.value)


def test_where_nothing_was_set_everything_is_a_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert {each.source for each in settings_of(load(environment={}), {})} == {"default"}
