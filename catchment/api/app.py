"""The application: every route, in front of them the guard, around them the handling of errors."""

from functools import partial

from fastapi import FastAPI

from catchment import __version__
from catchment.alerts.rulebook import RuleBook
from catchment.alerts.view import AlertBook
from catchment.api import (
    alerts,
    deadletters,
    devices,
    lake,
    ledger,
    live,
    mappings,
    metrics,
    probes,
    problems,
    rules,
    schema_registry,
    sensor_types,
    sensors,
    session,
    sites,
    status,
    twin_changes,
    twin_feeds,
    twin_types,
    twins,
)
from catchment.api.guard import Guard
from catchment.api.hub import Hub
from catchment.api.openapi import describe_truthfully
from catchment.api.services import Services
from catchment.api.sessions import FailedSignIns, Sessions
from catchment.api.sources import LedgerSource
from catchment.config import Config
from catchment.console.pages import add_console
from catchment.deadletters.letters import DeadLetters
from catchment.kafka.table import Tables
from catchment.ledger.expiry import oldest_kept_us
from catchment.node.status import ask_node
from catchment.registry.registry import Registry
from catchment.schemas.registry import SchemaRegistry
from catchment.security.tokens import Tokens
from catchment.twins.declarations import TwinDeclarations
from catchment.twins.service import Twins

RESOURCES = (
    probes,
    metrics,
    status,
    sites,
    ledger,
    live,
    alerts,
    session,
    devices,
    sensor_types,
    sensors,
    mappings,
    rules,
    twin_types,
    twin_feeds,
    lake,
    deadletters,
    twins,
    twin_changes,
)
DESCRIPTION = "State and data of a Catchment node. Errors are RFC 9457 problems with codes that never change."


def create_app(config: Config, ledger_source: LedgerSource, tables: Tables) -> FastAPI:
    """The whole application on one ledger and the tables of what was declared."""
    app = FastAPI(
        title="Catchment",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    services = app.state.services = _services(config, ledger_source, tables)
    for resource in RESOURCES:
        app.include_router(resource.router)
    schema_registry.mount_in(app, services)
    add_console(app)
    problems.handle_in(app)
    app.add_middleware(Guard)
    describe_truthfully(app)
    return app


def _services(config: Config, ledger_source: LedgerSource, tables: Tables) -> Services:
    schemas = SchemaRegistry(config.site, tables)
    return Services(
        config=config,
        ledger=ledger_source,
        tokens=Tokens(config.paths.tokens),
        sessions=Sessions(config.api.session_hours * 3600),
        failed_sign_ins=FailedSignIns(),
        hub=Hub(config.site, ledger_source, partial(ask_node, config), partial(oldest_kept_us, config)),
        alerts=AlertBook(),
        tables=tables,
        schemas=schemas,
        registry=Registry(config.site, tables, schemas),
        rules=RuleBook(config.site, tables, config.alerts.channels),
        twin_declarations=TwinDeclarations(config.site, tables, schemas),
        deadletters=DeadLetters(config, tables),
        twins=Twins(config, tables),
    )
