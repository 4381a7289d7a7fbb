"""Compiled races that are watched: every interval against the truth, at every step."""

import math
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable

from earlycall.core.confidence import half_width
from earlycall.core.settings import settings_of
from earlycall.core.tables import MEAN, SPREAD, Rules, Tables
from earlycall.sim.compiled import UNDECIDED, Track, race_on, track_of
from earlycall.sim.worlds import Law, World

ROOM = 20_000  # for pulls


@register_jitable
def some_interval_misses(rules: Rules, law: Law, t: Tables) -> bool:
    """Whether the interval of some arm does not hold its mean."""
    for arm in range(rules.arms):
        row = t.armf[arm]
        if row[SPREAD] < math.inf and math.fabs(row[MEAN] - law.means[arm]) > half_width(rules, row):
            return True
    return False


@numba.njit
def watch(
    rules: Rules, law: Law, t: Tables, hidden: Any, slots: Any, clock: Any, rng: Any, limit: int, most: int
) -> bool:
    """Whether some interval ever misses in the first `limit` steps of a race."""
    for step in range(1, limit + 1):
        code = race_on(rules, law, t, hidden, slots, clock, rng, step, most)
        if some_interval_misses(rules, law, t):
            return True
        if code != UNDECIDED:
            return False
    return False


def race_options(world: World, **options: Any) -> Track:
    """A race about to begin, with room for many pulls."""
    return track_of(settings_of(options), world, ROOM)


def missing(world: World, count: int, limit: int, seed: int, **options: Any) -> int:
    """In how many of `count` races some interval ever misses."""
    missed = 0
    for rng in np.random.default_rng(seed).spawn(count):
        f = race_options(world, **options)
        missed += watch(f.rules, f.law, f.tables, f.hidden, f.slots, f.clock, rng, limit, f.most)
        assert f.tables.race[2] < ROOM
    return missed


def at_most(count: int, trials: int, rate: float, size: float = 1e-3) -> bool:
    """Whether so many misses in so many trials are compatible with a rate of at most `rate`.

    Exact binomial test: wrongly False with probability at most `size` if the rate is at most `rate`.
    """
    log_rate, log_rest = math.log(rate), math.log1p(-rate)
    tail = math.fsum(
        math.exp(
            math.lgamma(trials + 1) - math.lgamma(m + 1) - math.lgamma(trials - m + 1) + m * log_rate
            + (trials - m) * log_rest
        )
        for m in range(count, trials + 1)
    )  # fmt: skip
    return tail > size
