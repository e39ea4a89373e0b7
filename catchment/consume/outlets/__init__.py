"""Where `catchment consume --to` hands records on to."""

import shlex
from pathlib import Path

from catchment.config import Config
from catchment.config.consume import To
from catchment.consume.outlets.file import FileOutlet, StdoutOutlet
from catchment.consume.outlets.lines import json_line, raw_line
from catchment.consume.outlets.outlet import Outlet
from catchment.consume.outlets.program import ProgramOutlet
from catchment.consume.outlets.web import DeadLetters, WebOutlet
from catchment.errors import ConfigurationError

__all__ = ["Outlet", "open_outlet"]


_WANTS = {To.FILE: "the path of a file", To.HTTP: "an address", To.EXEC: "a command"}


def open_outlet(config: Config, to: To, target: str | None, as_json: bool, name: str) -> Outlet:
    """The outlet for `--to TO TARGET`; `name` is the consumer's, for its dead letters."""
    line = json_line if as_json else raw_line
    if to is To.STDOUT:
        if target is not None:
            raise ConfigurationError("--to stdout takes no target", f"Leave out {target!r}.")
        return StdoutOutlet(line)
    if not target:
        raise ConfigurationError(f"--to {to} needs a target", f"Put {_WANTS[to]} behind it.")
    if to is To.FILE:
        return FileOutlet(Path(target), line)
    if to is To.EXEC:
        return ProgramOutlet(shlex.split(target), line)
    letters = DeadLetters(config.paths.dead_letters / f"{name}.ndjson")
    return WebOutlet(target, config.consume, letters, as_json)
