"""The queries of the benchmark in Bytewax: `bytewax_peer.py SETTINGS`, one of several processes."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
from bytewax import operators as op
from bytewax.connectors.kafka import KafkaSink, KafkaSinkMessage, KafkaSource
from bytewax.dataflow import Dataflow
from bytewax.operators import windowing
from bytewax.run import cli_main

WINDOW_MS = 1_000
WINDOW = timedelta(milliseconds=WINDOW_MS)
WAIT = timedelta(hours=1)
EPOCH = datetime.fromtimestamp(0, UTC)
BEST = 3


def main(file):
    settings = json.loads(Path(file).read_text())
    kafka = dict(settings["kafka"])
    brokers = kafka.pop("bootstrap.servers").split(",")
    flow = Dataflow(settings["query"].replace("-", "_"))
    source = KafkaSource(brokers, [settings["source"]], add_config=kafka, batch_size=settings["batch"])
    rows = QUERIES[settings["query"]](op.input("records", flow, source))
    messages = op.map("written", rows, message)
    op.output("kafka", messages, KafkaSink(brokers, settings["target"], {**kafka, **settings["producer"]}))
    cli_main(flow, process_id=settings["process"], addresses=settings["addresses"])


def message(result):
    key, row, headers = result
    return KafkaSinkMessage(key.encode(), orjson.dumps(row), headers=headers)


def read(record):
    return orjson.loads(record.value), record.headers


def filter_map(records):
    return op.filter_map("named", records, named)


def named(record):
    row, headers = read(record)
    if row["protocol"] != "tcp":
        return None
    result = {"serial": row["serial"], "host": row["host"].upper(), "bits": row["bytes"] * 8}
    return str(row["serial"]), result, headers


def windowed_count(records):
    counts = counts_of(records)
    return op.map("results", counts, lambda each: (f"{each[0]}/{each[1][0]['window_start']}", *each[1]))


def counts_of(records):
    """Windows of Bytewax tell their result when they close: a count that is told at once is made by hand."""
    by_host = op.map("by_host", records, lambda record: (record.key.decode(), read(record)))
    return op.stateful_map("counts", by_host, counted_in_window)


def counted_in_window(counts, item):
    counts = {} if counts is None else counts
    row, headers = item
    window = row["time"] - row["time"] % WINDOW_MS
    counts[window] = packets = counts.get(window, 0) + 1
    return counts, ({"host": row["host"], "window_start": window, "packets": packets}, headers)


def windowed_join(records):
    """Every device asks once in a window, so that a join in windows gives the pairs that are wanted."""
    sides = op.map("by_device", records, lambda record: (record.key.decode(), read(record)))
    sides = op.branch("sides", sides, lambda item: item[1][0]["side"] == "requests")
    clock = windowing.EventClock(time_of, wait_for_system_duration=WAIT)
    windows = windowing.TumblingWindower(length=WINDOW, align_to=EPOCH)
    pairs = windowing.join_window(
        "pairs", clock, windows, sides.trues, sides.falses, emit_mode="complete", ordered=False
    )
    return op.map("results", pairs.down, answered)


def time_of(item):
    return datetime.fromtimestamp(item[0]["time"] / 1000, UTC)


def answered(pair):
    device, (_, ((request, _), (answer, headers))) = pair
    row = {"device": device, "asked": request["serial"], "answered": answer["serial"]}
    return str(request["serial"]), row, headers


def top(records):
    counts = op.map("by_window", counts_of(records), lambda each: (str(each[1][0]["window_start"]), each[1]))
    changes = op.stateful_flat_map("best", counts, changed)
    return op.map("results", changes, lambda each: (f"{each[0]}/{each[1][0]['rank']}", *each[1]))


def changed(before, item):
    """The ranks that a count changes. Counts only grow: who was not among the best comes back by itself."""
    row, headers = item
    before = before or []
    others = [each for each in before if each[1] != row["host"]]
    best = sorted([*others, (-row["packets"], row["host"])])[:BEST]
    told = [
        ({"window_start": row["window_start"], "rank": rank, "host": host, "packets": -packets}, headers)
        for rank, (packets, host) in enumerate(best, 1)
        if rank > len(before) or before[rank - 1] != (packets, host)
    ]
    return best, told


def word_count(records):
    words = op.flat_map("words", records, words_of)
    counts = op.stateful_map("counts", words, counted)
    return op.map(
        "results", counts, lambda each: (each[0], {"word": each[0], "times": each[1][0]}, each[1][1])
    )


def words_of(record):
    return [(word, record.headers) for word in record.value.decode().split(" ")]


def counted(times, headers):
    times = (times or 0) + 1
    return times, (times, headers)


QUERIES = {
    "filter-map": filter_map,
    "windowed-count": windowed_count,
    "windowed-join": windowed_join,
    "top": top,
    "word-count": word_count,
}

if __name__ == "__main__":
    main(sys.argv[1])
