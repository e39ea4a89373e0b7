"""The reference page of the configuration is complete and current."""

import subprocess
import sys

from catchment.config.loading import known_keys, variable_of
from catchment.config.reference import PAGE, page


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m catchment.config.reference --write`"


def test_the_page_names_every_key_and_variable() -> None:
    text = page()
    for key in known_keys():
        assert f"| `{key}` |" in text
        assert f"`{variable_of(key)}`" in text
    assert "| `kafka.topics.<kind>.partitions` |" in text


def test_a_row_says_type_bounds_default_and_sentence() -> None:
    row = next(line for line in page().splitlines() if line.startswith("| `gateway.port`"))
    assert "integer, ≥ 1, ≤ 65,535 | `8992` | `CATCHMENT_GATEWAY__PORT` | Port for lines" in row


def test_the_command_prints_the_page() -> None:
    command = [sys.executable, "-m", "catchment.config.reference"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == page()
