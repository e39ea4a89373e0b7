"""Declared queries in a process of their own: `python -m catchment.bench.query_runner CONFIG TURN`.

The file TURN says which of them run at the moment: words WORK or WORK:NAME, separated by spaces. That is how
one JVM can be asked for one query after the other, as it also is of Kafka Streams.
"""

import sys
import time
from pathlib import Path

from pyspark.sql.streaming.query import StreamingQuery

from catchment.bench.query_turns import TAKEN, read_turn
from catchment.bench.query_work import WORKS, declared
from catchment.config import load
from catchment.pipeline import session
from catchment.pipeline.deployed import slots_of
from catchment.queries.graph import Graph
from catchment.queries.running import launch, query_of

AT_ONCE = 8
LOOK_S = 0.05


def main(config_file: str, turn_file: str) -> None:
    """Follows the turns until a query fails, or this is killed."""
    config = load(Path(config_file), {})
    slots = AT_ONCE * max(slots_of(declared(work), config) for work in WORKS)
    spark = session.create(config.pipeline, slots, config.paths.data / "spark")
    running: dict[str, StreamingQuery] = {}
    turn = ""
    while all(query.isActive for query in running.values()):
        if (asked := read_turn(Path(turn_file))) != turn:
            turn = asked
            for name, query in running.items():
                query.stop()
                # Nothing goes on from what its operators hold.
                spark._jvm.catchment.control.Seals.forget(f"{name}/")  # type: ignore[union-attr]
            graphs = _graphs(turn)
            running = {each.name: launch(each, query_of(each, config), spark, config) for each in graphs}
            Path(turn_file).with_suffix(TAKEN).write_text(turn)
        time.sleep(LOOK_S)
    for query in running.values():
        if error := query.exception():
            raise error


def _graphs(turn: str) -> list[Graph]:
    asked = (word.partition(":") for word in turn.split())
    return [declared(work, name) for work, _, name in asked]


if __name__ == "__main__":
    main(*sys.argv[1:])
