"""A persistent session at an MQTT broker: connects for ever, and acknowledges only when it is told to.

paho runs it in a thread of its own; what is called from that thread says so.
"""

import logging
import ssl
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paho.mqtt.client import (
    MQTT_CLEAN_START_FIRST_ONLY,
    Client,
    ConnectFlags,
    DisconnectFlags,
    MQTTMessage,
)
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from catchment.config.listeners import MqttProtocol, MqttSettings
from catchment.errors import ConfigurationError
from catchment.metrics import gauge

log = logging.getLogger(__name__)
_paho_log = log.getChild("paho")
_paho_log.setLevel(logging.WARNING)

CONNECTED = gauge("catchment_gateway_mqtt_connected")

AT_LEAST_ONCE = 1
KEY_PROPERTY = "idempotency-key"
MAX_KEY_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message that the broker keeps until it is acknowledged, and the connection on which it came."""

    topic: str
    payload: bytes
    key: str
    packet_id: int
    qos: int
    connection: int


class Session:
    """Hands every message to `on_arrival`, in paho's thread; while that waits, nothing more is read."""

    def __init__(self, settings: MqttSettings, client_id: str, on_arrival: Callable[[Arrival], None]) -> None:
        self._settings = settings
        self._on_arrival = on_arrival
        # Held while the connection changes and while something is acknowledged on it.
        self._lock = threading.Lock()
        self._connection = 0
        self.subscribed = False
        self.trouble = "not connected yet"
        self._client = self._new_client(client_id)

    @property
    def connected(self) -> bool:
        return not self.trouble

    def open(self) -> None:
        """Begins to connect; from then on paho sees to the connection."""
        settings = self._settings
        v5 = settings.protocol is MqttProtocol.V5
        self._client.connect_async(
            settings.host,
            settings.port,
            settings.keepalive_s,
            # What an MQTT 5 client says here, one of 3.1.1 says with `clean_session`.
            clean_start=False if v5 else MQTT_CLEAN_START_FIRST_ONLY,
            properties=self._properties() if v5 else None,
        )
        self._client.loop_start()

    def close(self) -> None:
        """Sends what is to be acknowledged and signs off; the session stays at the broker."""
        if self._client.is_connected():
            self._client.disconnect()
        self._client.loop_stop()

    def acknowledge(self, arrival: Arrival) -> None:
        """Tells the broker to forget a message, if the connection on which it came is still there.

        On another one its packet id may stand for another message, which would be lost.
        """
        with self._lock:
            if arrival.qos and arrival.connection == self._connection:
                self._client.ack(arrival.packet_id, arrival.qos)

    def _properties(self) -> Properties:
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = self._settings.session_expiry_s
        properties.ReceiveMaximum = self._settings.max_unacknowledged
        return properties

    def _new_client(self, client_id: str) -> Client:
        v5 = self._settings.protocol is MqttProtocol.V5
        client = Client(
            CallbackAPIVersion.VERSION2,
            client_id,
            clean_session=None if v5 else False,
            protocol=MQTTProtocolVersion.MQTTv5 if v5 else MQTTProtocolVersion.MQTTv311,
            manual_ack=True,
        )
        # An error in what it calls would end paho's thread: it is logged, and the message comes again.
        client.suppress_exceptions = True
        client.enable_logger(_paho_log)
        client.reconnect_delay_set(1, self._settings.reconnect_max_s)
        if self._settings.tls:
            client.tls_set_context(tls_context(self._settings))
        if self._settings.username:
            client.username_pw_set(self._settings.username, password(self._settings))
        client.on_connect = self._note_connected
        client.on_connect_fail = self._note_failed
        client.on_disconnect = self._note_disconnected
        client.on_subscribe = self._note_subscribed
        client.on_message = self._hear
        return client

    def _note_connected(
        self, client: Client, _: Any, flags: ConnectFlags, reason: ReasonCode, __: Properties | None
    ) -> None:
        if reason.is_failure:
            self._say_trouble(f"the broker refuses us: {reason}")
            return
        log.info("connected to the MQTT broker %s:%d", self._settings.host, self._settings.port)
        self._begin_connection()
        if self.subscribed and not flags.session_present:
            log.error("the MQTT broker has lost our session: what was published meanwhile may be lost")
            self.subscribed = False
        self.trouble = ""
        CONNECTED.set(1)
        if not self.subscribed:
            client.subscribe(self._subscriptions())

    def _subscriptions(self) -> Any:
        """Without retained messages: they are from before, and would come again with every subscription."""
        if self._settings.protocol is MqttProtocol.V311:
            return [(topic_filter, AT_LEAST_ONCE) for topic_filter in self._settings.subscriptions]
        options = SubscribeOptions(AT_LEAST_ONCE, retainHandling=SubscribeOptions.RETAIN_DO_NOT_SEND)
        return [(topic_filter, options) for topic_filter in self._settings.subscriptions]

    def _note_subscribed(
        self, _: Client, __: Any, ___: int, reasons: list[ReasonCode], ____: Properties | None
    ) -> None:
        refused = [
            topic_filter
            for topic_filter, reason in zip(self._settings.subscriptions, reasons, strict=False)
            if reason.is_failure
        ]
        self.subscribed = not refused
        if refused:
            self._say_trouble(f"the broker refuses the subscription to {', '.join(refused)}")

    def _note_failed(self, _: Client, __: Any) -> None:
        # paho calls this while it handles the error, and does not hand it over.
        self._say_trouble(f"the broker cannot be reached: {sys.exc_info()[1]}")

    def _note_disconnected(
        self, _: Client, __: Any, ___: DisconnectFlags, reason: ReasonCode, ____: Properties | None
    ) -> None:
        self._begin_connection()
        # After a refusal the connection ends as well: the refusal says more.
        if reason.is_failure and self.connected:
            self._say_trouble(f"the connection to the broker ended: {reason}")

    def _begin_connection(self) -> None:
        with self._lock:
            self._connection += 1

    def _say_trouble(self, trouble: str) -> None:
        CONNECTED.set(0)
        if trouble != self.trouble:
            log.warning("MQTT: %s", trouble)
        self.trouble = trouble

    def _hear(self, _: Client, __: Any, message: MQTTMessage) -> None:
        arrival = Arrival(
            topic=message.topic,
            payload=bytes(message.payload),
            key=_key(message),
            packet_id=message.mid,
            qos=message.qos,
            connection=self._connection,
        )
        if message.retain:
            self.acknowledge(arrival)
        else:
            self._on_arrival(arrival)


def _key(message: MQTTMessage) -> str:
    """The key with which a publisher of MQTT 5 says that a message is the same as an earlier one."""
    pairs = getattr(message.properties, "UserProperty", ()) if message.properties else ()
    key = str(dict(pairs).get(KEY_PROPERTY, ""))
    return key if len(key) <= MAX_KEY_CHARACTERS else ""


def tls_context(settings: MqttSettings) -> ssl.SSLContext:
    """Checks the broker's name and certificate, and shows ours if we have one."""
    try:
        context = ssl.create_default_context(cafile=settings.ca_file)
        if settings.certificate_file and settings.key_file:
            context.load_cert_chain(settings.certificate_file, settings.key_file)
    except OSError as error:
        raise ConfigurationError(
            f"The certificates for the MQTT broker cannot be used: {error}",
            "Check gateway.mqtt.ca_file, gateway.mqtt.certificate_file and gateway.mqtt.key_file.",
        ) from None
    return context


def password(settings: MqttSettings) -> str | None:
    """The password in its file, without the newline that editors put there."""
    if settings.password_file is None:
        return None
    try:
        return settings.password_file.read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise ConfigurationError(
            f"The file {settings.password_file} cannot be read: {error.strerror}",
            "Put the password into the file that gateway.mqtt.password_file names.",
        ) from None
