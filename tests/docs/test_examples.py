"""README, docs and docstrings are executed: an example that does not run, or prints something else, is a failure."""

import doctest
import importlib
import re
import runpy
import sys
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import earlycall
from tests.docs.test_programs import SAYS
from tests.house.rooms import HOUSE, ROOT
from tests.house.test_imports import imports

PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str, str]]:
    """(line, language, text) of every fenced block of a page."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start()) + 2, m[1], m[2]) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_run(page: Path) -> None:
    """Its Python blocks, in order, as one program; a ```text block shows what the one before it prints."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = None
    for line, language, text in blocks(page):
        if language == "python":
            out = StringIO()
            with redirect_stdout(out), warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile("\n" * (line - 1) + text, str(page), "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert printed == text, f"{page.name}:{line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    """Every relative link names a file of the repository, every test or command named exists."""
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target
    for test in re.findall(r"`(tests/[\w/.]+?\.py)(?:::(\w+))?`", text):
        source = (ROOT / test[0]).read_text(encoding="utf-8")
        assert not test[1] or f"def {test[1]}(" in source, test
    for name in re.findall(r"`make (\w+)", text):
        assert re.search(rf"^{name}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), name


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_an_example_program_runs(program: Path) -> None:
    """Short, made of the base install, the same every time; the README says what it is for."""
    source = program.read_text(encoding="utf-8")
    assert source.count("\n") < 60
    modules = {name.split(".")[0] for name in imports(program.name, source)}
    assert modules <= sys.stdlib_module_names | {"earlycall"}
    assert f"(examples/{program.name})" in (ROOT / "README.md").read_text(encoding="utf-8")
    if program.name in SAYS:  # its workers come in any order
        return
    printed = []
    for _ in range(2):
        out = StringIO()
        with redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("error")
            runpy.run_path(str(program), run_name="__main__")
        printed.append(out.getvalue())
    assert printed[0] == printed[1] != ""


@pytest.mark.parametrize("file", sorted(HOUSE.rglob("*.py")), ids=lambda file: file.relative_to(HOUSE).as_posix())
def test_the_examples_of_a_docstring_run(file: Path) -> None:
    """As they stand, with the names of the front door and of their own module."""
    parts = file.relative_to(HOUSE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
    door = {name: getattr(earlycall, name) for name in earlycall.__all__}
    result = doctest.testmod(module, extraglobs=door, raise_on_error=False)
    assert result.failed == 0
