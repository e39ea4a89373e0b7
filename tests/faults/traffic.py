"""What flows while something fails: numbered lines from devices, and what of them comes to the far end."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

from tests.faults.hosts import Host
from tests.faults.machines import Machine, wait_until

PROVIDERS = 2
WATCH_S = 0.02


class Sending:
    """Devices that send numbered lines, keep what was not acknowledged, and send that again after a cut."""

    def __init__(self, gateway: Machine, devices: Host, name: str, rate: int) -> None:
        self.streams = [f"{name}-{number}" for number in range(1, PROVIDERS + 1)]
        self._said = gateway.config.paths.logs / f"{name}.out"
        load = ("--rate", str(rate), "--count", "0", "--providers", str(PROVIDERS), "--name", name)
        self._process = gateway.catchment("simulate", "lines", *load, "--json", log=name, host=devices)

    def finish(self) -> int:
        """Sends no more; gives how many lines the gateway has acknowledged, which are all that were sent."""
        self._process.terminate()
        wait_until(self._process.exited, "the devices to end")
        said = self._said.read_text()
        assert self._process.kill() == "ended with exit code 0", said
        acknowledged: int = orjson.loads(said[said.index("{") :])["sent"]
        return acknowledged

    def close(self) -> None:
        self._process.kill()


@dataclass(frozen=True)
class Arrival:
    """A line at the far end: its number at the device, when the gateway took it, and when it came."""

    number: int
    taken_at: float
    came_at: float


class FarEnd:
    """A consumer on a machine of its own that appends to a file, and somebody who watches the file."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._file = machine.config.data_dir / "far-end.jsonl"
        self._arrivals: dict[str, list[Arrival]] = {}
        self._stopping = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._file.touch(mode=0o600)
        self._process = self.machine.catchment(
            "consume", str(self._file), "--to", "file", "--json", log="consume"
        )
        self._watching.start()

    def close(self) -> None:
        self._stopping.set()
        self._watching.join()
        self._process.kill()

    @property
    def runs(self) -> bool:
        return not self._process.exited()

    def arrivals(self, stream: str) -> list[Arrival]:
        return list(self._arrivals.get(stream, ()))

    def newest(self, stream: str) -> Arrival | None:
        return self._arrivals[stream][-1] if stream in self._arrivals else None

    def distinct(self, streams: list[str]) -> int:
        """How many different lines of these streams are here."""
        return sum(len({each.number for each in self.arrivals(stream)}) for stream in streams)

    def _watch(self) -> None:
        with Path(self._file).open("rb") as file:
            rest = b""
            while not self._stopping.wait(WATCH_S):
                *lines, rest = (rest + file.read()).split(b"\n")
                came_at = time.time()
                for line in lines:
                    self._note(orjson.loads(line), came_at)

    def _note(self, record: dict[str, object], came_at: float) -> None:
        stamp, value = record["stamp"], record["value"]
        assert isinstance(stamp, dict)
        assert isinstance(value, str)
        arrival = Arrival(int(value.split()[0]), stamp["origin_us"] / 1e6, came_at)
        self._arrivals.setdefault(stamp["stream"], []).append(arrival)
