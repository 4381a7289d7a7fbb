"""The evidence triple (μ̂, J, pen) against linear algebra in 60 digits and against brute-force integration."""

import math
import random
from typing import Any

import mpmath
import numpy as np
import pytest

import earlycall as ec
from earlycall.core.evidence import beats, evidence_against, reach, statistic
from earlycall.core.tables import MEAN, NARROW_PENALTY, NARROW_SPREAD, PENALTY, SPREAD, Floats
from tests.oracles.paper import golden
from tests.play import open_quietly

# The readings made here are odd, and suspected.
pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")


def arm_after(feedback: Any, seed: int, pulls: int, scale: float | None = None) -> tuple[Floats, list[Any]]:
    """The first arm's row after some finished, some running, some lost pulls with readings; and its story."""
    chance = random.Random(seed)
    race = open_quietly(
        ["a", "b"], k=1, delta=0.05, feedback=feedback, parallel=2 * pulls, per_arm=pulls, delays="independent",
        scale=scale,
    )  # fmt: skip
    story: list[Any] = []
    for pull in [pull.id for pull in race.ask() if pull.arm == "a"]:
        x = chance.gauss(3.0, 1.0)
        readings = [(chance.gauss(x + 1.0, 1.0), chance.choice([0.5, 1.0, 3.0])) for _ in range(chance.randrange(4))]
        if isinstance(feedback, ec.Incremental):
            readings = [(y / 5.0, 0.0) for y, _ in readings]
            for step, (y, _) in enumerate(readings, start=1):
                race.report(pull, y, step)
        else:
            for step, (y, sd) in enumerate(readings, start=1):
                race.report(pull, y, step, sd=sd)
        ends = chance.choice(["running", "finished", "finished", "lost"])
        if ends == "finished":
            race.tell(pull, x)
        elif ends == "lost":
            race.lose(pull)
        story.append((readings, x if ends == "finished" else None))
    return race._state.tables.armf[0], story


def one_pull(feedback: Any, readings: list[tuple[float, float]], x: float | None) -> Any:
    """(Λ, Λθ̂) that one pull contributes, from THEORY §2's table, in mpmath."""
    mpf, sigma2 = mpmath.mpf, mpmath.mpf(1)
    zero = mpmath.zeros(2, 2), mpmath.zeros(2, 1)
    biased = isinstance(feedback, ec.Biased)
    if isinstance(feedback, ec.Incremental):
        if x is not None:
            return mpmath.matrix([[1 / sigma2, 0], [0, 0]]), mpmath.matrix([x / sigma2, 0])
        if not readings:
            return zero
        share = mpf(len(readings)) / 5
        estimate = sum(mpf(y) for y, _ in readings) / share
        return mpmath.matrix([[share, 0], [0, 0]]) / sigma2, mpmath.matrix([share * estimate, 0]) / sigma2
    precisions = [1 / mpf(sd) ** 2 for _, sd in readings]
    if not readings:
        q = estimate = mpf(0)
    elif feedback.pooling == "refining":
        best: list[tuple[Any, float]] = []
        for (y, _), precision in zip(readings, precisions, strict=True):
            if not best or precision >= best[-1][0]:
                best.append((precision, y))
        q, estimate = best[-1][0], mpf(best[-1][1])
    else:
        q = sum(precisions)
        estimate = sum(p * mpf(y) for p, (y, _) in zip(precisions, readings, strict=True)) / q
    if x is not None:
        residual = q if biased else mpf(0)
        return (
            mpmath.matrix([[1 / sigma2, 0], [0, residual]]),
            mpmath.matrix([mpf(x) / sigma2, residual * (estimate - mpf(x))]),
        )
    if not readings:
        return zero
    w = 1 / (sigma2 + 1 / q)
    direction = mpmath.matrix([[1, 1], [1, 1]]) if biased else mpmath.matrix([[1, 0], [0, 0]])
    return w * direction, w * estimate * mpmath.matrix([1, 1 if biased else 0])


# τ of the wide and the narrow prior in 1/σ², and the columns of its 1/J and pen
PRIORS = [(0.4, SPREAD, PENALTY), (24.0, NARROW_SPREAD, NARROW_PENALTY)]
FEEDBACKS: dict[str, Any] = {
    "full": ec.Full(1.0),
    "incremental": ec.Incremental(1.0, 5),
    "independent": ec.Unbiased(1.0, 1.0),
    "refining": ec.Unbiased(1.0, 3.0, pooling="refining"),
    "biased": ec.Biased(1.0, 1.0, bias_scale=2.0),
    "biased refining": ec.Biased(1.0, 3.0, pooling="refining"),
}


@pytest.mark.parametrize("name", FEEDBACKS)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scale", [None, 0.3])
def test_the_triple_is_the_mixture_profiled_over_the_bias(name: str, seed: int, scale: float | None) -> None:
    """A = Λ(Λ+T)⁻¹Λ, pen = ½ ln det(I+T⁻¹Λ), J = A₁₁ − A₁₂²/A₂₂, μ̂ = (Λ⁻¹v)₁, in 60 digits, for 1 to 12 pulls."""
    feedback = FEEDBACKS[name]
    biased = isinstance(feedback, ec.Biased)
    row, story = arm_after(feedback, seed, 1 + seed * 11 // 7, scale)
    if name == "full":
        story = [([], x) for _, x in story]
    with mpmath.workdps(60):
        parts = [one_pull(feedback, readings, x) for readings, x in story]
        information = sum((part for part, _ in parts), mpmath.zeros(2, 2))
        vector = sum((part for _, part in parts), mpmath.zeros(2, 1))
        level = mpmath.log(1 / mpmath.mpf("0.05"))
        x = level + mpmath.log(1 + level)
        ours = 4 * (1 + 1 / x) / mpmath.mpf(scale or 1) ** 2
        tau_bias = 1 / mpmath.mpf(getattr(feedback, "bias_scale", None) or 1) ** 2
        size = 2 if biased and information[1, 1] > 0 else 1
        known = information[0:size, 0:size]
        for ratio, spread, penalty in PRIORS:
            tau = mpmath.mpf(ratio) if scale is None else ours
            prior = mpmath.diag([tau, tau_bias][:size])
            pen = mpmath.log(mpmath.det(mpmath.eye(size) + prior**-1 * known)) / 2
            assert row[penalty] == pytest.approx(float(pen), rel=1e-12)
            if mpmath.det(known) == 0:
                assert row[spread] == float("inf")
                continue
            a = known * (known + prior) ** -1 * known
            j = a[0, 0] - a[0, 1] ** 2 / a[1, 1] if size == 2 else a[0, 0]
            mean = (known**-1 * vector[0:size, 0])[0]
            assert 1.0 / row[spread] == pytest.approx(float(j), rel=1e-12)
            assert row[MEAN] == pytest.approx(float(mean), rel=1e-12, abs=1e-12)


def test_the_formula_of_theory_with_12_in_place_of_11_is_another_number() -> None:
    """THEORY §2 prints 1/J = (Λ⁻¹)₁₁ + τ(Λ⁻¹)₁₂² + τ_b(Λ⁻¹)₁₂²; τ goes with (Λ⁻¹)₁₁². Even w = q = 0 tells.

    There the page itself says J = a²/(a+τ), so 1/J = 1/a + τ/a²; the printed line gives 1/a.
    """
    a, w, q, tau, tau_bias = (mpmath.mpf(x) for x in ("3", "1.5", "4", "1", "0.25"))
    known = mpmath.matrix([[a + w, w], [w, w + q]])
    prior = mpmath.diag([tau, tau_bias])
    inverse = known**-1
    spread = ((known * (known + prior) ** -1 * known) ** -1)[0, 0]
    printed = inverse[0, 0] + tau * inverse[0, 1] ** 2 + tau_bias * inverse[0, 1] ** 2
    ours = inverse[0, 0] + tau * inverse[0, 0] ** 2 + tau_bias * inverse[0, 1] ** 2
    assert mpmath.almosteq(spread, ours, 1e-14)
    assert printed < 0.9 * spread  # it would claim more evidence than there is


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("correlation", [0.6, -0.9, 0.0])
def test_a_surrogate_is_a_bivariate_normal(seed: int, correlation: float) -> None:
    """(X, Ȳ) jointly normal with means (μ, m): Σ⁻¹ where both were seen, diag(0, 1/Var Ȳ) where only the surrogate was.

    In 60 digits, in the coordinates (μ, m); the prior there is that of the offset m − βμ, carried over.
    """
    sd, arm_sd = 2.0, 1.5
    chance = random.Random(seed)
    feedback = ec.Correlated(arm_sd, sd, correlation)
    race = open_quietly(["a", "b"], k=1, delta=0.05, feedback=feedback, parallel=24, per_arm=12, delays="independent")
    with mpmath.workdps(60):
        sigma, scatter, rho = mpmath.mpf(arm_sd), mpmath.mpf(sd), mpmath.mpf(correlation)
        both = mpmath.matrix([[sigma**2, rho * sigma * scatter], [rho * sigma * scatter, scatter**2]]) ** -1
        only_full = mpmath.matrix([[1 / sigma**2, 0], [0, 0]])
        only_surrogate = mpmath.matrix([[0, 0], [0, 1 / scatter**2]])
        known, vector = mpmath.zeros(2, 2), mpmath.zeros(2, 1)
        for pull in [pull.id for pull in race.ask() if pull.arm == "a"][: 2 + seed]:
            x, y = chance.gauss(3.0, arm_sd), chance.gauss(7.0, sd)
            shows, ends = chance.random() < 0.8, chance.random() < 0.6
            if shows:
                race.report(pull, y)
                race.report(pull, y + 5.0)  # a second one says nothing more
            if ends:
                race.tell(pull, x)
            part = both if shows and ends else only_full if ends else only_surrogate if shows else mpmath.zeros(2, 2)
            known += part
            vector += part * mpmath.matrix([x if ends else 0, y if shows else 0])
        beta = rho * scatter / sigma
        carried = mpmath.matrix([[1, 0], [-beta, 1]])
        row = race._state.tables.armf[0]
        if known[1, 1] == 0 or mpmath.det(known) == 0:
            return
        for ratio, spread, penalty in PRIORS:
            prior = carried.T * mpmath.diag([ratio / sigma**2, 1 / scatter**2]) * carried
            a = known * (known + prior) ** -1 * known
            pen = mpmath.log(mpmath.det(mpmath.eye(2) + prior**-1 * known)) / 2
            assert row[penalty] == pytest.approx(float(pen), rel=1e-12)
            assert 1.0 / row[spread] == pytest.approx(float(a[0, 0] - a[0, 1] ** 2 / a[1, 1]), rel=1e-12)
        assert row[MEAN] == pytest.approx(float((known**-1 * vector)[0]), rel=1e-11)


@pytest.mark.parametrize("seed", [3, 5, 6])
@pytest.mark.parametrize("name", ["biased", "biased refining"])
@pytest.mark.parametrize(("tau", "spread", "penalty"), PRIORS)
def test_the_profile_is_the_smallest_integral(name: str, seed: int, tau: float, spread: int, penalty: int) -> None:
    """ln M(μ) = min over the bias of ln ∫∫ likelihood ratio · prior around (μ, bias), by brute force on a grid.

    The integral knows the readings one by one (their joint normal density), and nothing of Λ, J or pen. On a grid
    finer than any of its scales the plain sum of a Gaussian is exact to all digits.
    """
    feedback = FEEDBACKS[name]
    row, story = arm_after(feedback, seed, 7)
    bias_scale = feedback.bias_scale or 1.0
    mus, biases = np.arange(-6.0, 12.0, 0.05), np.arange(-8.0, 12.0, 0.02)
    likelihood = log_likelihood(feedback, story, mus[:, None], biases[None, :])
    peak = float(likelihood.max())
    weights = np.exp(likelihood - peak) * 0.05 * 0.02

    def log_mixture(mu: float, bias: float) -> float:
        prior = np.exp(-0.5 * tau * (mus - mu) ** 2) * math.sqrt(tau / (2.0 * math.pi))
        prior_bias = np.exp(-0.5 * ((biases - bias) / bias_scale) ** 2) / (bias_scale * math.sqrt(2.0 * math.pi))
        here = float(log_likelihood(feedback, story, np.array(mu), np.array(bias)))
        return math.log(float(prior @ weights @ prior_bias)) + peak - here

    for mu in (row[MEAN] - 1.0, row[MEAN] + 0.3):

        def along_the_bias(part: float, mu: float = mu) -> float:
            return log_mixture(mu, -4.0 + 10.0 * part)

        smallest = golden(along_the_bias)  # it is convex
        expected = 0.5 * (row[MEAN] - mu) ** 2 / row[spread] - row[penalty]
        assert smallest == pytest.approx(expected, abs=1e-9)


def log_likelihood(feedback: Any, story: list[Any], mu: Any, bias: Any) -> Any:
    """ln of the joint density of all that seven pulls said (less constants), at each (μ, bias)."""
    total = np.zeros(np.broadcast(mu, bias).shape)
    for readings, x in story:
        kept = readings
        if feedback.pooling == "refining":  # the readings before a better one say nothing more
            best = min((sd for _, sd in readings), default=0.0)
            kept = [r for r in readings if r[1] == best][-1:]
        if x is not None:
            total = total - 0.5 * (x - mu) ** 2
            total = total - sum(0.5 * ((y - x - bias) / sd) ** 2 for y, sd in kept)
        elif kept:
            covariance = np.ones((len(kept), len(kept))) + np.diag([sd**2 for _, sd in kept])
            inverse = np.linalg.inv(covariance)
            shift = (mu + bias)[..., None] - np.array([y for y, _ in kept])
            total = total - 0.5 * np.einsum("...i,ij,...j->...", shift, inverse, shift)
    return total


def test_two_arms_are_compared_at_the_least_favourable_common_mean() -> None:
    """A prior's pair statistic is the smallest ln M_i(m) + ln M_j(m) over m, found on a grid; both count half.

    Minimised after the mean of the two priors is taken it can only be larger.
    """
    i, j = arm_after(FEEDBACKS["biased"], 3, 7)[0], arm_after(FEEDBACKS["full"], 4, 9)[0]
    grid = np.linspace(-10.0, 15.0, 2_000_001)
    pairs = []
    for _, spread, penalty in PRIORS:
        one, other = (0.5 * (arm[MEAN] - grid) ** 2 / arm[spread] - arm[penalty] for arm in (i, j))
        pairs.append(one + other)
    least = [float(pair.min()) for pair in pairs]
    assert statistic(i, j) == pytest.approx(np.logaddexp(least[0], least[1]) - math.log(2.0), abs=1e-6)
    assert statistic(i, j) <= np.logaddexp(pairs[0], pairs[1]).min() - math.log(2.0) + 1e-12


@pytest.mark.parametrize("level", [0.0, 3.0, 40.0])
def test_an_interval_ends_where_the_evidence_comes_to_its_level(level: float) -> None:
    """`reach` inverts the evidence in a gap, and errs on the wide side."""
    for seed in range(8):
        row = arm_after(FEEDBACKS["biased"], seed, 5 + 20 * seed)[0]
        numbers = (row[SPREAD], row[PENALTY], row[NARROW_SPREAD], row[NARROW_PENALTY])
        gap = reach(level, *numbers)
        assert evidence_against(row, row[MEAN] + gap) == pytest.approx(level, abs=1e-9)


def test_no_arm_beats_itself_or_an_unknown_one() -> None:
    """Equal means, or nothing known of one: no verdict, either way."""
    race = open_quietly(["a", "b"], k=1, delta=0.05, feedback=ec.Full(1.0))
    rules = race._state.rules
    known, _ = arm_after(FEEDBACKS["full"], 4, 9)
    unknown = race._state.tables.armf[0]
    for i, j in ((known, known), (known, unknown), (unknown, known), (unknown, unknown)):
        assert not beats(rules, i, j)
