"""The API does what it says of itself: requests made from its description, right and wrong ones."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import positive_data_acceptance

from catchment.config import Config
from tests.serving import ServedNode, serve
from tests.twins import TwinWriter, twin, type_of

EXAMPLES = 3
# Declared at random here, and of no use to the tests after these; what refers to others goes first.
DECLARED = ("rules", "mappings", "sensors", "sensor-types", "devices", "twin-feeds", "twin-types")
# They have no end, and so no whole answer that could be checked.
ENDLESS = ("/api/v1/live", "/api/v1/readings/live")
NO_HTTP = "Invalid HTTP request received."
# The longest is a query that is tried out, which may take a minute.
LONGEST_ANSWER_S = 90

# A wrong `If-Match` is a version that is not there.
REFUSALS = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 429, "5xx"]
CONFIG = schemathesis.Config.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}}
)

Case = schemathesis.Case[Any]


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    writer = TwinWriter(cluster)
    writer.types(type_of("machine"))
    writer.put([twin("described", values={"heat": 1.5, "state": "on"})])
    with serve(cluster, with_tables=True, with_twins=True) as served:
        kinds = [kind for kind in DECLARED if f"/api/v1/{kind}" in served.app.openapi()["paths"]]
        before = {kind: ids_of(served, kind) for kind in kinds}
        yield served
        with served.client(served.token("cleaner")) as client:
            for kind in kinds:
                for identifier in ids_of(served, kind) - before[kind]:
                    client.delete(f"/api/v1/{kind}/{identifier}")


def ids_of(node: ServedNode, kind: str) -> set[str]:
    with node.client(node.token("counter")) as client:
        items = client.get(f"/api/v1/{kind}", params={"limit": 1000}).json()["items"]
    registered = [each for each in items if each.get("registered", True)]
    return {each["id"] for each in registered if each["site"] == node.config.site}


class Checker:
    """Sends requests of every kind to every address, and collects what was not as described."""

    def __init__(self, node: ServedNode) -> None:
        self.failures: dict[str, str] = {}
        self.requests = 0
        self._url = node.url
        self._headers = {"Authorization": f"Bearer {node.token('describer')}"}
        self._session = requests.Session()
        self._authority = str(node.config.paths.identities / "ca.crt")

    def check(self, case: Case) -> None:
        self.requests += 1
        try:
            # What has the right form may still be refused: an expression, a cursor, a name that is not there.
            case.call_and_validate(
                base_url=self._url,
                session=self._session,
                headers=self._headers,
                excluded_checks=[positive_data_acceptance],
                verify=self._authority,
                timeout=LONGEST_ANSWER_S,
            )
        except (Exception, FailureGroup) as error:
            # What is no HTTP at all is refused before it comes to any address.
            if NO_HTTP not in str(error):
                self.failures.setdefault(f"{case.method} {case.path}", str(error))

    def close(self) -> None:
        self._session.close()


def test_every_address_answers_as_it_is_described(node: ServedNode) -> None:
    description = schemathesis.openapi.from_dict(node.app.openapi(), config=CONFIG)
    checker = Checker(node)
    for found in description.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        for mode in GenerationMode:
            if operation.path not in ENDLESS and (mode.is_positive or takes_something(operation)):
                fuzz(operation.as_strategy(generation_mode=mode), checker)
    checker.close()
    assert checker.requests > 300
    assert not checker.failures, "\n\n".join(checker.failures.values())


def takes_something(operation: Any) -> bool:
    return bool(operation.body) or any(True for _ in operation.iter_parameters())


def fuzz(cases: Any, checker: Checker) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def send(case: Case) -> None:
        checker.check(case)

    send()
