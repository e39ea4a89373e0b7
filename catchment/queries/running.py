"""A checked query as one that the pipeline runs."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from catchment.config import Config
from catchment.errors import ConfigurationError
from catchment.kafka.parties import Party
from catchment.lake.tables import lake_of
from catchment.pipeline.control import Declarations
from catchment.pipeline.query import Query, start
from catchment.queries.compiler import compiled, needs_ticks, query_session
from catchment.queries.deployment import query_name
from catchment.queries.frames import inputs
from catchment.queries.frames.inputs import TOPICS, Schemas
from catchment.queries.frames.tables import kind_of
from catchment.queries.graph import Graph
from catchment.queries.model import Destination, InputKind
from catchment.records import Kind
from catchment.schemas.known import known_schemas
from catchment.schemas.model import SchemaVersion

_WRITTEN = {
    Destination.RESULTS: Kind.RESULTS,
    # From there the lake takes them: see catchment.pipeline.result_tables.
    Destination.LAKE: Kind.RESULTS,
    Destination.ALERTS: Kind.EVENTS,
    Destination.TWINS: Kind.TWIN_CHANGES,
}
_BY_SUBJECT = (InputKind.MEASUREMENTS, InputKind.EVENTS)


def query_of(graph: Graph, config: Config, checkpoint: str = "") -> Query:
    """What the pipeline starts and looks after."""
    reads = (TOPICS[each.kind] for each in graph.query.inputs.values())
    written = (_WRITTEN[output.to] for output in graph.query.outputs.values())

    def build(rows: DataFrame, config: Config, declared: Declarations) -> DataFrame:
        stored = stored_tables(graph, config, rows.sparkSession)
        return compiled(graph, inputs.found(rows, graph), config.site, declared, stored)

    def reading(spark: SparkSession, config: Config) -> dict[str, str]:
        return inputs.reading(graph, schemas_of(graph, config, spark), ticking=needs_ticks(graph))

    return Query(
        name=query_name(graph.name),
        reads=(*dict.fromkeys(reads), *([Kind.TICKS] if needs_ticks(graph) else [])),
        writes=tuple(dict.fromkeys((*written, Kind.DEADLETTER))),
        declarations=declared_kinds(graph),
        build=build,
        reading=reading,
        checkpoint=checkpoint,
    )


def launch(graph: Graph, query: Query, spark: SparkSession, config: Config) -> StreamingQuery:
    """Starts a query in a session with its own settings."""
    return start(query, query_session(spark, graph), config)


def declared_kinds(graph: Graph) -> tuple[Kind, ...]:
    """The topics of the tables that people declare."""
    kinds = (kind_of(table) for table in graph.query.tables.values())
    return tuple(dict.fromkeys(kind for kind in kinds if kind))


def stored_tables(graph: Graph, config: Config, spark: SparkSession) -> dict[str, DataFrame]:
    """Tables of the lake, as they are when the query starts."""
    found = {}
    for name, table in graph.query.tables.items():
        if table.lake:
            stored = lake_of(config).find(table.lake)
            if stored is None:
                raise ConfigurationError(
                    f"Query {graph.name} reads {table.lake}, which is no table of the lake yet",
                    "Name one that `catchment lake tables` shows, or wait until it is there.",
                )
            columns = list(graph.tables[name].columns)
            found[name] = spark.createDataFrame(stored.to_pyarrow_table(columns=columns))
    return found


def teach(spark: SparkSession, schemas: Mapping[int, SchemaVersion]) -> None:
    """Makes schemas known to all queries, those that run already too."""
    known = spark._jvm.catchment.queries.Schemas  # type: ignore[union-attr]
    for number, version in schemas.items():
        known.learn(number, version.subject, version.text)


def schemas_of(graph: Graph, config: Config, spark: SparkSession, party: Party = Party.PIPELINE) -> Schemas:
    """The schemas of all subjects that the query reads, by their ids."""
    subjects = {each.selector for each in graph.query.inputs.values() if each.kind in _BY_SUBJECT}
    found: dict[str, dict[int, str]] = {subject: {} for subject in subjects}
    known = known_schemas(config, party) if subjects else {}
    teach(spark, known)
    for number, version in known.items():
        if version.subject in subjects:
            found[version.subject][number] = version.text
    return found
