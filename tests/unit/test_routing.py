"""Which partition a stream goes to."""

import zlib

import pytest

from catchment.config.forwarding import Hashing, Routing
from catchment.gateway.routing import Router
from catchment.kafka.hashing import murmur2
from catchment.records import Source

EPOCH = 7
STREAMS = {f"press-{number}": 1 for number in range(6)}


def source(stream: str, epoch: int = EPOCH) -> Source:
    return Source("oslo", "gateway", epoch, stream)


def router(routing: Routing, streams: dict[str, int], partitions: int = 4) -> Router:
    made = Router(routing, Hashing.CRC32, EPOCH, streams)
    made.begin(partitions)
    return made


def test_by_key_the_hash_decides() -> None:
    by_key = router(Routing.KEY, STREAMS)
    assert by_key.partition_of(source("press-1")) == zlib.crc32(b"oslo/press-1") % 4


def test_round_robin_deals_out_the_partitions_in_the_order_of_the_streams() -> None:
    in_turn = router(Routing.ROUND_ROBIN, STREAMS)
    assert [in_turn.partition_of(source(stream)) for stream in STREAMS] == [0, 1, 2, 3, 0, 1]


def test_a_stream_keeps_its_turn_whichever_is_asked_for_first_and_whatever_comes_later() -> None:
    streams = dict(STREAMS)
    in_turn = router(Routing.ROUND_ROBIN, streams)
    assert in_turn.partition_of(source("press-5")) == 1
    streams["later"] = 1
    assert in_turn.partition_of(source("later")) == 2
    assert in_turn.partition_of(source("press-5")) == 1


def test_what_an_earlier_epoch_left_goes_by_its_key() -> None:
    in_turn = router(Routing.ROUND_ROBIN, STREAMS)
    assert in_turn.partition_of(source("old", EPOCH - 1)) == zlib.crc32(b"oslo/old") % 4


# From the tests of Kafka's own clients.
@pytest.mark.parametrize(
    ("key", "value"),
    [(b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536)],
)
def test_murmur2_is_that_of_java_clients(key: bytes, value: int) -> None:
    assert murmur2(key) == value & 0x7FFFFFFF
