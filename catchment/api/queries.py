"""Continuous queries: checked, explained, deployed, watched and stopped."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Response, status
from pydantic import BaseModel, Field

from catchment.api.access import allowed
from catchment.api.declared import CHANGED, LISTED, PLACE, SHOWN, IfMatch, OfSite, OnlySite, place_of, tag
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.errors import InvalidQuery
from catchment.health import State
from catchment.node.status import ask_node
from catchment.queries.deployment import component_name
from catchment.queries.explain import Explanation
from catchment.queries.model import QUERY_NAME, DeployedQuery, QueryDeclaration, QuerySpec
from catchment.queries.trace import Trace, trace
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/queries", tags=["queries"])

READ = [Depends(allowed(Scope.QUERIES_READ))]
WRITE = [Depends(allowed(Scope.QUERIES_WRITE))]
QueryId = Annotated[str, Path(pattern=QUERY_NAME, description="Its name, unique in its site.")]


class QueryPage(BaseModel):
    """Some queries, and where the next ones begin."""

    items: list[DeployedQuery]
    next: Next


class QueryText(BaseModel):
    """A query as it stands in a file."""

    yaml: str = Field(max_length=200_000, description="The declaration in YAML.")


class Checked(BaseModel):
    """Whether a query is right."""

    problems: list[str] = Field(description="One line for each thing that is wrong; none if it is right.")
    query: QueryDeclaration | None = Field(
        None, description="What was read, if it is right: all but its name can be deployed as it is."
    )


class Deployment(BaseModel):
    """A query that was deployed, and how it runs."""

    query: DeployedQuery
    explanation: Explanation


@router.get(
    "",
    dependencies=READ,
    responses=LISTED,
    summary="All queries, sorted by site and name",
    description="Needs the scope `queries:read`.",
)
def list_queries(
    services: ServicesOfApp, site: OnlySite = None, limit: Limit = 100, cursor: Cursor = None
) -> QueryPage:
    items, following = page_of(services.queries.shelf.all(site), place_of, PLACE, limit, cursor)
    return QueryPage(items=items, next=following)


@router.post(
    "/check",
    dependencies=READ,
    responses=answers(401, 403, 422, 503),
    summary="Check a query",
    description="With what this node knows of schemas, types and other queries. "
    "Needs the scope `queries:read`.",
)
def check_query(services: ServicesOfApp, text: QueryText) -> Checked:
    try:
        graph = services.queries.check_text(text.yaml)
    except InvalidQuery as error:
        return Checked(problems=error.problems)
    return Checked(problems=[], query=graph.query)


@router.post(
    "/explain",
    dependencies=READ,
    responses=answers(401, 403, 422, 503),
    summary="How a query would run",
    description="And what becomes of the state of the deployed one of its name. "
    "Needs the scope `queries:read`.",
)
def explain_query(services: ServicesOfApp, text: QueryText) -> Explanation:
    return services.queries.explain(services.queries.check_text(text.yaml))


@router.get(
    "/{identifier}",
    dependencies=READ,
    responses=SHOWN,
    summary="One query",
    description="Its version is the ETag. Needs the scope `queries:read`.",
)
def get_query(
    services: ServicesOfApp, response: Response, identifier: QueryId, site: OfSite = None
) -> DeployedQuery:
    found = services.queries.get(identifier, site)
    tag(response, found.version)
    return found


@router.get(
    "/{identifier}/trace",
    dependencies=READ,
    responses=SHOWN,
    summary="Where a query's time and rows go",
    description="Rows and delay of each input, box and output while it runs at this node. "
    "Needs the scope `queries:read`.",
)
def trace_query(services: ServicesOfApp, identifier: QueryId) -> Trace:
    graph = services.queries.graph(identifier)
    components = ask_node(services.config).components
    running = next((each for each in components if each.name == component_name(identifier)), None)
    if running is None:
        return trace(graph, {}, State.STOPPED, "it does not run at this node")
    boxes: dict[str, Any] = running.figures.get("boxes", {})
    return trace(graph, boxes, running.state, running.detail)


@router.put(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    summary="Deploy or change a query of this site",
    description="It starts within seconds. A changed query goes on from its state where it can; the answer "
    "says whether. Needs the scope `queries:write`.",
)
def put_query(
    services: ServicesOfApp, response: Response, identifier: QueryId, spec: QuerySpec, expected: IfMatch
) -> Deployment:
    written, explanation = services.queries.put(identifier, spec, expected)
    tag(response, written.version)
    return Deployment(query=written, explanation=explanation)


@router.delete(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Stop a query of this site for good",
    description="Its results stay as long as their topic keeps them. Needs the scope `queries:write`.",
)
def delete_query(services: ServicesOfApp, identifier: QueryId, expected: IfMatch) -> None:
    services.queries.delete(identifier, expected)
