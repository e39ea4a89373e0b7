"""A consumer of one's own, with nothing but confluent-kafka.

    catchment consumer add lab
    python consumer.py 127.0.0.1:9092 lab var/identities

It prints every record and commits behind it: stopped at any moment, it goes on where it was.
"""

import signal
import sys
from pathlib import Path

from confluent_kafka import Consumer, KafkaException


def main(servers: str, name: str, identities: Path) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "security.protocol": "ssl",
            "ssl.ca.location": str(identities / "ca.crt"),
            "ssl.certificate.location": str(identities / f"consumer.{name}.crt"),
            "ssl.key.location": str(identities / f"consumer.{name}.key"),
            # The names of a consumer's groups begin with its own name and a stroke.
            "group.id": f"{name}/example",
            "auto.offset.reset": "earliest",
            # Only what has been handed on is committed.
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["catchment.v1.records"])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while True:
            message = consumer.poll(1.0)
            if message is None:
                continue
            if message.error():
                raise KafkaException(message.error())
            sys.stdout.buffer.write((message.value() or b"") + b"\n")
            sys.stdout.buffer.flush()
            consumer.commit(message=message, asynchronous=False)
    except KeyboardInterrupt:
        pass
    finally:
        consumer.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
