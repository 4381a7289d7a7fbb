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

*Two priors.* A prior that is narrow (a large τ) wins on small gaps, a wide one on large gaps, and nobody knows the gap.
So each race is run with both, half the evidence each: with z_r = ½Δ²/(1/J_ir + 1/J_jr) − pen_ir − pen_jr, which is the
least of ln M_ir(m)·M_jr(m) over a common mean m, the evidence of a pair is ln(½e^z₁ + ½e^z₂). It is at most
ln(½M_i1·M_j1 + ½M_i2·M_j2) at the truth, the mean of two martingales.

The interval [LOW, HIGH] here is the *screen* of verdict.py: μ̂ ± √(v(L + 2pen)) with v = 1/J, the shorter of the two.
By Cauchy and Schwarz √(2(v_i+v_j)(L+pen_i+pen_j)) ≥ √(v_i(L+2pen_i)) + √(v_j(L+2pen_j)), and a mean of two is at most
the larger, so an arm can only beat another when these intervals are apart. Rounding is left on the safe side.
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
    NARROW_PENALTY,
    NARROW_SPREAD,
    NARROW_TAU,
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

LN2 = math.log(2.0)


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
    """Bring (μ̂, 1/J, pen) of both priors and the screen up to date with the sums."""
    a = armf[A]
    w = armf[W]
    q = armf[Q]
    tau = armf[TAU]
    narrow = armf[NARROW_TAU]
    if rules.feedback >= BIASED and w + q > 0.0:
        tau_bias = armf[TAU_BIAS]
        slope = armf[SLOPE]
        square = slope * slope
        d = a * (w + q) + square * w * q
        means = a + square * w
        offsets = (w + q) / tau_bias
        armf[PENALTY] = 0.5 * math.log1p(offsets + (means + d / tau_bias) / tau)
        armf[NARROW_PENALTY] = 0.5 * math.log1p(offsets + (means + d / tau_bias) / narrow)
        if a <= 0.0:  # only the sum of mean and bias was seen: J = 0
            armf[SPREAD] = math.inf
            armf[NARROW_SPREAD] = math.inf
        else:
            c11 = (w + q) / d
            c12 = slope * w / d
            least = c11 + tau_bias * c12 * c12
            armf[SPREAD] = least + tau * c11 * c11
            armf[NARROW_SPREAD] = least + narrow * c11 * c11
            armf[MEAN] = c11 * armf[AX] + slope * (q * armf[WY] - w * armf[QZ]) / d
    else:
        known = a + w
        armf[PENALTY] = 0.5 * math.log1p(known / tau)
        armf[NARROW_PENALTY] = 0.5 * math.log1p(known / narrow)
        if known <= 0.0:
            armf[SPREAD] = math.inf
            armf[NARROW_SPREAD] = math.inf
        else:
            armf[SPREAD] = (known + tau) / (known * known)
            armf[NARROW_SPREAD] = (known + narrow) / (known * known)
            armf[MEAN] = (armf[AX] + armf[WY]) / known
    half = screen(rules, armf)
    slack = 4e-15 * math.fabs(armf[MEAN])
    armf[LOW] = armf[MEAN] - half + slack
    armf[HIGH] = armf[MEAN] + half - slack


def screen(rules: Rules, armf: Floats) -> float:
    """Half the width of the screen: by rounding it may be too narrow, never too wide, so it gives up a few ulps."""
    square = armf[SPREAD] * (rules.level + 2.0 * armf[PENALTY])
    other = armf[NARROW_SPREAD] * (rules.level + 2.0 * armf[NARROW_PENALTY])
    if other < square:
        square = other
    half = math.sqrt(square)
    return half - 1e-12 * half if half < math.inf else half


def half_of_both(wide: float, narrow: float) -> float:
    """ln(½e^wide + ½e^narrow)."""
    if wide >= narrow:
        return wide + math.log1p(math.exp(narrow - wide)) - LN2
    return narrow + math.log1p(math.exp(wide - narrow)) - LN2


def statistic(i: Floats, j: Floats) -> float:
    """The evidence that the two arms' means lie as their estimates do; call it when both are known."""
    gap = i[MEAN] - j[MEAN]
    wide = weight_of(gap, i[SPREAD] + j[SPREAD], i[PENALTY] + j[PENALTY])
    narrow = weight_of(gap, i[NARROW_SPREAD] + j[NARROW_SPREAD], i[NARROW_PENALTY] + j[NARROW_PENALTY])
    return half_of_both(wide, narrow)


def weight_of(gap: float, spread: float, penalty: float) -> float:
    """The evidence in a gap: ½Δ²/spread − penalty."""
    return gap * gap / (2.0 * spread) - penalty


def beats(rules: Rules, i: Floats, j: Floats) -> bool:
    """Whether arm i is established as better than arm j."""
    gap = i[MEAN] - j[MEAN]
    wide = i[SPREAD] + j[SPREAD]
    narrow = i[NARROW_SPREAD] + j[NARROW_SPREAD]
    return settles(rules, gap, wide, i[PENALTY] + j[PENALTY], narrow, i[NARROW_PENALTY] + j[NARROW_PENALTY])


def settles(rules: Rules, gap: float, wide: float, penalty: float, narrow: float, narrow_penalty: float) -> bool:
    """Whether a gap between two means is evidence enough for a verdict."""
    if gap <= 0.0:
        return False
    first = weight_of(gap, wide, penalty)
    second = weight_of(gap, narrow, narrow_penalty)
    if first <= rules.level and second <= rules.level:  # the mean of two is at most the larger
        return False
    return half_of_both(first, second) > rules.level


def evidence_against(armf: Floats, mean: float) -> float:
    """ln M(μ), the evidence that an arm's mean is not this one."""
    gap = armf[MEAN] - mean
    wide = weight_of(gap, armf[SPREAD], armf[PENALTY])
    return half_of_both(wide, weight_of(gap, armf[NARROW_SPREAD], armf[NARROW_PENALTY]))


def width(rules: Rules, i: Floats, j: Floats) -> float:
    """How far apart the two means must be for a verdict."""
    wide = i[SPREAD] + j[SPREAD]
    narrow = i[NARROW_SPREAD] + j[NARROW_SPREAD]
    penalty = i[PENALTY] + j[PENALTY]
    return reach(rules.level, wide, penalty, narrow, i[NARROW_PENALTY] + j[NARROW_PENALTY])


def reach(level: float, wide: float, penalty: float, narrow: float, narrow_penalty: float) -> float:
    """The gap whose evidence, half of each prior's, comes to `level`.

    The evidence is convex and growing in the gap's square, so Newton's steps from above come down to the gap and never
    pass it. Eight are enough: from the larger prior's own answer the first already lands within ln 2 of the level.
    """
    square = 2.0 * wide * (level + LN2 + penalty)
    other = 2.0 * narrow * (level + LN2 + narrow_penalty)
    if other < square:
        square = other
    if square == math.inf:
        return math.inf
    for _ in range(8):
        first = square / (2.0 * wide) - penalty
        second = square / (2.0 * narrow) - narrow_penalty
        total = half_of_both(first, second)
        share = math.exp(first - LN2 - total)  # of the evidence that is the wide prior's
        slope = share / (2.0 * wide) + (1.0 - share) / (2.0 * narrow)
        square -= (total - level) / slope
    return math.sqrt(square)
