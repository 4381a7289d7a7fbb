"""A pilot: σ (and the sd of a reading) measured by the first pulls of every arm, before anything is decided.

When the first p pulls that every arm started, lost ones aside, have all ended, SS = Σ(x − x̄_i)² over them is σ²χ² with
n(p−1) degrees of freedom if all arms scatter alike, so with q the lower δ/10 point of that distribution σ ≤ √(SS/q)
except with probability δ/10. The same for the sd of a reading, from √P·(Ȳ − X) of the same pulls: one degree of freedom
for each that spoke, less one for each arm where readings have an offset. The race is run with these bounds in the place
of the sds, at what is left of δ. That the pilot's own pulls go on counting is no circle: for normal values x̄ and SS are
independent, and nothing is decided, cut or looked at before SS is known.

Until then sds count as 1: an arm's sums hold numbers of pulls. `end_pilot` makes information of them.
"""

import math

from earlycall.core.feedback import weight
from earlycall.core.tables import (
    AX,
    BIASED,
    COUNTED,
    CURVE_PRECISION,
    DONE,
    ESTIMATE,
    EVERY,
    FINISHED,
    FIRST,
    FREE,
    NARROW_TAU,
    NEXT,
    OUT,
    PILOTING,
    PRECISION,
    QZ,
    RUNNING,
    SIGMA,
    SLOPE,
    SPEAKING,
    STATE,
    TAU,
    TAU_BIAS,
    TO_A,
    TO_AX,
    UNBIASED,
    VALUE,
    W_LEFT,
    WALKED,
    WEIGHT,
    WITHIN,
    WY,
    A,
    Q,
    Rules,
    Tables,
    W,
)


def chi_square_point(freedom: float, probability: float) -> float:
    """The point below which a χ² variable lies with this small probability, from below (never above it).

    P(a, x) = xᵃe⁻ˣ/Γ(a+1)·(1 + x/(a+1) + x²/((a+1)(a+2)) + …) with a = freedom/2, x = point/2, and bisection.
    """
    a = 0.5 * freedom
    log_gamma = log_factorial(a)
    low = 0.0
    high = a
    for _ in range(200):
        x = 0.5 * (low + high)
        term = 1.0
        total = 1.0
        n = a
        while term > 1e-17 * total:
            n += 1.0
            term *= x / n
            total += term
        if a * math.log(x) - x - log_gamma + math.log(total) > math.log(probability):
            high = x
        else:
            low = x
    return 2.0 * low


def log_factorial(a: float) -> float:
    """ln Γ(a+1) for a whole or half a number, factor by factor: libraries differ in their last digits.

    >>> round(log_factorial(4.0), 6) == round(math.log(24.0), 6)
    True
    """
    total = 0.0
    while a > 0.75:
        total += math.log(a)
        a -= 1.0
    return total + (0.5 * math.log(math.pi) - math.log(2.0) if a > 0.25 else 0.0)


def next_of_pilot(t: Tables, pull: int) -> int:
    """The pull itself, or the next in start order that was not lost; −1: none."""
    while pull >= 0 and t.pulls[pull][OUT] == 1:
        pull = t.pulls[pull][NEXT]
    return pull


def has_ended(rules: Rules, t: Tables, index: int) -> bool:
    """Whether an arm's pulls of the pilot have all ended."""
    if t.arms[index][DONE] < rules.pilot:
        return False
    pull = next_of_pilot(t, t.arms[index][FIRST])
    for _ in range(rules.pilot):
        if pull < 0 or t.pulls[pull][STATE] != FINISHED:
            return False
        pull = next_of_pilot(t, t.pulls[pull][NEXT])
    return True


def scatter_of(rules: Rules, t: Tables, index: int) -> tuple[float, float, float, float]:
    """Of an arm's pilot: (Σ(x − x̄)², a size its rounding is below, Σ P(Ȳ − X)², degrees of freedom of the latter)."""
    mean, squares, largest = 0.0, 0.0, 0.0
    known, offset, residual, spoke = 0.0, 0.0, 0.0, 0.0
    pull = t.arms[index][FIRST]
    for count in range(1, rules.pilot + 1):
        pull = next_of_pilot(t, pull)
        row = t.pullf[pull]
        gap = row[VALUE] - mean
        mean += gap / count
        squares += gap * (row[VALUE] - mean)
        if math.fabs(row[VALUE]) > largest:
            largest = math.fabs(row[VALUE])
        if rules.feedback >= UNBIASED and row[PRECISION] > 0.0:
            spoke += 1.0
            known += row[PRECISION]
            gap = row[ESTIMATE] - row[VALUE]
            if rules.feedback >= BIASED:
                gap -= offset
                offset += gap * (row[PRECISION] / known)
                residual += row[PRECISION] * gap * (row[ESTIMATE] - row[VALUE] - offset)
            else:
                residual += row[PRECISION] * gap * gap
        pull = t.pulls[pull][NEXT]
    if rules.feedback >= BIASED and spoke > 0.0:
        spoke -= 1.0
    return squares, 1e-18 * rules.pilot * largest * largest, residual, spoke


def end_pilot(rules: Rules, t: Tables) -> bool:
    """Measure the sds and put them in their places, once the pilot is over; whether that was now.

    Where values (or residuals) do not scatter at all no bound is to be had, and the pilot goes on.
    """
    for index in range(rules.arms):
        if not has_ended(rules, t, index):
            return False
    squares, dust, residual, freedom = 0.0, 0.0, 0.0, 0.0
    for index in range(rules.arms):
        found = scatter_of(rules, t, index)
        squares += found[0]
        dust += found[1]
        residual += found[2]
        freedom += found[3]
    if squares <= dust:
        return False
    if rules.pilot_readings == 1:
        if residual <= dust or freedom < 1.0:
            return False
        t.curve[0][CURVE_PRECISION] = chi_square_point(freedom, rules.pilot_risk) / residual
    degrees = rules.arms * (rules.pilot - 1.0)
    known = chi_square_point(degrees, rules.pilot_risk) / squares  # 1/σ²
    t.race[PILOTING] = 0
    for index in range(rules.arms):
        armf = t.armf[index]
        armf[SIGMA] = 1.0 / math.sqrt(known)
        for column in (TAU, NARROW_TAU, TAU_BIAS):
            armf[column] *= known
        if rules.order == FREE:
            recount(rules, t, index)
    for row in range(t.race[WALKED]):  # (of full feedback alone, where pulls count in order)
        t.walkf[row][TO_A] *= known
        t.walkf[row][TO_AX] *= known
    return True


def recount(rules: Rules, t: Tables, index: int) -> None:
    """Make an arm's sums anew from its pulls, with the sds that were measured."""
    arm = t.arms[index]
    armf = t.armf[index]
    for column in (A, AX, W, WY, Q, QZ, W_LEFT):
        armf[column] = 0.0
    arm[SPEAKING] = 0
    precision = 1.0 / (armf[SIGMA] * armf[SIGMA])
    pull = arm[FIRST]
    while pull >= 0:
        now = t.pulls[pull]
        row = t.pullf[pull]
        if rules.feedback < UNBIASED:
            row[WEIGHT] *= precision
            row[WITHIN] *= precision
        else:
            if rules.pilot_readings == 1:
                row[PRECISION] *= t.curve[0][CURVE_PRECISION]
                row[WITHIN] *= t.curve[0][CURVE_PRECISION]
            row[WEIGHT] = weight(armf[SLOPE] * armf[SIGMA], row[PRECISION])
        if now[COUNTED] == 2:
            armf[A] += precision
            armf[AX] += precision * row[VALUE]
            if rules.feedback >= BIASED and row[WEIGHT] > 0.0:
                armf[Q] += row[PRECISION]
                armf[QZ] += row[PRECISION] * (row[ESTIMATE] - armf[SLOPE] * row[VALUE])
        elif row[WEIGHT] > 0.0 and (rules.looks == EVERY or now[COUNTED] == 1):
            arm[SPEAKING] += 1
            armf[W] += row[WEIGHT]
            armf[WY] += row[WEIGHT] * row[ESTIMATE]
            if now[STATE] != RUNNING:
                armf[W_LEFT] += row[WEIGHT]
        pull = t.pulls[pull][NEXT]
