"""`catchment up`, `down` and `status`: the node as a whole."""

import os
import signal
import time
from typing import Annotated, Any

import typer

from catchment.cli.console import AsJson, configuration, output, print_json, print_table
from catchment.config import Config
from catchment.errors import NodeNotRunning, PartFailed

# Beyond the time that the node gives its parts, for its own end.
_DOWN_MARGIN_S = 10.0
_DOWN_INTERVAL_S = 0.2


def add_to(app: typer.Typer) -> None:
    app.command()(up)
    app.command()(down)
    app.command()(status)


def up(
    context: typer.Context,
    demonstration: Annotated[
        bool,
        typer.Option("--demonstration", help="Also send a few lines a second, to have something to see."),
    ] = False,
) -> None:
    """Run the node in the foreground, until Ctrl-C, SIGTERM or `catchment down`."""
    from catchment.cli.display import Display
    from catchment.node.run import run

    config = configuration(context)
    display = Display(output, config)
    try:
        run(config, context.obj, demonstration, display.show, display.greet)
    finally:
        display.close()


def down(context: typer.Context) -> None:
    """Stop the running node, in order."""
    from catchment.node.lock import NodeLock

    config = configuration(context)
    lock = NodeLock(config.paths.lock)
    pid = lock.holder()
    if pid is None:
        raise _not_running(config)
    os.kill(pid, signal.SIGTERM)
    deadline_s = time.monotonic() + config.supervisor.stop_timeout_s + _DOWN_MARGIN_S
    shown = ""
    while lock.holder() == pid:
        if time.monotonic() > deadline_s:
            raise PartFailed(f"The node (process {pid}) does not stop", f"End it with `kill -9 {pid}`.")
        shown = _print_progress(config, shown)
        time.sleep(_DOWN_INTERVAL_S)
    typer.echo("down")


def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show each component; the exit code is 0 when the node is ready, otherwise 1."""
    from catchment.node.status import ask_node

    config = configuration(context)
    try:
        node = ask_node(config)
    except NodeNotRunning as error:
        if not as_json:
            raise
        print_json({"ready": False, "components": [], "error": str(error)})
        raise SystemExit(error.exit_code) from None
    if as_json:
        print_json(node.model_dump(mode="json"))
    else:
        rows: list[dict[str, Any]] = [component.model_dump(mode="json") for component in node.components]
        print_table(["name", "state", "restarts", "uptime_s", "detail"], rows)
        typer.echo(f"\n{'ready' if node.ready else 'not ready'}: {node.console}")
    raise SystemExit(0 if node.ready else 1)


def _print_progress(config: Config, shown: str) -> str:
    """Prints which parts are stopping, when that has changed."""
    from catchment.node.status import ask_node

    try:
        stopping = [part.name for part in ask_node(config).components if part.state == "stopping"]
    except NodeNotRunning:
        return shown
    line = f"stopping {', '.join(stopping)}" if stopping else shown
    if line != shown:
        typer.echo(line)
    return line


def _not_running(config: Config) -> NodeNotRunning:
    return NodeNotRunning(
        f"No node is running with the data directory {config.data_dir}", "Start one with `catchment up`."
    )
