"""The guarantees of start order, counted: σ unknown, blocks, delays that know the reward; and the shortcuts that fail.

As in test_error_rates.py every test fixes its seed and states its size and power.
"""

import math
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

import earlycall as ec
from earlycall.core.settings import settings_of
from earlycall.core.student import certified, log_g, varies
from earlycall.sim.compiled import EXACT, many
from earlycall.sim.worlds import World
from tests.counting import at_most

pytestmark = pytest.mark.statistical

DELTA = 0.05
RUNS = 2000

# σ unknown ----------------------------------------------------------------------------------------------------------


@numba.njit
def student_misses(runs: int, pulls: int, other_sd: float, seed: int) -> tuple[int, int]:
    """Runs in which an arm's ln G ever excludes its mean, and in which of two equal arms one ever beats the other."""
    np.random.seed(seed)
    alone = both = 0
    level = math.log(1.0 / DELTA)
    for _ in range(runs):
        mean, squares = np.zeros(2), np.zeros(2)
        missed = beaten = False
        for count in range(1, pulls + 1):
            for arm in range(2):
                gap = np.random.normal(0.0, 1.0 if arm == 0 else other_sd) - mean[arm]
                mean[arm] += gap / count
                squares[arm] += gap * gap * (count - 1.0) / count
            if count < 2:
                continue
            missed = missed or log_g(count, float(count), squares[0], mean[0]) >= level
            upper = 0 if mean[0] > mean[1] else 1
            apart = abs(mean[0] - mean[1])
            weight = float(count)
            beaten = beaten or certified(count, weight, squares[upper], weight, squares[1 - upper], apart, level)
        alone += missed
        both += beaten
    return alone, both


@pytest.mark.parametrize("other_sd", [1.0, 10.0])
def test_an_arm_and_a_pair_without_sigma_hold_at_all_counts(other_sd: float) -> None:
    """P(sup G ≥ 1/δ) ≤ δ over 500 counts, and for a pair; 4000 runs. Size 0.001; a rate of 0.073 is seen surely."""
    alone, both = student_misses(4000, 500, other_sd, 7)
    assert at_most(alone, 4000, DELTA)
    assert alone > 0.02 * 4000  # it is no idle bound
    assert at_most(both, 4000, DELTA)


def raced(options: dict[str, Any], world: World, count: int = RUNS, limit: int = 4000, watched: bool = False) -> Any:
    """Many races in a world, at δ = 0.05."""
    return many(settings_of({"k": world.k, "delta": DELTA, **options}), world, count, 2018, limit, watched)


def test_races_without_sigma_are_rarely_wrong() -> None:
    """Unequal variances; a tie that ε decides; all intervals at all times. Size 0.001 each."""
    unknown = {"feedback": ec.Full(None), "parallel": 4}
    uneven = World("uneven", (0.5, 0.0, 0.0), 1, (3.0, 0.3, 1.0), 1, "none")
    races = raced(unknown, uneven, limit=600, watched=True)
    assert at_most(int(races.wrong.sum()), len(races), DELTA)
    assert at_most(int(races.missed.sum()), len(races), DELTA)
    tied = World("tied", (0.0, 0.0, -1.0), 1, (1.0, 3.0, 1.0), 1, "none")
    races = raced(unknown | {"epsilon": 1.0}, tied, limit=3000)
    assert at_most(int(races.wrong.sum()), len(races), DELTA)
    assert (races.outcome > 0).mean() > 0.9


# Blocks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [None, 1.0])
def test_blocks_see_through_what_all_arms_have_in_common(sigma: float | None) -> None:
    """A block does 20 times as much as the arms differ: wrong at most δ, in far fewer pulls than without blocks."""
    world = World("blocks", (1.0, 0.0, 0.0), 1, 1.0, 2, "none", block_sd=20.0, shortest=1)
    races = raced({"feedback": ec.Full(sigma), "blocks": "endless", "parallel": 4}, world, 500)
    assert (races.outcome == EXACT).all()
    assert at_most(int(races.wrong.sum()), len(races), DELTA)
    unpaired = raced({"feedback": ec.Full(None), "parallel": 4}, world, 20)
    assert np.median(unpaired.pulls) > 10 * np.median(races.pulls)


def test_blocks_with_equal_arms_are_rarely_wrong() -> None:
    """No arm is better and yet one is named: at most δ. Size 0.001; what is seen surely: 0.08."""
    world = World("equal blocks", (0.0, -1e-9), 1, 1.0, 2, "none", block_sd=20.0, shortest=1)
    races = raced({"feedback": ec.Full(None), "blocks": 200, "parallel": 4}, world)
    assert at_most(int(((races.outcome == EXACT) & (races.wrong == 1)).sum()), len(races), DELTA)


# Delays that know the reward ----------------------------------------------------------------------------------------

LATE = World("late is good", (0.0, -0.001), 1, 1.0, 50, reading_sd=10.0, shortest=5, delay_is_reward=True)
SLOTS = {"parallel": 50}
INFORMATIVE: dict[str, dict[str, Any]] = {
    "full": {"feedback": ec.Full(1.0)},
    "full, unknown sigma": {"feedback": ec.Full(None)},
    "unbiased": {"feedback": ec.Unbiased(1.0, 10.0), "min_delay": 5},
    "biased": {"feedback": ec.Biased(1.0, 10.0), "min_delay": 5},
    "unbiased, cutting": {"feedback": ec.Unbiased(1.0, 1.0, steps=50), "min_delay": 5, "setup": 0.0},
}


@pytest.mark.parametrize("kind", INFORMATIVE)
def test_delays_that_know_the_reward_are_borne(kind: str) -> None:
    """Two arms, 50 slots, 300 steps: intervals hold at all times, verdicts too. Size 0.001; 0.09 is seen surely."""
    world = replace(LATE, reading_sd=1.0) if "cutting" in kind else LATE
    races = raced(INFORMATIVE[kind] | SLOTS | {"delays": "informative"}, world, 800, limit=300, watched=True)
    assert (races.cuts > 0).all() == ("cutting" in kind)
    assert at_most(int(races.missed.sum()), len(races), DELTA)
    assert at_most(int(races.wrong.sum()), len(races), DELTA)


@pytest.mark.parametrize(("feedback", "rate"), [(ec.Full(1.0), 0.4), (ec.Unbiased(1.0, 10.0), 0.1)])
def test_taking_them_for_independent_breaks_it(feedback: Any, rate: float) -> None:
    """The same world with delays="independent": the intervals miss several times too often."""
    races = raced({"feedback": feedback, "delays": "independent", **SLOTS}, LATE, 300, limit=500, watched=True)
    assert int(races.missed.sum()) > rate * 300


# Shortcuts that come to mind ----------------------------------------------------------------------------------------

PREFIX, ALL_EARLY, RUNNING_EARLY, SKIPPING, RETURNED = range(5)
SLOT_COUNT, SHORTEST, LONGEST, EARLY_SD = 50, 5, 50, 0.45  # EARLY_SD: of what a pull's first SHORTEST readings say


@numba.njit
def shortcut_misses(kind: int, runs: int, steps: int, seed: int) -> int:
    """Runs of one arm of mean 0, σ = 1 and 50 slots in which ln M(0) ever comes to ln(1/δ). Late pulls are good ones.

    What counts: PREFIX, the pulls in start order up to the first that runs; ALL_EARLY, beyond it the early readings of
    all; RUNNING_EARLY, of those that run; SKIPPING, the prefix, where the race has cancelled its pulls three times and
    leaves them out; RETURNED, whatever has ended.
    """
    np.random.seed(seed)
    missed = 0
    most = SLOT_COUNT * (steps // SHORTEST + 2)
    x, early, born, lasts = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    gone = np.empty(most)
    early_weight = 1.0 / (1.0 + EARLY_SD * EARLY_SD)
    for _ in range(runs):
        count = 0
        worst = 0.0
        for now in range(steps):
            if kind == SKIPPING and now in (60, 120, 180):
                for p in range(count):
                    if now < born[p] + lasts[p]:
                        gone[p] = 1.0
            held = 0
            for p in range(count):
                held += gone[p] == 0.0 and now < born[p] + lasts[p]
            for p in range(count, count + SLOT_COUNT - held):
                x[p] = np.random.normal(0.0, 1.0)
                early[p] = np.random.normal(x[p], EARLY_SD)
                born[p] = now
                gone[p] = 0.0
                lasts[p] = min(max(SHORTEST + math.floor((x[p] + 3.0) * 7.5), SHORTEST), LONGEST)
            count += SLOT_COUNT - held
            known = total = 0.0
            prefix = True
            for p in range(count):
                if gone[p] == 1.0:
                    continue
                over = now >= born[p] + lasts[p]
                prefix = prefix and over
                if over and (prefix or kind == RETURNED):
                    known += 1.0
                    total += x[p]
                elif now >= born[p] + SHORTEST and (kind == ALL_EARLY or (kind == RUNNING_EARLY and not over)):
                    known += early_weight
                    total += early_weight * early[p]
            worst = max(worst, evidence_of_zero(known, total))
        missed += worst >= math.log(1.0 / DELTA)
    return missed


@numba.njit
def evidence_of_zero(known: float, total: float) -> float:
    """ln of half of M of each prior at the mean 0."""
    both = 0.0
    for tau in (0.4, 24.0):
        both += 0.5 * math.exp(0.5 * total * total / (known + tau) - 0.5 * math.log1p(known / tau))
    return math.log(both)


@pytest.mark.parametrize("kind", [PREFIX, ALL_EARLY])
def test_start_order_holds_in_a_program_of_its_own(kind: int) -> None:
    """The prefix, and with all early readings beyond it (measured, not proved): at most δ. Size 0.001."""
    assert at_most(shortcut_misses(kind, 1000, 240, 11), 1000, DELTA)


@pytest.mark.parametrize(("kind", "rate"), [(RUNNING_EARLY, 0.2), (SKIPPING, 0.2), (RETURNED, 0.8)])
def test_the_shortcuts_fail(kind: int, rate: float) -> None:
    """Early readings of running pulls only; cancelled pulls left out; an average of what has returned."""
    assert shortcut_misses(kind, 500, 240, 11) > rate * 500


# An arm that is always the same -------------------------------------------------------------------------------------


@numba.njit
def jackpot_losses(runs: int, pulls: int, guarded: bool, seed: int) -> int:
    """Runs in which an arm that is always 1 beats a better one: 0.9, and 1000 once in 100 pulls.

    All but rounding: the constant arm scatters by 1e-12. `guarded`: with `varies`, as in pairs.py.
    """
    np.random.seed(seed)
    lost = 0
    level = math.log(1.0 / DELTA)
    for _ in range(runs):
        mean, squares = np.zeros(2), np.zeros(2)
        for count in range(1, pulls + 1):
            for arm in range(2):
                value = 1.0 + 1e-12 * np.random.normal() if arm == 0 else 0.9 + 1e-12 * np.random.normal()
                if arm == 1 and np.random.random() < 0.01:
                    value = 1000.0
                gap = value - mean[arm]
                mean[arm] += gap / count
                squares[arm] += gap * gap * (count - 1.0) / count
            weight = float(count)
            apart = mean[0] - mean[1]
            if count < 2 or apart <= 0.0:
                continue
            if guarded and not (varies(weight, mean[0], squares[0]) and varies(weight, mean[1], squares[1])):
                continue
            if certified(count, weight, squares[0], weight, squares[1], apart, level):
                lost += 1
                break
    return lost


def test_an_arm_that_is_always_the_same_is_not_judged() -> None:
    """Against one with a rare jackpot it would win in most runs; `varies` keeps both from being judged."""
    assert jackpot_losses(500, 60, False, 13) > 0.5 * 500
    assert jackpot_losses(500, 60, True, 13) == 0


# Losses that are no accident ----------------------------------------------------------------------------------------


@numba.njit
def block_misses(runs: int, blocks: int, lose: bool, seed: int) -> int:
    """Runs in which one of two equal arms beats the other, where its rival's pull is lost when its own went badly."""
    np.random.seed(seed)
    missed = 0
    for _ in range(runs):
        known = total = 0.0
        worst = 0.0
        for _ in range(blocks):
            own = np.random.normal(0.0, 1.0)
            other = np.random.normal(0.0, 1.0)
            if lose and own < 0.0:
                continue
            known += 1.0
            total += (own - other) / math.sqrt(2.0)
            worst = max(worst, evidence_of_zero(known, total))
        missed += worst >= math.log(1.0 / DELTA)
    return missed


def test_on_blocks_a_loss_must_not_look_at_the_rival_s_result() -> None:
    """What is lost leaves its block out for its pairs: to lose it in the light of the other's result breaks it."""
    assert at_most(block_misses(1000, 100, False, 5), 1000, DELTA)
    assert block_misses(1000, 100, True, 5) > 0.5 * 1000
