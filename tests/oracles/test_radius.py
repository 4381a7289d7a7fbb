"""ζ, the radius and the as-printed split against mpmath and a fine grid."""

import math

import mpmath
import numpy as np
import pytest

import earlycall as ec
from earlycall.core.ledger import beta_at, printed_pooled, pull_share
from earlycall.core.radius import HALF_C, ZETA, radius, zeta
from earlycall.core.rules import rules_of
from earlycall.core.settings import settings_of
from earlycall.core.state import State
from earlycall.core.tables import BIAS_COUNT, POOL_DONE, POOL_OPEN, READINGS
from tests.play import open_quietly


@pytest.mark.parametrize("s", [1.0001, 1.01, 12 / 11, 1.5, 2.0, 3.7, 10.0, 50.0])
def test_zeta(s: float) -> None:
    """Euler–Maclaurin after ten terms is good to 4e-14 on (1, 50]."""
    assert zeta(s) == pytest.approx(float(mpmath.zeta(mpmath.mpf(s))), rel=4e-14)


@pytest.mark.parametrize("share", [0.05 / 10, 0.001, 1e-12, 1e-200])
@pytest.mark.parametrize("tau", [1, 2, 7, 1000, 10**9])
def test_the_radius_is_lemma_1(share: float, tau: int) -> None:
    """C(σ, τ, δ') = 2σ√((a·ln(1+log_c τ)+β)/τ) with the probability of Lemma 1 solved for β, to 40 digits."""
    with mpmath.workdps(40):
        a, c, sigma = mpmath.mpf("0.6"), mpmath.mpf("1.1"), mpmath.mpf("1.7")
        b = -c / 2 * mpmath.log(mpmath.mpf(share) / (2 * mpmath.zeta(2 * a / c)))
        expected = 2 * sigma * mpmath.sqrt((a * mpmath.log(mpmath.log(tau) / mpmath.log(c) + 1) + b) / tau)
        beta = HALF_C * (math.log(2.0 * ZETA) - math.log(share))
        assert radius(2.0 * 1.7, tau, beta) == pytest.approx(float(expected), rel=1e-13)


def test_no_draws_no_radius() -> None:
    """C = ∞ at τ = 0, and no share is no bound."""
    rules, _, _ = rules_of(("a", "b"), settings_of({"k": 1, "delta": 0.05, "feedback": ec.Full(1.0)}))
    assert radius(2.0, 0.0, 1.0) == math.inf
    assert beta_at(rules, 0.0) == math.inf


def test_the_printed_radius_is_missed_too_often_at_once() -> None:
    """One draw of N(0,1), δ' = 0.001: the printed radius is missed with probability 0.019, ours with 3e-6."""
    beta = HALF_C * (math.log(2.0 * ZETA) - math.log(0.001))
    printed = float(mpmath.erfc(radius(1.0, 1.0, beta) / math.sqrt(2.0)))
    corrected = float(mpmath.erfc(radius(2.0, 1.0, beta) / math.sqrt(2.0)))
    assert printed == pytest.approx(0.0187, abs=5e-5)
    assert corrected < 1e-5


@pytest.mark.parametrize("kind", ["full", "incremental", "unbiased", "biased"])
def test_the_simultaneous_shares_never_add_up_to_more_than_delta(kind: str) -> None:
    """Full + Σ_j partial/(j(j+1)) + bias ≤ 1, for any number of started pulls."""
    feedback = {
        "full": ec.Full(1.0),
        "incremental": ec.Incremental(1.0, 5),
        "unbiased": ec.Unbiased(1.0, 1.0),
        "biased": ec.Biased(1.0, 1.0),
    }[kind]
    options = {"k": 1, "delta": 0.05, "feedback": feedback, "method": "paper"}
    rules, _, _ = rules_of(("a", "b"), settings_of(options))
    spent = math.fsum(pull_share(rules, ordinal) for ordinal in range(1, 100_001))
    assert rules.share_full + spent + rules.share_bias <= 1.0 + 1e-15
    if rules.share_partial:
        assert spent == pytest.approx(rules.share_partial, rel=2e-5)


@pytest.mark.parametrize(
    ("biased", "done", "readings"),  # with a bias, a finished pull is needed to see it
    [(False, 0, [1]), (False, 1, [40]), (False, 200, [1, 1, 7]), (True, 1, [40]), (True, 5, [3]), (True, 3, [1000, 2])],
)
@pytest.mark.parametrize("reading_sd", [0.01, 1.0, 50.0])
def test_the_printed_split_is_the_best_there_is(
    biased: bool, done: int, readings: list[int], reading_sd: float
) -> None:
    """The radius with δ split between its terms, against a grid of splits: never above it, and never below by more
    than what the grid's step explains."""
    state = pooled_state(biased, done, readings, reading_sd)
    seen = printed_pooled(state.rules, state.tables, 0, reading_sd if biased else 0.0)
    assert state.tables.arms[0][POOL_DONE] == done
    assert state.tables.arms[0][POOL_OPEN] == len(readings)
    assert state.tables.arms[0][BIAS_COUNT] == (done if biased else 0)
    grid = by_grid(state, biased, done, readings, reading_sd)
    assert seen <= grid * (1.0 + 1e-12)
    assert seen == pytest.approx(grid, rel=1e-5)


def pooled_state(biased: bool, done: int, readings: list[int], reading_sd: float) -> State:
    """A race whose first arm has finished pulls, each with a reading where there is a bias, and running ones."""
    feedback = ec.Biased(1.0, reading_sd) if biased else ec.Unbiased(1.0, reading_sd)
    race = open_quietly(
        ["a", "b"],
        k=1,
        delta=0.05,
        feedback=feedback,
        method="paper",
        ledger="as-printed",
        parallel=2000,
        per_arm=1000,
        delays="independent",
    )
    pulls = [pull.id for pull in race.ask() if pull.arm == "a"]
    for pull in pulls[:done]:
        if biased:
            race.report(pull, 0.1)
        race.tell(pull, 0.0)
    for pull, count in zip(pulls[done:], readings, strict=False):
        for _ in range(count):
            race.report(pull, 0.1)
    state = race._state
    assert [state.tables.pulls[pull - 1][READINGS] for pull in pulls[done : done + len(readings)]] == readings
    return state


def by_grid(state: State, biased: bool, done: int, readings: list[int], reading_sd: float) -> float:
    """The smallest radius over splits (full, partial, bias), each share on a fine grid of logits."""

    def c(scale: float, tau: float, share: np.ndarray) -> np.ndarray:
        beta = 0.55 * np.log(2.0 * ZETA * 2 / (share * 0.05))
        return 2.0 * scale * np.sqrt((0.6 * math.log(1.0 + math.log(tau) / math.log(1.1)) + beta) / tau)

    pulls = done + len(readings)
    logits = np.linspace(-16.0, 16.0, 4001)
    full = 1.0 / (1.0 + np.exp(logits))
    rest = 1.0 / (1.0 + np.exp(-logits))

    def total(full: np.ndarray, partial: np.ndarray, bias: np.ndarray) -> float:
        radii = c(1.0, pulls, full) + sum(c(reading_sd, count, partial) for count in readings) / pulls
        if biased:
            radii = radii + len(readings) * c(reading_sd, done, bias) / pulls
        return float(radii.min())

    if not biased:
        return total(full, rest, rest)
    parts = 1.0 / (1.0 + np.exp(np.linspace(-12.0, 12.0, 1201)))[:, None]
    return total(full[None, :], rest[None, :] * parts, rest[None, :] * (1.0 - parts))
