"""A PostgreSQL server on a free port of this machine, gone afterwards: for benchmarks and tests."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import Composed

from catchment.errors import PartFailed
from catchment.security.authority import Authority

BINARIES = "/usr/lib/postgresql"
OWNER = "postgres"
USER = "catchment"
PASSWORD = "only-for-this-machine"  # noqa: S105 - of a server that is gone after the run
WAIT_S = 30.0


class Postgres:
    """A server that can be stopped and started again; it speaks TLS, and takes plain text as well."""

    def __init__(self, directory: Path, port: int, **settings: str) -> None:
        self._data = directory / "data"
        self._port = port
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self.password_file = directory / "password"
        self.password_file.write_text(PASSWORD)
        authority = Authority(directory / "identities")
        identity = authority.identity("api")
        self.ca_file = identity.ca_file
        self._run(
            "initdb", "-D", self._data, "-U", USER, "-A", "scram-sha-256", "--pwfile", self.password_file,
            "--no-sync", "-E", "UTF8", "--locale=C.UTF-8",
        )  # fmt: skip
        for name, file in (("server.crt", identity.certificate_file), ("server.key", identity.key_file)):
            shutil.copy(file, self._data / name)
            (self._data / name).chmod(0o600)
            _give_away(self._data / name)

    def start(self) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self._port,
            "unix_socket_directories": "",
            "ssl": "on",
            **self._settings,
        }
        options = [f"-c{name}={value}" for name, value in settings.items()]
        log = (self._data.parent / "log").open("ab")
        with log:
            command = self._command("postgres", "-D", self._data, *options)
            self._process = subprocess.Popen(command, stderr=log, start_new_session=True)
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                self.rows("SELECT 1")
                return
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    raise PartFailed(f"PostgreSQL does not start ({error})", "Run it again.") from None
                time.sleep(0.1)

    def stop(self) -> None:
        """At once, as if it crashed."""
        if self._process:
            self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")
            self._process.wait()
            self._process = None

    @property
    def session(self) -> int:
        """What all its processes have in common."""
        assert self._process
        return self._process.pid

    @property
    def jdbc_url(self) -> str:
        """Where a program in Java finds it."""
        return f"jdbc:postgresql://127.0.0.1:{self._port}/postgres"

    def settings(self, **others: Any) -> dict[str, Any]:
        """What the configuration of a store here looks like."""
        url = f"postgresql://{USER}@localhost:{self._port}/postgres"
        return {"url": url, "password_file": str(self.password_file), **others}

    def rows(self, question: str | Composed, *values: Any) -> list[tuple[Any, ...]]:
        with self.connect() as connection:
            written = question.encode() if isinstance(question, str) else question
            cursor = connection.execute(written, values or None)
            return cursor.fetchall() if cursor.description else []

    def connect(self, **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(
            host="127.0.0.1", port=self._port, user=USER, password=PASSWORD, dbname="postgres", **options
        )

    def _run(self, program: str, *arguments: object) -> None:
        subprocess.run(self._command(program, *arguments), check=True, stdout=subprocess.DEVNULL)

    def _command(self, program: str, *arguments: object) -> list[str]:
        command = [str(_binaries() / program), *map(str, arguments)]
        # It refuses to run as root.
        return ["runuser", "-u", OWNER, "--", *command] if os.geteuid() == 0 else command


@contextmanager
def running_postgres(port: int, **settings: str) -> Iterator[Postgres]:
    """A server for as long as a `with` block lasts; settings are those of PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="catchment-postgres-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        _give_away(directory)
        server = Postgres(directory, port, **settings)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _binaries() -> Path:
    installed = [path / "bin" for path in Path(BINARIES).glob("*") if path.name.isdecimal()]
    if installed:
        return max(installed, key=lambda path: int(path.parent.name))
    if found := shutil.which("initdb"):
        return Path(found).parent
    raise PartFailed(
        "There is no PostgreSQL server on this machine",
        f"Install one (Debian: `postgresql`), so that `initdb` is in {BINARIES} or on the path.",
    )


def _give_away(path: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(path, OWNER)
