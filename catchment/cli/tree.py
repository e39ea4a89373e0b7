"""The commands, each loaded when it is called: to list them, or to complete their names, none has to be.

What a command imports is half a second of configuration models and clients; only its first word and a
sentence are needed until somebody calls it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from catchment.cli.examples import EXAMPLES

# Each with its module (`:app` for a group of commands) and its sentence, in the order of the help.
COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("node", "Run the node in the foreground, until Ctrl-C, SIGTERM or `catchment down`."),
    "down": ("node", "Stop the running node, in order."),
    "status": ("node", "Show each component; the exit code is 0 when the node is ready, otherwise 1."),
    "sql": ("lake", "Asks the lake of this node in SQL."),
    "export": ("lake", "Writes the rows of a table to a file, in the order of time."),
    "consume": (
        "consume",
        "Hand records on as they come, until Ctrl-C or SIGTERM; each is acknowledged only after that.",
    ),
    "relay": ("relay", "Runs the relay alone, in the foreground; `catchment up` runs it with all the rest."),
    "pipeline": (
        "pipeline",
        "Runs the pipeline alone, in the foreground; `catchment up` runs it with all the rest.",
    ),
    "notify": (
        "notify",
        "Runs the notifier alone, in the foreground; `catchment up` runs it with all the rest.",
    ),
    "serve": ("serve", "Serve the API and the console (the supervisor of `catchment up` does this for you)."),
    "verify": (
        "verify",
        "Compares what gateways accepted with what came to every hop; exit code 1 if anything is missing.",
    ),
    "audit": ("audit", "List changes, newest first, with who made them and from where."),
    "completion": ("completion", "Print what makes a shell complete commands and options."),
    "config": ("configuration:app", "Check and show the configuration."),
    "site": ("site:app", "Run a site, or register the sites that a centre gathers from."),
    "centre": ("centre:app", "Run the centre, which gathers from the sites."),
    "provider": ("provider:app", "Register the devices that may send data."),
    "consumer": ("consumer:app", "Register the consumers that may read data."),
    "user": ("user:app", "Give people access to the console, by name, password and role."),
    "token": ("token:app", "Give people and programs access to the API and the console."),
    "register": (
        "register:app",
        "Register devices, sensors, sensor types, mappings, schemas, and types and feeds of twins.",
    ),
    "rules": ("rules:app", "Watch measurements with thresholds."),
    "query": ("query:app", "Answer questions all the time."),
    "twins": ("twins:app", "See, search, change and watch the state of objects."),
    "deadletter": ("deadletter:app", "Look at what could not be taken further, and send it again."),
    "simulate": ("simulate:app", "Simulated devices, through the real listeners."),
    "alerts": ("alerts:app", "List alerts, and try out channels."),
    "bench": ("bench:app", "Measure on the running node, beside a peer in the same run."),
    "gateway": (
        "gateway:app",
        "Run the gateway alone, or look at its spool.",
    ),
    "lake": ("lake:app", "The lake's tables."),
}


class LazyGroup(TyperGroup):
    """The program: it knows its commands by name and sentence, and loads the one that is called."""

    _only_names = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (_, about) in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=about)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._only_names or cmd_name not in COMMANDS:
            return self.commands.get(cmd_name)
        return loaded(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        with self._names():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        with self._names():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _names(self) -> Iterator[None]:
        self._only_names = True
        try:
            yield
        finally:
            self._only_names = False


def loaded(name: str) -> TyperCommand | TyperGroup:
    """A command, or a group of them, as its module declares it, with its examples."""
    place, _, is_group = COMMANDS[name][0].partition(":")
    module = import_module(f"catchment.cli.{place}")
    scratch = typer.Typer(callback=lambda: None)
    if is_group:
        scratch.add_typer(module.app, name=name)
    else:
        module.add_to(scratch)
    group = typer.main.get_command(scratch)
    assert isinstance(group, TyperGroup)
    command = group.commands[name]
    assert isinstance(command, TyperCommand | TyperGroup)
    _exemplify(command, name)
    return command


def _exemplify(command: TyperCommand | TyperGroup, name: str) -> None:
    if name in EXAMPLES:
        command.epilog = "\n\n".join(f"Example: catchment {each}" for each in EXAMPLES[name])
    if isinstance(command, TyperGroup):
        for inner, each in command.commands.items():
            assert isinstance(each, TyperCommand | TyperGroup)
            _exemplify(each, f"{name} {inner}")
