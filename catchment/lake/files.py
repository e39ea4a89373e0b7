"""Rows in a file of one's own."""

from pathlib import Path

import pyarrow as pa

from catchment.errors import ConfigurationError
from catchment.lake.formats import Format, encoded

ENDINGS = {".parquet": Format.PARQUET, ".csv": Format.CSV}


def form_of(file: Path) -> Format:
    """What a file's name asks for."""
    form = ENDINGS.get(file.suffix.lower())
    if form is None:
        raise ConfigurationError(
            f"{file.name} does not say what to write", f"Name a file that ends with {' or '.join(ENDINGS)}."
        )
    return form


def write_file(reader: pa.RecordBatchReader, form: Format, file: Path) -> int:
    """Writes all rows, and says how many; the file appears under its name when it is whole."""
    rows = 0

    def counted() -> pa.RecordBatchReader:
        nonlocal rows
        for batch in reader:
            rows += batch.num_rows
            yield batch

    draft = file.with_name(f".{file.name}.draft")
    try:
        with draft.open("wb") as target:
            source = pa.RecordBatchReader.from_batches(reader.schema, counted())
            for piece in encoded(source, form):
                target.write(piece)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return rows
