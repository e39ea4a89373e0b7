"""The application: every route, in front of them the guard, around them the handling of errors."""

from functools import partial

from fastapi import FastAPI

from catchment import __version__
from catchment.alerts.view import AlertBook
from catchment.api import alerts, ledger, live, metrics, probes, problems, session, sites, status
from catchment.api.guard import Guard
from catchment.api.hub import Hub
from catchment.api.openapi import describe_truthfully
from catchment.api.services import Services
from catchment.api.sessions import FailedSignIns, Sessions
from catchment.api.sources import LedgerSource
from catchment.config import Config
from catchment.console.pages import add_console
from catchment.node.status import ask_node
from catchment.security.tokens import Tokens

DESCRIPTION = "State and data of a Catchment node. Errors are RFC 9457 problems with codes that never change."


def create_app(config: Config, ledger_source: LedgerSource) -> FastAPI:
    """The whole application on one ledger."""
    app = FastAPI(
        title="Catchment",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.services = Services(
        config=config,
        ledger=ledger_source,
        tokens=Tokens(config.paths.tokens),
        sessions=Sessions(config.api.session_hours * 3600),
        failed_sign_ins=FailedSignIns(),
        hub=Hub(config.site, ledger_source, partial(ask_node, config)),
        alerts=AlertBook(),
    )
    for resource in (probes, metrics, status, sites, ledger, live, alerts, session):
        app.include_router(resource.router)
    add_console(app)
    problems.handle_in(app)
    app.add_middleware(Guard)
    describe_truthfully(app)
    return app
