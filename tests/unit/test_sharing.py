"""Which tests stay together, so that what is costly is there once and not for longer than it is needed."""

import pytest

from tests.sharing import group_of


@pytest.mark.parametrize(
    ("file", "group"),
    [
        ("tests/integration/test_ledger_operator.py", "spark"),
        ("tests/integration/test_kill.py", "node"),
        ("tests/browser/on_a_node/test_alerts.py", "node"),
        ("tests/browser/test_console.py", "node"),
        ("tests/faults/test_broker.py", "faults"),
        ("tests/integration/test_relay.py", "tests/integration/test_relay.py"),
    ],
)
def test_files_with_the_same_costly_thing_are_one_group(file: str, group: str) -> None:
    assert group_of(file) == group
