"""What can be set of Kafka."""

from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator

from catchment.config.section import Port, Section
from catchment.records import Kind


class TlsFiles(Section):
    """An identity in files, for a cluster whose certificates are not ours."""

    ca_file: Path = Field(
        description="The certificate authority that the cluster's certificates are checked against."
    )
    certificate_file: Path = Field(description="The certificate that is shown to the cluster.")
    key_file: Path = Field(description="The private key of that certificate, unencrypted PEM (mode 0600).")


class TopicSettings(Section):
    """What may differ from the built-in table of topics."""

    partitions: int | None = Field(None, ge=1, le=1000, description="Number of partitions; it can only grow.")
    retention_hours: float | None = Field(
        None,
        gt=0,
        description="How long records are kept. Compacted topics keep the latest of each key for ever.",
    )


class KafkaSettings(Section):
    """The broker: our own by default, or a cluster that exists already."""

    host: str = Field("127.0.0.1", description="Address on which the embedded broker listens.")
    port: Port = Field(
        9092, description="Port of the embedded broker for clients (TLS with client certificates)."
    )
    controller_port: Port = Field(
        9093, description="Port of the embedded controller, on 127.0.0.1 (TLS with client certificates)."
    )
    heap_mib: int = Field(256, ge=128, description="Java heap of the embedded broker.")
    bootstrap_servers: str | None = Field(
        None,
        description="An existing cluster (`host:port,host:port`) to use instead; needs `kafka.tls`.",
    )
    tls: TlsFiles | None = Field(
        None, description="The identity with which all parts sign in to the existing cluster."
    )
    replication_factor: int = Field(
        1, ge=1, le=9, description="Copies of each partition; 3 on a cluster in production."
    )
    topics: dict[Kind, TopicSettings] = Field(
        default_factory=dict, description="Partitions and retention of single topics, by kind."
    )

    @property
    def embedded(self) -> bool:
        return self.bootstrap_servers is None

    @field_validator("bootstrap_servers")
    @classmethod
    def _names_hosts_and_ports(cls, servers: str | None) -> str | None:
        for server in servers.split(",") if servers is not None else ():
            host, _, port = server.strip().rpartition(":")
            if not host or not port.isdecimal() or not 0 < int(port) <= 65535:
                raise ValueError("name each broker as host:port, with commas between several")
        return servers

    @model_validator(mode="after")
    def _existing_cluster_needs_an_identity(self) -> Self:
        if self.bootstrap_servers and self.tls is None:
            raise ValueError("kafka.bootstrap_servers names an existing cluster: set kafka.tls as well")
        return self
