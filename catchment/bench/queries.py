"""Continuous queries: the same five by Catchment, Kafka Streams, Quix Streams and Bytewax, all in one run.

It is run on a site of its own, so that nothing else has to keep up with it. All read the same records from
the same topic of one broker, one after the other: query by query, as machines are faster at one time than at
another. Then eight of Catchment's queries run side by side.
"""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass

from catchment import jars
from catchment.bench import python_peers
from catchment.bench.query_load import Sender
from catchment.bench.query_subjects import (
    BYTEWAX,
    KAFKA_STREAMS,
    QUIX,
    UNSAID,
    InPython,
    Subject,
    kafka_streams,
    ours,
    says,
)
from catchment.bench.query_together import Together
from catchment.bench.query_trial import Trial
from catchment.bench.query_work import WORKS
from catchment.bench.result import Result
from catchment.bench.site import broker
from catchment.config import Config

SITE = "queries"
PACED_PER_S = 1_000
PEERS: dict[str, Callable[[Config], Subject]] = {
    KAFKA_STREAMS: kafka_streams,
    QUIX: lambda config: InPython(config, QUIX),
    BYTEWAX: lambda config: InPython(config, BYTEWAX),
}


@dataclass(frozen=True)
class Course:
    """How much of everything."""

    backlog: int
    python_backlog: int
    paced_s: float
    together_s: float
    together_per_s: int = 5_000
    works: tuple[str, ...] = tuple(WORKS)
    peers: tuple[str, ...] = tuple(PEERS)


FULL = Course(backlog=1_000_000, python_backlog=400_000, paced_s=20, together_s=60)
SHORT = Course(backlog=100_000, python_backlog=20_000, paced_s=2, together_s=10)


def run(config: Config, *, short: bool) -> Result:
    """Measures on a site of its own; the node may be running or not."""
    return queries(config, SHORT if short else FULL)


def queries(config: Config, course: Course) -> Result:
    """Runs all that the course asks for."""
    jars.prepare_peers()
    packages = {}
    if {QUIX, BYTEWAX} & set(course.peers):
        python_peers.prepare()
        packages = python_peers.versions()
    result = Result("queries", packages=packages)
    with broker(config, SITE, pipeline=config.pipeline.model_dump(mode="json")) as site:
        sender = Sender(site)
        with ExitStack() as stack:
            subjects = [stack.enter_context(closing(PEERS[name](site))) for name in course.peers]
            own = stack.enter_context(closing(ours(site)))
            for work in course.works:
                for subject in (*subjects, own):
                    if says(subject.name, [work]):
                        backlog = course.backlog if subject.compiles else course.python_backlog
                        trial = Trial(site, sender, subject, WORKS[work])
                        trial.run(result, backlog, PACED_PER_S, course.paced_s)
            for subject in subjects:
                subject.close()
            if course.together_s:
                Together(site, sender, own).run(result, course.together_per_s, course.together_s)
    for name in course.peers:
        result.notes += [f"{name} has no {work}: {why}" for work, why in UNSAID.get(name, {}).items()]
    compare(course, result)
    return result


def compare(course: Course, result: Result) -> None:
    """With each peer, in the query in which ours does worst beside it."""
    rates = {name: figure["value"] for name, figure in result.figures.items()}
    for name in course.peers:
        figures = [WORKS[work].figure for work in says(name, course.works)]
        ratios = [rates[f"rate_{figure}"] / rates[f"rate_{name}_{figure}"] for figure in figures]
        result.ratios[f"of_{name}"] = round(min(ratios), 3)
