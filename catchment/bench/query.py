"""Some of the pipeline's queries in a process of their own: `python -m catchment.bench.query FILE NAME…`."""

import sys
from pathlib import Path

from catchment.config import load
from catchment.kafka.topics import planned
from catchment.pipeline import session
from catchment.pipeline.queries import queries
from catchment.pipeline.query import start

SPARE_SLOTS = 4


def main(file: str, *names: str) -> None:
    """Runs the queries until one of them fails, or this is killed."""
    config = load(Path(file), {})
    chosen = [query for query in queries(config) if query.name in names]
    topics = planned(config)
    sources = sum(topics[kind].partitions for query in chosen for kind in query.inputs)
    slots = sources + len(chosen) * config.pipeline.shuffle_partitions + SPARE_SLOTS
    spark = session.create(config.pipeline, slots, config.paths.data / "spark")
    for query in chosen:
        start(query, spark, config)
    spark.streams.awaitAnyTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
