"""A PostgreSQL server for one benchmark, on a free port of this machine, gone afterwards."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe

import psycopg

from catchment.bench.site import free_ports
from catchment.errors import MachineError, PartFailed

BINARIES = Path("/usr/lib/postgresql")
OWNER = "postgres"
USER = "bench"
START_S = 30.0
POLL_S = 0.05


@dataclass(frozen=True)
class Server:
    """Where it is, who may come in, and the session of its processes."""

    port: int
    password: str
    session: int

    @property
    def address(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    def execute(self, *statements: str) -> None:
        with psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user=USER,
            password=self.password,
            dbname="postgres",
            autocommit=True,
        ) as connection:
            for statement in statements:
                connection.execute(statement.encode())


@contextmanager
def postgres(**settings: str) -> Iterator[Server]:
    """A server with default settings and these, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="catchment-bench-postgres-") as name:
        directory, password = Path(name), token_urlsafe()
        _give_away(directory)
        _make(directory, password)
        (port,) = free_ports(1)
        local = {"listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": ""}
        options = [f"-c{key}={value}" for key, value in {**local, **settings}.items()]
        command = _command("postgres", "-D", directory / "data", *options)
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            server = Server(port, password, process.pid)
            _wait(server, process)
            yield server
        finally:
            # It lets its connections go at once, and leaves no shared memory behind.
            process.send_signal(signal.SIGINT)
            process.wait()


def _make(directory: Path, password: str) -> None:
    password_file = directory / "password"
    password_file.write_text(password)
    _give_away(password_file)
    access = ["-U", USER, "-A", "scram-sha-256", "--pwfile", password_file]
    made = subprocess.run(
        _command("initdb", "-D", directory / "data", *access), capture_output=True, text=True
    )
    if made.returncode != 0:
        raise PartFailed(f"PostgreSQL's files could not be made: {made.stderr.strip()}", "Run it again.")


def _wait(server: Server, process: "subprocess.Popen[bytes]") -> None:
    deadline_s = time.monotonic() + START_S
    while True:
        try:
            return server.execute("SELECT 1")
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > deadline_s:
                raise PartFailed(f"PostgreSQL does not start: {error}", "Run the benchmark again.") from None
            time.sleep(POLL_S)


def _command(program: str, *arguments: object) -> list[str]:
    versions = [path for path in BINARIES.glob("*") if (path / "bin" / program).exists()]
    if not versions:
        raise MachineError("PostgreSQL is not installed", "Install the package postgresql.")
    newest = max(versions, key=lambda path: int(path.name))
    command = [str(newest / "bin" / program), *map(str, arguments)]
    # It refuses to run as root.
    as_owner = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups"]
    return [*as_owner, *command] if os.geteuid() == 0 else command


def _give_away(path: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(path, OWNER)
