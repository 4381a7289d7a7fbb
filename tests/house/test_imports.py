"""Imports point down the house: doors → show, connect, sim → run → journal → core → errors, front on top."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.rooms import HOUSE, KERNEL, SHELL

FLOOR = {
    "errors": 0,
    "version": 0,
    "core": 1,
    "journal": 2,
    "run": 3,
    "show": 4,
    "connect": 4,
    "sim": 4,
    "doors": 5,
    "front": 6,
    "__init__": 7,  # the front door: names only
    "__main__": 7,
}

# The core computes; it knows no clock, no chance, no file and no thread. A list of what it may use, not of what
# it may not: a module that is missing here is a question to ask, not a gap to slip through.
PURE = frozenset(
    "__future__ abc bisect collections copy dataclasses difflib enum fractions functools hashlib heapq itertools json"
    " math numbers operator re struct types typing".split()
)
IMPURE_BUILTINS = frozenset("open print input exec eval compile __import__".split())
# What other rooms may import besides: the base install. An extra's libraries join when the extra does.
INSTALLED = frozenset("typer rich pydantic".split())
EXTRAS = {"sim": frozenset("numpy numba".split()), "show": frozenset("matplotlib".split())}


def imports(path: str, source: str) -> Iterator[str]:
    """The full dotted name of everything the file at `path` (relative to the house) imports, however deep."""
    package = ["earlycall", *Path(path).parent.parts]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *(node.module.split(".") if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def complaints(path: str, source: str) -> list[str]:
    """What is wrong with the imports of the file at `path`."""
    room = Path(path).parts[0].removesuffix(".py")
    if room not in FLOOR:
        return [f"{path}: {room} is no room of the house; give it a floor"]
    found = []
    for name in imports(path, source):
        first, *rest = name.split(".")
        if first == "earlycall":
            target = rest[0] if rest and rest[0] in FLOOR else "__init__"
            if target != room and FLOOR[target] >= FLOOR[room]:
                found.append(f"{path} imports {name}: {room} may not lean on {target}")
        elif first not in sys.stdlib_module_names | INSTALLED | EXTRAS.get(room, frozenset()):
            found.append(f"{path} imports {name}: the base install does not bring it")
        if room == "core":
            found += [f"{path} imports {name}: {why}" for why in core_complaints(Path(path).stem, first, rest)]
    if room == "core":
        calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
        names = {call.id for call in calls if isinstance(call, ast.Name)}
        found += [f"{path} calls {name}: the core does no I/O" for name in sorted(names & IMPURE_BUILTINS)]
    return found


def core_complaints(importer: str, first: str, rest: list[str]) -> Iterator[str]:
    """What is wrong with one import of the core's file `importer`: the name it imports, split at the first dot."""
    inside = first == "earlycall"
    if not inside and first not in PURE:
        yield "the core uses the standard library alone, without clocks, chance, files or threads"
    if importer in KERNEL:
        kernel = rest[:1] == ["core"] and rest[1:2] != [] and rest[1] in KERNEL
        if not (kernel if inside else first in {"math", "typing"}):
            yield "the kernel uses math, typing and the kernel alone"


def test_imports_point_down_the_house() -> None:
    """No room leans on one above it or beside it; the core leans on nothing that could surprise it."""
    files = sorted(HOUSE.rglob("*.py"))
    assert files
    found = [
        complaint
        for file in files
        for complaint in complaints(file.relative_to(HOUSE).as_posix(), file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_every_file_of_the_core_is_kernel_or_shell() -> None:
    """A new file of the core says which it is, so that no law passes it by."""
    files = {file.stem for file in (HOUSE / "core").glob("*.py")} - {"__init__"}
    assert files == KERNEL | SHELL


def test_what_the_core_may_use_is_the_standard_library() -> None:
    """The list of allowed modules itself keeps the promise."""
    assert sys.stdlib_module_names >= PURE


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("errors.py", "import earlycall.core"),
        ("core/facts.py", "from earlycall.journal.replay import fold"),
        ("core/facts.py", "from earlycall import journal"),
        ("core/facts.py", "def f():\n    from ..run import loop"),
        ("core/facts.py", "from earlycall import Race"),
        ("core/facts.py", "import numpy as np"),
        ("core/facts.py", "import time"),
        ("core/facts.py", "from os.path import join"),
        ("core/facts.py", "open('facts')"),
        ("core/radius.py", "from earlycall.core.facts import Told"),
        ("core/radius.py", "from . import race"),
        ("core/radius.py", "from earlycall.errors import Refused"),
        ("core/radius.py", "import functools"),
        ("show/report.py", "from earlycall.sim.worlds import World"),
        ("doors/cli/__init__.py", "from earlycall.front import identify"),
        ("doors/cli/__init__.py", "from ... import front"),
        ("run/handle.py", "import packaging"),
        ("cellar/wine.py", "import math"),
    ],
)
def test_a_planted_import_is_caught(path: str, source: str) -> None:
    """The law can be broken, and breaking it is seen."""
    assert complaints(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("__init__.py", "from earlycall.front import identify\nfrom earlycall.core.race import Race"),
        ("doors/cli/__init__.py", "from earlycall.show.report import rows\nfrom . import words\nimport typer"),
        ("core/facts.py", "from earlycall.errors import Refused\nfrom earlycall.core.radius import radius"),
        ("core/radius.py", "from math import log\nfrom earlycall.core import tables\nfrom .tables import MEAN"),
    ],
)
def test_a_proper_import_is_left_alone(path: str, source: str) -> None:
    """The law forbids nothing that the house needs."""
    assert complaints(path, source) == []
