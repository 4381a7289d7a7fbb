"""The least time any method needs (THEORY §3; for Gaussian feedback, independent delays and ε = 0).

A method that is right with probability 1 − δ must tell every one of the best k from every other arm. With w_i the
share of the slots' time that arm i gets and ρ_i the most information a step can bring on it,

    E[time] ≥ kl(δ, 1−δ)·T*/b,   1/T* = max over w of min over pairs of Δ_ij² / (2(1/(ρ_i·w_i) + 1/(ρ_j·w_j))),

over Σw = 1 and w_i ≤ r/b. In x_i = 1/(ρ_i·w_i) the pairs are linear constraints and the time spent is convex: to have
every pair at level c one needs x_i + x_j ≤ Δ_ij²/(2c), x_i ≥ b/(r·ρ_i), and Σ 1/(ρ_i·x_i) slots. Without the limit r
everything scales with c, so T* = 2·min{Σ 1/(ρ_i·y_i): y_i + y_j ≤ Δ_ij²}, one convex program; with it, bisection on c.

The program is solved by a log-barrier and Newton's method. Its bordered Hessian is a diagonal plus a k×(n−k) block, so
a step costs one Cholesky factor of the smaller side. What is returned is on the safe side: the value less the gap that
the barrier still leaves, and so a floor indeed.
"""

import earlycall.sim.extra  # noqa: F401

# isort: split
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from earlycall.core.models import Biased, Correlated, Feedback, Full, Incremental, Unbiased
from earlycall.core.settings import Settings
from earlycall.errors import SettingError
from earlycall.sim.worlds import World

GAP = 1e-9  # of the program's value, relative
TIED = "the k-th and the next best arm are equally good here: no method can tell them apart. Say epsilon or max_pulls."


class Floor(NamedTuple):
    """The least time, in steps: the larger of two floors."""

    pairs: float  # kl(δ, 1−δ)·T*/b
    first: float  # (1−2δ)·n·(setup + the first step that says anything)/b
    shares: tuple[float, ...]  # of the slots' time, by arm, as the best method would spend it

    @property
    def steps(self) -> float:
        """The floor."""
        return max(self.pairs, self.first)


def floor(settings: Settings, world: World) -> Floor:
    """The least mean time of any method with these settings in this world.

    Refuses tied means, which take for ever, and what it is not a floor for: ε, a budget, arms that come and go, delays
    that know the reward.
    """
    if settings.epsilon > 0.0 or settings.max_pulls is not None:
        raise SettingError(
            "no floor is known for races that may end with ε or a budget: leave out epsilon and max_pulls."
        )
    if world.changes:
        raise SettingError("no floor is known where arms come and go.")
    if world.delay_is_reward:
        raise SettingError("no floor is known where delays know the reward.")
    n, slots = len(world.means), settings.parallel
    per_arm = slots if settings.per_arm is None else min(settings.per_arm, slots)
    setup = settings.setup or 0.0
    feedback = settings.feedback
    if isinstance(feedback, Unbiased | Biased) and feedback.reading_sd is None:  # a pilot is to measure what is true
        feedback = replace(feedback, sigma=1.0, reading_sd=world.reading_sd)
    rates = {sigma: rate(feedback, sigma, world, setup) for sigma in set(world.sigmas)}
    order = sorted(range(n), key=lambda i: (-world.means[i], i))
    means = np.array([world.means[i] for i in order])
    if means[settings.k - 1] <= means[settings.k]:
        raise SettingError(TIED)
    gaps = (means[: settings.k, None] - means[None, settings.k :]) ** 2
    rho = np.array([rates[world.sigmas[i]] for i in order])
    hardness, weights = hardness_of(gaps, rho, per_arm / slots)
    first = 1
    if isinstance(
        settings.feedback, Full | Biased | Correlated
    ):  # of an arm none of whose pulls has ended, nothing is known
        first = world.steps if world.shortest is None else world.shortest
    shares = np.empty(n)
    shares[order] = weights
    return Floor(
        pairs=kl(settings.delta) * hardness / slots * (1.0 - GAP),  # rounding, too, is on the safe side
        first=(1.0 - 2.0 * settings.delta) * n * (setup + first) / slots,
        shares=tuple(shares.tolist()),
    )


def kl(delta: float) -> float:
    """The relative entropy of a coin of bias δ to one of 1 − δ, 0 where δ ≥ ½.

    >>> round(kl(0.05), 4)
    2.65
    """
    return (1.0 - 2.0 * delta) * math.log((1.0 - delta) / delta) if delta < 0.5 else 0.0


def rate(feedback: Feedback, sigma: float, world: World, setup: float) -> float:
    """ρ: the most information per step of slot time that pulls of an arm can bring, stopped where it is best.

    A pull stopped after t steps has brought its full feedback if it was over by then, else what its readings say. A
    bias is taken as known: that can only help, and a floor may not be too high.
    """
    longest, shortest = world.steps, world.steps if world.shortest is None else world.shortest
    if isinstance(feedback, Incremental):  # the shortest pulls bring most a step, and their length is known at once
        return 1.0 / (sigma**2 * (setup + shortest))
    best = 0.0
    spent = ended = 0.0  # E min(D, t), P(D ≤ t)
    precision = 0.0
    for t in range(1, longest + 1):
        spent += 1.0 - ended
        if t >= shortest:
            ended = (t - shortest + 1.0) / (longest - shortest + 1.0)
        known, precision = reading_information(feedback, sigma, t, precision)
        gain = ended / sigma**2 + (1.0 - ended) * known
        best = max(best, gain / (setup + spent))
    return best


def reading_information(feedback: Feedback, sigma: float, step: int, precision: float) -> tuple[float, float]:
    """(information of a pull's readings up to a step, their precision)."""
    if isinstance(feedback, Correlated):  # with its offset known: ρ²/σ² of a full feedback
        return (feedback.correlation / sigma) ** 2 if step >= feedback.from_step else 0.0, 0.0
    if not isinstance(feedback, Unbiased | Biased):
        return 0.0, 0.0
    curve = feedback.reading_sd if isinstance(feedback.reading_sd, Mapping) else {1: feedback.reading_sd or math.inf}
    begun = [first for first in curve if first <= step]
    says = curve[max(begun)] ** -2.0 if begun else 0.0
    precision = max(precision, says) if feedback.pooling == "refining" else precision + says
    return precision / (1.0 + sigma**2 * precision), precision


# The program ---------------------------------------------------------------------------------------------------------


def hardness_of(gaps: Any, rho: Any, most: float) -> tuple[float, Any]:
    """(T*, the best shares w, which may leave slots idle where none is above `most`); `gaps`: Δ_ij² of all pairs."""
    cost = 1.0 / rho
    value, y = least_time(gaps, cost, np.zeros_like(cost))
    free = 2.0 * value
    weights = cost / y / np.sum(cost / y)
    if weights.max() <= most:
        return free, weights
    # With w_i ≤ most: the largest level c at which x_i ≥ 1/(ρ·most) and the pairs leave Σ 1/(ρ·x_i) ≤ 1.
    low, high = 0.0, 1.0 / free
    least = cost / most
    for _ in range(60):
        c = 0.5 * (low + high)
        bounds = gaps / (2.0 * c)
        room = bounds - least[: len(gaps), None] - least[None, len(gaps) :]
        if room.min() > 1e-12 * bounds.min():
            value, x = least_time(bounds, cost, least)
            if value <= 1.0:
                low, weights = c, cost / x
                continue
        high = c
    return 1.0 / high, weights


def least_time(bounds: Any, cost: Any, least: Any) -> tuple[float, Any]:
    """(a lower bound within GAP of min Σ cost/x, the x) over x > least and x_i + x_j ≤ bounds_ij for all pairs."""
    k, rest = bounds.shape
    x = least + 0.25 * (bounds - least[:k, None] - least[None, k:]).min()
    constraints = k * rest + k + rest
    t = constraints / np.sum(cost / x)
    while True:
        x = centred(x, bounds, cost, least, t)
        value = float(np.sum(cost / x))
        if constraints / t <= GAP * value:
            return value - constraints / t, x
        t *= 20.0


def centred(x: Any, bounds: Any, cost: Any, least: Any, t: float) -> Any:
    """The x that minimises t·Σ cost/x − Σ ln(bounds_ij − x_i − x_j) − Σ ln(x − least), by Newton's method."""
    k = len(bounds)
    for _ in range(100):
        slack = 1.0 / (bounds - x[:k, None] - x[None, k:])
        own = 1.0 / (x - least)
        gradient = -t * cost / x**2 - own
        gradient[:k] += slack.sum(axis=1)
        gradient[k:] += slack.sum(axis=0)
        square = slack**2
        diagonal = 2.0 * t * cost / x**3 + own**2
        diagonal[:k] += square.sum(axis=1)
        diagonal[k:] += square.sum(axis=0)
        step = bordered_solve(diagonal, square, -gradient)
        decrement = -float(gradient @ step)
        if decrement <= 1e-10:
            return x
        size = 1.0
        while not better(x, step, size, bounds, cost, least, t, decrement):
            size *= 0.5
            if size < 1e-12:  # no digit left to gain
                return x
        x = x + size * step
    return x


def bordered_solve(diagonal: Any, block: Any, right: Any) -> Any:
    """Solve [[D₁, B], [Bᵀ, D₂]]·z = right by the Schur complement of the longer side."""
    k, rest = block.shape
    if k > rest:
        flipped = bordered_solve(np.roll(diagonal, rest), block.T, np.roll(right, rest))
        return np.roll(flipped, k)
    scaled = block / diagonal[None, k:]
    schur = np.diag(diagonal[:k]) - scaled @ block.T
    first = np.linalg.solve(schur, right[:k] - scaled @ right[k:])
    return np.concatenate([first, (right[k:] - block.T @ first) / diagonal[k:]])


def better(x: Any, step: Any, size: float, bounds: Any, cost: Any, least: Any, t: float, decrement: float) -> bool:
    """Whether a step of this size stays inside and goes down enough (Armijo)."""
    z = x + size * step
    k = len(bounds)
    room = bounds - z[:k, None] - z[None, k:]
    if (z <= least).any() or (room <= 0.0).any():
        return False
    before = bounds - x[:k, None] - x[None, k:]
    change = t * np.sum(cost / z - cost / x) - np.sum(np.log(room / before)) - np.sum(np.log((z - least) / (x - least)))
    return bool(change <= -0.1 * size * decrement)
