"""Which tests stay together when workers share a run."""

from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

TESTS = Path(__file__).parent
# What is costly to have twice, and how a test asks for it. A scheduler knows no more of a test than its name.
ON_A_NODE = "node"
SHARED = {"spark": "spark: SparkSession", ON_A_NODE: "whole_node:"}
# Hosts that are cut off and disks that fill up are not for two at once, and neither is a browser.
TOGETHER = {"faults": "faults", "browser": ON_A_NODE}


@cache
def group_of(file: str) -> str:
    """All tests with the same Spark, all with the same node, and else those of a file."""
    path = TESTS.parent / file
    folder = path.relative_to(TESTS).parts[0]
    if folder in TOGETHER:
        return TOGETHER[folder]
    text = path.read_text()
    return next((group for group, asked in SHARED.items() if asked in text), file)


class ByWhatIsShared(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out whole groups, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0])

    def remove_node(self, node: Any) -> str | None:
        """Tells in which test a worker died; the next goes on behind it, instead of dying there too."""
        for unit in self.assigned_work[node].values():
            for test, is_completed in unit.items():
                if not is_completed:
                    unit[test] = True
                    super().remove_node(node)
                    return str(test)
        super().remove_node(node)
        return None
