"""The queries that a node was told to run: declared through the API alone, each change a version."""

from dataclasses import replace

from catchment.errors import Conflict, InvalidQuery, NotFound, SchemaRefused
from catchment.kafka.table import Tables
from catchment.queries.checker import check, columns_of
from catchment.queries.circles import circle, reads_results_of
from catchment.queries.explain import Explanation, explain
from catchment.queries.graph import Columns, Graph
from catchment.queries.known import Known, avro_columns, twin_columns
from catchment.queries.loading import parse_query
from catchment.queries.model import DeployedQuery, Destination, QueryDeclaration, QuerySpec
from catchment.queries.result_tables import table_name
from catchment.records import Kind
from catchment.registry.shelf import ANYTHING, Expected, Shelf
from catchment.schemas.registry import SchemaRegistry
from catchment.twins.declarations import TwinDeclarations


class QueryBook:
    """All deployed queries, and the one way to change them."""

    def __init__(
        self,
        site: str,
        tables: Tables,
        schemas: SchemaRegistry,
        twins: TwinDeclarations,
        *,
        has_lake: bool = True,
    ) -> None:
        self._has_lake = has_lake
        self._tables = tables
        self._schemas = schemas
        self._twins = twins
        self.shelf = Shelf("query", site, tables, Kind.QUERIES, DeployedQuery)

    def get(self, name: str, site: str | None = None) -> DeployedQuery:
        """One of a site, by default this node's."""
        found = self.shelf.find(name, site)
        if found is None:
            raise NotFound(f"There is no query {name!r}", "`catchment query list` shows those there are.")
        return found

    def check_text(self, text: str) -> Graph:
        """The graph of a query in YAML, with what this node knows."""
        query, lines = parse_query(text)
        return check(query, self.known(without=query.name), lines)

    def graph(self, name: str) -> Graph:
        """The graph of a query that is deployed."""
        return check(self.get(name).declaration, self.known(without=name))

    def explain(self, graph: Graph) -> Explanation:
        """How a query would run, and what becomes of the state of the deployed one of its name."""
        return explain(graph, self._deployed(graph.name))

    def put(
        self, name: str, spec: QuerySpec, expected: Expected = ANYTHING
    ) -> tuple[DeployedQuery, Explanation]:
        """Deploys a query, or changes it, if it is right and closes no circle with others."""
        declaration = QueryDeclaration.model_validate({**spec.model_dump(), "name": name})
        with self._tables.lock:
            graph = check(declaration, self.known(without=name))
            self._refuse_circle(declaration)
            explanation = self.explain(graph)
            return self.shelf.put(name, spec, expected), explanation

    def delete(self, name: str, expected: Expected = ANYTHING) -> None:
        """Stops a query for good, unless another reads its results."""
        with self._tables.lock:
            readers = [each.id for each in self.shelf.own() if reads_results_of(each, name)]
            if readers:
                raise Conflict(
                    f"The query {name!r} is read by the queries {', '.join(readers)}", "Stop those first."
                )
            expected.check(f"The query {name!r}", self.get(name))
            self.shelf.delete(name, expected)

    def known(self, without: str = "") -> Known:
        """What is declared at this node: subjects, types of twins, and outputs of queries."""
        subjects = {name: self._columns(name) for name in self._schemas.subjects()}
        specs = {each.id: each for each in self._twins.types.own()}
        known = Known(
            subjects=subjects,
            twin_types={name: twin_columns(each) for name, each in specs.items()},
            twin_specs=specs,
            tables=self._tables_of_others(without),
            has_lake=self._has_lake,
        )
        return replace(known, results=self._results(known, without))

    def _tables_of_others(self, query: str) -> dict[str, str]:
        """The tables of the lake that other queries write, and which query each is of."""
        return {
            table_name(each.id, name, output): each.id
            for each in self.shelf.own()
            if each.id != query
            for name, output in each.outputs.items()
            if output.to is Destination.LAKE
        }

    def _columns(self, subject: str) -> Columns:
        try:
            return avro_columns(self._schemas.version(subject).text)
        except SchemaRefused:
            return {}

    def _results(self, known: Known, without: str) -> dict[str, Columns]:
        """Outputs of all queries; one may need those of another, and they form no circle."""
        results: dict[str, Columns] = {}
        waiting = [each for each in self.shelf.own() if each.id != without]
        for _ in range(len(waiting)):
            for each in waiting:
                try:
                    others = replace(known, results=results, tables={})
                    results |= columns_of(check(each.declaration, others))
                except InvalidQuery:
                    continue
            waiting = [each for each in waiting if not any(key.startswith(f"{each.id}/") for key in results)]
        return results

    def _deployed(self, name: str) -> Graph | None:
        found = self.shelf.find(name)
        try:
            return check(found.declaration, self.known(without=name)) if found else None
        except InvalidQuery:
            return None

    def _refuse_circle(self, query: QueryDeclaration) -> None:
        queries: dict[str, QuerySpec] = {each.id: each for each in self.shelf.own()}
        found = circle({**queries, query.name: query}, query.name)
        if found:
            through = ", ".join(found[1:]) or "itself"
            problem = f"It reads what it writes, through {through}. Read another stream, or write elsewhere."
            raise InvalidQuery(query.name, [problem])
