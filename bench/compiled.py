"""How long a pull-step takes in a compiled race, beside a bare normal draw; and how that grows with n."""

import math
import time
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from bench.rows import Row, row
from earlycall.core.settings import settings_of
from earlycall.sim.compiled import run, track_of
from earlycall.sim.worlds import bounded

METHODS: dict[str, dict[str, Any]] = {"paper": {"method": "paper"}, "evidence": {}}
RUNS = 9
TARGET = 200e-9  # 5 million pull-steps per second and core
SIZES = (10, 100, 1000, 10_000)
ROUNDS = 20  # pulls of every arm, for the growth


@numba.njit
def draws(rng: Any, count: int) -> float:
    """The sum of so many normal draws."""
    total = 0.0
    for _ in range(count):
        total += rng.normal(0.0, 1.0)
    return total


def known() -> list[float]:
    """Seconds per bare normal draw."""
    rng, count = np.random.default_rng(0), 2_000_000
    draws(rng, 1)
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        draws(rng, count)
        times.append((time.perf_counter() - began) / count)
    return times


def per_step(n: int, options: dict[str, Any], seed: int, limit: int) -> tuple[float, int]:
    """(seconds per pull-step, steps) of one race in the paper's bounded world (σ = s = 0.03, D = 50), one slot."""
    world = bounded(n)
    settings = settings_of({"k": world.k, "delta": 0.05, "feedback": world.feedback(), **options})
    track = track_of(settings, world, pulls=limit // 50 + 2)
    rng = np.random.default_rng(seed)
    began = time.perf_counter()
    run(track, rng, limit)
    return (time.perf_counter() - began) / track.clock[0], int(track.clock[0])


def rows() -> Iterator[Row]:
    """Whole races at n = 100, to the verdict."""
    bare = known()
    for name, options in METHODS.items():
        per_step(10, options, 0, 100)  # compiles
        times = [per_step(100, options, seed, 10_000_000)[0] for seed in range(RUNS)]
        yield row(f"a pull-step, compiled, n = 100: {name}", times, TARGET, "a bare normal draw", bare)


def growth() -> Iterator[tuple[str, dict[int, float], float]]:
    """(method, {n: seconds per pull-step over the first 20 pulls of every arm}, the exponent of a power of n)."""
    for name, options in METHODS.items():
        times = {}
        for n in SIZES:
            limit = ROUNDS * 50 * n
            tries = [per_step(n, options, seed, limit) for seed in range(max(3, 20_000 // limit))]
            times[n] = sum(t * steps for t, steps in tries) / sum(steps for _, steps in tries)
        slope = np.polyfit([math.log(n) for n in SIZES], [math.log(t) for t in times.values()], 1)[0]
        yield name, times, float(slope)
