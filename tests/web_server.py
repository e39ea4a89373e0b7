"""A web server for tests, to which records are posted."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Server(http.server.ThreadingHTTPServer):
    """Notes what is posted, and answers with the statuses it is told, then with 200."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.statuses: list[int] = []
        self.refuses = b"\0"
        self.taken: list[bytes] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/in?x=1"


class Answering(http.server.BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        if self.server.refuses in body:
            status = 422
        if status == 200:
            self.server.taken.append(body)
            self.server.headers.append(dict(self.headers))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running_server() -> Iterator[Server]:
    with Server() as server:
        # Handlers keep connections open for the next request: they must not be waited for.
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
