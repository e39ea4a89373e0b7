"""What tables a lake has, and how large they are."""

from pydantic import BaseModel, Field

from catchment.lake.tables import Lake, actions_of, columns_of


class TableSummary(BaseModel):
    """One table of the lake."""

    name: str
    description: str
    rows: int
    bytes: int
    files: int
    version: int = Field(description="How often it has been changed.")
    first_day: str | None = Field(description="The day of the oldest rows.")
    last_day: str | None = Field(description="The day of the newest rows.")
    columns: dict[str, str] = Field(description="The types of its columns, by name.")


def tables_of(lake: Lake) -> list[TableSummary]:
    """All tables, sorted by name."""
    return [summary for name in lake.names() if (summary := _summary(lake, name))]


def _summary(lake: Lake, name: str) -> TableSummary | None:
    table = lake.find(name)
    if table is None:
        return None
    files = actions_of(table)
    days = sorted(str(file["partition"]["day"]) for file in files)
    return TableSummary(
        name=name,
        description=table.metadata().description or "",
        rows=sum(file["num_records"] or 0 for file in files),
        bytes=sum(file["size_bytes"] for file in files),
        files=len(files),
        version=table.version(),
        first_day=days[0] if days else None,
        last_day=days[-1] if days else None,
        columns={column: kind.value for column, kind in columns_of(table).items()},
    )
