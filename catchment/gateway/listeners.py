"""The ways into a gateway beside TCP, as the configuration has them."""

from catchment.config import Config
from catchment.gateway.adapters import Inlet, Listener, load_adapters
from catchment.gateway.http import HttpListener
from catchment.gateway.limits import RateLimit
from catchment.gateway.mqtt import MqttListener
from catchment.security.authority import Identity
from catchment.security.providers import Providers


def further_listeners(
    config: Config, inlet: Inlet, providers: Providers, identity: Identity, rate: RateLimit
) -> list[Listener]:
    """HTTP, MQTT and adapters of one's own, made and not yet started."""
    listeners: list[Listener] = []
    if config.gateway.http.enabled:
        listeners.append(HttpListener(config.gateway, identity, providers, inlet, rate))
    if config.gateway.mqtt:
        listeners.append(MqttListener(config, config.gateway.mqtt, inlet, rate))
    return [*listeners, *load_adapters(config.gateway.adapters, inlet)]
