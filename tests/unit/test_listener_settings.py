"""What can be set of listeners, adapters included, and the streams of MQTT topics."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from catchment.config import Config
from catchment.errors import ConfigurationError
from catchment.gateway.adapters import load_adapters
from catchment.gateway.limits import RateLimit
from catchment.gateway.listeners import further_listeners
from catchment.gateway.mqtt import stream_name
from catchment.records import check_stream
from catchment.security.providers import Providers
from tests.conftest import MakeConfig
from tests.listening import authority_of, inside

topics = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00#+"), min_size=1)


def with_mqtt(**settings: Any) -> Config:
    mqtt = {"host": "mqtt.example", "subscriptions": {"plant/#": "mqtt/{topic}"}, **settings}
    return Config.model_validate({"gateway": {"mqtt": mqtt}})


class TestMqtt:
    def test_there_is_none_unless_it_is_set(self) -> None:
        assert Config().gateway.mqtt is None
        assert with_mqtt(protocol=5).gateway.mqtt

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ({"tls": False}, "only for a broker on this machine"),
            ({"certificate_file": "a.crt"}, "together"),
            ({"password_file": "secret"}, "needs gateway.mqtt.username"),
            ({"subscriptions": {}}, "at least 1"),
            ({"subscriptions": {"plant/#/x": "a"}}, "not a filter"),
            ({"subscriptions": {"plant+/x": "a"}}, "not a filter"),
            ({"subscriptions": {"plant/#": "two words"}}, "not a stream name"),
            ({"protocol": "4"}, "3.1.1"),
        ],
    )
    def test_what_does_not_hang_together_is_refused(self, wrong: dict[str, Any], said: str) -> None:
        with pytest.raises(ValidationError, match=said):
            with_mqtt(**wrong)

    def test_without_encryption_on_this_machine(self) -> None:
        assert with_mqtt(host="127.0.0.1", tls=False).gateway.mqtt

    @given(topics, topics)
    @example("/a", "mqtt/a")
    @example("zone 1", "zone:201")
    def test_every_topic_has_a_stream_of_its_own(self, one: str, other: str) -> None:
        for template in ("mqtt/{topic}", "{topic}"):
            check_stream(stream_name(template, one))
            same = stream_name(template, one) == stream_name(template, other)
            assert same == (one == other)

    def test_a_usual_topic_is_its_own_name(self) -> None:
        assert stream_name("mqtt/{topic}", "plant/press-7/state") == "mqtt/plant/press-7/state"
        assert stream_name("{topic}", "plant/zone 1") == "plant/zone:201"

    def test_long_topics_differ_at_their_end(self) -> None:
        one, other = (stream_name("mqtt/{topic}", "x" * 500 + end) for end in "ab")
        assert one != other
        assert len(one) == 200


class TestHttp:
    def test_its_port_is_one_of_the_node(self) -> None:
        assert Config().ports["gateway.http.port"] == ("127.0.0.1", 8993)
        off = Config.model_validate({"gateway": {"http": {"enabled": False}}})
        assert "gateway.http.port" not in off.ports


class TestAll:
    def made(self, config: Config) -> list[str]:
        identity = authority_of(config).identity("gateway")
        providers = Providers(config.paths.providers)
        with inside(config) as running:
            listeners = further_listeners(config, running.intake, providers, identity, RateLimit(None))
        return [listener.name for listener in listeners]

    def test_http_alone_is_there_by_itself(self, make_config: MakeConfig) -> None:
        assert self.made(make_config()) == ["http"]

    def test_the_others_when_they_are_set(self, make_config: MakeConfig) -> None:
        mqtt = {"host": "localhost", "subscriptions": {"#": "mqtt/{topic}"}}
        adapters = [{"class": f"{__name__}:Complete", "settings": {"name": "mine"}}]
        gateway = {"http": {"enabled": False}, "mqtt": mqtt, "adapters": adapters}
        assert self.made(make_config(gateway=gateway)) == ["mqtt", "mine"]

    @pytest.mark.parametrize(
        "files",
        [
            {"ca_file": "missing.crt"},
            {"certificate_file": "missing.crt", "key_file": "missing.key"},
            {"username": "gateway", "password_file": "missing"},
        ],
    )
    def test_files_that_are_missing_are_said(self, make_config: MakeConfig, files: dict[str, str]) -> None:
        mqtt = {"host": "localhost", "subscriptions": {"#": "mqtt/{topic}"}, **files}
        with pytest.raises(ConfigurationError, match=r"gateway\.mqtt\."):
            self.made(make_config(gateway={"mqtt": mqtt}))


class Complete:
    def __init__(self, inlet: object, settings: dict[str, Any]) -> None:
        self.name = settings["name"]

    async def start(self) -> None:
        pass

    async def drain(self, timeout_s: float) -> None:
        pass

    def figures(self) -> dict[str, Any]:
        return {}


class Lacking:
    def __init__(self, inlet: object, settings: object) -> None:
        pass


class Failing:
    name = "failing"

    def __init__(self, inlet: object, settings: dict[str, Any]) -> None:
        settings["file"]


class TestAdapters:
    @pytest.mark.parametrize(
        ("path", "said"),
        [
            ("no.such.module:Class", "cannot be imported"),
            (f"{__name__}:Missing", "cannot be imported"),
            (f"{__name__}:Lacking", "has no 'name'"),
            (f"{__name__}:Failing", "cannot be made: KeyError: 'file'"),
        ],
    )
    def test_one_that_cannot_be_used_is_refused(self, make_config: MakeConfig, path: str, said: str) -> None:
        config = make_config(gateway={"adapters": [{"class": path}]})
        with inside(config) as running, pytest.raises(ConfigurationError, match=said):
            load_adapters(config.gateway.adapters, running.intake)

    def test_a_path_that_is_none_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="class"):
            Config.model_validate({"gateway": {"adapters": [{"class": "no colon"}]}})

    def test_the_configuration_survives_being_written(self) -> None:
        adapters = [{"class": "a.b:C", "settings": {"x": 1}}]
        config = Config.model_validate({"gateway": {"adapters": adapters}})
        assert config.model_dump(mode="json")["gateway"]["adapters"] == adapters
