"""What a listener is, what it hands messages to, and how one of your own is loaded.

A listener turns what devices say into messages, and nothing else: numbers, stamps, the spool and Kafka are
the inlet's business. docs/how-to/write-an-adapter.md tells the whole story.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from catchment.config.listeners import AdapterSettings
from catchment.errors import CatchmentError, ConfigurationError


class Inlet(Protocol):
    """Where every listener hands over."""

    async def accept(
        self,
        stream: str,
        payloads: Sequence[bytes],
        *,
        origin_us: int | None = None,
        number: int = 0,
        key: str = "",
    ) -> int:
        """Takes messages of one stream and returns when they are safe on this gateway's disk.

        Gives how many of them are new. With `number`, the sender's own number of the last message, those
        that it has sent before are left out; with `key`, all of them if that key was used before. While the
        spool is full it waits, or raises SpoolFull if `gateway.spool.when_full` is `refuse`.
        """
        ...

    def last_number(self, stream: str) -> int:
        """The highest of a sender's own numbers that was accepted on a stream; 0 if there is none."""
        ...

    async def bury(self, payload: bytes, stream: str, reason: str) -> None:
        """Puts what cannot become a record to the dead letters, and returns when it is safe."""
        ...


class Listener(Protocol):
    """One way into the gateway, with a life of its own."""

    name: str

    async def start(self) -> None:
        """Begins to listen, and returns. A CatchmentError raised here stops the gateway with its message."""
        ...

    async def drain(self, timeout_s: float) -> None:
        """Takes nothing new, finishes what is under way, at most for so long, and closes."""
        ...

    def figures(self) -> dict[str, Any]:
        """A few numbers and words for `catchment status --json`."""
        ...


class Adapter(Protocol):
    """A class of your own: called with the inlet and the settings that stand in the configuration."""

    def __call__(self, inlet: Inlet, settings: Mapping[str, Any]) -> Listener: ...


def load_adapters(adapters: Iterable[AdapterSettings], inlet: Inlet) -> list[Listener]:
    """The listeners that `gateway.adapters` names, made and not yet started."""
    return [_made(adapter, inlet) for adapter in adapters]


def _made(adapter: AdapterSettings, inlet: Inlet) -> Listener:
    try:
        listener = _imported(adapter.class_)(inlet, adapter.settings)
    except CatchmentError:
        raise
    except Exception as error:
        raise ConfigurationError(
            f"The adapter {adapter.class_} cannot be made: {type(error).__name__}: {error}",
            "Correct its settings in gateway.adapters, or the class.",
        ) from error
    for member in ("name", "start", "drain", "figures"):
        if not hasattr(listener, member):
            raise ConfigurationError(
                f"The adapter {adapter.class_} has no {member!r}",
                "Give it what docs/how-to/write-an-adapter.md lists.",
            )
    return listener


def _imported(path: str) -> Adapter:
    module, _, name = path.partition(":")
    try:
        found: Adapter = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"The adapter {path} cannot be imported: {error}",
            "Install its package where Catchment is installed, or put its folder on PYTHONPATH.",
        ) from None
    return found
