"""The fast store: measurements and events into PostgreSQL, a few milliseconds after they came."""

from typing import Any

import orjson
from confluent_kafka import Producer
from py4j.java_gateway import JavaClass
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from catchment.config import Config
from catchment.config.store import PostgresSettings
from catchment.kafka.clients import producer, spark_options
from catchment.kafka.parties import Party
from catchment.ledger.model import HopRow, Stage
from catchment.pipeline import operators
from catchment.pipeline.query import Progress, Query
from catchment.records import REASON_HEADER, STAMP_HEADER, TOPIC_HEADER, Kind, Source

WRITER = "catchment.store.StoreWriter"
STORES = "catchment.store.Stores"


def store_queries(config: Config) -> tuple[Query, ...]:
    """A query for each store, so that one that is away holds up no other."""
    return tuple(
        Query(
            name=f"postgres-{name}",
            reads=tuple(topic.kind for topic in settings.topics),
            writes=(),
            build=lambda records, *_: stored(records),
            outlet=PostgresOutlet(name, settings, config),
        )
        for name, settings in config.store.postgres.items()
    )


def stored(records: DataFrame) -> DataFrame:
    """The columns that the Java writer takes, by number."""
    stamp = operators.stamps(records).alias("stamp")
    return records.select("topic", "partition", "offset", "key", "value", stamp)


class PostgresOutlet:
    """One store: a Java writer, what it says of itself, and the counts that it tells others."""

    def __init__(self, name: str, settings: PostgresSettings, config: Config) -> None:
        self._name = name
        self._settings = settings
        self._config = config
        self._stores: Any = None
        self._producer: Producer | None = None

    def writer(self, rows: DataFrame, config: Config) -> DataStreamWriter:
        self._stores = _java(rows.sparkSession, STORES)
        settings = orjson.dumps(java_settings(self._name, self._settings, config)).decode()
        return operators.writing(rows, WRITER, settings)

    def tend(self) -> None:
        """Tells what has been committed, about every other second."""
        if self._stores is None:
            return
        changed = orjson.loads(self._stores.takeChanged(self._name))
        if changed and self._producer is None:
            self._producer = producer(self._config, Party.PIPELINE)
        for count in changed:
            assert self._producer
            hop = hop_row(self._config.site, self._name, count)
            self._producer.produce(Kind.HOPS.topic, hop.model_dump_json(), hop.key)
            self._producer.poll(0)

    def progress(self) -> Progress:
        figures = orjson.loads(self._stores.figures(self._name)) if self._stores else {}
        if not figures:
            return Progress()
        delay_ms = figures["delay_ms"]
        return Progress(
            rows=figures["rows"],
            delay_ms=None if delay_ms is None else round(delay_ms, 1),
            problem=figures["problem"],
            figures={"store": figures},
        )

    def close(self) -> None:
        if self._stores is not None:
            self._stores.close(self._name)
        if self._producer is not None:
            self._producer.flush(1)


def hop_row(node: str, store: str, count: dict[str, Any]) -> HopRow:
    """What is in the store of one source, as it is told to others."""
    source = Source.from_identity(count["source"].encode())
    return HopRow(
        node=node,
        stage=Stage.POSTGRES,
        store=store,
        site=source.site,
        gateway=source.gateway,
        epoch=source.epoch,
        stream=source.stream,
        version=count["received"] + count["repeated"],
        received=count["received"],
        highest=count["highest"],
        duplicates=count["repeated"],
        out_of_order=0,
        missing=0,
        gaps=[],
        first_origin_us=count["firstOriginUs"],
        last_origin_us=count["lastOriginUs"],
    )


def java_settings(name: str, settings: PostgresSettings, config: Config) -> dict[str, Any]:
    """What the Java side is told: the record StoreSettings in jvm/src/catchment/store."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    kafka = spark_options(config, Party.PIPELINE)
    return {
        "name": name,
        "url": f"jdbc:postgresql://{host}:{settings.port}/{settings.database}",
        "connection": _connection(settings),
        "schema": settings.schema_name,
        "flush_ms": settings.flush_ms,
        "batch_rows": settings.batch_rows,
        "queue_rows": settings.queue_rows,
        "retry_max_s": settings.retry_max_s,
        "kafka": {option.removeprefix("kafka."): value for option, value in kafka.items()},
        "schemas_topic": Kind.SCHEMAS.topic,
        "dead_letter_topic": Kind.DEADLETTER.topic,
        "reason_header": REASON_HEADER,
        "topic_header": TOPIC_HEADER,
        "stamp_header": STAMP_HEADER,
        "kinds": {topic.kind.topic: topic.value for topic in settings.topics},
    }


def _connection(settings: PostgresSettings) -> dict[str, str]:
    signing_in = {"user": settings.user, "password": settings.reveal_password()}
    if not settings.encrypted:
        return {**signing_in, "sslmode": "disable"}
    if settings.ca_file:
        return {**signing_in, "sslmode": "verify-full", "sslrootcert": str(settings.ca_file)}
    # Without an authority of its own, those that Java knows.
    factory = "org.postgresql.ssl.DefaultJavaSSLFactory"
    return {**signing_in, "sslmode": "verify-full", "sslfactory": factory}


def _java(spark: SparkSession, name: str) -> Any:
    return JavaClass(name, spark._jvm._gateway_client)  # type: ignore[union-attr]
