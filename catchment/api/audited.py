"""Every change through the API becomes an entry of the audit log, here and nowhere else."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from catchment.api.access import SAFE_METHODS
from catchment.audit.entry import AuditEntry, entry
from catchment.audit.journal import AuditJournal

# They are sent with a body and change nothing: questions in SQL, and whether a schema or a query would do.
_QUESTIONS = {
    "sql",
    "sql_rows",
    "find",
    "check",
    "check_against",
    "check_query",
    "explain_query",
    "test_query",
}
_SIGN_IN = "sign_in"
_TOO_MANY = 429
_LOG = logging.getLogger(__name__)


class Audited:
    """Writes down each request that may change something, with who sent it and how it was answered.

    Requests of nobody are left out: they change nothing. A sign-in that failed is not, unless it had to wait.
    """

    def __init__(self, app: ASGIApp, node: str, journal: AuditJournal) -> None:
        self._app = app
        self._node = node
        self._journal = journal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS:
            await self._app(scope, receive, send)
            return
        target = scope["path"]
        # Made here, so that an application inside shares it.
        scope.setdefault("state", {})

        async def note_and_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, target, message["status"])
            await send(message)

        try:
            await self._app(scope, receive, note_and_send)
        except Exception:
            self._note(scope, target, 500)
            raise

    def _note(self, scope: Scope, target: str, status: int) -> None:
        if noted := self._entry(scope, target, status):
            try:
                self._journal.append(noted)
            except OSError as error:
                # What was asked for has been done: to answer that it failed would not be true.
                _LOG.error("the audit log lacks %s: %s", noted.model_dump_json(), error)

    def _entry(self, scope: Scope, target: str, status: int) -> AuditEntry | None:
        what = getattr(scope.get("route"), "name", "")
        who = scope["state"].get("who")
        is_failed_sign_in = what == _SIGN_IN and who is None and status != _TOO_MANY
        if what in _QUESTIONS or not (who or is_failed_sign_in):
            return None
        address = scope["client"][0] if scope.get("client") else None
        return entry(self._node, who or "nobody", what, target, status, address)
