"""The whole configuration as models, each key with its default and a sentence."""

from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from catchment.config.alerts import AlertsSettings
from catchment.config.consume import ConsumeSettings
from catchment.config.forwarding import Compression, Hashing, Routing
from catchment.config.kafka import KafkaSettings
from catchment.config.lake import LakeSettings
from catchment.config.listeners import AdapterSettings, HttpSettings, LimitSettings, MqttSettings
from catchment.config.relay import RelaySettings
from catchment.config.section import Name, Port, Section
from catchment.config.store import StoreSettings
from catchment.config.twin_view import TwinViewSettings
from catchment.config.twins import TwinsSettings

# What the pipeline runs at every node, besides its stores.
# What stands for all that people deploy, among the names of queries.
DEPLOYED = "deployed"
REAL_TIME_QUERIES = ("ledger", "measurements", "thresholds")
TWIN_QUERIES = ("twin-split", "twins", "twin-feed-records", "twin-feed-measurements")
# Embedded broker and controller are one process: nobody else talks to the controller.
CONTROLLER_HOST = "127.0.0.1"


class Role(StrEnum):
    """What a node is for; a site and the centre run the same parts."""

    SITE = "site"
    CENTRE = "centre"
    BOTH = "both"


class WhenFull(StrEnum):
    """What happens to providers while the spool is full."""

    BLOCK = "block"
    REFUSE = "refuse"


class SpoolSettings(Section):
    """What a gateway has accepted stands on disk until it is safe downstream."""

    max_mib: int = Field(4096, ge=1, description="Most that the spool may take on disk.")
    segment_mib: int = Field(64, ge=1, le=1024, description="Size of one file; whole files are deleted.")
    when_full: WhenFull = Field(
        WhenFull.BLOCK,
        description="While the spool is full, providers wait (`block`) or are refused (`refuse`).",
    )
    warn_at: float = Field(0.8, gt=0, le=1, description="From this share of `max_mib` on, the gateway warns.")
    safe_after_s: float = Field(
        3,
        ge=0,
        description="On a single broker a record is let go only when it has been read back after so long.",
    )


class GatewaySettings(Section):
    """The listener that devices talk to, and how it hands on what it hears."""

    name: Name = Field(
        "gateway", description="Name of this gateway, unique in its site; part of every stamp."
    )
    host: str = Field("127.0.0.1", description="Address on which the gateway listens; 0.0.0.0 for all.")
    port: Port = Field(8992, description="Port for lines of text or bytes (TLS with client certificates).")
    max_line_bytes: int = Field(
        1_000_000,
        ge=1,
        le=10_000_000,
        description="Longest line taken; a longer one goes to the dead letters, cut to this length.",
    )
    idle_timeout_s: float = Field(600, gt=0, description="A connection that is silent for so long is closed.")
    queue_records: int = Field(
        50_000,
        ge=1_000,
        description="Records that may be on their way to Kafka at once, to all partitions; more wait in the "
        "spool.",
    )
    queue_partition_records: int = Field(
        50_000,
        ge=1_000,
        description="Of these, how many to one partition. While it is full, what comes behind waits as well.",
    )
    queue_mib: int = Field(64, ge=1, le=1024, description="Bytes that may be on their way to Kafka at once.")
    send_timeout_s: float = Field(
        8,
        ge=1,
        le=300,
        description="A batch that Kafka has not confirmed after so long is sent again on a new connection, "
        "as often as it takes. It only ever delays: nothing is dropped for it.",
    )
    routing: Routing = Field(
        Routing.KEY,
        description="Which partition a stream goes to, all of it and in order: by its key (`key`), or the "
        "next in turn when it first comes (`round-robin`).",
    )
    hashing: Hashing = Field(
        Hashing.CRC32,
        description="How a key becomes a partition: as librdkafka does by default (`crc32`), as Java clients "
        "do (`murmur2`), or by `fnv1a`.",
    )
    linger_ms: float = Field(
        3,
        ge=0,
        le=1000,
        description="How long a batch may wait for more records. Less costs CPU: Kafka's client waits for "
        "the last millisecond without a pause.",
    )
    compression: Compression = Field(
        Compression.ZSTD,
        description="How batches are compressed on their way to Kafka. What others call zlib is `gzip`.",
    )
    spool: SpoolSettings = SpoolSettings()
    limits: LimitSettings = LimitSettings()
    http: HttpSettings = HttpSettings()
    mqtt: MqttSettings | None = None
    adapters: list[AdapterSettings] = Field(
        default_factory=list, description="Listeners of one's own, each a class with its settings."
    )
    mark_interval_s: float = Field(
        1, gt=0, description="How often the gateway publishes what it has accepted."
    )


class PipelineSettings(Section):
    """The Spark driver and its queries."""

    driver_memory_mib: int = Field(768, ge=256, description="Java heap of the Spark driver.")
    checkpoint_interval_s: int = Field(
        180,
        ge=5,
        description="Between checkpoints: longer means fewer pauses, and more to read again after a crash. "
        "Each query adds up to a tenth of its own, so that not all pause at once.",
    )
    source_tasks: int = Field(
        1,
        ge=1,
        le=64,
        description="Tasks that read, for each query: each reads several partitions with one consumer. "
        "One, with one that keeps state, is quickest on few cores: nothing is shuffled between them.",
    )
    shuffle_partitions: int = Field(
        1, ge=1, le=64, description="Tasks that keep state, for each query. Fixed by its first start."
    )
    restart_backoff_max_s: float = Field(
        60, gt=0, description="Longest pause before a failed query is started again."
    )
    queries: list[str] | None = Field(
        None,
        description="Only these queries, by the names that `catchment status` shows; by default all. So one "
        "node can leave out what another does. `deployed` stands for those that people deploy.",
    )
    query_slots: int = Field(
        192,
        ge=0,
        le=4096,
        description="Threads for deployed queries: each holds one for each task that reads and each with "
        "state. They cost nothing until they are used.",
    )


class ApiSettings(Section):
    """The API and the console."""

    host: str = Field(
        "127.0.0.1", description="Address on which API and console are served; 0.0.0.0 for all."
    )
    port: Port = Field(8443, description="Port of API and console (HTTPS).")
    session_hours: float = Field(12, gt=0, le=168, description="A console session ends after so long.")


class SupervisorSettings(Section):
    """How `catchment up` looks after its processes."""

    restart_backoff_max_s: float = Field(
        30, gt=0, description="Longest pause before a process that died is started again."
    )
    stop_timeout_s: float = Field(
        15, gt=0, description="After so long, what has not stopped by itself is killed."
    )
    silence_max_s: float = Field(
        60, gt=0, description="A process that answered and then is silent for so long hangs: it is restarted."
    )
    start_max_s: float = Field(
        600,
        gt=0,
        description="A process that has not answered so long after its start hangs: it is restarted.",
    )


class Config(Section):
    """Everything that can be set."""

    data_dir: Path = Field(
        Path("var"), description="The one directory with all state of the node; deleting it starts afresh."
    )
    min_free_mib: int = Field(
        512, ge=0, description="A node does not start with less free space than this in its data directory."
    )
    site: Name = Field("local", description="Name of the site (or of the centre), part of every stamp.")
    role: Role = Field(
        Role.BOTH, description="`site` has a gateway, `centre` has none, `both` is everything on one machine."
    )
    hostnames: list[str] = Field(
        default_factory=list,
        description="Names and addresses under which others reach this machine, for its certificates.",
    )
    kafka: KafkaSettings = KafkaSettings()
    gateway: GatewaySettings = GatewaySettings()
    pipeline: PipelineSettings = PipelineSettings()
    api: ApiSettings = ApiSettings()
    consume: ConsumeSettings = ConsumeSettings()
    relay: RelaySettings = RelaySettings()
    lake: LakeSettings = LakeSettings()
    alerts: AlertsSettings = AlertsSettings()
    store: StoreSettings = StoreSettings()
    twins: TwinsSettings = TwinsSettings()
    twin_view: TwinViewSettings = TwinViewSettings()
    supervisor: SupervisorSettings = SupervisorSettings()

    @property
    def paths(self) -> "Paths":
        return Paths(self.data_dir)

    @property
    def ports(self) -> dict[str, tuple[str, int]]:
        """Every key that names a port this node listens on, with its address."""
        ports = {"api.port": (self.api.host, self.api.port)}
        if self.role is not Role.CENTRE:
            ports["gateway.port"] = (self.gateway.host, self.gateway.port)
            if self.gateway.http.enabled:
                ports["gateway.http.port"] = (self.gateway.host, self.gateway.http.port)
        if self.kafka.embedded:
            ports["kafka.port"] = (self.kafka.host, self.kafka.port)
            ports["kafka.controller_port"] = (CONTROLLER_HOST, self.kafka.controller_port)
        return ports

    @property
    def query_names(self) -> tuple[str, ...]:
        """The queries that this node could run."""
        twins = TWIN_QUERIES if self.twins.enabled else ()
        lake = ("lake", "lake-results") if self.lake.enabled else ()
        return *REAL_TIME_QUERIES, *twins, *lake, *(f"postgres-{name}" for name in self.store.postgres)

    @model_validator(mode="after")
    def _queries_are_known(self) -> Self:
        known = (*self.query_names, DEPLOYED)
        unknown = [name for name in self.pipeline.queries or () if name not in known]
        if unknown:
            possible = ", ".join(known)
            raise ValueError(f"pipeline.queries names {', '.join(unknown)}: there are {possible}")
        return self

    @model_validator(mode="after")
    def _ports_differ(self) -> Self:
        taken: dict[int, str] = {}
        for key, (_, port) in self.ports.items():
            if port in taken:
                raise ValueError(f"{key} and {taken[port]} are both {port}: give one of them another port")
            taken[port] = key
        return self


class Paths:
    """Where things live under the data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.data = data_dir
        self.identities = data_dir / "identities"
        self.providers = data_dir / "providers.json"
        self.consumers = data_dir / "consumers.json"
        self.dead_letters = data_dir / "dead-letters"
        self.sites = data_dir / "sites.json"
        self.centres = data_dir / "centres.json"
        self.tokens = data_dir / "tokens.json"
        self.users = data_dir / "users.json"
        self.invitations = data_dir / "invitations.json"
        self.audit = data_dir / "audit"
        self.operator_token = data_dir / "identities" / "operator.token"
        self.spool = data_dir / "spool"
        self.kafka = data_dir / "kafka"
        self.checkpoints = data_dir / "checkpoints"
        self.lake_work = data_dir / "lake-work"
        self.logs = data_dir / "logs"
        self.run = data_dir / "run"
        self.lock = data_dir / "run" / "node.lock"
        self.processes = data_dir / "run" / "processes.json"

    def socket(self, part: str) -> Path:
        """Where a part reports its health; see catchment.health."""
        return self.run / f"{part}.sock"
