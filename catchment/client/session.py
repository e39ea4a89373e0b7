"""A signed-in connection to a node's API; what the API refuses becomes the error that it is."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import orjson

from catchment import errors
from catchment.config import Config
from catchment.errors import CatchmentError, NodeNotRunning

TIMEOUT_S = 30.0
# A live stream says something more often than that.
LINE_TIMEOUT_S = 60.0
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where a node listens, not bound here


class Session:
    """Sends requests with a token, over TLS that is checked against the node's own authority."""

    def __init__(self, url: str, token: str, ca_file: Path | None = None) -> None:
        # The system's authorities, unless the node's own is named.
        context = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
        self._url = url
        self._http = httpx.Client(
            base_url=url, verify=context, timeout=TIMEOUT_S, headers={"Authorization": f"Bearer {token}"}
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """What is at a path, with query parameters of which those that are None are left out."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self.request("GET", path, params=given)

    def pages(self, path: str, **parameters: Any) -> Iterator[Any]:
        """Every item of a list, whatever the number of its pages."""
        cursor = None
        while True:
            page = self.get(path, cursor=cursor, **parameters)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    def put(self, path: str, body: Any) -> Any:
        return self.request("PUT", path, json=body)

    def post(self, path: str, body: Any = None) -> Any:
        return self.request("POST", path, json=body)

    def delete(self, path: str) -> Any:
        return self.request("DELETE", path)

    def request(self, method: str, path: str, **arguments: Any) -> Any:
        """The answer's JSON, or None where there is no content."""
        response = self.send(method, path, **arguments)
        return orjson.loads(response.content) if response.content else None

    def lines(self, path: str, accept: str, parameters: dict[str, Any]) -> Iterator[str]:
        """The lines of a long answer, as they come; refusals are raised."""
        headers, timeout = {"Accept": accept}, httpx.Timeout(TIMEOUT_S, read=LINE_TIMEOUT_S)
        try:
            with self._http.stream(
                "GET", path, params=parameters, headers=headers, timeout=timeout
            ) as response:
                if response.is_error:
                    response.read()
                    raise refusal_of(response)
                yield from response.iter_lines()
        except httpx.TransportError as error:
            raise self._unanswered(error) from None

    def send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        """The whole response; refusals are raised."""
        try:
            response = self._http.request(method, path, **arguments)
        except httpx.TransportError as error:
            raise self._unanswered(error) from None
        if response.is_error:
            raise refusal_of(response)
        return response

    def _unanswered(self, error: httpx.TransportError) -> NodeNotRunning:
        return NodeNotRunning(
            f"The API at {self._url} does not answer ({error})",
            "Start the node with `catchment up`, or check the address.",
        )


def local_session(config: Config) -> Session:
    """A session of the operator on the node's own machine."""
    host = _EVERY_ADDRESS.get(config.api.host, config.api.host)
    address = f"[{host}]" if ":" in host else host
    if not config.paths.operator_token.exists():
        raise NodeNotRunning(
            f"{config.paths.operator_token} is missing",
            "Start the node once with `catchment up`, or put a token of `catchment token create` there.",
        )
    token = config.paths.operator_token.read_text().strip()
    return Session(f"https://{address}:{config.api.port}", token, config.paths.identities / "ca.crt")


def refusal_of(response: httpx.Response) -> CatchmentError:
    """What the API refused, as the error that it is."""
    try:
        problem = orjson.loads(response.content)
        code, detail = problem["code"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        code, detail, problem = "", f"The API answered {response.status_code}", {}
    remedy = problem.get("remedy") or "See the API's description at /api/v1/openapi.json."
    return _kind_of(code)(detail, remedy)


def _kind_of(code: str) -> type[CatchmentError]:
    kinds = (kind for kind in vars(errors).values() if isinstance(kind, type))
    plain = (
        kind
        for kind in kinds
        if issubclass(kind, CatchmentError)
        and (kind.__init__ is CatchmentError.__init__ or kind is errors.SchemaRefused)
    )
    return next((kind for kind in plain if kind.code == code), CatchmentError)
