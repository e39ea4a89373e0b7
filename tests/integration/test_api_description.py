"""The API does what it says of itself: requests made from its description, right and wrong ones."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from catchment.config import Config
from tests.serving import ServedNode, serve
from tests.twins import TwinWriter, twin, type_of

EXAMPLES = 12
# Declared at random here, and of no use to the tests after these; what refers to others goes first.
DECLARED = ("rules", "mappings", "sensors", "sensor-types", "devices")


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    writer = TwinWriter(cluster)
    writer.types(type_of("machine"))
    writer.put([twin("described", values={"heat": 1.5, "state": "on"})])
    with serve(cluster, with_tables=True, with_twins=True) as served:
        before = {kind: ids_of(served, kind) for kind in DECLARED}
        yield served
        for kind in DECLARED:
            for identifier in ids_of(served, kind) - before[kind]:
                with served.client(served.token("cleaner")) as client:
                    client.delete(f"/api/v1/{kind}/{identifier}")


def ids_of(node: ServedNode, kind: str) -> set[str]:
    with node.client(node.token("cleaner")) as client:
        items = client.get(f"/api/v1/{kind}", params={"limit": 1000}).json()["items"]
    return {each["id"] for each in items if each["site"] == node.config.site}


@pytest.fixture(scope="module")
def description(node: ServedNode) -> schemathesis.BaseSchema:
    # The live stream has no end, and so no whole answer that could be checked.
    return schemathesis.openapi.from_dict(node.app.openapi()).exclude(path="/api/v1/live")


described = schemathesis.pytest.from_fixture("description")


@described.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_address_answers_as_it_is_described(case: schemathesis.Case[Any], node: ServedNode) -> None:
    with requests.Session() as session:
        session.verify = str(node.config.paths.identities / "ca.crt")
        headers = {"Authorization": f"Bearer {token_of(node)}"}
        # What has the right form may still be refused: an expression, a cursor, a name that is not there.
        case.call_and_validate(
            base_url=node.url,
            session=session,
            headers=headers,
            excluded_checks=[positive_data_acceptance],
            timeout=30,
        )


def token_of(node: ServedNode) -> str:
    """One token for all: making one for each request would end the sessions of the others."""
    if not hasattr(token_of, "made"):
        token_of.made = node.token("describer")  # type: ignore[attr-defined]
    made: str = token_of.made  # type: ignore[attr-defined]
    return made
