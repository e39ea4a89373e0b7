"""All that the command line can do is in the API, or is left out for a reason that the manual gives."""

import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from starlette.routing import Mount

from catchment.api.app import create_app
from catchment.api.schema_registry import PATH
from catchment.config import Config
from catchment.console.types import EmptyLedger
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.manual.commands import LEFT_OUT, OPERATIONS
from tests.unit.test_commands import CALLABLE

ADDRESS = re.compile(r"`((?:GET|PUT|POST|DELETE) /[^`]+)`")


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Every operation of the API, and of the schema registry below it."""
    config = Config.model_validate({})
    app = create_app(config, EmptyLedger(), Tables(config, Party.API))
    (registry,) = [each.app for each in app.routes if isinstance(each, Mount) and each.path == PATH]
    assert isinstance(registry, FastAPI)
    return {*operations(app), *operations(registry, PATH)}


def operations(app: FastAPI, prefix: str = "") -> Iterator[str]:
    for path, methods in app.openapi()["paths"].items():
        yield from (f"{method.upper()} {prefix}{path}" for method in methods)


def test_every_command_is_in_the_api_or_left_out_for_a_reason() -> None:
    assert OPERATIONS.keys() | LEFT_OUT.keys() == CALLABLE.keys()
    assert not OPERATIONS.keys() & LEFT_OUT.keys()
    assert all(len(why.split()) > 4 for why in LEFT_OUT.values())


@pytest.mark.parametrize("command", OPERATIONS)
def test_what_a_command_is_in_the_api_exists(known: set[str], command: str) -> None:
    assert OPERATIONS[command]
    assert set(OPERATIONS[command]) <= known


def test_what_a_reason_refers_to_exists(known: set[str]) -> None:
    assert {address for why in LEFT_OUT.values() for address in ADDRESS.findall(why)} <= known
