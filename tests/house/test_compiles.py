"""One source, two speeds: the kernel compiles as it stands, and means the same to the last bit."""

from typing import Any

import numba
import numpy as np
import pytest

from earlycall.core.tables import OPENED, Tables
from tests import compiled
from tests.play import FEEDBACKS, METHODS

KINDS: dict[str, dict[str, Any]] = {
    "evidence": {"feedback": FEEDBACKS["unbiased"], **METHODS["evidence"]},
    "evidence, cutting": {"feedback": FEEDBACKS["biased"], **METHODS["evidence, cutting"]},
    "evidence, increments": {"feedback": FEEDBACKS["incremental"], **METHODS["evidence"]},
    "Algorithm 2": {"feedback": FEEDBACKS["unbiased"], **METHODS["paper"]},
    "Algorithm 2 as printed": {"feedback": FEEDBACKS["unbiased"], **METHODS["paper as printed"]},
    "Algorithm 4": {"feedback": FEEDBACKS["biased"], **METHODS["paper"]},
}


def signatures(function: Any) -> Any:
    """The types numba needs for a kernel function, from what its arguments are called."""
    whole, number = numba.int64, numba.float64
    ints, floats = numba.int64[::1], numba.float64[::1]
    rules = numba.typeof(compiled.race_options(2, k=1, delta=0.1, **KINDS["evidence"])[0])
    given = compiled.race_options(2, k=1, delta=0.1, **KINDS["evidence"])
    tables = numba.typeof(compiled.array_tables(*given, 2))
    by_annotation = {
        "int": whole,
        "float": number,
        "Ints": ints,
        "Floats": floats,
        "Rules": rules,
        "Tables": tables,
        "list[Floats]": numba.float64[:, ::1],
        "bool": numba.boolean,
    }
    names = [name for name in function.__annotations__ if name != "return"]
    return tuple(by_annotation[spelled(function.__annotations__[name])] for name in names)


def spelled(annotation: Any) -> str:
    """An annotation as the kernel writes it."""
    known = {int: "int", float: "float", bool: "bool", list[int]: "Ints", list[float]: "Floats"}
    if annotation == list[list[float]]:
        return "list[Floats]"
    return known.get(annotation) or annotation.__name__


@pytest.mark.parametrize("function", compiled.kernel_functions(), ids=lambda f: f"{f.__module__[15:]}.{f.__name__}")
def test_every_kernel_function_compiles(function: Any) -> None:
    """Each one, on its own, for the tables' types."""
    numba.njit(signatures(function))(function)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("b", "r"), [(1, 1), (5, 2)])
def test_python_and_compiled_races_agree_in_every_bit(kind: str, b: int, r: int) -> None:
    """The same race on lists and on arrays: every column of every table, compared as bytes."""
    options = KINDS[kind] | {"parallel": b, "per_arm": r}
    rules, given = compiled.race_options(5, k=2, delta=0.1, **options)
    means = np.array([0.0, 1.5, 3.0, 3.5, 6.0])
    results: list[tuple[Any, Tables]] = []
    for make, run in (
        (compiled.list_tables, compiled.run_race),
        (compiled.array_tables, compiled.run_compiled),
    ):
        t = make(rules, given, 2000)
        values = np.zeros((2, 2000))
        rng = np.random.default_rng(42)
        results.append((run(rules, t, means, 0.8, 0.5, np.array([3, 6]), rng, values, 3000), t))
    (by_lists, lists), (by_arrays, arrays) = results
    assert by_lists == by_arrays
    assert by_lists[0] > 20
    assert lists.race[OPENED] > 5
    for name in Tables._fields:
        mine, theirs = np.array(getattr(lists, name)), getattr(arrays, name)
        assert mine.tobytes() == theirs.tobytes(), name
