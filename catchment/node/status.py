"""What a node says of itself: whether it is ready, and each component's state."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from catchment.config import Config, Role
from catchment.errors import NodeNotRunning
from catchment.health import State, ask

SOCKET = "node"
_ANY_ADDRESS = {"0.0.0.0", "::", "127.0.0.1", "::1"}  # noqa: S104 - addresses to compare with, not to bind

# What a part reports of its inner parts: their prefix as components, and whether a node is ready only with
# them. A site that is away or paused is no fault of the centre.
_INSIDE = {"queries": ("query", True), "sites": ("relay", False)}


class Component(BaseModel, frozen=True):
    """A part of the node, or what it consists of: queries of the pipeline, sites of the relay."""

    name: str
    state: State
    detail: str = ""
    pid: int | None = None
    restarts: int = 0
    uptime_s: float = 0
    figures: dict[str, Any] = Field(default_factory=dict)
    needed: bool = True


class NodeStatus(BaseModel, frozen=True):
    """The whole node."""

    ready: bool
    site: str
    role: Role
    console: str
    components: list[Component]


def console_address(config: Config) -> str:
    """Where a browser on this machine finds the console."""
    host = "localhost" if config.api.host in _ANY_ADDRESS else config.api.host
    return f"https://{host}:{config.api.port}"


def status_of(config: Config, components: Iterable[Component]) -> NodeStatus:
    """Sums up: a node is ready when everything it needs is running."""
    listed = [each for component in components for each in (component, *_inside(component))]
    return NodeStatus(
        ready=all(component.state is State.RUNNING for component in listed if component.needed),
        site=config.site,
        role=config.role,
        console=console_address(config),
        components=[_without_inside(component) for component in listed],
    )


def ask_node(config: Config) -> NodeStatus:
    """The status of the running node of this data directory."""
    try:
        return NodeStatus.model_validate(ask(config.paths.socket(SOCKET)).figures)
    except NodeNotRunning:
        raise NodeNotRunning(
            f"No node is running with the data directory {config.data_dir}", "Start one with `catchment up`."
        ) from None


def _inside(component: Component) -> Iterable[Component]:
    for figure, (prefix, needed) in _INSIDE.items():
        for each in component.figures.get(figure, []):
            yield _part_of(component, each, f"{prefix}:{each['name']}", needed)


def _part_of(component: Component, inner: dict[str, Any], name: str, needed: bool) -> Component:
    answers = component.state in (State.RUNNING, State.DEGRADED)
    figures = {key: value for key, value in inner.items() if key not in Component.model_fields}
    return Component(
        name=name,
        # What is inside is never better off than the process that it runs in.
        state=State(inner["state"]) if answers else component.state,
        detail=inner.get("detail", ""),
        pid=component.pid,
        restarts=inner.get("restarts", 0),
        uptime_s=inner.get("uptime_s", 0),
        figures=figures if answers else {},
        needed=inner.get("needed", needed),
    )


def _without_inside(component: Component) -> Component:
    figures = {name: value for name, value in component.figures.items() if name not in _INSIDE}
    return component.model_copy(update={"figures": figures})
