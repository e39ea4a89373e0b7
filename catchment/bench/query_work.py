"""The five queries of the benchmark: what they read, from a seed, and what has to come out of it.

Event times go on by a millisecond a record, whenever it is sent: so windows are the same for everybody.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catchment.jars import PROJECT
from catchment.queries.checker import check
from catchment.queries.graph import Graph
from catchment.queries.loading import read_query

DECLARATIONS = PROJECT / "bench" / "queries"
SEED = 1
PERIOD = 10_007
HOSTS, DEVICES, WORDS, SPEAKERS = 50, 500, 1_000, 16
WINDOW_MS = 1_000
BEST = 3
WORDS_IN_SENTENCE = 5

Results = dict[Any, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A record before it is stamped."""

    stream: str
    key: str
    value: bytes


@dataclass(frozen=True)
class Load:
    """Records by their number, the same ones for the same event time of the first."""

    name: str
    record: Callable[[int, int], Sent]


@dataclass(frozen=True)
class Work:
    """A query: its records, what comes of the first so many, and how one result is read."""

    name: str
    load: Load
    stateful: bool
    expected: Callable[[int, int], Results]
    # How many results so many records cause if every change is told; None if that cannot be said beforehand.
    told: Callable[[int], int | None]
    result: Callable[[dict[str, Any]], tuple[Any, Any]]

    @property
    def figure(self) -> str:
        return self.name.replace("-", "_")


def declared(work: str, name: str = "") -> Graph:
    """A query of the benchmark, checked; under another name if it runs twice."""
    query, lines = read_query(DECLARATIONS / f"{work}.yaml")
    return check(query.model_copy(update={"name": name or work}), lines=lines)


class _Chance:
    """Hosts, sizes and words, drawn once."""

    def __init__(self) -> None:
        drawn = random.Random(SEED)  # noqa: S311 - values, not secrets
        weights = [1 / (10 + host) for host in range(HOSTS)]
        self.hosts = [f"host-{host}" for host in drawn.choices(range(HOSTS), weights, k=PERIOD)]
        self.tcp = [drawn.random() < 0.5 for _ in range(PERIOD)]
        self.bytes = [drawn.randrange(40, 1500) for _ in range(PERIOD)]
        self.sentences = [
            [f"word{drawn.randrange(WORDS)}" for _ in range(WORDS_IN_SENTENCE)] for _ in range(PERIOD)
        ]


_drawn = _Chance()


def _packet(number: int, start_ms: int) -> Sent:
    place = number % PERIOD
    host, protocol = _drawn.hosts[place], "tcp" if _drawn.tcp[place] else "udp"
    value = (
        f'{{"time":{start_ms + number},"serial":{number},"host":"{host}",'
        f'"protocol":"{protocol}","bytes":{_drawn.bytes[place]}}}'
    )
    return Sent(f"packets/{host}", host, value.encode())


def _call(number: int, start_ms: int) -> Sent:
    """Every device asks once in a window, and is answered at once."""
    side = "answers" if number % 2 else "requests"
    device = f"device-{number // 2 % DEVICES}"
    value = f'{{"time":{start_ms + number},"serial":{number},"side":"{side}","device":"{device}"}}'
    return Sent(f"{side}/{device}", device, value.encode())


def _sentence(number: int, _: int) -> Sent:
    speaker = f"speaker-{number % SPEAKERS}"
    return Sent(f"sentences/{speaker}", speaker, " ".join(_drawn.sentences[number % PERIOD]).encode())


def _named(count: int, _: int) -> Results:
    places = ((number, number % PERIOD) for number in range(count))
    return {
        number: (_drawn.hosts[place].upper(), 8 * _drawn.bytes[place])
        for number, place in places
        if _drawn.tcp[place]
    }


def _counts(count: int, start_ms: int) -> Results:
    return dict(
        Counter((_drawn.hosts[number % PERIOD], _window(start_ms + number)) for number in range(count))
    )


def _busiest(count: int, start_ms: int) -> Results:
    by_window: dict[int, list[tuple[int, str]]] = {}
    for (host, window), packets in _counts(count, start_ms).items():
        by_window.setdefault(window, []).append((-packets, host))
    return {
        (window, rank): (host, -packets)
        for window, hosts in by_window.items()
        for rank, (packets, host) in enumerate(sorted(hosts)[:BEST], 1)
    }


def _words(count: int, _: int) -> Results:
    return dict(Counter(word for number in range(count) for word in _drawn.sentences[number % PERIOD]))


def _window(time_ms: int) -> int:
    return time_ms - time_ms % WINDOW_MS


def _ms(time: str | int) -> int:
    """Catchment writes times as ISO 8601, the others in ms."""
    return time if isinstance(time, int) else round(datetime.fromisoformat(time).timestamp() * 1000)


PACKETS, CALLS, SENTENCES = Load("packets", _packet), Load("calls", _call), Load("sentences", _sentence)
WORKS = {
    work.name: work
    for work in (
        Work(
            "filter-map",
            PACKETS,
            False,
            _named,
            lambda count: sum(_drawn.tcp[number % PERIOD] for number in range(count)),
            lambda row: (row["serial"], (row["host"], row["bits"])),
        ),
        Work(
            "windowed-count",
            PACKETS,
            True,
            _counts,
            lambda count: count,
            lambda row: ((row["host"], _ms(row["window_start"])), row["packets"]),
        ),
        Work(
            "windowed-join",
            CALLS,
            True,
            lambda count, _: {number: number + 1 for number in range(0, count - 1, 2)},
            lambda count: count // 2,
            lambda row: (row["asked"], row["answered"]),
        ),
        Work(
            "top",
            PACKETS,
            True,
            _busiest,
            lambda _: None,
            lambda row: ((_ms(row["window_start"]), row["rank"]), (row["host"], row["packets"])),
        ),
        Work(
            "word-count",
            SENTENCES,
            True,
            _words,
            lambda count: count * WORDS_IN_SENTENCE,
            lambda row: (row["word"], row["times"]),
        ),
    )
}


def wrong_in(found: Results, expected: Results) -> list[str]:
    """The first few results that are not as they have to be."""
    wrong: Iterable[Any] = (key for key in {**expected, **found} if found.get(key) != expected.get(key))
    told = (f"{key} is {found.get(key)} and not {expected.get(key)}" for key in wrong)
    return [each for each, _ in zip(told, range(3), strict=False)]
