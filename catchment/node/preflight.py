"""What is checked before anything starts: each failure is one message that says what to change."""

import contextlib
import errno
import shutil
import socket
import tempfile

import psutil

from catchment.config import Config
from catchment.errors import MachineError

_MIB = 1024 * 1024


def check_machine(config: Config) -> None:
    """Everything a node needs of its machine, besides the data directory itself."""
    check_free_space(config)
    check_ports(config)
    check_java()


def check_data_dir(config: Config) -> None:
    """Makes the data directory, if there is none, and sees that it can be written to."""
    directory = config.data_dir
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"x" * 4096)
    except OSError as error:
        raise MachineError(
            f"The data directory {directory} cannot be written to: {error.strerror}",
            "Set data_dir to a directory that you may write to, or make room on its disk.",
        ) from None


def check_free_space(config: Config) -> None:
    free_mib = shutil.disk_usage(config.data_dir).free // _MIB
    if free_mib < config.min_free_mib:
        raise MachineError(
            f"The disk of the data directory {config.data_dir} has {free_mib} MiB free,"
            f" less than the {config.min_free_mib} MiB of min_free_mib",
            "Make room, or set data_dir to a directory on another disk.",
        )


def check_ports(config: Config) -> None:
    for key, (host, port) in config.ports.items():
        check_port(key, host, port)


def check_port(key: str, host: str, port: int) -> None:
    """Binds the port as a server would, and lets go of it."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(address)
            server.listen(1)
    except OSError as error:
        raise _refusal(error, key, host, port) from None


def check_java() -> None:
    """Java and the jars that `make setup` fetches."""
    from catchment import jars

    jars.check_java()
    jars.broker_classpath()
    jars.spark_jars()


def _refusal(error: OSError, key: str, host: str, port: int) -> MachineError:
    section = key.partition(".")[0]
    if error.errno == errno.EADDRINUSE:
        return MachineError(
            f"Port {port} ({key}) is in use{_holder_of(port)}",
            f"Stop what uses it, or set {key} to another port.",
        )
    if error.errno == errno.EACCES:
        return MachineError(
            f"Port {port} ({key}) may not be opened by this user", f"Set {key} to a port above 1023."
        )
    return MachineError(
        f"Nothing can listen on {host} ({section}.host): {error.strerror}",
        f"Set {section}.host to an address of this machine.",
    )


def _holder_of(port: int) -> str:
    """Who listens on a port, if we may know."""
    with contextlib.suppress(psutil.Error, PermissionError):
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN
            if listens and connection.laddr and connection.laddr.port == port and connection.pid:
                return f" by process {connection.pid} ({psutil.Process(connection.pid).name()})"
    return ""
