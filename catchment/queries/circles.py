"""Circles: a query that reads, through whatever others, what it writes itself would feed itself for ever."""

from collections.abc import Mapping

from catchment.queries.model import Destination, Input, InputKind, Output, QuerySpec
from catchment.schemas.shipped import TWIN_NOTICE

_ALERTS = "alerts"


def circle(queries: Mapping[str, QuerySpec], name: str) -> list[str] | None:
    """The queries through which one reads what it writes, beginning with itself; None if it does not."""
    paths = [[name]]
    seen = {name}
    while paths:
        path = paths.pop()
        wanted = {_read(each) for each in queries[path[-1]].inputs.values()}
        feeding = [each for each in queries if wanted & _written(each, queries[each])]
        if name in feeding:
            return path
        paths += [[*path, each] for each in feeding if each not in seen]
        seen.update(feeding)
    return None


def reads_results_of(query: QuerySpec, name: str) -> bool:
    """Whether a query reads the results of another."""
    return any(_read(each) == f"results {name}" for each in query.inputs.values())


def _read(stated: Input) -> str:
    """What an input reads, if a query can write it."""
    if stated.kinds == (InputKind.RESULTS,):
        return f"results {stated.selector.split('/')[0]}"
    if stated.kinds == (InputKind.TWIN_HISTORY,):
        return f"twins {stated.selector}"
    tells = stated.kinds == (InputKind.ALERTS,) or stated.events == TWIN_NOTICE
    return _ALERTS if tells else ""


def _written(name: str, query: QuerySpec) -> set[str]:
    """What a query writes; everybody's results can be read."""
    return {f"results {name}", *(_written_by(output) for output in query.outputs.values())} - {""}


def _written_by(output: Output) -> str:
    if output.to is Destination.TWINS:
        return f"twins {output.type}"
    return _ALERTS if output.to is Destination.ALERTS else ""
