"""The triple (μ̂, J, pen), and when one arm beats another (method "evidence", the default).

What an arm's pulls said is a linear Gaussian model of θ = (μ) or θ = (μ, bias) with information matrix Λ; a pull
contributes a matrix and a vector, which are *replaced* when the pull moves on and never taken back. With a prior
precision T the mixture likelihood ratio at the true θ, minimised over the bias, is

    ln M(μ) = ½·J·(μ̂ − μ)² − pen,   pen = ½·ln det(I + T⁻¹Λ),   1/J = (Λ⁻¹ + Λ⁻¹TΛ⁻¹)₁₁,

at most a nonnegative martingale from 1, whatever is pulled, cut or lost in the light of what was reported.

Where readings have an unknown offset (θ = (μ, offset)) a reading is offset + βX + e, and Λ = [[a+β²w, βw], [βw, w+q]]
(a: finished pulls, w: the others, q: residuals Ȳ − βX; β = 1 when biased), so with d = det Λ = a(w+q) + β²wq:

    (Λ⁻¹)₁₁ = (w+q)/d,  (Λ⁻¹)₁₂ = −βw/d,  1/J = (Λ⁻¹)₁₁ + τ·(Λ⁻¹)₁₁² + τ_b·(Λ⁻¹)₁₂²,

sums of positive terms throughout: nothing cancels. (The factor of τ is (Λ⁻¹)₁₁²: docs/guarantees.md.)

The interval [LOW, HIGH] here is the *screen* of verdict.py: μ̂ ± √(v(L + 2pen)) with v = 1/J. By Cauchy and Schwarz
√(2(v_i+v_j)(L+pen_i+pen_j)) ≥ √(v_i(L+2pen_i)) + √(v_j(L+2pen_j)), so an arm can only beat another when these
intervals are apart, and with equal information it beats it exactly then. Rounding is left on the safe side.
"""

import math

from earlycall.core.tables import (
    AX,
    BIASED,
    ESTIMATE,
    FINISHED,
    HIGH,
    LOW,
    MEAN,
    PENALTY,
    PRECISION,
    QZ,
    RUNNING,
    SIGMA,
    SLOPE,
    SPEAKING,
    SPREAD,
    STATE,
    TAU,
    TAU_BIAS,
    W_LEFT,
    WEIGHT,
    WY,
    A,
    Floats,
    Ints,
    Q,
    Rules,
    W,
)


def replace_reading(arm: Ints, armf: Floats, pull: Ints, pullf: Floats, weight: float, estimate: float) -> None:
    """Put what the pull says now in the place of what it said before: (weight, estimate)."""
    if weight <= 0.0:
        arm[SPEAKING] += 1
    armf[W] += pullf[WEIGHT] - weight
    armf[WY] += pullf[WEIGHT] * pullf[ESTIMATE] - weight * estimate
    if pull[STATE] != RUNNING:
        armf[W_LEFT] += pullf[WEIGHT] - weight


def replace_by_full(rules: Rules, arm: Ints, armf: Floats, pull: Ints, pullf: Floats, value: float) -> None:
    """Put the full feedback in the place of the pull's readings, its residual into the estimate of the bias."""
    precision = 1.0 / (armf[SIGMA] * armf[SIGMA])
    armf[A] += precision
    armf[AX] += precision * value
    if pullf[WEIGHT] > 0.0:
        arm[SPEAKING] -= 1
        armf[W] -= pullf[WEIGHT]
        armf[WY] -= pullf[WEIGHT] * pullf[ESTIMATE]
        if pull[STATE] != RUNNING and pull[STATE] != FINISHED:
            armf[W_LEFT] -= pullf[WEIGHT]
        if rules.feedback >= BIASED:
            armf[Q] += pullf[PRECISION]
            armf[QZ] += pullf[PRECISION] * (pullf[ESTIMATE] - armf[SLOPE] * value)
    if arm[SPEAKING] == 0:  # differences leave dust; what is not there is exactly 0
        armf[W] = 0.0
        armf[WY] = 0.0
        armf[W_LEFT] = 0.0


def information(rules: Rules, slope: float, a: float, w: float, q: float) -> float:
    """What is known about the mean alone: 1/(Λ⁻¹)₁₁."""
    if rules.feedback < BIASED:
        return a + w
    if w + q <= 0.0:
        return a
    return a + slope * slope * w * (q / (w + q))


def weigh(rules: Rules, armf: Floats) -> None:
    """Bring (μ̂, 1/J, pen) and the screen up to date with the sums."""
    a = armf[A]
    w = armf[W]
    q = armf[Q]
    tau = armf[TAU]
    if rules.feedback >= BIASED and w + q > 0.0:
        tau_bias = armf[TAU_BIAS]
        slope = armf[SLOPE]
        square = slope * slope
        d = a * (w + q) + square * w * q
        armf[PENALTY] = 0.5 * math.log1p((a + square * w) / tau + (w + q) / tau_bias + d / (tau * tau_bias))
        if a <= 0.0:  # only the sum of mean and bias was seen: J = 0
            armf[SPREAD] = math.inf
        else:
            c11 = (w + q) / d
            c12 = slope * w / d
            armf[SPREAD] = c11 + tau * c11 * c11 + tau_bias * c12 * c12
            armf[MEAN] = c11 * armf[AX] + slope * (q * armf[WY] - w * armf[QZ]) / d
    else:
        known = a + w
        armf[PENALTY] = 0.5 * math.log1p(known / tau)
        if known <= 0.0:
            armf[SPREAD] = math.inf
        else:
            armf[SPREAD] = (known + tau) / (known * known)
            armf[MEAN] = (armf[AX] + armf[WY]) / known
    half = math.sqrt(armf[SPREAD] * (rules.level + 2.0 * armf[PENALTY]))
    # The screen may be too narrow by rounding, never too wide: give it a few ulps of the numbers it is made of.
    half -= 1e-12 * half if half < math.inf else 0.0
    slack = 4e-15 * math.fabs(armf[MEAN])
    armf[LOW] = armf[MEAN] - half + slack
    armf[HIGH] = armf[MEAN] + half - slack


def statistic(i: Floats, j: Floats) -> float:
    """The evidence that the two arms' means lie as their estimates do: ½Δ²/(1/J_i + 1/J_j) − pen_i − pen_j."""
    return weight_of(i[MEAN] - j[MEAN], i[SPREAD] + j[SPREAD], i[PENALTY] + j[PENALTY])


def weight_of(gap: float, spread: float, penalty: float) -> float:
    """The evidence in a gap: ½Δ²/spread − penalty."""
    return gap * gap / (2.0 * spread) - penalty


def beats(rules: Rules, i: Floats, j: Floats) -> bool:
    """Whether arm i is established as better than arm j."""
    return i[MEAN] > j[MEAN] and statistic(i, j) > rules.level


def width(rules: Rules, i: Floats, j: Floats) -> float:
    """How far apart the two means must be for a verdict: √(2(1/J_i + 1/J_j)(L + pen_i + pen_j))."""
    return math.sqrt(2.0 * (i[SPREAD] + j[SPREAD]) * (rules.level + i[PENALTY] + j[PENALTY]))
