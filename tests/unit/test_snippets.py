"""What the manual shows is taken by what it is meant for: models, checkers, the command line, Python."""

import builtins
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import typer
import yaml
from pydantic import BaseModel, TypeAdapter
from typer.core import TyperGroup

from catchment.alerts.channels.webhook import signature
from catchment.alerts.rules import RuleSpec, read_rules
from catchment.api.problems import Problem
from catchment.api.query_tests import QueryTest
from catchment.api.session import Who
from catchment.api.sites import SiteList
from catchment.api.twin_changes import TwinPatch
from catchment.cli.main import app
from catchment.cli.register.apply import Declarations
from catchment.config import load
from catchment.config.models import Config
from catchment.ledger.model import LedgerRow, Mark
from catchment.node.status import NodeStatus
from catchment.queries.checker import check_file
from catchment.queries.model import Output
from catchment.registry.model import DeviceSpec, MappingSpec, SeenSensor, SensorSpec, SensorTypeSpec
from catchment.schemas.schema import check_measurement, parse
from catchment.twins.model import Outcome, Twin, TwinFeedSpec, TwinMessage, TwinTypeSpec, Update
from tests.snippets import Snippet, commands, python_of, snippets

# Of other programs: it is enough that they are YAML.
FOREIGN_YAML = {"scrape_configs"}
VARIABLES = {"TELEGRAM_TOKEN": "1:secret", "LAKE_KEY": "secret"}
DECLARED: dict[str, type[BaseModel]] = {
    "types": SensorTypeSpec,
    "devices": DeviceSpec,
    "sensors": SensorSpec,
    "mappings": MappingSpec,
    "twin_types": TwinTypeSpec,
    "twin_feeds": TwinFeedSpec,
}
# What a JSON object is: the first of these whose keys it has; without a model, what devices or others send.
JSON_MODELS: list[tuple[set[str], type[BaseModel] | None]] = [
    ({"type", "status", "detail", "code"}, Problem),
    ({"ready", "components"}, NodeStatus),
    ({"above", "field"}, RuleSpec),
    ({"yaml", "inputs"}, QueryTest),
    ({"scopes", "role"}, Who),
    ({"stream", "accepted", "gateway"}, Mark),
    ({"subject", "first_reading"}, SeenSensor),
    ({"objects", "transaction", "state"}, None),
    ({"objects"}, TwinMessage),
    ({"what", "values"}, Update),
    ({"result", "transaction"}, Outcome),
    ({"id", "version", "owner", "values"}, Twin),
    ({"id", "at", "values"}, None),
    ({"values"}, TwinPatch),
    ({"sensor_id"}, None),
    ({"bench"}, None),
    ({"error_code", "message"}, None),
    ({"instance", "partitions"}, None),
    ({"accepted", "repeated"}, None),
    ({"topic", "offset", "stamp"}, None),
    ({"name", "type", "default"}, None),
]
ITEMS: list[tuple[set[str], type[BaseModel]]] = [
    ({"bootstrap_servers"}, SiteList),
    ({"epoch", "received"}, LedgerRow),
]
GENERATED = {"operations.md", "command-line.md"}
PROGRAM = typer.main.get_command(app)


def named(language: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    found = [each for each in snippets(language) if each.page.name not in GENERATED]
    return pytest.mark.parametrize("snippet", found, ids=str)


@named("yaml")
def test_yaml_is_taken_by_what_reads_it(snippet: Snippet, tmp_path: Path) -> None:
    keys = yaml.safe_load(snippet.text).keys()
    file = tmp_path / "snippet.yaml"
    file.write_text(snippet.text)
    if keys == {"rules"}:
        assert read_rules(file)
    elif "boxes" in keys:
        assert check_file(file)
    elif keys == {"outputs"}:
        TypeAdapter(dict[str, Output]).validate_python(yaml.safe_load(snippet.text)["outputs"])
    elif keys <= Declarations.model_fields.keys():
        _check_declarations(yaml.safe_load(snippet.text))
    elif not keys & FOREIGN_YAML:
        assert keys <= Config.model_fields.keys()
        load(file, VARIABLES)


def _check_declarations(values: dict[str, Any]) -> None:
    declared = Declarations.model_validate(values)
    for kind, model in DECLARED.items():
        for body in getattr(declared, kind).values():
            model.model_validate(body)


@named("json")
def test_json_is_what_the_models_say(snippet: Snippet) -> None:
    value = orjson.loads(snippet.text)
    if value.get("type") == "record":
        check_measurement(parse(snippet.text))
    elif "items" in value:
        _check_items(value)
    else:
        model = next(model for keys, model in JSON_MODELS if keys <= value.keys())
        if model:
            model.model_validate(value)


def _check_items(page: dict[str, Any]) -> None:
    for item in page["items"]:
        model = next(model for keys, model in ITEMS if keys <= item.keys())
        model.model_validate(page if model is SiteList else item)


@named("sh")
def test_commands_are_taken_by_the_command_line(snippet: Snippet) -> None:
    for words in commands(snippet.text):
        _parse(words)


def _parse(words: list[str], command: Any = PROGRAM, name: str = "catchment", above: Any = None) -> None:
    """Lets every level of the command line read its own part of the words; nothing is run."""
    context: Any = command.make_context(name, list(words), parent=above)
    if isinstance(command, TyperGroup):
        below_name, below, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        _parse(rest, below, str(below_name), context)


def test_wrong_commands_are_noticed() -> None:
    for wrong in ("nothing", "provider add", "verify --jsn", "rules add a --above x"):
        with pytest.raises(Exception, match=r"(?i)no such|missing|valid number"):
            _parse(wrong.split())


def test_commands_are_cut_where_the_shell_cuts() -> None:
    redirected = "X=1 catchment deadletter show 0-17 --raw > a.bin # no\n"
    piped = "echo a | catchment twins search 'a > 8' \\\n  --json\n"
    assert list(commands(redirected + piped)) == [
        ["deadletter", "show", "0-17", "--raw"],
        ["twins", "search", "a > 8", "--json"],
    ]


@named("python")
def test_python_is_python_and_imports_what_is_there(snippet: Snippet) -> None:
    compile(snippet.text, str(snippet), "exec")
    imports = [line for line in snippet.text.splitlines() if line.startswith(("import ", "from "))]
    exec("\n".join(imports), {})


def test_the_query_in_python_is_the_one_that_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[str] = []
    monkeypatch.setattr(builtins, "print", printed.append)
    exec(python_of("query-streams.md", "Query("), {})
    assert yaml.safe_load(printed[0])["name"] == "busiest-host"


def test_the_recipe_for_signatures_verifies_ours() -> None:
    names: dict[str, Any] = {}
    exec(python_of("alerts.md", "def verified"), names)
    secret, body, now_s = b"x" * 32, b'{"alert": 1}', int(time.time())
    headers = {
        "webhook-id": "a/raised",
        "webhook-timestamp": str(now_s),
        "webhook-signature": f"v1,{signature(secret, 'a/raised', now_s, body)}",
    }
    assert names["verified"](secret, headers, body)
    assert not names["verified"](secret, headers, body + b" ")
    assert not names["verified"](secret, headers | {"webhook-timestamp": str(now_s - 900)}, body)
