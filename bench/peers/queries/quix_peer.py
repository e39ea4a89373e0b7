"""The queries of the benchmark in Quix Streams: `quix_peer.py SETTINGS`, one of several processes."""

import json
import sys
from pathlib import Path

from quixstreams import Application
from quixstreams.kafka.configuration import ConnectionConfig

WINDOW_MS = 1_000
GRACE_MS = 3_600_000
BEST = 3


def main(file):
    settings = json.loads(Path(file).read_text())
    query = settings["query"]
    app = Application(
        broker_address=ConnectionConfig.from_librdkafka_dict(settings["kafka"], ignore_extras=True),
        consumer_group=settings["group"],
        auto_offset_reset="earliest",
        state_dir=settings["state_dir"],
        producer_extra_config=settings["producer"],
        loglevel="WARNING",
    )
    text = query == "word-count"
    source = app.topic(
        settings["source"],
        value_deserializer="str" if text else "json",
        timestamp_extractor=None if text else lambda value, *_: value["time"],
    )
    target = app.topic(settings["target"], value_serializer="json", key_serializer="str")
    rows = QUERIES[query](app.dataframe(source))
    rows.to_topic(target, key=KEYS[query])
    app.run()


def filter_map(packets):
    tcp = packets.filter(lambda row: row["protocol"] == "tcp")
    return tcp.apply(
        lambda row: {"serial": row["serial"], "host": row["host"].upper(), "bits": row["bytes"] * 8}
    )


def windowed_count(packets):
    """Windows give no headers: they are laid aside before, as rows pass one by one, and put back."""
    aside = []
    packets = packets.update(
        lambda _row, _key, _time, headers: aside.__setitem__(slice(None), headers), metadata=True
    )
    counts = packets.tumbling_window(WINDOW_MS, grace_ms=GRACE_MS).count().current()
    counts = counts.set_headers(lambda *_: aside)
    return counts.apply(
        lambda window, key, *_: {
            "host": key.decode(),
            "window_start": window["start"],
            "packets": window["value"],
        },
        metadata=True,
    )


def top(packets):
    by_window = windowed_count(packets).group_by(
        lambda row: str(row["window_start"]), name="window", key_serializer="str", key_deserializer="str"
    )
    return by_window.apply(changed, stateful=True, expand=True)


def changed(row, state):
    """The ranks that a count changes. Counts only grow: who was not among the best comes back by itself."""
    before = state.get("best", [])
    others = [each for each in before if each[1] != row["host"]]
    best = sorted([*others, [-row["packets"], row["host"]]])[:BEST]
    state.set("best", best)
    return [
        {"window_start": row["window_start"], "rank": rank, "host": host, "packets": -packets}
        for rank, (packets, host) in enumerate(best, 1)
        if rank > len(before) or before[rank - 1] != [packets, host]
    ]


def word_count(sentences):
    words = sentences.apply(lambda text: [{"word": word} for word in text.split(" ")], expand=True)
    return words.group_by("word", key_serializer="str", key_deserializer="str").apply(counted, stateful=True)


def counted(row, state):
    times = state.get("times", 0) + 1
    state.set("times", times)
    return {"word": row["word"], "times": times}


# A topic cannot be joined with itself: the join of requests and answers cannot be said.
QUERIES = {
    "filter-map": filter_map,
    "windowed-count": windowed_count,
    "top": top,
    "word-count": word_count,
}
KEYS = {
    "filter-map": lambda row: str(row["serial"]),
    "windowed-count": lambda row: f"{row['host']}/{row['window_start']}",
    "top": lambda row: f"{row['window_start']}/{row['rank']}",
    "word-count": lambda row: row["word"],
}

if __name__ == "__main__":
    main(sys.argv[1])
