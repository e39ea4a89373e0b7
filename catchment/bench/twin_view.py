"""How fast twins are shown: one, all and searched, by one instance and by three, on a broker of the run.

Everything is real: `catchment serve` in processes of their own, HTTPS, tokens, and twins on their topic.
"""

import asyncio
import random
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

import yaml

from catchment.bench.result import Result, percentile
from catchment.bench.site import free_ports, log_of, start, wait_for
from catchment.bench.twin_changes import CHANGES_PER_S, SEED, fill, name_of
from catchment.client.client import connect
from catchment.config import Config
from catchment.errors import NodeNotRunning, PartFailed
from catchment.health import State, ask
from catchment.kafka.hashing import murmur2
from catchment.kafka.topics import TOPICS
from catchment.node.process import Child, last_words
from catchment.records import Kind
from catchment.security.tokens import Scope, Tokens

TWINS = 100_000
RATE_PER_S = 300
CONNECTIONS = 16
_PATH = "/api/v1/twins"
_NAMES = ("api", "api-2", "api-3")
SEARCHES = (
    "?where=temperature%20%3E%20{number}%20and%20site%20%3D%20%22{site}%22",
    "?where=temperature%20%3E%20{number}&sort=-temperature",
    "?where=count%20%3C%20{number}%20and%20state%20%3D%20%22on%22&sort=temperature",
    "?where=not%20state%20in%20(%22on%22%2C%22idle%22)&sort=-count&limit=20",
)


def measure(site: Config, result: Result, *, twins: int = TWINS, short: bool = False) -> None:
    """Adds the figures of the view to a result; the site has a broker and nothing on its twins yet."""
    fill(site, twins)
    seconds = 4 if short else 20
    turns = 3 if short else 9
    _note_all(result, site, twins, turns=3 if short else 5, rounds=1 if short else 8)
    for count in (1, 3):
        with instances(site, count) as ports:
            caller = Caller(site)
            name = f"view_{count}"
            _note_delays(result, f"{name}_search", asyncio.run(caller.searches(ports[0], 80 * turns)))
            for place in ("right", "wrong") if count > 1 else ("right",):
                paths = _paths(site, twins, here=place == "right")
                delays = asyncio.run(caller.paced(ports[0], paths, RATE_PER_S * seconds))
                _note_delays(result, f"{name}_get_one_{place}", delays)
            if count == 1:
                _note_while_changing(result, site, caller, ports[0], twins, seconds)
    result.compare("get_all_of_one_instance", "view_3_get_all", "view_1_get_all")
    result.compare("get_all_raw_of_one_instance", "view_3_get_all_raw", "view_1_get_all_raw")


@contextmanager
def instances(site: Config, count: int) -> Iterator[list[int]]:
    """So many instances of `catchment serve`, ready; gives their ports."""
    ports = free_ports(count)
    with ExitStack() as stack:
        for name, port in zip(_NAMES, ports, strict=False):
            child = start(site, name, ["catchment", "--config", str(_settings(site, name, port)), "serve"])
            stack.callback(child.kill)
            wait_for(partial(_runs, site, name), partial(_check, child, site, name))
        wait_for(lambda: _is_shared(site, _NAMES[:count]), lambda: None)
        yield ports


class Caller:
    """Sends requests over connections that are kept, and notes how long answers take."""

    def __init__(self, site: Config) -> None:
        self._token = Tokens(site.paths.tokens).create("bench", frozenset({Scope.TWINS_READ}))
        self._site = site.site
        self._authority = site.paths.identities / "ca.crt"
        self._context = ssl.create_default_context(cafile=str(self._authority))
        self._headers = f"Host: localhost\r\nAuthorization: Bearer {self._token}\r\n"

    async def paced(self, port: int, paths: list[str], requests: int) -> list[float]:
        """Delays in ms, each from the moment at which the request was due."""
        numbers = random.Random(SEED)  # noqa: S311 - which object comes next
        connections = [await self._connect(port) for _ in range(CONNECTIONS)]
        free: asyncio.Queue[Connection] = asyncio.Queue()
        for connection in connections:
            free.put_nowait(connection)
        delays: list[float] = []
        began_s = time.perf_counter()

        async def one(due_s: float) -> None:
            connection = await free.get()
            await connection.get(numbers.choice(paths))
            delays.append((time.perf_counter() - due_s) * 1000)
            free.put_nowait(connection)

        async with asyncio.TaskGroup() as group:
            for number in range(requests):
                due_s = began_s + number / RATE_PER_S
                await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
                group.create_task(one(due_s))
        return delays[RATE_PER_S:] if requests > 2 * RATE_PER_S else delays

    async def searches(self, port: int, requests: int) -> list[float]:
        """Delays in ms of one search after the other."""
        connection, delays = await self._connect(port), []
        for number in range(requests):
            form = SEARCHES[number % len(SEARCHES)]
            path = _PATH + form.format(number=number % 90, site=quote(self._site))
            began_s = time.perf_counter()
            await connection.get(path)
            delays.append((time.perf_counter() - began_s) * 1000)
        return delays

    async def one(self, port: int, path: str) -> bytes:
        connection = await self._connect(port)
        return await connection.get(path)

    def all(self, port: int) -> tuple[float, int]:
        """The seconds until a Python program has all objects, and how many these are."""
        with connect(f"https://localhost:{port}", self._token, self._authority) as client:
            began_s = time.perf_counter()
            found = client.twins()
            return time.perf_counter() - began_s, len({twin["id"] for twin in found})

    def all_raw(self, port: int) -> tuple[float, int]:
        """The seconds until the bytes of all objects have come, and how many lines these are."""

        async def count() -> tuple[float, int]:
            connection = await self._connect(port)
            began_s = time.perf_counter()
            lines = await connection.count_lines(_PATH)
            return time.perf_counter() - began_s, lines - 1

        return asyncio.run(count())

    async def _connect(self, port: int) -> "Connection":
        streams = await asyncio.open_connection("localhost", port, ssl=self._context, limit=1 << 22)
        return Connection(*streams, self._headers)


class Connection:
    """As little of HTTP as there can be, so that the answers are measured and not the caller."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: str) -> None:
        self._reader = reader
        self._writer = writer
        self._headers = headers

    async def get(self, path: str) -> bytes:
        headers = await self._ask(path, "application/json")
        length = next(line for line in headers.split(b"\r\n") if line.startswith(b"content-length:"))
        body = await self._reader.readexactly(int(length.split(b":")[1]))
        if not headers.startswith(b"HTTP/1.1 200"):
            raise PartFailed(f"The API answered {body[:200]!r}", "Look at its log.")
        return body

    async def count_lines(self, path: str) -> int:
        """The lines of an answer in chunks."""
        await self._ask(path, "application/x-ndjson")
        lines = 0
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            lines += (await self._reader.readexactly(size)).count(b"\n")
            await self._reader.readexactly(2)
        return lines

    async def _ask(self, path: str, accept: str) -> bytes:
        request = f"GET {path} HTTP/1.1\r\n{self._headers}Accept: {accept}\r\n\r\n"
        self._writer.write(request.encode())
        return (await self._reader.readuntil(b"\r\n\r\n")).lower().replace(b"http/1.1", b"HTTP/1.1")


def _note_all(result: Result, site: Config, twins: int, turns: int, rounds: int) -> None:
    """How fast all objects come. One instance and three take many turns: most of the time goes to the program
    that reads them, and a machine is not always equally fast."""
    seconds: dict[str, list[float]] = {}
    for _ in range(rounds):
        for count in (1, 3):
            with instances(site, count) as ports:
                caller = Caller(site)
                for name, get_all in (("get_all", caller.all), ("get_all_raw", caller.all_raw)):
                    took_s = [_whole(get_all(ports[0]), twins) for _ in range(turns)]
                    seconds.setdefault(f"view_{count}_{name}", []).extend(took_s)
    for name, measured_s in seconds.items():
        result.add(name, sorted(measured_s)[len(measured_s) // 2], "s")


def _whole(answer: tuple[float, int], twins: int) -> float:
    """The seconds that an answer took, which has to have all objects."""
    took_s, found = answer
    if found != twins:
        raise PartFailed(f"{found:,} of {twins:,} objects came", "Look at the logs of the instances.")
    return took_s


def _note_while_changing(
    result: Result, site: Config, caller: Caller, port: int, twins: int, seconds: int
) -> None:
    """How fast one object comes, and how far behind the view is, while a great many change."""
    # They begin a little before, and end a little after.
    changes = CHANGES_PER_S * (seconds + 2)
    arguments = [str(_settings(site, _NAMES[0], port)), str(twins), str(changes)]
    child = start(site, "twin-changes", ["catchment.bench.twin_changes", *arguments])
    try:
        first = f"{_PATH}/{name_of(0)}"
        wait_for(lambda: b'"version":1,' not in asyncio.run(caller.one(port, first)), lambda: None)
        delays = asyncio.run(caller.paced(port, _paths(site, twins, here=True), RATE_PER_S * seconds))
        _note_delays(result, "view_1_get_one_changing", delays)
        wait_for(child.exited, lambda: None)
        ended_s = time.perf_counter()
        path, version = f"{_PATH}/{name_of((changes - 1) % twins)}", 2 + (changes - 1) // twins
        last = f'"version":{version},'.encode()
        wait_for(lambda: last in asyncio.run(caller.one(port, path)), lambda: None)
        result.add("view_1_behind_after_changes", time.perf_counter() - ended_s, "s")
    finally:
        child.kill()
    result.add("view_1_changes", float(log_of(site, "twin-changes").read_text()), "changes/s")


def _note_delays(result: Result, name: str, delays_ms: list[float]) -> None:
    ordered = sorted(delays_ms)
    for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        result.add(f"{name}_{label}", percentile(ordered, share), "ms")


def _paths(site: Config, twins: int, *, here: bool) -> list[str]:
    """Addresses of objects that the first instance has, or has not."""
    held = set(_partitions(site, _NAMES[0]))
    partitions = TOPICS[Kind.TWINS].partitions
    names = [name_of(number) for number in range(0, twins, 7)]
    keys = {name: f"{site.site}/{name}".encode() for name in names}
    return [f"{_PATH}/{name}" for name, key in keys.items() if (murmur2(key) % partitions in held) is here]


def _settings(site: Config, name: str, port: int) -> Path:
    changed = {
        "api": site.api.model_copy(update={"port": port}),
        "twin_view": site.twin_view.model_copy(update={"instance": name.removeprefix("api-"), "port": 0}),
    }
    file = site.data_dir / f"{name}.yaml"
    file.write_text(
        yaml.safe_dump(site.model_copy(update=changed).model_dump(mode="json", exclude_none=True))
    )
    return file


def _partitions(site: Config, name: str) -> list[int]:
    """What an instance answers for, once it runs."""
    try:
        report = ask(site.paths.socket(name))
    except NodeNotRunning:
        return []
    return list(report.figures["partitions"]) if report.state is State.RUNNING else []


def _runs(site: Config, name: str) -> bool:
    return bool(_partitions(site, name))


def _is_shared(site: Config, names: Sequence[str]) -> bool:
    """Whether every partition has one instance, and every instance its share."""
    held = [_partitions(site, name) for name in names]
    together = sorted(partition for share in held for partition in share)
    return all(held) and together == list(range(TOPICS[Kind.TWINS].partitions))


def _check(child: Child, site: Config, name: str) -> None:
    if child.exited():
        raise PartFailed(f"{name} ended: {last_words(log_of(site, name))}", "Run the benchmark again.")
