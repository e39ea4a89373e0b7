"""A connection to the database of a fast store."""

from typing import Any

import psycopg

from catchment.config.store import PostgresSettings
from catchment.errors import PartFailed

CONNECT_S = 10

Connection = psycopg.Connection[tuple[Any, ...]]


def connect(settings: PostgresSettings) -> Connection:
    """Signs in as the pipeline does, with the same checks."""
    security: dict[str, Any] = {"sslmode": "disable"}
    if settings.encrypted:
        security = {"sslmode": "verify-full", "sslrootcert": str(settings.ca_file or "system")}
    try:
        return psycopg.connect(
            host=settings.host,
            port=settings.port,
            dbname=settings.database,
            user=settings.user,
            password=settings.reveal_password(),
            connect_timeout=CONNECT_S,
            application_name="catchment",
            **security,
        )
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise PartFailed(
            f"PostgreSQL at {settings.host}:{settings.port} cannot be reached ({reason})",
            "See that it runs, and check store.postgres in the configuration.",
        ) from None
