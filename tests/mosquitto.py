"""A real MQTT broker for tests: Mosquitto in a process of its own, on a port of its own."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from catchment.security.authority import Identity

START_TIMEOUT_S = 10.0


class Mosquitto:
    """A broker with TLS and client certificates, which keeps its sessions when it is restarted."""

    def __init__(self, directory: Path, port: int, server: Identity, device: Identity, *lines: str) -> None:
        self.port = port
        self.device = device
        self._directory = directory
        self._file = directory / "mosquitto.conf"
        settings = [
            f"listener {port} 127.0.0.1",
            f"cafile {server.ca_file}",
            f"certfile {server.certificate_file}",
            f"keyfile {server.key_file}",
            "require_certificate true",
            "allow_anonymous true",
            "persistence true",
            f"persistence_location {directory}/",
            f"log_dest file {directory}/mosquitto.log",
            *lines,
        ]
        # As root it would become another user, who may read neither keys nor directory.
        self._file.write_text("\n".join(["user root", *settings, ""]))

    def start(self) -> None:
        self._process = subprocess.Popen(["mosquitto", "-c", str(self._file)])
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            assert self._process.poll() is None, self._log()
            assert time.monotonic() < deadline_s, self._log()
            time.sleep(0.05)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)

    def publish(self, topic: str, *messages: str, version: str = "5", options: str = "") -> None:
        """Publishes messages at QoS 1, one after the other on one connection, with mosquitto_pub."""
        command = f"""mosquitto_pub -h localhost -p {self.port} -V {version} -q 1 -t {topic} -l
          --cafile {self.device.ca_file} --cert {self.device.certificate_file} --key {self.device.key_file}
          {options}"""
        lines = "".join(f"{message}\n" for message in messages)
        subprocess.run(command.split(), input=lines, text=True, check=True, timeout=30)

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def _log(self) -> str:
        return (self._directory / "mosquitto.log").read_text()


@contextmanager
def running_mosquitto(broker: Mosquitto) -> Iterator[Mosquitto]:
    """The broker, running when the block begins and gone after it."""
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()
