"""Every error that Catchment raises on purpose.

Each says what happened and to which thing, and what to change. The code is stable: the command line
and the API show the same one. Transient errors go away by themselves and are retried.
"""

from typing import ClassVar, Self


class CatchmentError(Exception):
    """An error without a code of its own; the log of the part has more."""

    code: ClassVar[str] = "failed"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    transient: ClassVar[bool] = False

    def __init__(self, happened: str, remedy: str) -> None:
        super().__init__(f"{happened}. {remedy}")
        self.happened = happened
        self.remedy = remedy


class ConfigurationError(CatchmentError):
    """The configuration, or how a command was called, is wrong."""

    code = "configuration"
    exit_code = 2


class MachineError(CatchmentError):
    """This machine lacks something that a node needs: a port, disk space, a right, Java."""

    code = "machine"
    exit_code = 2


class BrokerUnavailable(CatchmentError):
    """Kafka does not answer, or not yet."""

    code = "broker-unavailable"
    http_status = 503
    transient = True


class LakeUnavailable(CatchmentError):
    """The lake's tables cannot be reached."""

    code = "lake-unavailable"
    http_status = 503
    transient = True


class SpoolFull(CatchmentError):
    """A gateway can keep no more until Kafka has taken some of it."""

    code = "spool-full"
    http_status = 503
    transient = True


class PartFailed(CatchmentError):
    """A part of the node stopped, or did not become ready."""

    code = "part-failed"


class NodeNotRunning(CatchmentError):
    """A command needs the running node."""

    code = "node-not-running"
    http_status = 503


class InvalidRecord(CatchmentError):
    """A record or its stamp cannot be read: it goes to the dead letters."""

    code = "invalid-record"


class Unauthenticated(CatchmentError):
    """The caller showed no identity, or one that is not valid (any more)."""

    code = "unauthenticated"
    http_status = 401


class AccessRefused(CatchmentError):
    """The caller is known and lacks the right."""

    code = "access-refused"
    http_status = 403


class NotFound(CatchmentError):
    """There is no such thing."""

    code = "not-found"
    http_status = 404


class Conflict(CatchmentError):
    """What was asked for does not go with what is there: something refers to it, or it is another node's."""

    code = "conflict"
    http_status = 409


class VersionChanged(CatchmentError):
    """The thing is of another version than `If-Match` says: somebody changed it meanwhile."""

    code = "version-changed"
    http_status = 412


class InvalidRequest(CatchmentError):
    """A request to the API that makes no sense."""

    code = "invalid-request"
    http_status = 422


class InvalidRule(CatchmentError):
    """A declared rule that cannot be kept."""

    code = "invalid-rule"
    exit_code = 2
    http_status = 422


class InvalidQuery(CatchmentError):
    """A continuous query that cannot run as it is declared; each problem is a line of its own."""

    code = "invalid-query"
    exit_code = 2
    http_status = 422

    def __init__(self, name: str, problems: list[str]) -> None:
        lines = "".join(f"\n  {problem}" for problem in problems)
        super().__init__(f"The query {name} is wrong", f"Correct what is named here:{lines}")
        self.problems = problems


class InvalidExpression(CatchmentError):
    """A question to twins that cannot be read; the message points at the place."""

    code = "invalid-expression"
    exit_code = 2
    http_status = 422

    @classmethod
    def at(cls, text: str, place: int, expected: str, found: str) -> Self:
        """The error at a place of a text, with a mark below it."""
        line = "".join(each if each.isprintable() else " " for each in text)
        return cls(
            f"The expression is wrong at column {place + 1}: expected {expected}, found {found}",
            f"Correct it here:\n  {line}\n  {' ' * place}^",
        )


class PartitionsMissing(CatchmentError):
    """What was asked for lies where no instance answers at this moment; it is there again within seconds."""

    code = "partitions-missing"
    http_status = 503
    transient = True


class SchemaRefused(CatchmentError):
    """The schema registry does not have it, or does not take it; its own code says why."""

    code = "schema-refused"
    http_status = 422

    def __init__(self, happened: str, remedy: str, registry_code: int = 42201) -> None:
        super().__init__(happened, remedy)
        self.registry_code = registry_code


class TooManyAttempts(CatchmentError):
    """Too many failed sign-ins with one name or from one address; `Retry-After` says how long to wait."""

    code = "too-many-attempts"
    http_status = 429

    def __init__(self, happened: str, retry_after_s: int) -> None:
        super().__init__(happened, f"Wait {retry_after_s} s and try again.")
        self.retry_after_s = retry_after_s


class RateExceeded(CatchmentError):
    """A provider sends more than it may; `Retry-After` says how long to wait."""

    code = "rate-exceeded"
    http_status = 429
    transient = True

    def __init__(self, happened: str, retry_after_s: int) -> None:
        super().__init__(happened, f"Wait {retry_after_s} s and send again.")
        self.retry_after_s = retry_after_s


class ContentTooLarge(CatchmentError):
    """A request or a message in it is larger than is taken."""

    code = "content-too-large"
    http_status = 413


class UnsupportedContent(CatchmentError):
    """The `Content-Type` is not one that is taken."""

    code = "unsupported-content"
    http_status = 415


class RequestTimeout(CatchmentError):
    """A request did not come whole in time."""

    code = "request-timeout"
    http_status = 408
    transient = True
