"""What `catchment up` shows: a live table while it starts, then one line for each change."""

import contextlib
import datetime

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from catchment.config import Config
from catchment.health import State
from catchment.node.status import Component, NodeStatus
from catchment.security.users import ADMINISTRATOR

_COLOURS = {State.RUNNING: "green", State.STOPPED: "dim", State.FAILED: "red", State.RESTARTING: "red"}
# A terminal that went away must not take the node with it. Rich wants to exit when its pipe breaks.
_TERMINAL_GONE = (OSError, SystemExit)


class Display:
    """Shows every status that it is given, as far as it says something new."""

    def __init__(self, console: Console, config: Config) -> None:
        self._console = console
        self._config = config
        self._shown: dict[str, State] = {}
        self._welcomed = False
        self._password = ""
        self._live = Live(console=console, refresh_per_second=4) if console.is_terminal else None
        if self._live:
            self._live.start()

    def show(self, status: NodeStatus) -> None:
        with contextlib.suppress(*_TERMINAL_GONE):
            self._show(status)

    def greet(self, password: str) -> None:
        """Keeps the first administrator's password until it is of use: nobody else has it."""
        self._password = password

    def close(self) -> None:
        """Gives the terminal back."""
        with contextlib.suppress(*_TERMINAL_GONE):
            self._end_live()

    def _show(self, status: NodeStatus) -> None:
        if self._live:
            self._live.update(_table(status))
        else:
            self._print_changes(status)
        if any(component.state is State.STOPPING for component in status.components):
            self._end_live()
        if status.ready and not self._welcomed:
            self._end_live()
            self._welcomed = True
            self._console.print(
                _welcome(self._config, status, self._password), soft_wrap=True, highlight=False
            )
        self._shown = {component.name: component.state for component in status.components}

    def _print_changes(self, status: NodeStatus) -> None:
        for component in status.components:
            if self._shown.get(component.name) is not component.state:
                self._console.print(_line(component), soft_wrap=True, highlight=False)

    def _end_live(self) -> None:
        if self._live:
            self._live.stop()
            self._live = None


def _line(component: Component) -> Text:
    time = datetime.datetime.now().strftime("%H:%M:%S")
    line = Text(f"{time}  {component.name:<14} ")
    line.append(component.state, style=_COLOURS.get(component.state, "yellow"))
    return line.append(f"  {component.detail}" if component.detail else "")


def _table(status: NodeStatus) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False)
    for component in status.components:
        state = Text(component.state, style=_COLOURS.get(component.state, "yellow"))
        table.add_row(component.name, state, Text(component.detail, overflow="ellipsis", no_wrap=True))
    return table


def _welcome(config: Config, status: NodeStatus, password: str) -> str:
    lines = ["", f"Ready. The console: {status.console}"]
    if password:
        lines.append(f"Sign in as {ADMINISTRATOR} with the one-time password {password} (shown this once)")
    else:
        lines.append(f"Sign in with your name; a new password: catchment user password {ADMINISTRATOR}")
    if config.paths.operator_token.exists():
        lines.append(f"Programs use tokens, such as the operator's: cat {config.paths.operator_token}")
    else:
        lines.append("Programs use tokens: catchment token create NAME --scope status:read")
    lines.append(
        f"Its certificate is signed by {config.paths.identities / 'ca.crt'}; your browser asks about it once."
    )
    lines.append(f"Logs: {config.paths.logs}    Stop: Ctrl-C, or `catchment down` elsewhere\n")
    return "\n".join(lines)
