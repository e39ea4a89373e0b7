"""`python -m catchment.console.check`: type-checks the console, and its types against what the API says."""

import sys

from catchment.console.build import npm
from catchment.errors import MachineError

if __name__ == "__main__":
    try:
        npm("run", "check")
    except MachineError as error:
        sys.exit(str(error))
