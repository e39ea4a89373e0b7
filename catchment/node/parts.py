"""The parts of a node: how each is started, asked how it is, and when it starts and stops."""

import sys
from collections.abc import Callable

from catchment.config import Config, Role
from catchment.health import Report, State, ask
from catchment.kafka.broker import BrokerProbe, command, prepare_cluster
from catchment.kafka.identities import bootstrap_servers
from catchment.node.keeper import Part

BROKER = "broker"
BROKER_ASK_INTERVAL_S = 5.0
_DEMONSTRATION = ["simulate", "lines", "--rate", "20", "--providers", "2", "--count", "0", "--name", "demo"]


def parts_of(config: Config, demonstration: bool = False) -> list[Part]:
    """The parts that a node of this role has."""
    parts = [_broker(config)]
    if config.role is not Role.CENTRE:
        parts.append(_own(config, "gateway", ["gateway"], stop_rank=0))
    if config.role is not Role.SITE:
        parts.append(_own(config, "relay", ["relay"], stop_rank=0))
    # Spark takes as long to start as the broker: the pipeline waits for Kafka by itself.
    parts.append(_own(config, "pipeline", ["pipeline"], stop_rank=1, waits_for=()))
    parts.append(_own(config, "notify", ["notify"], stop_rank=2))
    parts.append(_own(config, "api", ["serve"], stop_rank=2))
    if demonstration and config.role is not Role.CENTRE:
        parts.append(_demonstration())
    return parts


def _broker(config: Config) -> Part:
    return Part(
        name=BROKER,
        command=(lambda: command(config)) if config.kafka.embedded else None,
        ask=_ask_broker(config),
        stop_rank=3,
        ask_interval_s=BROKER_ASK_INTERVAL_S,
    )


def _ask_broker(config: Config) -> Callable[[], Report]:
    """The broker runs when it answers and has the topics and rights that the others rely on."""
    probe = BrokerProbe(config)
    prepared = False

    def answer() -> Report:
        nonlocal prepared
        probe.check(timeout_s=1.0)
        if not prepared:
            prepare_cluster(config)
            prepared = True
        return Report(state=State.RUNNING, detail=bootstrap_servers(config))

    return answer


def _own(
    config: Config, name: str, arguments: list[str], stop_rank: int, waits_for: tuple[str, ...] = (BROKER,)
) -> Part:
    return Part(
        name=name,
        command=lambda: _catchment(arguments),
        ask=lambda: ask(config.paths.socket(name)),
        stop_rank=stop_rank,
        waits_for=frozenset(waits_for),
    )


def _demonstration() -> Part:
    """Has no socket: while its process lives, it sends."""
    return Part(
        name="demonstration",
        command=lambda: _catchment(_DEMONSTRATION),
        ask=lambda: Report(state=State.RUNNING),
        stop_rank=0,
        waits_for=frozenset({"gateway", "pipeline", "api"}),
        needed=False,
    )


def _catchment(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "catchment", *arguments]
