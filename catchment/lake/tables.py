"""The tables of a lake: finding, making and widening them, and committing files to them."""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse
from uuid import uuid4

import orjson
import pyarrow as pa
import pyarrow.fs as pa_fs
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake._internal import DeltaFileSystemHandler
from deltalake.exceptions import DeltaError
from deltalake.fs import DeltaStorageHandler
from deltalake.schema import PrimitiveType
from deltalake.transaction import AddAction

from catchment.config import Config
from catchment.errors import LakeUnavailable
from catchment.lake.layout import DAY, Layout, Type

# A commit every few seconds is many small files of history: a day of it is enough to go on from.
PROPERTIES = {
    "delta.logRetentionDuration": "interval 1 days",
    "delta.checkpointInterval": "100",
    # With statistics of some columns, deltalake's Arrow datasets leave out files when others are asked for.
    "delta.dataSkippingNumIndexedCols": "0",
}


@dataclass(frozen=True)
class WrittenFile:
    """A Parquet file that an executor has written, and the time of its first and its last row."""

    table: str
    day: str
    path: Path
    bytes: int
    rows: int
    first_us: int = 0
    last_us: int = 0


class Lake:
    """All tables below one address."""

    def __init__(self, url: str, storage_options: dict[str, str], staging: Path) -> None:
        self.url = url.rstrip("/")
        self._options = storage_options
        parsed = urlparse(url)
        is_local = parsed.scheme in ("", "file")
        self.directory = Path(parsed.path if parsed.scheme else url) if is_local else None
        self.staging = staging

    def names(self) -> list[str]:
        """The tables that there are."""
        if self.directory:
            return sorted(path.parent.name for path in self.directory.glob("*/_delta_log"))
        # The names of directories are all that is looked at: object storage has no better list of tables.
        listed = self._files().get_file_info(pa_fs.FileSelector("", allow_not_found=True, recursive=False))
        return sorted(found.base_name for found in listed if self.find(found.base_name))

    def find(self, name: str) -> DeltaTable | None:
        """A table as it is now."""
        try:
            if not DeltaTable.is_deltatable(self._address(name), self._options):
                return None
            return DeltaTable(self._address(name), storage_options=self._options)
        except (DeltaError, OSError) as error:
            raise LakeUnavailable(
                f"The table {name} of the lake cannot be read ({str(error).splitlines()[0]})",
                "See that lake.url can be reached, and lake.storage_options are right.",
            ) from None

    def ensure(self, layouts: Sequence[Layout]) -> DeltaTable:
        """The table that has these layouts, with all their columns."""
        if self.directory:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        layout = layouts[0]
        wanted = {
            column.name: _field(column.name, column.type) for each in layouts for column in each.columns
        }
        table = self.find(layout.table)
        if table is None:
            return DeltaTable.create(
                self._address(layout.table),
                Schema([*wanted.values(), _field(DAY, Type.DATE)]),
                mode="ignore",
                partition_by=[DAY],
                name=layout.table,
                description=layout.description,
                configuration=PROPERTIES,
                storage_options=self._options,
            )
        present = {each.name for each in table.schema().fields}
        missing = [each for name, each in wanted.items() if name not in present]
        if missing:
            table.alter.add_columns(missing)
        return table

    def target(self, name: str) -> Path:
        """Where executors write files of a table: to their place, or to where they are uploaded from."""
        return (self.directory or self.staging) / name

    def place(self, file: WrittenFile) -> WrittenFile:
        """Moves a file to where executors would have written it."""
        place = self.target(file.table) / f"{DAY}={file.day}" / f"{uuid4()}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file.path, place)
        return replace(file, path=place)

    def commit(self, table: DeltaTable, files: list[WrittenFile], transaction: Transaction) -> None:
        """Makes files part of a table, all at once. They are on disk before, and so is the commit after."""
        for file in files:
            self._bring(file)
        table.create_write_transaction(
            [_action(file) for file in files],
            mode="append",
            schema=table.schema(),
            partition_by=[DAY],
            commit_properties=CommitProperties(app_transactions=[transaction]),
        )
        before = table.version()
        table.update_incremental()
        self._sync_log(table, files[0].table, before)

    def settle(self, table: DeltaTable, name: str, before: int) -> None:
        """Waits until what deltalake has written itself since a version is on the disk."""
        if self.directory:
            folder = self.directory / name
            sync(folder / path for path in self._added(table, name, before))
            self._sync_log(table, name, before)

    def _sync_log(self, table: DeltaTable, name: str, before: int) -> None:
        if self.directory:
            sync([*self._log(table, name, before), self.directory / name / "_delta_log"])

    def _added(self, table: DeltaTable, name: str, before: int) -> Iterator[str]:
        for file in self._log(table, name, before):
            for line in file.read_bytes().splitlines():
                if added := orjson.loads(line).get("add"):
                    yield unquote(added["path"])

    def _log(self, table: DeltaTable, name: str, before: int) -> list[Path]:
        """The entries of the log after a version."""
        assert self.directory
        log = self.directory / name / "_delta_log"
        return [log / f"{version:020}.json" for version in range(before + 1, table.version() + 1)]

    def _bring(self, file: WrittenFile) -> None:
        if self.directory:
            sync([file.path, file.path.parent, file.path.parent.parent])
            return
        target = f"{file.table}/{DAY}={file.day}/{file.path.name}"
        # Not through pyarrow, which hands over buffers that this handler does not take.
        sink: Any = DeltaFileSystemHandler(self.url, self._options).open_output_stream(target)
        with file.path.open("rb") as source:
            shutil.copyfileobj(source, sink, 1 << 20)
        sink.close()
        file.path.unlink()

    def _files(self) -> pa_fs.PyFileSystem:
        return pa_fs.PyFileSystem(DeltaStorageHandler(self.url, self._options))

    def _address(self, name: str) -> str:
        return f"{self.url}/{name}"


def lake_of(config: Config) -> Lake:
    """The lake that a node fills."""
    url = config.lake.url or str((config.paths.data / "lake").resolve())
    options = {name: value.get_secret_value() for name, value in config.lake.storage_options.items()}
    return Lake(url, options, config.paths.lake_work / "upload")


def columns_of(table: DeltaTable | None) -> dict[str, Type]:
    """The columns of a table, as layouts name their types."""
    fields: list[Any] = table.schema().fields if table else []
    return {each.name: Type(each.type.type) for each in fields}


def actions_of(table: DeltaTable) -> list[dict[str, Any]]:
    """The files of a table: path, size_bytes, num_records, and the day in partition."""
    rows: list[dict[str, Any]] = pa.table(table.get_add_actions()).to_pylist()
    return rows


def sync(paths: Iterable[Path]) -> None:
    """Waits until files and directories are on the disk."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _field(name: str, kind: Type) -> Field:
    return Field(name, PrimitiveType(kind.value))


def _action(file: WrittenFile) -> AddAction:
    return AddAction(
        path=f"{DAY}={file.day}/{file.path.name}",
        size=file.bytes,
        partition_values={DAY: file.day},
        modification_time=int(datetime.now(UTC).timestamp() * 1000),
        data_change=True,
        stats=orjson.dumps({"numRecords": file.rows}).decode(),
    )
