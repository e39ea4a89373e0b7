"""The manual builds, is complete, and says nothing that the code does not."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment import __version__, errors
from catchment.cli import reference
from catchment.config.loading import known_keys
from catchment.kafka.access import READS, WRITES
from catchment.kafka.topics import TOPICS
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
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual, built as strictly as it goes."""
    target = tmp_path_factory.mktemp("site")
    # Not quietly: mkdocs counts only the warnings that it would print.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    said = built.stdout + built.stderr
    assert built.returncode == 0, said
    assert [line for line in said.splitlines() if line and not line.startswith("INFO ")] == []
    return target


def test_the_manual_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").exists()
    assert (site / "tutorial" / "first-steps.html").exists()


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


def test_every_error_has_its_row() -> None:
    written = {row[0]: row for row in rows(read("reference/errors.md"))}
    for error in _tree(errors.CatchmentError):
        assert written[error.code][1:3] == [str(error.exit_code), str(error.http_status)], error.code


def _tree(root: type[errors.CatchmentError]) -> Iterator[type[errors.CatchmentError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


def test_every_topic_has_its_row() -> None:
    written = {row[0]: row[1:] for row in rows(read("reference/topics.md")) if len(row) == 4}
    for kind, spec in TOPICS.items():
        kept = "the latest of each key" if spec.compacted else f"{spec.retention_hours} hours"
        assert written.pop(kind.value) == [kind.topic, str(spec.partitions), kept]
    assert set(written) == {"kind", "---"}


def test_every_right_has_its_row() -> None:
    written = {row[0]: row[1:] for row in rows(read("reference/topics.md")) if len(row) == 3}
    for party in READS.keys() | WRITES.keys():
        assert written.pop(party.value) == [_listed(WRITES.get(party, ())), _listed(READS.get(party, ()))]
    assert set(written) == {"party", "---"}


def _listed(kinds: tuple[Kind, ...]) -> str:
    return ", ".join(kind.value for kind in kinds)


def test_metrics_in_the_manual_and_in_the_code_are_the_same() -> None:
    name = re.compile(r"\bcatchment_(?:part|gateway|relay|query|notify|api)_[a-z_]+")
    quoted = re.compile(f'"({name.pattern})"')
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "catchment").rglob("*.py")]
    in_code = {found for source in sources for found in quoted.findall(source)}
    in_table = {row[0] for row in rows(read("how-to/monitor.md")) if name.fullmatch(row[0])}
    assert {found.removesuffix("_total") for found in in_table} == in_code
    for page in PAGES:
        assert set(name.findall(page.read_text(encoding="utf-8"))) <= in_table, page


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
