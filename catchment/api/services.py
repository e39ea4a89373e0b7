"""What the routes work with, made once for an application and handed to each of them."""

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from catchment.alerts.acknowledged import Acknowledgements
from catchment.alerts.rulebook import RuleBook
from catchment.alerts.view import AlertBook
from catchment.api.forecast import SpoolForecast
from catchment.api.hub import Hub
from catchment.api.readings_feed import ReadingsFeed
from catchment.api.sessions import Sessions
from catchment.api.sign_in import SignIns
from catchment.api.sources import LedgerSource
from catchment.audit.log import AuditLog
from catchment.config import Config
from catchment.deadletters.letters import DeadLetters
from catchment.kafka.table import Tables
from catchment.ledger.gaps import GapBook
from catchment.ledger.recounts import Recounts
from catchment.queries.book import QueryBook
from catchment.registry.registry import Registry
from catchment.schemas.registry import SchemaRegistry
from catchment.security.tokens import Tokens
from catchment.security.users import Users
from catchment.twins.declarations import TwinDeclarations
from catchment.twins.service import Twins


@dataclass(frozen=True)
class Services:
    """The parts of one application."""

    config: Config
    ledger: LedgerSource
    tokens: Tokens
    users: Users
    sessions: Sessions
    sign_ins: SignIns
    hub: Hub
    alerts: AlertBook
    acknowledgements: Acknowledgements
    audit: AuditLog
    spool_forecast: SpoolForecast
    readings: ReadingsFeed
    gaps: GapBook
    recounts: Recounts
    tables: Tables
    schemas: SchemaRegistry
    registry: Registry
    rules: RuleBook
    twin_declarations: TwinDeclarations
    deadletters: DeadLetters
    twins: Twins
    queries: QueryBook

    @property
    def unread(self) -> list[str]:
        """What has to be read before questions can be answered: nothing, when this part can serve."""
        read = {"ledger": self.ledger.caught_up, "declarations": self.tables.caught_up}
        return [name for name, is_read in read.items() if not is_read]

    def end_streams(self) -> None:
        """Closes the live streams of those who may not see them any more."""
        self.hub.review()
        self.twins.watchers.review()


async def services_of(request: Request) -> Services:
    return cast(Services, request.app.state.services)


ServicesOfApp = Annotated[Services, Depends(services_of)]
