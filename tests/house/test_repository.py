"""The repository carries what it needs and nothing that ties it to one place."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import earlycall
from tests.house.rooms import HOUSE, ROOT

# Where packages come from is the business of the machine that installs them. (An escaped dot keeps each pattern
# from matching itself.)
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.|pypi\.python|registry\.npmjs|deb\.debian|security\.debian|archive\.ubuntu"
    r"|anaconda\.org|static\.crates|index[_-]url|find[_-]links",
    re.IGNORECASE,
)
LARGE = 1_000_000  # bytes


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """Every file that is, or on the next `git add` would be, in the repository."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("only a git checkout can tell which files are the repository's")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_package_registry(files: list[Path]) -> None:
    """Locks pin versions and hashes, never addresses: they work wherever a package index is in reach."""
    found = [
        f"{file.relative_to(ROOT)}: {match.group()}"
        for file in files
        for match in REGISTRY.finditer(file.read_bytes().decode("utf-8", errors="replace"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("planted", ["https://pypi." + "org/simple", "--extra-index" + "-url=x", "PIP_FIND_" + "LINKS"])
def test_a_planted_registry_is_caught(planted: str) -> None:
    """The pattern finds what it is for."""
    assert REGISTRY.search(planted)


def test_no_file_is_large(files: list[Path]) -> None:
    """A clone stays quick: what is larger than a megabyte is made, not stored."""
    assert [file for file in files if file.stat().st_size > LARGE] == []


def test_the_package_is_marked_as_typed() -> None:
    """Type checkers read our annotations only where py.typed says so (PEP 561)."""
    assert (HOUSE / "py.typed").is_file()


def test_the_version_is_the_same_everywhere() -> None:
    """One number in pyproject.toml, in the package and in CITATION.cff."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert citation is not None
    assert project["version"] == earlycall.__version__ == citation.group(1)


@pytest.mark.parametrize("lock", ["base", "dev"])
def test_the_lock_pins_every_requirement_by_hash(lock: str) -> None:
    """What is installed is what was tested: each base dependency has one version per Python, and hashes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    pins = re.findall(r"^([a-z0-9-]+)==\S+.*\\\n +--hash=sha256:", text, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[a-z0-9]", text, re.MULTILINE))
    assert {re.split(r"[<>=~! ]", wanted)[0] for wanted in project["dependencies"]} <= set(pins)
