"""Some of the pipeline's queries in a process of their own: `python -m catchment.bench.query FILE NAME…`."""

import sys
from pathlib import Path

from catchment.config import load
from catchment.pipeline import session
from catchment.pipeline.queries import queries
from catchment.pipeline.query import reading_tasks, start

SPARE_SLOTS = 4


def main(file: str, *names: str) -> None:
    """Runs the queries until one of them fails, or this is killed."""
    config = load(Path(file), {})
    chosen = [query for query in queries(config) if query.name in names]
    sources = sum(reading_tasks(query, config) for query in chosen)
    slots = sources + len(chosen) * config.pipeline.shuffle_partitions + SPARE_SLOTS
    spark = session.create(config.pipeline, slots, config.paths.data / "spark")
    for query in chosen:
        start(query, spark, config)
    spark.streams.awaitAnyTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
