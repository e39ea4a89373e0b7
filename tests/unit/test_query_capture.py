"""Headers of packets, as the adapter of the example busiest-host captures them on loopback."""

import asyncio
import importlib.util
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import orjson
import pytest

from catchment.config.models import SpoolSettings
from catchment.errors import ConfigurationError
from catchment.gateway.intake import Intake
from catchment.gateway.spool import Spool

EXAMPLE = Path(__file__).parents[2] / "examples" / "queries" / "busiest-host" / "capture.py"


def loaded() -> ModuleType:
    found = importlib.util.spec_from_file_location("capture", EXAMPLE)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


capture = loaded()
may_capture = pytest.mark.skipif(os.geteuid() != 0, reason="packets can be captured by root")


def ipv4(protocol: int, payload: bytes) -> bytes:
    length = 20 + len(payload)
    addresses = socket.inet_aton("10.0.0.1") + socket.inet_aton("10.0.0.9")
    return struct.pack(">BBHHHBBH", 0x45, 0, length, 1, 0, 64, protocol, 0) + addresses + payload


def test_headers_of_both_versions_are_read() -> None:
    ports = struct.pack(">HH", 40000, 80)
    assert capture.header(ipv4(6, ports), 5) == {
        "time": 5,
        "protocol": "tcp",
        "source": "10.0.0.1",
        "target": "10.0.0.9",
        "bytes": 24,
        "ports": (40000, 80),
    }
    address = socket.inet_pton(socket.AF_INET6, "::1")
    sixth = struct.pack(">IHBB", 6 << 28, 4, 17, 64) + address + address + ports
    found = capture.header(sixth, 5)
    assert (found["protocol"], found["source"], found["bytes"]) == ("udp", "::1", 44)


@pytest.mark.parametrize("content", [b"", b"\x45", b"\x00" * 60, ipv4(6, b"")[:19]])
def test_what_is_no_packet_is_passed_over(content: bytes) -> None:
    assert capture.header(content, 5) is None


def test_a_packet_that_is_cut_has_no_ports() -> None:
    assert capture.header(ipv4(6, b"\x00"), 5)["ports"] == ()


@contextmanager
def contacted(times: int) -> Iterator[int]:
    """A server that is contacted by TCP, by its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        yield port
        for _ in range(times):
            socket.create_connection(("127.0.0.1", port)).close()


@may_capture
def test_packets_on_loopback_become_records(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolSettings())

    async def run() -> None:
        spool.start()
        with contacted(3) as port:
            adapter = capture.CapturePackets(Intake(spool, SpoolSettings().when_full), {"ports": [port]})
            await adapter.start()
        while adapter.figures()["packets"] < 9:
            await asyncio.sleep(0.01)
        await adapter.drain(5)
        await asyncio.to_thread(spool.close)

    asyncio.run(asyncio.wait_for(run(), 20))
    batches = [placed.batch for placed in spool.take(spool.progress.position)]
    assert {batch.stream for batch in batches} == {"packets/lo"}
    packets = [orjson.loads(payload) for batch in batches for payload in batch.payloads]
    # A connection that is opened and closed takes at least a packet each way, and its acknowledgement.
    assert len(packets) >= 9
    assert {packet["protocol"] for packet in packets} == {"tcp"}
    assert {packet["target"] for packet in packets} == {"127.0.0.1"}


@may_capture
def test_an_interface_that_is_not_there_is_told(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolSettings())
    adapter = capture.CapturePackets(
        Intake(spool, SpoolSettings().when_full), {"interface": "none0", "ports": [1]}
    )
    with pytest.raises(ConfigurationError, match="Packets of none0 cannot be captured"):
        asyncio.run(adapter.start())
