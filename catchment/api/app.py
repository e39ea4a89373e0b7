"""The application: every route, in front of them the guard, around them the handling of errors."""

from functools import partial

from fastapi import FastAPI

from catchment import __version__
from catchment.alerts.acknowledged import Acknowledgements
from catchment.alerts.rulebook import RuleBook
from catchment.alerts.view import AlertBook
from catchment.api import (
    alerts,
    audit,
    centres,
    certificates,
    channels,
    configuration,
    consumers,
    deadletters,
    devices,
    gaps,
    gateways,
    lake,
    ledger,
    live,
    mappings,
    metrics,
    overview,
    probes,
    problems,
    providers,
    queries,
    query_tests,
    readings,
    recounts,
    rules,
    schema_registry,
    schemas,
    sensor_types,
    sensors,
    session,
    signed_in,
    sites,
    status,
    tokens,
    twin_changes,
    twin_feeds,
    twin_types,
    twins,
    users,
)
from catchment.api.audited import Audited
from catchment.api.forecast import SpoolForecast
from catchment.api.guard import Guard
from catchment.api.hub import Hub
from catchment.api.openapi import describe_truthfully
from catchment.api.readings_feed import ReadingsFeed
from catchment.api.services import Services
from catchment.api.sessions import Sessions
from catchment.api.sign_in import SignIns
from catchment.api.sources import LedgerSource
from catchment.audit.log import AuditLog
from catchment.config import Config
from catchment.console.pages import add_console
from catchment.deadletters.letters import DeadLetters
from catchment.kafka.table import Tables
from catchment.ledger.expiry import oldest_kept_us
from catchment.ledger.gaps import GapBook
from catchment.ledger.recounts import Recounts
from catchment.manual.pages import add_manual
from catchment.node.status import ask_node
from catchment.queries.book import QueryBook
from catchment.registry.registry import Registry
from catchment.schemas.registry import SchemaRegistry
from catchment.security.tokens import Tokens
from catchment.security.users import Users
from catchment.twins.declarations import TwinDeclarations
from catchment.twins.service import Twins

RESOURCES = (
    probes,
    metrics,
    status,
    configuration,
    overview,
    sites,
    centres,
    providers,
    consumers,
    gateways,
    certificates,
    ledger,
    recounts,
    gaps,
    live,
    alerts,
    channels,
    audit,
    session,
    signed_in,
    users,
    tokens,
    devices,
    sensor_types,
    sensors,
    mappings,
    schemas,
    rules,
    queries,
    query_tests,
    twin_types,
    twin_feeds,
    lake,
    readings,
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
    add_manual(app)
    problems.handle_in(app)
    app.add_middleware(Audited, config.site, services.audit.journal)
    app.add_middleware(Guard)
    describe_truthfully(app)
    return app


def _services(config: Config, ledger_source: LedgerSource, tables: Tables) -> Services:
    schema_versions = SchemaRegistry(config.site, tables)
    book, acknowledgements = AlertBook(), Acknowledgements(tables)
    known_tokens, known_users = Tokens(config.paths.tokens), Users(config.paths.users)
    twin_declarations = TwinDeclarations(config.site, tables, schema_versions)
    return Services(
        config=config,
        ledger=ledger_source,
        tokens=known_tokens,
        users=known_users,
        sessions=Sessions(config.api.session_hours * 3600),
        sign_ins=SignIns(known_tokens, known_users),
        hub=Hub(
            config.site,
            ledger_source,
            partial(ask_node, config),
            partial(oldest_kept_us, config),
            partial(alerts.count, book, acknowledgements),
        ),
        alerts=book,
        acknowledgements=acknowledgements,
        audit=AuditLog(config),
        spool_forecast=SpoolForecast(),
        readings=ReadingsFeed(config, schema_versions),
        gaps=GapBook(),
        recounts=Recounts(config),
        tables=tables,
        schemas=schema_versions,
        registry=Registry(config.site, tables, schema_versions),
        rules=RuleBook(config.site, tables, config.alerts.channels),
        twin_declarations=twin_declarations,
        deadletters=DeadLetters(config, tables),
        twins=Twins(config, tables),
        queries=QueryBook(
            config.site, tables, schema_versions, twin_declarations, has_lake=config.lake.enabled
        ),
    )
