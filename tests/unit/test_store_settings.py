"""Settings of the fast store: off by default, safe by default, and wrong ones refused with what to change."""

from pathlib import Path
from typing import Any

import pytest

from catchment.config import Config, load
from catchment.config.store import StoredTopic
from catchment.errors import ConfigurationError
from catchment.pipeline.store import java_settings, store_queries
from catchment.records import Kind
from tests.conftest import MakeConfig

URL = "postgresql://writer@db.example.org:5433/plant%20data"


def load_from(folder: Path, text: str, **variables: str) -> Config:
    file = folder / "catchment.yaml"
    file.write_text(text)
    return load(file, variables)


def store_of(make_config: MakeConfig, **settings: Any) -> Config:
    return make_config(store={"postgres": {"main": {"url": URL, **settings}}})


def test_there_is_no_store_unless_one_is_set(make_config: MakeConfig) -> None:
    assert store_queries(make_config()) == ()


def test_every_store_has_a_query_of_its_own(make_config: MakeConfig) -> None:
    second = {"url": "postgresql://me@localhost/other", "topics": ["events"]}
    config = make_config(store={"postgres": {"main": {"url": URL}, "second": second}})
    main, other = store_queries(config)
    assert (main.name, main.reads) == ("postgres-main", (Kind.MEASUREMENTS, Kind.EVENTS))
    assert (other.name, other.reads) == ("postgres-second", (Kind.EVENTS,))


def test_the_address_is_taken_apart(make_config: MakeConfig) -> None:
    settings = store_of(make_config).store.postgres["main"]
    assert (settings.host, settings.port, settings.user) == ("db.example.org", 5433, "writer")
    assert (settings.database, settings.topics) == ("plant data", list(StoredTopic))


def test_a_database_elsewhere_is_reached_over_tls_and_its_certificate_checked(
    make_config: MakeConfig, tmp_path: Path
) -> None:
    for given, expected in (
        ({}, {"sslmode": "verify-full", "sslfactory": "org.postgresql.ssl.DefaultJavaSSLFactory"}),
        ({"ca_file": str(tmp_path)}, {"sslmode": "verify-full", "sslrootcert": str(tmp_path)}),
        ({"url": "postgresql://me@localhost/here"}, {"sslmode": "disable"}),
        ({"url": "postgresql://me@[::1]/here", "ca_file": "ca.crt"}, {"sslmode": "verify-full"}),
    ):
        config = store_of(make_config, **given)
        told = java_settings("main", config.store.postgres["main"], config)["connection"]
        assert told.items() >= expected.items()


def test_the_password_comes_from_a_variable_or_a_file_and_is_never_shown(tmp_path: Path) -> None:
    text = f"store: {{postgres: {{main: {{url: '{URL}', password: '${{SECRET}}'}}}}}}"
    config = load_from(tmp_path, text, SECRET="sesame")
    settings = config.store.postgres["main"]
    assert settings.reveal_password() == "sesame"
    assert "sesame" not in f"{config!r} {config.model_dump(mode='json')}"
    (tmp_path / "password").write_text("from a file\n")
    of_file = f"store: {{postgres: {{main: {{url: '{URL}', password_file: {tmp_path / 'password'}}}}}}}"
    assert load_from(tmp_path, of_file).store.postgres["main"].reveal_password() == "from a file"


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ({"url": "mysql://me@db.example.org/x"}, "write one like postgresql://"),
        ({"url": "postgresql://db.example.org/x"}, "names no database and user"),
        ({"url": "postgresql://me@db.example.org"}, "names no database"),
        ({"url": "postgresql://me:sesame@db.example.org/x"}, "use password or password_file"),
        ({"url": "postgresql://me@db.example.org/x?sslmode=disable"}, "TLS is always on"),
        ({"password": "sesame", "password_file": "file"}, "leave one of them out"),
        ({"topics": ["records"]}, "topics"),
        ({"topics": []}, "topics"),
        ({"schema_name": "Robert'); DROP"}, "schema_name"),
    ],
)
def test_a_wrong_store_is_refused_and_no_secret_shown(
    tmp_path: Path, wrong: dict[str, Any], advice: str
) -> None:
    text = str({"store": {"postgres": {"main": {"url": URL, **wrong}}}})
    with pytest.raises(ConfigurationError, match=advice) as refusal:
        load_from(tmp_path, text)
    assert "sesame" not in str(refusal.value)
