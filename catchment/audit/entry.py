"""An entry of the audit log; an entry of the topic `audit`."""

import getpass
import time
import uuid

from pydantic import BaseModel, Field


class AuditEntry(BaseModel, frozen=True):
    """One change that was asked for, and what became of it; not what was sent, which may be secret."""

    id: str = Field(description="Unique; an entry that was written twice has the same.")
    at_ms: int = Field(description="When it was answered, in ms since 1970.")
    who: str = Field(
        description="`user/NAME`, `token/NAME`, or `shell/NAME` for the command line; or nobody."
    )
    what: str = Field(description="The operation of the API, or the command.")
    target: str = Field(description="The address in the API, or what the command was about.")
    address: str | None = Field(description="Where the request came from; null for the command line.")
    outcome: int = Field(description="The HTTP status, or the exit code of the command.")
    node: str = Field(description="The site name of the node.")


def entry(
    node: str, who: str, what: str, target: str, outcome: int, address: str | None = None
) -> AuditEntry:
    """What has just happened."""
    return AuditEntry(
        id=uuid.uuid4().hex,
        at_ms=time.time_ns() // 1_000_000,
        who=who,
        what=what,
        target=target,
        address=address,
        outcome=outcome,
        node=node,
    )


def shell_user() -> str:
    """Who uses the command line, as the system knows them."""
    return f"shell/{getpass.getuser()}"
