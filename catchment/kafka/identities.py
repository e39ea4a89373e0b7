"""Where clients find Kafka, and with which certificate they sign in."""

from pathlib import Path

from cryptography.hazmat.primitives import serialization

from catchment.config import Config, TlsFiles
from catchment.errors import ConfigurationError
from catchment.kafka.parties import Party
from catchment.security.authority import Authority, Identity
from catchment.security.files import write_private

_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - recognised here, not bound


def bootstrap_servers(config: Config) -> str:
    """Where clients find the cluster, embedded or not."""
    return config.kafka.bootstrap_servers or address(advertised_host(config), config.kafka.port)


def advertised_host(config: Config) -> str:
    """The name under which the embedded broker tells clients to come back."""
    host = config.kafka.host
    if host not in _EVERY_ADDRESS:
        return host
    if not config.hostnames:
        raise ConfigurationError(
            f"kafka.host is {host}, and hostnames is empty",
            "Put the name under which others reach this machine into hostnames: the broker has to tell them.",
        )
    return config.hostnames[0]


def address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def identity_of(config: Config, party: Party) -> Identity:
    """The files with which a party signs in; on an existing cluster all use those of `kafka.tls`."""
    if config.kafka.tls is not None and not config.kafka.embedded:
        tls = config.kafka.tls
        _check_readable(tls)
        return Identity(tls.ca_file, tls.certificate_file, tls.key_file)
    names = [*config.hostnames, advertised_host(config)]
    return Authority(config.paths.identities, names).identity(party)


def java_file_of(config: Config, party: Party) -> Path:
    """Key, certificate and authority in one file, as Java wants them."""
    identity = identity_of(config, party)
    if config.kafka.embedded:
        return identity.java_file
    combined = config.paths.identities / "cluster.pem"
    certificates = identity.certificate_file.read_bytes() + b"\n" + identity.ca_file.read_bytes()
    write_private(combined, _key_for_java(identity.key_file) + certificates)
    return combined


def _check_readable(tls: TlsFiles) -> None:
    for key in TlsFiles.model_fields:
        file: Path = getattr(tls, key)
        try:
            file.open("rb").close()
        except OSError as error:
            raise ConfigurationError(
                f"kafka.tls.{key} is {file}, which cannot be read: {error.strerror}",
                "Name a file that exists and that this user may read.",
            ) from None


def _key_for_java(key_file: Path) -> bytes:
    # Java reads PKCS8 only, while other clients also take the older forms.
    try:
        key = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise ConfigurationError(
            f"kafka.tls.key_file ({key_file}) is not a private key that can be used: {error}",
            "Give it as PEM, without a password.",
        ) from None
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
