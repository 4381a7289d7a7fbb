"""Checks of the model while a race runs: how much better everything reported would fit if a declaration were wrong.

Each check compares likelihoods of *everything* that was reported: a pull that ended counts with its readings and its
full feedback, any other pull with its readings. What a policy that saw only that did (cut, cancelled, lost) is the same
factor on both sides, so at the true parameters the ratio is a martingale from 1 whatever was done in the light of
readings. An arm's unknowns (its mean μ, the mean ν = offset + βμ of its readings) are put where the declaration fits
best against the alternative; that can only make the ratio smaller, so by Ville's inequality it ever reaches 100 with
probability at most 0.01. (A test on the pulls that finished would misfire: they may be a selected sample.)

*Other sds.* The alternative has sds λσ of X and κs of a reading, and an error N(0, γ²) that all readings of a pull
share. An ended pull says X ~ N(μ, λ²σ²) and Z = Ȳ − βX ~ N(ν − βμ, κ²/q + γ²), another one Ȳ ~ N(ν, β²λ²σ² + κ²/q +
γ²), and its readings lie apart by WITHIN ~ κ²χ² with P − 1 degrees of freedom. So with u = (μ, ν), measured from any
origin, each side is a Gaussian model with an information matrix Λ and a vector v. If the alternative's u is spread
around the declaration's with covariance C, S = (C⁻¹ + Λ₁)⁻¹ = (I + CΛ₁)⁻¹C and

    ln e(u) = gain₁ − gain₀ + ½v₁ᵀSv₁ − ½ ln det(I + CΛ₁) + gᵀu + ½uᵀDu,
    D = Λ₀ − Λ₁ + Λ₁SΛ₁,  g = v₁ − v₀ − Λ₁Sv₁,

where a gain is the log-likelihood at the origin. Its minimum is −½gᵀD⁻¹g below the rest. D is positive when the spread
makes up for the variance that the alternative takes away (`spreads`); where it is not, e = 0 and nothing is said.
Increments have variance λ²σ²/D each, no offset, and lie apart like readings. The arms' e-values multiply, when all have
the same alternative; or just one may have it, the mean of e-values. Half of the stake lies on each (`log_odds`),
and equal parts of it on the alternatives of a check.

*In start order* (order.py) delays may know the reward, and who has ended is no fair sample. There an arm's pulls are
looked at up to the first that has not ended, and each arm is a process of its own: a check fires for the largest of its
e-values, over arms and alternatives, that reaches 100 times their number.

*Bias.* The mixture of evidence.py for (μ, bias) where readings were called unbiased, at bias 0: with the estimate b̂,

    ln e = ½J_b·b̂² − pen,  1/J_b = (Λ⁻¹)₂₂ + τ_b·(Λ⁻¹)₂₂² + τ·(Λ⁻¹)₁₂².

*Delays.* Of independent draws the rank of the f-th among the first f is uniform, whatever the ranks before it and all
delays. With the centred ranks u of its value and v of its delay, both in (−½, ½), each factor 1 ± 0.3·12uv has mean 1.
It bets along an arm's pulls in start order, up to the first that has not ended: a prefix of a sequence that nobody can
rearrange. (A pull lost in silence is skipped where an arm has one slot: then no later one was known when it was lost.)
"""

import math
from typing import NamedTuple

from earlycall.core.tables import (
    AX,
    BIASED,
    COUNTED,
    ESTIMATE,
    FINISHED,
    FIRST,
    FREE,
    INCREMENTAL,
    NEXT,
    OUT,
    PRECISION,
    QZ,
    READINGS,
    SIGMA,
    SLOPE,
    STATE,
    STEP,
    TOTAL,
    UNBIASED,
    VALUE,
    WEIGHT,
    WITHIN,
    WY,
    A,
    Floats,
    Ints,
    Q,
    Rules,
    Tables,
    W,
)

ENOUGH = math.log(100.0)  # what ln e takes to be a suspicion: wrong in at most 1 % of races
BIAS, SCALE, SHARED, NOISE, DELAYS = 0, 1, 2, 3, 4  # the checks

# Columns of the table of alternatives, one row each
CHECK = 0  # the check it belongs to
SIGMA_TIMES = 1  # λ
SHARED_VARIANCE = 2  # γ²
SD_TIMES = 3  # κ
TOGETHER = 4  # Σ ln e over the arms
SOME = 5  # ln Σ e over the arms
ALTERNATIVE = 6

MOST_PULLS = 20_000  # the first pulls of the race are looked at: what they do not show hardly matters
MOST_RANKED = 200  # pulls of an arm whose ranks are looked at: it takes the square of them
STAKE = 0.3  # below 1/3, so that no factor is 0


class Fit(NamedTuple):
    """How a model fits all that an arm's pulls said: Λ, v and the log-likelihood at the origin."""

    a: float  # on μ
    ax: float
    w: float  # on ν
    wy: float
    q: float  # on ν − βμ
    qz: float
    gain: float


def log_density(deviation: float, variance: float) -> float:
    """The logarithm of a normal density, less a constant."""
    return -0.5 * (math.log(variance) + deviation * deviation / variance)


def add_logs(x: float, y: float) -> float:
    """ln(eˣ + eʸ)."""
    most = x if x > y else y
    if most == -math.inf or most == math.inf:
        return most
    return most + math.log1p(math.exp(-math.fabs(x - y)))


def origin(rules: Rules, armf: Floats) -> tuple[float, float]:
    """Where to measure an arm's (μ, ν) from, so that no digits are lost."""
    known = armf[A] + armf[W]
    if known <= 0.0:
        return 0.0, 0.0
    if rules.feedback < BIASED:
        mean = (armf[AX] + armf[WY]) / known
        return mean, mean
    mean = armf[AX] / armf[A] if armf[A] > 0.0 else 0.0
    if armf[W] > 0.0:
        return mean, armf[WY] / armf[W]
    return mean, armf[SLOPE] * mean + (armf[QZ] / armf[Q] if armf[Q] > 0.0 else 0.0)


def fit(rules: Rules, t: Tables, index: int, sigma_times: float, shared: float, sd_times: float) -> Fit:
    """How well an arm's pulls fit with sds `sigma_times`·σ and `sd_times`·s and a shared error of variance `shared`."""
    armf = t.armf[index]
    slope = armf[SLOPE]
    variance = (sigma_times * armf[SIGMA]) * (sigma_times * armf[SIGMA])
    mean, shown = origin(rules, armf)
    log_times = math.log(sd_times)
    count, total, squares = 0, 0.0, 0.0  # of the full feedback
    a, ax, w, wy, q, qz, gain = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    pull = t.arms[index][FIRST]
    while 0 <= pull < MOST_PULLS and (rules.order == FREE or t.pulls[pull][STATE] == FINISHED):
        nowf = t.pullf[pull]
        ended = t.pulls[pull][STATE] == FINISHED
        if rules.order == FREE:  # late news that does not count may only be told for what was shown before
            ended = t.pulls[pull][COUNTED] == 2
        x = nowf[VALUE] - mean
        if ended:
            count += 1
            total += x
            squares += x * x
        if nowf[WEIGHT] > 0.0 and (rules.feedback == INCREMENTAL or nowf[PRECISION] > 0.0):
            y = nowf[ESTIMATE] - shown
            if rules.feedback == INCREMENTAL:
                gain += apart(t.pulls[pull], nowf, armf[SIGMA], sigma_times)
                if not ended:
                    share = nowf[WEIGHT] * (armf[SIGMA] * armf[SIGMA])
                    a += share / variance
                    ax += share * y / variance
                    gain += log_density(y, variance / share)
            else:
                error = sd_times * sd_times / nowf[PRECISION] + shared
                gain -= (t.pulls[pull][READINGS] - 1) * log_times + 0.5 * nowf[WITHIN] / (sd_times * sd_times)
                if ended:
                    z = y - slope * x
                    q += 1.0 / error
                    qz += z / error
                    gain += log_density(z, error)
                else:
                    error += slope * slope * variance
                    w += 1.0 / error
                    wy += y / error
                    gain += log_density(y, error)
        pull = t.pulls[pull][NEXT]
    gain -= 0.5 * (count * math.log(variance) + squares / variance)
    return Fit(a + count / variance, ax + total / variance, w, wy, q, qz, gain)


def apart(pull: Ints, pullf: Floats, sigma: float, times: float) -> float:
    """The log-likelihood of how far the increments of a pull lie apart; one that ended has gained a last one."""
    count = pull[READINGS] - 1
    within = pullf[WITHIN]
    share = pullf[WEIGHT] * (sigma * sigma)
    rest = 1.0 - share
    if pull[STATE] == FINISHED and rest > 1e-9:
        last = ((pullf[VALUE] - pullf[TOTAL]) / rest - pullf[ESTIMATE]) / sigma
        within += share * rest * last * last
        count += 1
    return -count * math.log(times) - 0.5 * within / (times * times)


def spreads(rules: Rules, armf: Floats, sigma_times: float, sd_times: float) -> tuple[float, float]:
    """The diagonal of C: a hundredth of the variances, and what makes up for variance taken away.

    One pull needs as much as was taken from it; where it speaks of μ and of ν, at most twice as much of each.
    """
    variance = armf[SIGMA] * armf[SIGMA]
    noise = rules.reading_sd * rules.reading_sd
    square = armf[SLOPE] * armf[SLOPE]
    taken = (1.0 - sigma_times * sigma_times) * variance if sigma_times < 1.0 else 0.0
    if rules.feedback == INCREMENTAL:  # the first of its D increments has D times the variance
        taken *= rules.steps if rules.steps > 0 else 100
    if rules.feedback < UNBIASED:
        return 0.01 * variance + taken, 0.0
    lost = 3.0 * (1.0 - sd_times * sd_times) * noise if sd_times < 1.0 else 0.0
    return 0.01 * variance + 3.0 * taken + lost, 0.01 * (square * variance + noise) + 3.0 * square * taken + lost


def against(slope: float, null: Fit, other: Fit, c1: float, c2: float) -> float:
    """ln e of one arm: the least favourable (μ, ν) for `other` against `null`; −inf where there is none.

    With A = (Λ₁⁻¹ + C)⁻¹ and h = (I + Λ₁C)⁻¹v₁ it is D = Λ₀ − A, g = h − v₀, Sv₁ = Ch; q, which may be by far the
    largest number, is cancelled by hand.
    """
    a, ax, w, wy, q, qz, gain = other
    known = a * (w + q) + slope * slope * w * q  # det Λ₁
    p = a + slope * slope * q
    r = -slope * q
    s = w + q
    v1 = ax - slope * qz
    v2 = wy + qz
    det = 1.0 + c1 * p + c2 * s + c1 * c2 * known
    h1 = (v1 + c2 * (s * ax + slope * (q * wy - w * qz))) / det
    h2 = (v2 + c1 * (a * v2 + slope * q * (ax + slope * wy))) / det
    d11 = null.a + slope * slope * null.q - (p + c2 * known) / det
    d12 = -slope * null.q - r / det
    d22 = null.w + null.q - (s + c1 * known) / det
    g1 = h1 - null.ax + slope * null.qz
    g2 = h2 - null.wy - null.qz
    spread = 0.5 * (c1 * v1 * h1 + c2 * v2 * h2 - math.log(det))
    return gain - null.gain + spread + least(d11, d12, d22, g1, g2)


def least(d11: float, d12: float, d22: float, g1: float, g2: float) -> float:
    """The smallest value of gᵀu + ½uᵀDu, −inf where there is none; a coordinate nothing is known of is all zeros."""
    if d22 == 0.0 and g2 == 0.0:
        if d11 == 0.0 and g1 == 0.0:
            return 0.0
        return -0.5 * g1 * g1 / d11 if d11 > 0.0 else -math.inf
    if d11 == 0.0 and g1 == 0.0:
        return -0.5 * g2 * g2 / d22 if d22 > 0.0 else -math.inf
    det = d11 * d22 - d12 * d12
    if d11 <= 0.0 or det <= 1e-12 * d11 * d22:
        return -math.inf
    return -0.5 * (d22 * g1 * g1 - 2.0 * d12 * g1 * g2 + d11 * g2 * g2) / det


def compare(rules: Rules, t: Tables, others: list[Floats]) -> None:
    """Fill in the table of alternatives: how much better each fits than what was declared."""
    for m in range(len(others)):
        others[m][TOGETHER] = 0.0
        others[m][SOME] = -math.inf
    for index in range(rules.arms):
        if t.arms[index][FIRST] < 0:  # it has said nothing: e = 1
            for m in range(len(others)):
                others[m][SOME] = gathered(rules, others[m][SOME], 0.0)
            continue
        null = fit(rules, t, index, 1.0, 0.0, 1.0)
        for m in range(len(others)):
            odds = log_odds_in(rules, t, index, null, others[m])
            others[m][TOGETHER] += odds
            others[m][SOME] = gathered(rules, others[m][SOME], odds)


def gathered(rules: Rules, total: float, odds: float) -> float:
    """One more ln e beside the others: their sum; in start order the largest."""
    if rules.order == FREE:
        return add_logs(total, odds)
    return odds if odds > total else total


def log_odds_in(rules: Rules, t: Tables, index: int, null: Fit, row: Floats) -> float:
    """ln e of one arm for one alternative."""
    armf = t.armf[index]
    c1, c2 = spreads(rules, armf, row[SIGMA_TIMES], row[SD_TIMES])
    other = fit(rules, t, index, row[SIGMA_TIMES], row[SHARED_VARIANCE], row[SD_TIMES])
    return against(armf[SLOPE], null, other, c1, c2)


def log_odds(rules: Rules, others: list[Floats], check: int) -> float:
    """ln e of a check of the sds, from the table `compare` has filled in: the mean over its alternatives."""
    total = -math.inf
    count = 0
    for m in range(len(others)):
        if others[m][CHECK] == check:
            count += 1
            some = others[m][SOME] - math.log(rules.arms)
            if rules.order == FREE:
                some = add_logs(others[m][TOGETHER], some)
            total = gathered(rules, total, some)
    return total - math.log(2.0 * count) if count > 0 else -math.inf


def bias_in(rules: Rules, t: Tables, index: int) -> tuple[float, float]:
    """(ln e against an arm's readings being unbiased, the bias they seem to have)."""
    if t.arms[index][FIRST] < 0:
        return 0.0, 0.0
    tau = 1.0 / (t.armf[index][SIGMA] * t.armf[index][SIGMA])
    tau_bias = 4.0 * tau  # a bias of half a σ
    said = fit(rules, t, index, 1.0, 0.0, 1.0)
    a = said.a
    w = said.w
    q = said.q
    d = a * (w + q) + w * q
    penalty = 0.5 * math.log1p((a + w) / tau + (w + q) / tau_bias + d / (tau * tau_bias))
    if d <= 0.0:
        return -penalty, 0.0
    bias = (a * said.wy - w * said.ax + (a + w) * said.qz) / d
    c22 = (a + w) / d
    c12 = w / d
    return 0.5 * bias * bias / (c22 + tau_bias * c22 * c22 + tau * c12 * c12) - penalty, bias


def log_odds_of_bias(rules: Rules, t: Tables) -> float:
    """ln e against unbiased readings: the mean over the arms."""
    total = -math.inf
    for index in range(rules.arms):
        total = gathered(rules, total, bias_in(rules, t, index)[0])
    return total - math.log(rules.arms)


def delay_in(rules: Rules, t: Tables, index: int) -> tuple[float, float]:
    """(ln e, ln e') of an arm for late pulls being better, and for their being worse."""
    better = 0.0
    worse = 0.0
    count = 0
    first = next_ranked(rules, t, t.arms[index][FIRST])
    now = first
    while now >= 0 and count < MOST_RANKED:
        count += 1
        value = 0.5 * (1 - count)  # the centred rank, times the count
        delay = 0.0
        x = t.pullf[now][VALUE]
        step = t.pulls[now][STEP]
        other = first
        while other != now:
            pull = t.pulls[other]
            if pull[OUT] == 0:
                theirs = t.pullf[other][VALUE]
                if theirs < x or (theirs == x and lot(other) < lot(now)):
                    value += 1.0
                if pull[STEP] < step:
                    delay += 0.5
                elif pull[STEP] > step:
                    delay -= 0.5
            other = pull[NEXT]
        bet = STAKE * 12.0 * (value / count) * (delay / count)
        better += math.log1p(bet)
        worse += math.log1p(-bet)
        now = next_ranked(rules, t, t.pulls[now][NEXT])
    return better, worse


def next_ranked(rules: Rules, t: Tables, pull: int) -> int:
    """The pull, or the first after it that was not lost in silence, if it has ended; −1 where the prefix is over."""
    alone = rules.per_arm == 1 or rules.slots == 1
    while pull >= 0 and t.pulls[pull][OUT] == 1 and alone:
        pull = t.pulls[pull][NEXT]
    if pull < 0 or t.pulls[pull][OUT] == 1 or t.pulls[pull][STATE] != FINISHED:
        return -1
    return pull


def lot(pull: int) -> int:
    """A number that has nothing to do with anything, the same for a pull everywhere: it settles ties."""
    mixed = ((pull + 1) * 2654435761) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 16)) * 73244475) & 0xFFFFFFFF
    return mixed ^ (mixed >> 16)


def log_odds_of_delays(rules: Rules, t: Tables) -> float:
    """ln e against delays that say nothing of rewards: the mean over the arms and both directions."""
    total = -math.inf
    for index in range(rules.arms):
        better, worse = delay_in(rules, t, index)
        total = add_logs(total, add_logs(better, worse))
    return total - math.log(2.0 * rules.arms)
