"""The floors against closed forms, and against a solver that is not ours."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import earlycall as ec
from earlycall.core.settings import settings_of
from earlycall.sim.limit import floor, hardness_of, kl, rate
from earlycall.sim.worlds import World, bounded, free

PLAIN = World("plain", (1.0, 0.0), 1, 2.0, 10, noise="none")


def settings(**options: Any) -> Any:
    return settings_of({"k": 1, "delta": 0.05, "feedback": ec.Full(2.0), **options})


def test_two_arms() -> None:
    """T* = 8/(ρΔ²): half the time each. A pull of ten steps brings 1/σ²."""
    seen = floor(settings(), PLAIN)
    assert seen.pairs == pytest.approx(kl(0.05) * 8.0 / (0.25 / 10.0), rel=1e-8)
    assert seen.shares == pytest.approx((0.5, 0.5))
    assert seen.first == pytest.approx(0.9 * 2 * 10)
    assert seen.steps == seen.pairs


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_equal_gaps(n: int) -> None:
    """One best arm, all others Δ below: T* = 2(1+√(n−1))²/(ρΔ²), the best arm √(n−1) times as often as another."""
    hardness, weights = hardness_of(np.full((1, n - 1), 0.7**2), np.full(n, 3.0), 1.0)
    assert hardness == pytest.approx(2.0 * (1.0 + math.sqrt(n - 1)) ** 2 / (3.0 * 0.49), rel=1e-8)
    assert weights[0] / weights[1] == pytest.approx(math.sqrt(n - 1), rel=1e-4)


@pytest.mark.parametrize(("n", "k", "most"), [(4, 1, 1.0), (4, 1, 0.3), (6, 2, 0.25), (7, 5, 1.0), (10, 2, 0.25)])
@pytest.mark.parametrize("seed", range(3))
def test_another_solver_finds_no_better_shares(n: int, k: int, most: float, seed: int) -> None:
    """SciPy's SLSQP on the original problem: max c with every pair at c or above, Σw = 1, w ≤ most."""
    rng = np.random.default_rng(seed)
    means = np.sort(rng.uniform(0.0, 1.0, n))[::-1]
    gaps = (means[:k, None] - means[None, k:]) ** 2
    rho = rng.uniform(0.5, 3.0, n)
    hardness, weights = hardness_of(gaps, rho, most)

    def level(w: Any) -> Any:
        return (gaps / (2.0 * (1.0 / (rho * w)[:k, None] + 1.0 / (rho * w)[None, k:]))).ravel()

    unit = level(np.full(n, 1.0 / n)).min()
    best = 0.0
    for start in (np.full(n, 1.0 / n), 0.9 * weights + 0.1 / n):
        result = minimize(
            lambda v: -v[-1],
            np.append(start, level(start).min() / unit),
            bounds=[(1e-4, most)] * n + [(0.0, None)],
            constraints=[
                {"type": "ineq", "fun": lambda v: level(v[:-1]) / unit - v[-1]},
                {"type": "eq", "fun": lambda v: v[:-1].sum() - 1.0},
            ],
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-12},
        )
        w = np.clip(result.x[:-1], 1e-9, most)
        if w.sum() <= 1.0 + 1e-9:
            best = max(best, float(level(w).min()))
    assert weights.sum() <= 1.0 + 1e-9
    assert weights.max() <= most * (1.0 + 1e-6)
    assert level(weights).min() == pytest.approx(1.0 / hardness, rel=1e-5)  # our shares reach our level
    assert best <= 1.0 / hardness * (1.0 + 1e-6)  # and nobody else's reach a higher one
    assert best == pytest.approx(1.0 / hardness, rel=1e-3)


def test_the_rate_of_information() -> None:
    """ρ by hand: full feedback, readings worth a stop, increments, random delays, the cost of a start."""
    world = World("w", (1.0, 0.0), 1, 2.0, 10, reading_sd=1.0)
    assert rate(ec.Full(2.0), 2.0, world, 0.0) == pytest.approx(0.25 / 10)
    assert rate(ec.Full(2.0), 2.0, world, 5.0) == pytest.approx(0.25 / 15)
    assert rate(world.feedback(), 2.0, world, 0.0) == pytest.approx(1.0 / (4.0 + 1.0))  # one reading, and stop
    by_length = [1.0 / (4.0 + 1.0 / p) / (5.0 + p) for p in range(1, 10)] + [0.25 / 15.0]
    assert rate(world.feedback(), 2.0, world, 5.0) == pytest.approx(max(by_length))
    assert rate(ec.Incremental(2.0, 10), 2.0, world, 0.0) == pytest.approx(0.25 / 10)
    spread = replace(world, shortest=1)  # D uniform on 1 … 10: stopping at t costs t − t(t−1)/20
    assert rate(ec.Incremental(2.0, 10), 2.0, spread, 3.0) == pytest.approx(0.25 / 4.0)  # a bound: the shortest pulls
    at = [t / 10 * 0.25 / (3.0 + t - t * (t - 1) / 20) for t in range(1, 11)]
    assert rate(ec.Full(2.0), 2.0, spread, 3.0) == pytest.approx(max(at))


def test_a_refining_forecast_is_worth_its_last_reading() -> None:
    """One good late reading may be worth waiting for."""
    world = World("w", (1.0, 0.0), 1, 1.0, 100, "refining", {1: 100.0, 7: 0.1})
    assert rate(world.feedback(), 1.0, world, 0.0) == pytest.approx(1.0 / (1.0 + 0.01) / 7)


def test_more_slots_divide_the_floor() -> None:
    """b slots: a b-th of the time; with r < b only as far as the limit lets the hard arms be pulled."""
    one = floor(settings(), PLAIN).pairs
    assert floor(settings(parallel=4, delays="independent"), PLAIN).pairs == pytest.approx(one / 4)
    three = replace(PLAIN, means=(1.0, 0.9, -5.0))
    wide = floor(settings(parallel=3, delays="independent"), three)
    narrow = floor(settings(parallel=3, per_arm=1, delays="independent"), three)
    assert narrow.pairs > wide.pairs
    assert max(narrow.shares) <= 1.0 / 3.0 + 1e-6


@pytest.mark.parametrize("world", [bounded(100), free(50), bounded(10)], ids=lambda w: w.name)
def test_the_papers_worlds_have_a_floor(world: World) -> None:
    """The barrier converges on all of them, and the first look is a floor of its own."""
    seen = floor(settings_of({"k": world.k, "delta": 0.05, "feedback": world.feedback()}), world)
    assert sum(seen.shares) == pytest.approx(1.0)
    assert seen.pairs > 0.0
    assert seen.first == pytest.approx(0.9 * len(world.means))
    biased = replace(world, bias=1.0)
    other = floor(settings_of({"k": world.k, "delta": 0.05, "feedback": biased.feedback()}), biased)
    assert other.first == pytest.approx(
        world.steps * seen.first
    )  # a bias is known from pulls that ended, or not at all
    assert other.pairs == pytest.approx(seen.pairs)


def test_where_there_is_no_floor_none_is_given() -> None:
    """Nobody can tell tied arms apart; ε, a budget and delays that know the reward are beyond the theorem."""
    knowing = replace(PLAIN, shortest=2, delay_is_reward=True)
    for options, world in (({"epsilon": 0.1}, PLAIN), ({"max_pulls": 9}, PLAIN), ({}, knowing)):
        with pytest.raises(ec.SettingError, match="no floor is known"):
            floor(settings(**options), world)
    with pytest.raises(ec.SettingError, match="equally good"):
        floor(settings(), replace(PLAIN, means=(1.0, 1.0)))
