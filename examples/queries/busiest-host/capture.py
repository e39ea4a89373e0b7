"""An adapter of one's own: headers of the packets on a network interface become records of a stream.

It needs Linux, and the right to open packet sockets (CAP_NET_RAW). Only packets from or to the ports that are
named are taken: on loopback the gateway's own way to Kafka would be captured, and what is captured be sent.
"""

import asyncio
import ipaddress
import logging
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

import orjson

from catchment.errors import ConfigurationError, SpoolFull
from catchment.gateway.adapters import Inlet

log = logging.getLogger(__name__)

EVERY_PROTOCOL = 0x0003
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp"}
PORTED = ("tcp", "udp")
# Of the whole packet, only headers are read.
HEADER_BYTES = 128
GATHER_S = 0.05
FULL_RETRY_S = 1.0


class CapturePackets:
    """Hands over what passes an interface."""

    def __init__(self, inlet: Inlet, settings: Mapping[str, Any]) -> None:
        self._interface = str(settings.get("interface", "lo"))
        self._stream = str(settings.get("stream", f"packets/{self._interface}"))
        self._ports = frozenset(int(port) for port in settings["ports"])
        self.name = f"packets of {self._interface}"
        self._inlet = inlet
        self._packets = 0
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        try:
            self._socket = _opened(self._interface)
        except OSError as error:
            raise ConfigurationError(
                f"Packets of {self._interface} cannot be captured: {error.strerror}",
                "Name an interface that is there, and give the gateway CAP_NET_RAW.",
            ) from None
        self._capturing = asyncio.create_task(self._capture())

    async def drain(self, timeout_s: float) -> None:
        self._stopping.set()
        await asyncio.wait_for(self._capturing, timeout_s)
        self._socket.close()

    def figures(self) -> dict[str, Any]:
        return {"packets": self._packets}

    async def _capture(self) -> None:
        while not self._stopping.is_set():
            await asyncio.sleep(GATHER_S)
            records = [orjson.dumps(packet) for packet in self._received()]
            if records:
                await self._hand_over(records)

    def _received(self) -> list[dict[str, Any]]:
        """What came since the last look. Loopback shows each packet twice: as it leaves and as it arrives."""
        packets: list[dict[str, Any]] = []
        while True:
            try:
                content, address = self._socket.recvfrom(HEADER_BYTES)
            except BlockingIOError:
                return packets
            if address[2] == socket.PACKET_OUTGOING and self._interface == "lo":
                continue
            packet = header(content, time.time_ns() // 1_000_000)
            if packet and self._ports.intersection(packet.pop("ports")):
                packets.append(packet)

    async def _hand_over(self, records: list[bytes]) -> None:
        while True:
            try:
                await self._inlet.accept(self._stream, records)
                break
            except SpoolFull:
                await asyncio.sleep(FULL_RETRY_S)
        self._packets += len(records)


def _opened(interface: str) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(EVERY_PROTOCOL))
    try:
        opened.setblocking(False)
        opened.bind((interface, EVERY_PROTOCOL))
    except OSError:
        opened.close()
        raise
    return opened


def header(content: bytes, at_ms: int) -> dict[str, Any] | None:
    """What the headers of an IP packet say; None for any other."""
    version = content[0] >> 4 if content else 0
    if version == 4 and len(content) >= 20:
        number, length, rest = (
            content[9],
            struct.unpack_from(">H", content, 2)[0],
            content[(content[0] & 15) * 4 :],
        )
        source, target = content[12:16], content[16:20]
    elif version == 6 and len(content) >= 40:
        number, length, rest = content[6], 40 + struct.unpack_from(">H", content, 4)[0], content[40:]
        source, target = content[8:24], content[24:40]
    else:
        return None
    protocol = PROTOCOLS.get(number, str(number))
    ports = struct.unpack_from(">HH", rest) if protocol in PORTED and len(rest) >= 4 else ()
    return {
        "time": at_ms,
        "protocol": protocol,
        "source": str(ipaddress.ip_address(source)),
        "target": str(ipaddress.ip_address(target)),
        "bytes": length,
        "ports": ports,
    }
