"""docs/faults.md, from the outcomes of full runs."""

import os
import platform
import sys
from pathlib import Path

from tests.faults.outcome import Outcome, saved

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"

_BEFORE = """\
# Faults

What happens to numbered lines when something fails under them. `make faults` makes this page.

| fault | what was done | sent | arrived | lost | twice | out of order | recovery |
|---|---|--:|--:|--:|--:|--:|--:|
"""

_AFTER = """\

Measured on {machine}: what has to start again takes longer the higher that is. Everything ran on it at the
same time, encrypted and with every write waited for: two devices, a gateway, a broker, a consumer, and
where the relay has a part a centre with a broker, the relay and a consumer.

## What the columns mean

- **sent**: lines that the gateway told the devices are safe. Devices sent until all were, and again what
  was not.
- **arrived**: different lines in the file that the consumer appends to, at the far end. **lost** is the
  difference.
- **twice**, **out of order**: lines that came again; lines that came after a higher number of the same
  device. Both are counted with the numbers that the devices gave, not with our stamps.
- **recovery**: seconds from the end of the fault until the first line came to the far end that the gateway
  took after its beginning. A kill ends at once, a cut when the link is back, a power cut when the machine
  is switched on, a full disk when there is room. Of several kills it is the longest. The time includes
  whatever has to start again: about four seconds for a Java broker on a quiet machine, and three until its
  controller believes that it was away.

Nothing was restarted by hand: what is killed is started by the node's own supervisor, and a machine that
gets power back starts that supervisor, as its system would.

## How it is done

Every host is a network namespace with an address and a link of its own, on a router between them. A cut
drops packets on that router without a word, so that connections stay half open. The broker's log and the
gateway's spool are on ext4 file systems in files: at the moment of a power cut all processes are frozen,
the file is copied as it is, everything is killed and the host removed, and it starts again from the copy. A
weak link is one with a token bucket. The tests read as the specification: `tests/faults/test_*.py`.

## Reproduce

As root on Debian, in a clone:

```sh
make faults
```

`make test` tries the same faults in a short form. A single one: `.venv/bin/pytest tests/faults --full -k
broker_killed`, then `.venv/bin/python -m tests.faults.page --write`.
"""


def page() -> str:
    """The page as it should be."""
    return _BEFORE + "".join(map(_row, saved())) + _AFTER.format(machine=_machine())


def _row(outcome: Outcome) -> str:
    counts = (outcome.sent, outcome.arrived, outcome.lost, outcome.twice, outcome.out_of_order)
    cells = [outcome.fault, outcome.done, *(f"{count:,}" for count in counts), f"{outcome.recovery_s:.1f} s"]
    return f"| {' | '.join(cells)} |\n"


def _machine() -> str:
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    kernel = platform.release().partition("-")[0]
    machine = f"a machine with {os.cpu_count()} cores and {memory_gib:.0f} GiB of memory (Linux {kernel})"
    return f"{machine}, whose load was {os.getloadavg()[2]:.0f} in the last 15 minutes"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
