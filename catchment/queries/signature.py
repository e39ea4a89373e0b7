"""Whether a changed query can go on from what an earlier version had in its state.

State depends on the inputs, on the boxes that keep it and on everything before them. What comes after them
can be changed freely.
"""

import hashlib
from collections.abc import Iterator

import orjson

from catchment.queries.graph import DEFAULT_PARALLELISM, Graph
from catchment.queries.model import InputKind

DIGITS = 12
# Another one whenever state is kept in another form: that from before cannot be read.
_FORM = 2


def signature(graph: Graph) -> str:
    """The same for all versions of a query that can use the same state."""
    parts = orjson.dumps([_FORM, *_parts(graph)], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(parts).hexdigest()[:DIGITS]


def changed(before: Graph, after: Graph) -> list[str]:
    """Why state cannot be kept: what differs, one line each; none if it can."""
    if signature(before) == signature(after):
        return []
    usual: dict[str, object] = {"parallelism": DEFAULT_PARALLELISM}
    old, new = usual | dict(_parts(before)), usual | dict(_parts(after))
    gone = [f"{name} is gone" for name in old if name not in new]
    added = [f"{name} is new" for name in new if name not in old]
    differing = [f"{name} differs" for name in new if name in old and new[name] != old[name]]
    return [*gone, *added, *differing] or ["the order of boxes differs"]


def _parts(graph: Graph) -> Iterator[tuple[str, object]]:
    """Inputs, tables and boxes that state depends on."""
    query, kept = graph.query, _with_state(graph)
    if graph.tasks != DEFAULT_PARALLELISM and _has_state(graph):
        # Spark keeps the state of each task apart, and does not divide it anew.
        yield "parallelism", graph.tasks
    for kind, parts in (("input", query.inputs), ("table", query.tables), ("box", query.boxes)):
        for name, part in parts.items():
            if kind != "box" or name in kept:
                yield f"{kind} {name}", part.declared()


def _has_state(graph: Graph) -> bool:
    """Inputs whose repeats are recognised have state as well, but only before boxes that have."""
    return bool(graph.stateful) or any(each.kind is InputKind.RESULTS for each in graph.query.inputs.values())


def _with_state(graph: Graph) -> set[str]:
    """The boxes that keep state, and those before them."""
    query, givers = graph.query, graph.query.streams()
    kept: set[str] = set()
    waiting = list(graph.stateful)
    while waiting:
        name = waiting.pop()
        if name in query.boxes and name not in kept:
            kept.add(name)
            waiting += [givers[source] for source in query.boxes[name].sources if source in givers]
    return kept
