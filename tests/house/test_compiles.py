"""One source, two speeds: every function of the kernel compiles as it stands.

That compiled races mean the same to the last bit is tests/sim/test_compiled.py.
"""

from typing import Any

import numba
import pytest

from earlycall.core.settings import settings_of
from earlycall.core.suspicions import Fit
from earlycall.core.verdict import Before
from earlycall.sim import worlds
from earlycall.sim.compiled import kernel_functions, track_of


def signatures(function: Any) -> Any:
    """The types numba needs for a kernel function, from what its arguments are called."""
    world = worlds.bounded(10)
    track = track_of(settings_of({"k": 2, "delta": 0.1, "feedback": world.feedback()}), world)
    by_annotation = {
        "int": numba.int64,
        "float": numba.float64,
        "Ints": numba.int64[::1],
        "Floats": numba.float64[::1],
        "Rules": numba.typeof(track.rules),
        "Tables": numba.typeof(track.tables),
        "list[Floats]": numba.float64[:, ::1],
        "bool": numba.boolean,
        "Before": numba.types.UniTuple(numba.float64, 7),
        "Fit": numba.typeof(Fit(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
    }
    names = [name for name in function.__annotations__ if name != "return"]
    return tuple(by_annotation[spelled(function.__annotations__[name])] for name in names)


def spelled(annotation: Any) -> str:
    """An annotation as the kernel writes it."""
    known = {int: "int", float: "float", bool: "bool", list[int]: "Ints", list[float]: "Floats"}
    if annotation == list[list[float]]:
        return "list[Floats]"
    if annotation == Before:
        return "Before"
    return known.get(annotation) or annotation.__name__


def outermost() -> list[Any]:
    """The functions of the kernel that no other one calls: with them all others are compiled."""
    functions = kernel_functions()
    called = {id(f.__globals__.get(name)) for f in functions for name in f.__code__.co_names if name != f.__name__}
    return [function for function in functions if id(function) not in called]


@pytest.mark.parametrize("function", outermost(), ids=lambda f: f"{f.__module__[15:]}.{f.__name__}")
def test_every_kernel_function_compiles(function: Any) -> None:
    """Each one that stands alone, for the tables' types, and with it what it calls."""
    numba.njit(signatures(function))(function)
