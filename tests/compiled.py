"""The kernel's own functions compiled from outside, and small worlds for them to race in.

`numba.extending.register_jitable` makes every function of the kernel callable from compiled code as it stands. The
drivers below are plain Python too: called as they are on tables of lists, compiled on arrays.
"""

import importlib
import inspect
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable

from earlycall.core.confidence import half_width
from earlycall.core.rules import rules_of
from earlycall.core.schedule import cuts, earns_its_slot, next_arm
from earlycall.core.settings import settings_of
from earlycall.core.tables import (
    ACCEPTED,
    ARM_FLOATS,
    ARM_INTS,
    CANCELLED,
    CUT,
    FULL,
    HEAD,
    INCREMENTAL,
    JUDGED,
    MEAN,
    OPENED,
    PULL_FLOATS,
    PULL_INTS,
    QUEUE,
    QUEUED,
    RACE_FLOATS,
    RACE_INTS,
    REJECTED,
    RIGHT,
    SIGMA,
    SPREAD,
    STATUS,
    STEP,
    SURVIVORS,
    TAU,
    TAU_BIAS,
    Rules,
    Tables,
)
from earlycall.core.turn import clear, finish, give, leave, open_race, read, settle, start
from tests.house.rooms import KERNEL

ROOM = 20_000  # for pulls


def kernel_functions() -> list[Callable[..., Any]]:
    """Every function of the kernel."""
    modules = [importlib.import_module(f"earlycall.core.{name}") for name in sorted(KERNEL)]
    return [f for m in modules for _, f in inspect.getmembers(m, inspect.isfunction) if f.__module__ == m.__name__]


for function in kernel_functions():
    register_jitable(function)


def race_options(n: int, **options: Any) -> tuple[Rules, Any]:
    """(rules, what `tables_of` needs) of a race between n arms."""
    rules, numbers, curve = rules_of(tuple(map(str, range(n))), settings_of(options))
    return rules, (numbers, curve)


def list_tables(rules: Rules, given: Any, pulls: int) -> Tables:
    """Tables of lists, with room for so many pulls."""
    t = array_tables(rules, given, pulls)
    return Tables(**{name: table.tolist() for name, table in t._asdict().items()})


def array_tables(rules: Rules, given: Any, pulls: int) -> Any:
    """The same tables as arrays."""
    numbers, curve = given
    arrays: dict[str, Any] = {  # the kernel reads arrays as it reads lists
        "arms": np.zeros((rules.arms, ARM_INTS), dtype=np.int64),
        "armf": np.zeros((rules.arms, ARM_FLOATS)),
        "pulls": np.zeros((pulls, PULL_INTS), dtype=np.int64),
        "pullf": np.zeros((pulls, PULL_FLOATS)),
        "race": np.zeros(RACE_INTS, dtype=np.int64),
        "racef": np.zeros(RACE_FLOATS),
        "curve": np.array(curve, dtype=float).reshape(-1, 2),
    }
    for column, values in zip((SIGMA, TAU, TAU_BIAS), numbers, strict=True):
        arrays["armf"][:, column] = values
    return Tables(**arrays)


def run_race(
    rules: Rules, t: Tables, means: Any, sd: float, bias: float, delays: Any, rng: Any, values: Any, limit: int
) -> tuple[int, bool]:
    """(time steps, whether an interval of a survivor ever missed its mean) of a race until decided, or `limit`.

    Pulls take `delays[0]` to `delays[1]` steps; X is drawn when a pull starts; a reading is N(X + bias, sd), or an
    increment. One time step is one turn.
    """
    open_race(rules, t)
    time = 0
    missed = False
    lengths = values[1]
    finals = values[0]
    while t.race[SURVIVORS] > 0 and time < limit and t.race[OPENED] + rules.slots <= len(t.pulls):
        arm = next_arm(rules, t)
        while arm >= 0:
            length = rng.integers(delays[0], delays[1] + 1)
            pull = start(rules, t, arm, float(length))
            finals[pull] = rng.normal(means[arm], t.armf[arm][SIGMA])
            lengths[pull] = length
            if rules.feedback == INCREMENTAL:
                finals[pull] = 0.0
            arm = next_arm(rules, t)
        time += 1
        for arm in range(rules.arms):
            pull = t.arms[arm][HEAD]
            while pull >= 0:
                after = t.pulls[pull][RIGHT]
                step = t.pulls[pull][STEP] + 1
                if rules.feedback == INCREMENTAL:
                    grown = rng.normal(means[arm] / lengths[pull], t.armf[arm][SIGMA] / math.sqrt(lengths[pull]))
                    finals[pull] += grown
                    if step < lengths[pull]:
                        read(rules, t, pull, step, grown, 0.0)
                elif rules.feedback == FULL:
                    t.pulls[pull][STEP] = step
                elif step < lengths[pull]:
                    read(rules, t, pull, step, rng.normal(finals[pull] + bias, sd), 1.0 / (sd * sd))
                if step >= lengths[pull]:
                    finish(rules, t, pull, finals[pull])
                pull = after
        settle(rules, t)
        for arm in range(rules.arms):
            row = t.armf[arm]
            if row[SPREAD] < math.inf and math.fabs(row[MEAN] - means[arm]) > half_width(rules, row):
                missed = True
        act(rules, t)
        clear(t)
    return time, missed


def act(rules: Rules, t: Tables) -> None:
    """Carry out what a turn decided: verdicts, cancelled pulls, cuts."""
    for arm in range(rules.arms):
        if t.arms[arm][JUDGED] != t.arms[arm][STATUS]:
            give(t, arm, t.arms[arm][JUDGED])
            while t.arms[arm][HEAD] >= 0:
                leave(rules, t, t.arms[arm][HEAD], CANCELLED)
    if cuts(rules):
        for place in range(t.race[QUEUED]):
            arm = t.arms[place][QUEUE]
            pull = t.arms[arm][HEAD]
            while pull >= 0:
                after = t.pulls[pull][RIGHT]
                if not earns_its_slot(rules, t, pull):
                    leave(rules, t, pull, CUT)
                pull = after


register_jitable(act)
run_compiled = numba.njit(run_race)


def races(
    rules: Rules,
    given: Any,
    means: list[float],
    sd: float,
    bias: float,
    delays: tuple[int, int],
    count: int,
    limit: int,
    seed: int,
) -> tuple[int, int, int]:
    """(races with a wrong verdict, with an interval that missed, without a wrong verdict but undecided after `limit`).

    A wrong verdict may leave tied arms, which no race can tell apart: then it counts as wrong, not as undecided.
    """
    n, k = rules.arms, rules.k
    best = set(np.argsort(means)[n - k :])
    wrong = missing = undecided = 0
    for rng in np.random.default_rng(seed).spawn(count):
        t = array_tables(rules, given, ROOM)
        _, missed = run_compiled(rules, t, np.array(means), sd, bias, np.array(delays), rng, np.zeros((2, ROOM)), limit)
        mistaken = any(t.arms[arm][STATUS] == (REJECTED if arm in best else ACCEPTED) for arm in range(n))
        wrong += mistaken
        missing += missed
        undecided += t.race[SURVIVORS] > 0 and not mistaken
    return wrong, missing, undecided


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
