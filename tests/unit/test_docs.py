"""The manual builds, is complete, and says nothing that the code does not."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from catchment import __version__
from catchment import metrics as declarations
from catchment.cli import reference
from catchment.config.loading import known_keys
from catchment.console.types import DESCRIPTION
from catchment.health import State
from catchment.kafka.access import READS, WRITES
from catchment.kafka.topics import TOPICS
from catchment.manual import reference as generated
from catchment.manual.build import PALETTE, build
from catchment.manual.errors import tree
from catchment.manual.pages import SITE
from catchment.manual.topics import HOLDS
from catchment.records import Kind, Source, Stamp

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOP_PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = [*TOP_PAGES, *sorted(DOCS.rglob("*.md"))]

COMMAND = re.compile(r"(?<![\w/.-])(?:\.venv/bin/)?catchment((?: [a-z][a-z-]*)+)")
# A topic, a package, a folder and so on may be named like the command; code in these languages is not ours.
FOREIGN_BLOCKS = {"python", "yaml", "text", "json"}
FORBIDDEN = re.compile(
    r"pypi\.org|pythonhosted|npmjs|maven\.org|repo1\.|deb\.debian\.org|(?<![\w.-])/(?:work|root)/"
)


def read(path: str) -> str:
    return (DOCS / path).read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """The cells of every table row, without the marks of code."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines]


def commands_in(text: str) -> Iterator[str]:
    """What is called in inline code and in blocks of commands."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    ours = [body for language, body in blocks if language not in FOREIGN_BLOCKS]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for code in [*ours, *re.findall(r"`([^`]+)`", prose)]:
        for line in code.splitlines():
            yield from (match[1].strip() for match in COMMAND.finditer(line.partition("#")[0]))


@pytest.fixture(scope="module")
def site() -> Path:
    """The manual as the node serves it, built as strictly as it goes."""
    build()
    return SITE


def test_the_manual_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").exists()
    assert (site / "tutorial" / "first-steps.html").exists()


def test_the_manual_is_built_again_only_when_it_changed(site: Path) -> None:
    before = (site / "index.html").stat().st_ino
    assert build() is False
    assert (site / "index.html").stat().st_ino == before


def test_no_page_needs_a_weaker_policy_than_the_console(site: Path) -> None:
    inline = re.compile(
        r"""<script(?![^>]*\bsrc=)|<style|<[^>]+\s(?:style|on[a-z]+)=|href=["']?javascript:"""
    )
    for page in site.rglob("*.html"):
        assert inline.findall(page.read_text(encoding="utf-8")) == [], page.name


def test_the_manual_has_the_consoles_palette_and_colours_are_declared_nowhere_else(site: Path) -> None:
    palette = PALETTE.read_text(encoding="utf-8")
    assert (site / "manual.css").read_text(encoding="utf-8").startswith(palette)
    declaration = re.compile(r"^ *(--[a-z-]+|\.skip)(?=:| \{)", re.MULTILINE)
    shared = set(declaration.findall(palette))
    assert {"--accent", "--page", ".skip"} <= shared
    sheets = [*PALETTE.parent.glob("*.css"), *(ROOT / "catchment" / "manual" / "theme").glob("*.css")]
    for sheet in sheets:
        if sheet != PALETTE:
            assert shared.isdisjoint(declaration.findall(sheet.read_text(encoding="utf-8"))), sheet.name


def test_every_heading_can_be_searched_for(site: Path) -> None:
    index = orjson.loads((site / "search" / "search_index.json").read_bytes())["docs"]
    titles = {entry["title"] for entry in index}
    assert {"Verify that nothing was lost", "Who may do what", "catchment query deploy"} <= titles
    assert any("hysteresis" in entry["text"] for entry in index if "#" in entry["location"])
    assert all(entry["text"] for entry in index if "#" not in entry["location"])


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")
    for page in site.rglob("*.html"):
        assert loads.findall(page.read_text(encoding="utf-8")) == [], page.name


@pytest.mark.parametrize("page", TOP_PAGES, ids=lambda page: page.name)
def test_links_beside_the_manual_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 100


def test_the_page_of_commands_is_current() -> None:
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), (
        "run `python -m catchment.cli.reference --write`"
    )


def test_the_page_of_commands_has_every_option() -> None:
    text = reference.page()
    for name, command in reference.commands():
        assert f"# `{name}`\n" in text
        for parameter in command.params:
            assert max(parameter.opts, key=len).lower() in text.lower()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_is_named_exists(page: Path) -> None:
    known = {name.removeprefix("catchment").strip() for name, _ in reference.commands()}
    for named in commands_in(page.read_text(encoding="utf-8")):
        words = named.split()
        assert any(" ".join(words[:length]) in known for length in (1, 2)), named
        group = [name for name in known if name.startswith(f"{words[0]} ")]
        if group and len(words) > 1:
            assert " ".join(words[:2]) in group, named


def test_commands_are_found_where_they_are_written() -> None:
    text = "`catchment up` and\n\n```sh\n.venv/bin/catchment verify --json # catchment off\n```\n"
    assert sorted(commands_in(text)) == ["up", "verify"]


def test_generated_tables_are_current() -> None:
    for page, text in generated.pages().items():
        assert page.read_text(encoding="utf-8") == text, (
            f"{page.name}: run `python -m catchment.manual.reference --write`"
        )
    assert generated.regions() == generated.GENERATED.keys()


def test_every_error_topic_and_right_has_its_row() -> None:
    errors_written = {row[0].partition("]")[0].strip("["): row for row in rows(read("reference/errors.md"))}
    for error in tree():
        assert errors_written[error.code][1:3] == [str(error.exit_code), str(error.http_status)], error.code
    in_tables = {row[0] for row in rows(read("reference/topics.md"))}
    assert in_tables >= set(Kind) | {party.value for party in READS.keys() | WRITES.keys()}
    assert HOLDS.keys() == TOPICS.keys()


def test_every_error_and_every_state_is_reached_from_what_people_see() -> None:
    page = read("troubleshooting.md")
    assert set(re.findall(r"^### `(.*)`$", page, re.MULTILINE)) == {error.code for error in tree()}
    sections = re.split(r"^### `.*`$", page, flags=re.MULTILINE)[1:]
    assert [text for text in sections if len(text.split()) < 10] == []
    states = page.partition("## States of components")[2].partition("## By code")[0]
    assert [row[0] for row in rows(states)][2:] == list(State)


def test_every_operation_of_the_api_is_in_the_manual() -> None:
    headings = set(re.findall(r"^### `(.*)`$", read("reference/operations.md"), re.MULTILINE))
    described = orjson.loads(DESCRIPTION.read_bytes())["paths"]
    assert headings == {f"{method.upper()} {path}" for path, those in described.items() for method in those}


def test_metrics_are_declared_once_and_named_rightly() -> None:
    name = re.compile(r"\bcatchment_(?:part|gateway|relay|query|notify|api)_[a-z_]+")
    library = re.compile(r"prometheus_client(?:\.core)? import .*\b(?:Counter|Gauge|Histogram)\b")
    used: set[str] = set()
    for file in (ROOT / "catchment").rglob("*.py"):
        if file != Path(declarations.__file__):
            source = file.read_text(encoding="utf-8")
            used |= set(re.findall(f'"({name.pattern})"', source))
            assert library.search(source) is None, file
    assert used == declarations.METRICS.keys()
    for page in PAGES:
        assert set(name.findall(page.read_text(encoding="utf-8"))) <= used, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_key_that_is_named_exists(page: Path) -> None:
    keys = set(known_keys())
    sections = {key.partition(".")[0] for key in keys if "." in key}
    named = re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", page.read_text(encoding="utf-8"))
    in_sections = [
        key for key in named if key.partition(".")[0] in sections and not key.endswith((".py", ".log"))
    ]
    groups = {key.rpartition(".")[0] for key in keys}
    assert [key for key in in_sections if key not in keys | groups] == []


def test_the_example_of_a_stamp_is_right() -> None:
    block = re.search(r"^```text\n(01 .*?)^```", read("reference/records.md"), re.DOTALL | re.MULTILINE)
    assert block
    digits = [re.match(r"(?:[0-9a-f]{2} )+", line) for line in block[1].splitlines()]
    shown = bytes.fromhex("".join(each[0] for each in digits if each))
    identity = block[1].split()[-1].encode()
    stamp = Stamp(Source.from_identity(identity), 5, 1794878824534345)
    assert stamp.encode().startswith(shown)


def test_every_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"].values()
    wanted = [*project["project"]["dependencies"], *(each for group in groups for each in group)]
    packages = {re.split(r"[\[<>=]", each)[0] for each in wanted if isinstance(each, str)}
    reasons = {name for row in rows(read("decisions/0009-dependencies.md")) for name in row[0].split(", ")}
    assert reasons == packages | {"package", "---"}


def test_every_decision_is_in_the_index() -> None:
    records = sorted(path.name for path in (DOCS / "decisions").glob("0*.md"))
    assert re.findall(r"\((0[^)]+)\)", read("decisions/index.md")) == records
    for name in records:
        for heading in ("**Status:** ", "## Context", "## Decision", "## Consequences"):
            assert heading in read(f"decisions/{name}"), name


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest
    assert newest[1] == __version__


def test_no_file_names_a_machine_or_a_registry() -> None:
    listing = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [ROOT / name for name in names if (ROOT / name).is_file() and ROOT / name != Path(__file__)]
    assert files
    texts = {file: file.read_text(encoding="utf-8", errors="replace") for file in files}
    assert [str(file) for file, text in texts.items() if FORBIDDEN.search(text)] == []
