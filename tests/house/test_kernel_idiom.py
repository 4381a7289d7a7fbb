"""The kernel is written in the part of Python that means the same, bit for bit, when it is compiled.

`sum` compensates from Python 3.12 on and does not when compiled; `min` and `max` over a list do not compile the
same way everywhere; an exception, a closure or a list that grows has no place in code that runs on arrays.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.rooms import kernel_files

FORBIDDEN: dict[type[ast.AST], str] = {
    ast.Raise: "raise",
    ast.Try: "try",
    ast.TryStar: "try",
    ast.Assert: "assert",
    ast.With: "with",
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.List: "a list",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.JoinedStr: "an f-string",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.AsyncFunctionDef: "async",
}
GROWTH = frozenset("append extend insert pop remove clear add update setdefault".split())


def complaints(source: str) -> list[str]:
    """Every departure from the idiom in one kernel file, with its line."""
    tree = ast.parse(source)
    found = [(node.lineno, name) for node in tree.body for name in lower_case_constants(node)]
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if type(node) in FORBIDDEN:
            found.append((line, FORBIDDEN[type(node)]))
        elif isinstance(node, ast.Call):
            found += [(line, what) for what in call_complaints(node)]
        elif isinstance(node, ast.FunctionDef):
            found += [(line, f"{node.name} {what}") for what in function_complaints(node)]
        elif isinstance(node, ast.ClassDef) and [ast.unparse(base) for base in node.bases] != ["NamedTuple"]:
            found.append((line, f"class {node.name} is not a NamedTuple"))
    return [f"{line}: {what}" for line, what in sorted(found)]


def call_complaints(call: ast.Call) -> Iterator[str]:
    """What is wrong with one call."""
    if isinstance(call.func, ast.Name):
        if call.func.id == "sum":
            yield "sum: add in a loop"
        if call.func.id in {"min", "max"} and (len(call.args) < 2 or isinstance(call.args[0], ast.Starred)):
            yield f"{call.func.id} over an iterable"
    elif isinstance(call.func, ast.Attribute) and call.func.attr in GROWTH:
        yield f".{call.func.attr}: nothing grows"


def function_complaints(function: ast.FunctionDef) -> Iterator[str]:
    """What a function leaves unsaid."""
    of = function.args
    arguments = [*of.posonlyargs, *of.args, *of.kwonlyargs, *(arg for arg in (of.vararg, of.kwarg) if arg)]
    yield from (f"does not annotate {arg.arg}" for arg in arguments if arg.annotation is None)
    if function.returns is None:
        yield "does not annotate what it returns"
    if not ast.get_docstring(function):
        yield "has no docstring"


def lower_case_constants(statement: ast.stmt) -> Iterator[str]:
    """Module-level numbers (`MEAN = 0`, `MEAN, SD = range(2)`) whose names are not upper case."""
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value:
        targets, value = [statement.target], statement.value
    else:
        return
    if isinstance(value, ast.Constant | ast.UnaryOp | ast.Tuple | ast.Call):  # and not `Row = list[float]`
        for name in (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)):
            if name != name.upper():
                yield f"{name} is a constant: upper case"


@pytest.mark.parametrize("file", kernel_files(), ids=lambda file: file.stem)
def test_the_kernel_keeps_to_its_idiom(file: Path) -> None:
    """Nothing in the kernel means one thing in Python and another when compiled, and every function is typed."""
    found = complaints(file.read_text(encoding="utf-8"))
    assert not found, "\n".join(f"{file.name}:{complaint}" for complaint in found)


PROPER = '''
from typing import NamedTuple

MEAN, WEIGHT = range(2)
SHARES = (0.95, 0.05)
Row = list[float]


class Rules(NamedTuple):
    """The race's settings."""

    delta: float


def larger(row: Row, floor: float) -> float:
    """The mean, or the floor where that is larger."""
    return max(row[MEAN], floor)
'''


def test_proper_kernel_code_is_left_alone() -> None:
    """The idiom forbids nothing that the kernel needs."""
    assert complaints(PROPER) == []


@pytest.mark.parametrize(
    "planted",
    [
        "total = sum(row)",
        "best = min(row)",
        "best = max(*row)",
        "best = max(row, default=0.0)",
        "raise ValueError",
        "try:\n    pass\nexcept ValueError:\n    pass",
        "assert row",
        "with lock:\n    pass",
        "key = lambda row: row[0]",
        "means = [row[0] for row in table]",
        "means = tuple(row[0] for row in table)",
        "row = [0.0, 0.0]",
        "row = {}",
        "row.append(1.0)",
        "print(f'{row}')",
        "def f() -> None:\n    '''Grow.'''\n    global row",
        "def f(row: Row) -> float:\n    '''Yield.'''\n    yield row",
        "def f(row) -> float:\n    '''Untyped.'''",
        "def f(row: Row):\n    '''Untyped.'''",
        "def f(row: Row) -> float:\n    return row[0]",
        "class Arm:\n    '''An arm.'''",
        "mean = 0",
        "mean, weight = range(2)",
        "mean: int = 0",
    ],
)
def test_a_planted_departure_is_caught(planted: str) -> None:
    """The idiom can be broken, and breaking it is seen."""
    assert complaints(f"{PROPER}\n{planted}\n")
