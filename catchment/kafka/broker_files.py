"""The files that the embedded broker is started with."""

from pathlib import Path
from xml.sax.saxutils import quoteattr

from catchment.config import Config
from catchment.config.models import CONTROLLER_HOST
from catchment.kafka.access import SUPER_USERS
from catchment.kafka.identities import address, advertised_host, identity_of
from catchment.kafka.parties import Party
from catchment.kafka.sessions import broker_sessions
from catchment.security.files import write_private

NODE_ID = 1


def write_properties(config: Config) -> Path:
    """Writes Kafka's own configuration and gives its path."""
    file = config.paths.kafka / "server.properties"
    settings = {
        **_cluster(config),
        **_security(config),
        **_small(),
        **broker_sessions(),
        "log.dirs": config.paths.kafka / "log",
    }
    write_private(
        file, "".join(f"{name}={_escaped(str(value))}\n" for name, value in settings.items()).encode()
    )
    return file


def write_log_settings(config: Config) -> Path:
    """Writes what Kafka logs, and where to, and gives its path."""
    file = config.paths.kafka / "log4j2.xml"
    config.paths.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    name, old_name = (quoteattr(str(config.paths.logs / name)) for name in ("broker.log", "broker.log.%i"))
    write_private(file, _LOG_SETTINGS.format(name=name, old_name=old_name).encode())
    return file


def _cluster(config: Config) -> dict[str, object]:
    controller = address(CONTROLLER_HOST, config.kafka.controller_port)
    return {
        "process.roles": "broker,controller",
        "node.id": NODE_ID,
        "controller.quorum.voters": f"{NODE_ID}@{controller}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "SSL",
        "listeners": f"SSL://{address(config.kafka.host, config.kafka.port)},CONTROLLER://{controller}",
        "advertised.listeners": f"SSL://{address(advertised_host(config), config.kafka.port)}",
        "listener.security.protocol.map": "SSL:SSL,CONTROLLER:SSL",
    }


def _security(config: Config) -> dict[str, object]:
    identity = identity_of(config, Party.BROKER)
    return {
        "ssl.client.auth": "required",
        "ssl.enabled.protocols": "TLSv1.3",
        "ssl.protocol": "TLSv1.3",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": identity.java_file,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": identity.ca_file,
        "ssl.principal.mapping.rules": r"RULE:^CN=([A-Za-z0-9._-]+)$/$1/",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        # The broker registers with its controller under its own name.
        "super.users": ";".join(party.principal for party in SUPER_USERS),
        "auto.create.topics.enable": "false",
    }


def _small() -> dict[str, object]:
    """What Kafka sizes for a cluster, sized for one process."""
    return {
        "offsets.topic.num.partitions": 4,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.num.partitions": 4,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "share.coordinator.state.topic.num.partitions": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "log.cleaner.dedupe.buffer.size": 8_388_608,
        # How often the broker looks which topics' flush.ms has passed; by default it never does.
        "log.flush.scheduler.interval.ms": 500,
        # By default it begins to look only half a minute after its start.
        "log.initial.task.delay.ms": 500,
        "group.initial.rebalance.delay.ms": 0,
        # After a crash the controller lets the broker in again when its former session ends: 9 s by default.
        "broker.session.timeout.ms": 3000,
        "broker.heartbeat.interval.ms": 500,
    }


def _escaped(value: str) -> str:
    r"""As Java's properties want it: ASCII, with \uXXXX for all else and for the backslash."""
    units = value.encode("utf-16-be")
    codes = (int.from_bytes(units[i : i + 2]) for i in range(0, len(units), 2))
    return "".join(chr(code) if 32 <= code < 127 and code != 92 else f"\\u{code:04x}" for code in codes)


# One line per refusal comes from the authorizer. The hook is off because Kafka logs its own shutdown.
_LOG_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="error" shutdownHook="disable">
  <Appenders>
    <RollingFile name="file" fileName={name} filePattern={old_name} filePermissions="rw-------">
      <PatternLayout pattern="%d{{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}} %p %c{{1}} %m%n"/>
      <SizeBasedTriggeringPolicy size="10 MB"/>
      <DefaultRolloverStrategy max="3"/>
    </RollingFile>
  </Appenders>
  <Loggers>
    <Root level="warn"><AppenderRef ref="file"/></Root>
    <Logger name="kafka" level="info"/>
    <Logger name="org.apache.kafka" level="info"/>
    <Logger name="org.apache.kafka.common.config.AbstractConfig" level="warn"/>
    <Logger name="kafka.authorizer.logger" level="info"/>
  </Loggers>
</Configuration>
"""
