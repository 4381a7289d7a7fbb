"""The checks of the model against dense linear algebra that knows readings one by one, and nothing of Λ, C or D."""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import earlycall as ec
from earlycall.core.remedies import alternatives
from earlycall.core.suspicions import (
    SD_TIMES,
    SHARED_VARIANCE,
    SIGMA_TIMES,
    bias_in,
    delay_in,
    fit,
    log_odds_in,
    spreads,
)
from tests.play import open_quietly

pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")  # the readings made here are odd
STEPS = 5
FEEDBACKS: dict[str, Any] = {
    "full": ec.Full(1.3),
    "incremental": ec.Incremental(1.3, STEPS),
    "independent": ec.Unbiased(1.3, {1: 1.0, 3: 0.5}),
    "refining": ec.Unbiased(1.3, {1: 2.0, 2: 1.5, 3: 1.0, 4: 0.5}, pooling="refining"),
    "biased": ec.Biased(1.3, {1: 1.0, 3: 0.5}),
    "correlated": ec.Correlated(1.3, 1.5, 0.6),
}
Story = list[tuple[list[float], float | None]]


def arm_after(feedback: Any, seed: int, pulls: int) -> tuple[ec.Race, Story]:
    """A race whose first arm has finished, running and lost pulls; and what each of them said."""
    chance = random.Random(seed)
    race = open_quietly(
        ["a", "b"], k=1, delta=1e-9, feedback=feedback, parallel=2 * pulls, per_arm=pulls, delays="independent"
    )
    story: Story = []
    for pull in [pull.id for pull in race.ask() if pull.arm == "a"]:
        x = chance.gauss(3.0, 1.0)
        count = chance.randrange(2 if isinstance(feedback, ec.Correlated) else STEPS)
        readings = [chance.gauss(x + 1.0, 1.0) for _ in range(count)]
        if isinstance(feedback, ec.Incremental):
            readings = [y / STEPS for y in readings]
        for step, y in enumerate(readings, start=1):
            race.report(pull, y, step)
        ends = chance.choice(["running", "finished", "finished", "lost"])
        if ends == "finished":
            race.tell(pull, x)
        elif ends == "lost":
            race.lose(pull)
        story.append(([] if isinstance(feedback, ec.Full) else readings, x if ends == "finished" else None))
    return race, story


def normals(feedback: Any, story: Story, times: float, shared: float, sd_times: float) -> tuple[Any, Any, Any]:
    """(all that was said, what it expects of (μ, ν), its covariance), reading by reading."""
    said: list[float] = []
    rows: list[list[float]] = []
    blocks = []
    variance = (times * feedback.sigma) ** 2
    for readings, x in story:
        count = len(readings)
        if isinstance(feedback, ec.Incremental):
            gains = readings if x is None else [*readings, x - sum(readings)]
            spans = [1.0] * count + ([] if x is None else [float(STEPS - count)])
            said += gains
            rows += [[span / STEPS, 0.0] for span in spans]
            blocks.append(np.diag([variance * span / STEPS for span in spans]))
            continue
        slope = 0.6 * 1.5 / 1.3 if isinstance(feedback, ec.Correlated) else 1.0
        sds = [sd_of(feedback, step) for step in range(1, count + 1)]
        block = np.full((count + 1, count + 1), slope * slope * variance + shared)
        block[count, :] = block[:, count] = slope * variance
        block[count, count] = variance
        for i, j in itertools.product(range(count), repeat=2):
            if getattr(feedback, "pooling", "") == "refining":
                block[i, j] += (sd_times * sds[max(i, j)]) ** 2
            elif i == j:
                block[i, j] += (sd_times * sds[i]) ** 2
        said += readings + ([] if x is None else [x])
        rows += [[0.0, 1.0]] * count + ([] if x is None else [[1.0, 0.0]])
        blocks.append(block[:count, :count] if x is None else block)
    covariance = np.zeros((len(said), len(said)))
    at = 0
    for block in blocks:
        covariance[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return np.array(said), np.array(rows).reshape(-1, 2), covariance


def sd_of(feedback: Any, step: int) -> float:
    """The declared sd of a reading at a step."""
    if isinstance(feedback, ec.Correlated):
        return feedback.residual_sd
    return next(sd for first, sd in sorted(feedback.reading_sd.items(), reverse=True) if first <= step)


def log_normal(said: Any, mean: Any, covariance: Any) -> float:
    """ln of a joint normal density."""
    rest = said - mean
    sign, log_det = np.linalg.slogdet(covariance)
    assert sign > 0
    return -0.5 * float(rest @ np.linalg.solve(covariance, rest)) - 0.5 * float(log_det)


def least_favourable(said: Any, expects: Any, null: Any, other: Any) -> float:
    """min over u of ln N(said; Hu, other) − ln N(said; Hu, null); −inf where it has no minimum."""
    seen = [column for column in range(expects.shape[1]) if np.any(expects[:, column])]
    h = expects[:, seen]
    one, two = np.linalg.inv(other), np.linalg.inv(null)
    curve = h.T @ (two - one) @ h
    if len(seen) and np.linalg.eigvalsh(curve)[0] <= 1e-9:
        return -math.inf
    u = np.linalg.solve(curve, h.T @ (two - one) @ said) if len(seen) else np.zeros(0)
    here = log_normal(said, h @ u, other) - log_normal(said, h @ u, null)
    for step in itertools.product((-0.1, 0.1), repeat=len(seen)):  # it is a minimum
        there = h @ (u + np.array(step))
        assert log_normal(said, there, other) - log_normal(said, there, null) >= here - 1e-9
    return here


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", FEEDBACKS)
def test_each_alternative_is_a_ratio_of_normal_densities(name: str, seed: int) -> None:
    """ln e of an arm, for every alternative of its race, from the joint normal density of all it said."""
    feedback = FEEDBACKS[name]
    race, story = arm_after(feedback, seed, 1 + 2 * seed)
    state = race._state
    rules, t = state.rules, state.tables
    said, expects, null = normals(feedback, story, 1.0, 0.0, 1.0)
    for row in alternatives(state.settings, rules):
        if not len(said):
            continue
        _, _, other = normals(feedback, story, row[SIGMA_TIMES], row[SHARED_VARIANCE], row[SD_TIMES])
        c1, c2 = spreads(rules, t.armf[0], row[SIGMA_TIMES], row[SD_TIMES])
        other = other + expects @ np.diag([c1, c2]) @ expects.T
        expected = least_favourable(said, expects, null, other)
        odds = log_odds_in(rules, t, 0, fit(rules, t, 0, 1.0, 0.0, 1.0), row)
        assert odds == pytest.approx(expected, rel=1e-7, abs=1e-7), row
        assert odds > -math.inf


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["independent", "refining"])
def test_the_evidence_of_a_bias_is_a_ratio_of_normal_densities(name: str, seed: int) -> None:
    """At bias 0 against one spread around it by half a σ, and the mean by a σ; and the bias that fits best."""
    feedback = FEEDBACKS[name]
    race, story = arm_after(feedback, seed, 1 + 2 * seed)
    state = race._state
    said, expects, null = normals(feedback, story, 1.0, 0.0, 1.0)
    odds, bias = bias_in(state.rules, state.tables, 0)
    if not len(said):
        assert odds == 0.0
        return
    mean = expects @ np.ones((2, 1))  # readings and full feedback have one mean
    variance = feedback.sigma**2
    offset = expects[:, 1:]
    other = null + variance * (mean @ mean.T + 0.25 * offset @ offset.T)
    by_hand = least_favourable(said, mean, null, other)
    assert odds == pytest.approx(by_hand, rel=1e-7, abs=1e-7)
    both = np.hstack([mean, offset])
    weights = np.linalg.pinv(null)
    if np.linalg.matrix_rank(both) == 2:
        fitted = np.linalg.solve(both.T @ weights @ both, both.T @ weights @ said)
        assert bias == pytest.approx(fitted[1], rel=1e-7)


def every_order(values: tuple[int, ...], delays: tuple[int, ...]) -> float:
    """The e-value of one arm with such values and delays."""
    race = open_quietly(
        ["a", "b"], k=1, delta=1e-9, feedback=ec.Full(1.0), parallel=20, per_arm=10, delays="independent"
    )
    pulls = [pull.id for pull in race.ask() if pull.arm == "a"]
    for pull, value, delay in zip(pulls, values, delays, strict=False):
        race.tell(pull, float(value), delay)
    better, worse = delay_in(race._state.rules, race._state.tables, 0)
    return 0.5 * (math.exp(better) + math.exp(worse))


@pytest.mark.parametrize("delays", [(1, 2, 3, 4, 5), (3, 1, 3, 2, 3), (5, 5, 1, 1, 2)])
def test_over_all_orders_of_the_values_the_evidence_of_delays_is_one(delays: tuple[int, ...]) -> None:
    """Whatever the delays: the mean of e over all orders of five values is 1, and so is that of each factor."""
    mean = math.fsum(every_order(order, delays) for order in itertools.permutations(range(5))) / 120.0
    assert mean == pytest.approx(1.0, rel=1e-12)
    assert every_order((0, 1, 2, 3, 4), (1, 2, 3, 4, 5)) > 1.5
    assert every_order((4, 3, 2, 1, 0), (1, 2, 3, 4, 5)) > 1.5
