"""The evidence where σ is not known (student.py, pairs.py), against integrals and dense grids."""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import earlycall as ec
from earlycall.core import student
from earlycall.core.confidence import elect
from earlycall.core.duels import weakest_pair, widest_gap
from earlycall.core.pairs import pair_evidence, shift_needed
from earlycall.core.tables import LEADER
from tests.play import open_quietly

LEVELS = (-0.5, 0.0, 1.0, 3.0, 6.0)
POINTS = 100_000


def sums(values: list[float], weights: list[float]) -> tuple[int, float, float, float]:
    """(count, Σ weight, weighted mean, Σ weight·(value − mean)²)."""
    whole = math.fsum(weights)
    mean = math.fsum(w * x for w, x in zip(weights, values, strict=True)) / whole
    return len(values), whole, mean, math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True))


def by_integral(values: list[float], weights: list[float], mean: float) -> float:
    """ln of the ratio of two densities of the observations, both over all σ with dσ/σ.

    Above: means drawn from N(mean, σ²). Below: this mean itself. Nothing here is known of sums of squares.
    """
    log_sd, drawn = np.linspace(-9.0, 14.0, 3000)[:, None], np.linspace(-12.0, 12.0, 2000)[None, :]
    sd = np.exp(log_sd)

    def likelihood(centre: Any) -> Any:
        total = 0.0
        for value, weight in zip(values, weights, strict=True):
            total = total - 0.5 * weight * ((value - centre) / sd) ** 2 - log_sd
        return np.exp(total)

    above = likelihood(mean + sd * drawn) * np.exp(-0.5 * drawn**2) * (24.0 / 1999.0 / math.sqrt(2.0 * math.pi))
    return math.log(above.sum() / likelihood(mean).sum())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_the_evidence_is_the_ratio_of_two_integrals(count: int, weighted: bool) -> None:
    """The mixture over means N(m, σ²) and scales dσ/σ against m itself; with weights as of increments."""
    chance = random.Random(10 * count + weighted)
    weights = [chance.choice([0.2, 0.5, 1.0]) if weighted else 1.0 for _ in range(count)]
    values = [chance.gauss(0.7, 1.0 / math.sqrt(weight)) for weight in weights]
    number, whole, mean, squares = sums(values, weights)
    for at in (0.0, -1.5):
        expected = by_integral(values, weights, at)
        assert student.log_g(number, whole, squares, mean - at) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("gap", [-2.0, 0.0, 5.0])
def test_before_two_observations_differ_there_is_no_evidence(gap: float) -> None:
    """One observation says nothing of a mean, as nothing is known of σ: G = 1."""
    assert student.log_g(1, 1.0, 0.0, gap or 1e-9) == pytest.approx(0.0, abs=1e-12)


def test_the_evidence_does_not_know_the_unit() -> None:
    """Values and gap times any number: the same evidence, and a reach as many times as far."""
    for scale in (1e-40, 1e-3, 1e6, 1e40):
        assert student.log_g(5, 4.2, 3.0 * scale * scale, 1.1 * scale) == pytest.approx(student.log_g(5, 4.2, 3.0, 1.1))
        reach = student.reach_of(5, 4.2, 3.0 * scale * scale, 0.7)
        assert reach == pytest.approx(scale * student.reach_of(5, 4.2, 3.0, 0.7))


def test_the_reach_is_where_the_evidence_comes_to_its_target() -> None:
    """`reach_of` inverts `log_g`; 0 where it is above the target everywhere, inf where nowhere."""
    chance = random.Random(5)
    finite = 0
    for _ in range(3000):
        count, squares = chance.randint(2, 60), 10.0 ** chance.uniform(-8.0, 8.0)
        weight = count * chance.choice([1.0, 0.1, 0.02])
        target = chance.uniform(-4.0, 8.0)
        reach = student.reach_of(count, weight, squares, target)
        if reach == 0.0:
            assert student.log_g(count, weight, squares, 0.0) >= target - 1e-12
        elif reach == math.inf:
            assert student.log_g(count, weight, squares, 1e8 * math.sqrt(squares)) <= target + 1e-6
        else:
            finite += 1
            assert student.log_g(count, weight, squares, reach) == pytest.approx(target, abs=1e-6)
    assert finite > 1000


def pairs() -> list[tuple[int, float, float, float, float, float]]:
    """(count, weight, squares, the other's two, gap) at random, some with two minima and some far from equal."""
    chance = random.Random(8)
    found = []
    for _ in range(300):
        count = chance.choice([2, 3, 5, 10, 30, 100, 1000])
        weight, other = (count * chance.choice([1.0, 1.0, 0.1]) for _ in range(2))
        scale = 10.0 ** chance.uniform(-5.0, 5.0)
        ratio = 1.0 if chance.random() < 0.4 else 10.0 ** chance.uniform(-4.0, 4.0)
        squares = count * scale * scale
        found.append((count, weight, squares, other, squares * ratio, scale * 10.0 ** chance.uniform(-1.0, 1.5)))
    return found


def on_grid(count: int, weight: float, squares: float, other: float, other_squares: float, gap: float) -> np.ndarray:
    """The pair's sum on a dense grid of common means, denser at both ends; written out anew."""
    part = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, POINTS))

    def one(whole: float, scatter: float, far: np.ndarray) -> np.ndarray:
        ratio = (scatter + whole * far**2) / (scatter + whole * far**2 / (whole + 1.0))
        return 0.5 * count * np.log(ratio) - 0.5 * np.log(1.0 + whole)

    return one(weight, squares, (1.0 - part) * gap) + one(other, other_squares, part * gap)


def test_some_of_the_pairs_have_two_minima() -> None:
    """So that what follows is not about valleys alone."""
    twice = 0
    for pair in pairs():
        slope = np.sign(np.diff(on_grid(*pair)[:: POINTS // 1000]))
        twice += int(np.count_nonzero(np.diff(slope[slope != 0.0]) > 0) >= 2)
    assert twice > 20


def test_what_is_certified_is_nowhere_less() -> None:
    """Never yes when a dense grid finds less than the level; yes whenever the grid's least is 2 % above it.

    And the quick test is never below the least.
    """
    yes = no = 0
    for pair in pairs():
        least = float(on_grid(*pair).min())
        count, weight, squares, other, other_squares, gap = pair
        assert student.least_of_three(count, weight, squares, other, other_squares, gap) >= least - 1e-7
        for level in (*LEVELS, least * 1.001, least + 1e-6, least / 1.02 - 0.001, least - 0.02 * abs(least) - 0.001):
            said = student.certified(*pair, level)
            if level > least + 1e-7:
                assert not said, (pair, level, least)
                no += 1
            elif least > 0.0 and least >= 1.02 * level and level > 0.0:
                assert said, (pair, level, least)
                yes += 1
    assert min(yes, no) > 300


def race_of(values: dict[str, list[float]], **options: object) -> ec.Race:
    """A race that has heard so much of each arm, and has decided nothing."""
    settings = {"k": 2, "delta": 1e-12, "feedback": ec.Full(None), "parallel": 400, "per_arm": 100}
    race = open_quietly(list(values), **settings | options)
    race.ask()
    for arm, seen in values.items():
        mine = [pull.id for pull in race.running if pull.arm == arm]
        for pull, value in zip(mine, seen, strict=False):
            race.tell(pull, value)
    return race


def samples(counts: tuple[int, ...]) -> dict[str, list[float]]:
    """So many values of each of four arms."""
    chance = random.Random(sum(counts))
    means, sds = (4.0, 3.0, 0.5, 0.0), (1.0, 0.3, 2.0, 1.0)
    return {
        arm: [chance.gauss(mean, sd) for _ in range(count)]
        for arm, mean, sd, count in zip("abcd", means, sds, counts, strict=True)
    }


@pytest.mark.parametrize("counts", [(4, 4, 4, 4), (9, 4, 6, 12), (2, 12, 7, 7)])
def test_a_pair_is_the_least_over_common_means_on_equal_counts(counts: tuple[int, ...]) -> None:
    """The first min(N_i, N_j) of each in start order; the evidence is what a grid finds, at most 1e-6 less, never more.

    So are Z and the smallest ε, which look at pairs only where they may matter.
    """
    values = samples(counts)
    race = race_of(values)
    state = race._state
    rules, t = state.rules, state.tables
    evidence, lifts = [], []
    elect(rules, t)
    for i, j in itertools.product("ab", "cd"):
        equal = min(len(values[i]), len(values[j]))
        first, second = sums(values[i][:equal], [1.0] * equal), sums(values[j][:equal], [1.0] * equal)
        gap = first[2] - second[2]
        least = max(float(on_grid(equal, first[1], first[3], second[1], second[3], gap).min()), 0.0) if gap > 0 else 0.0
        row, other = state.index[i], state.index[j]
        found = pair_evidence(rules, t, row, other)
        assert least - 2e-3 * least - 1e-6 <= found <= least + 1e-9
        evidence.append(found)
        lifts.append(shift_needed(rules, t, row, other, 1.0))
        if lifts[-1] < math.inf:
            lifted = on_grid(equal, first[1], first[3], second[1], second[3], gap + lifts[-1])
            assert float(lifted.min()) == pytest.approx(rules.level, rel=5e-3)
    assert {state.labels[p] for p in range(4) if t.arms[p][LEADER]} == {"a", "b"}
    assert weakest_pair(rules, t) == pytest.approx(min(evidence), abs=1e-9)
    assert widest_gap(rules, t) == pytest.approx(max(lifts), rel=1e-6)
