"""A data provider of one's own, with nothing but Python: it sends each line of its input to the gateway.

catchment provider add press-7
seq 100 | python producer.py 127.0.0.1 8992 press-7 var/identities
"""

import socket
import ssl
import sys
from pathlib import Path


def main(host: str, port: int, name: str, identities: Path) -> None:
    context = ssl.create_default_context(cafile=identities / "ca.crt")
    context.load_cert_chain(identities / f"provider.{name}.crt", identities / f"provider.{name}.key")
    with (
        socket.create_connection((host, port)) as connection,
        context.wrap_socket(connection, server_hostname=host) as gateway,
    ):
        for line in sys.stdin.buffer:
            gateway.sendall(line.removesuffix(b"\n") + b"\n")
        # Says that this was all, and waits until the gateway has read it.
        gateway.unwrap()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
