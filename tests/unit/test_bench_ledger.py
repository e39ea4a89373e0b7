"""The benchmark of the ledger, without a node."""

import pytest

from catchment.bench.ledger import run
from catchment.errors import NodeNotRunning
from tests.conftest import MakeConfig


def test_it_is_refused_when_no_node_runs(make_config: MakeConfig) -> None:
    with pytest.raises(NodeNotRunning, match="No node is running"):
        run(make_config(), short=True)
