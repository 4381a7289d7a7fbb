"""The paper's intervals (method "paper"): Eq. 4 to 6 and 9, Prop. 1 and 2, Algorithms 2 to 4.

Everything goes in *start order*. The full feedback of an arm's pulls, ordered by their starts, is one walk whatever
comes back first, so one bound on it covers

* the finished prefix: the pulls up to the first that is not finished (Eq. 5), and
* the pooled prefix: the pulls up to the first that has said nothing; an unfinished one counts with Ȳ_j in the place
  of X_j at the price of its own partial bound, Σ_j C(s, P_j, ·)/(F+R) (Prop. 1 for R = 1; "in a similar manner").

A pull lost before it said anything leaves the order: nobody could know its value. One lost after it spoke stays in it,
unfinished for ever: it stops the finished prefix and goes on counting with what it said. Sequentially there is one
unfinished pull at most and both prefixes are Algorithm 2's and 4's.
"""

import math

from earlycall.core.ledger import beta_at, printed_pooled
from earlycall.core.radius import radius
from earlycall.core.tables import (
    ARM,
    AS_PRINTED,
    AX,
    BETA,
    BIAS_COUNT,
    BIAS_SUM,
    BIASED,
    ESTIMATE,
    FINISHED,
    FULL,
    FULL_COUNT,
    FULL_NEXT,
    FULL_SUM,
    HIGH,
    INCREMENTAL,
    LOW,
    MEAN,
    NEXT,
    OUT,
    PAPER,
    POOL_DONE,
    POOL_MEANS,
    POOL_NEXT,
    POOL_OPEN,
    POOL_SUM,
    POOL_TERMS,
    POOLED,
    PRECISION,
    READINGS,
    SIGMA,
    SPREAD,
    STATE,
    TERM,
    VALUE,
    WY,
    A,
    Rules,
    Tables,
    W,
)


def keeps_order(rules: Rules) -> bool:
    """Whether the bounds rest on the start order: the paper's do, but increments are draws in any order."""
    return rules.method == PAPER and rules.feedback != INCREMENTAL


def partial_radius(rules: Rules, readings: int, beta: float) -> float:
    """C(s, P, ·) of one pull's readings, at the share of δ that is the pull's own."""
    return radius(rules.widen * rules.reading_sd, readings, beta)


def repool_reading(rules: Rules, t: Tables, pull: int, estimate: float) -> None:
    """Follow a reading through the pooled prefix; `estimate` is what the pull said before."""
    now = t.pulls[pull]
    row = t.pullf[pull]
    old_term = row[TERM]
    row[TERM] = partial_radius(rules, now[READINGS], row[BETA])
    armf = t.armf[now[ARM]]
    if now[POOLED] == 1:
        armf[POOL_MEANS] += row[ESTIMATE] - estimate
        armf[POOL_TERMS] += row[TERM] - old_term
    else:
        extend(rules, t, now[ARM])


def repool_full(rules: Rules, t: Tables, pull: int) -> None:
    """Follow a pull that has just finished through both prefixes."""
    now = t.pulls[pull]
    row = t.pullf[pull]
    arm = t.arms[now[ARM]]
    armf = t.armf[now[ARM]]
    if now[POOLED] == 1:
        arm[POOL_OPEN] -= 1
        arm[POOL_DONE] += 1
        armf[POOL_SUM] += row[VALUE]
        armf[POOL_MEANS] -= row[ESTIMATE]
        armf[POOL_TERMS] -= row[TERM]
        if arm[POOL_OPEN] == 0:  # differences leave dust; what is not there is exactly 0
            armf[POOL_MEANS] = 0.0
            armf[POOL_TERMS] = 0.0
    extend(rules, t, now[ARM])


def extend(rules: Rules, t: Tables, index: int) -> None:
    """Move the ends of both prefixes of an arm as far as they go."""
    arm = t.arms[index]
    armf = t.armf[index]
    pull = arm[FULL_NEXT]
    while pull >= 0 and (t.pulls[pull][OUT] == 1 or t.pulls[pull][STATE] == FINISHED):
        if t.pulls[pull][OUT] == 0:
            row = t.pullf[pull]
            arm[FULL_COUNT] += 1
            armf[FULL_SUM] += row[VALUE]
            if t.pulls[pull][READINGS] >= rules.min_readings and row[PRECISION] > 0.0:  # (0: it failed)
                arm[BIAS_COUNT] += 1
                armf[BIAS_SUM] += row[ESTIMATE] - row[VALUE]
        pull = t.pulls[pull][NEXT]
    arm[FULL_NEXT] = pull
    pull = arm[POOL_NEXT]
    while pull >= 0 and (t.pulls[pull][OUT] == 1 or t.pulls[pull][STATE] == FINISHED or t.pulls[pull][READINGS] > 0):
        if t.pulls[pull][OUT] == 0:
            row = t.pullf[pull]
            t.pulls[pull][POOLED] = 1
            if t.pulls[pull][STATE] == FINISHED:
                arm[POOL_DONE] += 1
                armf[POOL_SUM] += row[VALUE]
            else:
                arm[POOL_OPEN] += 1
                armf[POOL_MEANS] += row[ESTIMATE]
                armf[POOL_TERMS] += row[TERM]
        pull = t.pulls[pull][NEXT]
    arm[POOL_NEXT] = pull


def bias_scale(rules: Rules) -> float:
    """Scale of a finished pull's residual Ȳ − X: s/√(readings it has at least); s as printed."""
    if rules.widen < 2.0:
        return rules.reading_sd
    return rules.reading_sd / math.sqrt(rules.min_readings)


def bound(rules: Rules, t: Tables, index: int) -> None:
    """Bring μ̂, its radius and [LOW, HIGH] of an arm up to date: the tighter of the full and the partial bound."""
    arm = t.arms[index]
    armf = t.armf[index]
    sigma = rules.widen * armf[SIGMA]
    beta = beta_at(rules, rules.share_full)
    if rules.feedback == INCREMENTAL:
        # Increments × D_max are draws of variance D_max·σ²; V = Σ P/D full pulls' worth of them (THEORY §1.3).
        pulls = (armf[A] + armf[W]) * armf[SIGMA] * armf[SIGMA]
        armf[SPREAD] = math.inf
        if pulls > 0.0:
            armf[MEAN] = (armf[AX] + armf[WY]) / (armf[A] + armf[W])
            armf[SPREAD] = radius(sigma * math.sqrt(rules.steps), pulls * rules.steps, beta)
    else:
        armf[SPREAD] = math.inf
        if arm[FULL_COUNT] > 0:  # Eq. (5)
            armf[MEAN] = armf[FULL_SUM] / arm[FULL_COUNT]
            armf[SPREAD] = radius(sigma, arm[FULL_COUNT], beta)
        partial = math.inf
        if rules.feedback != FULL:
            partial = pooled(rules, t, index, sigma, beta)
        if partial < armf[SPREAD]:  # Alg. 2 and 4, lines 10–12
            armf[MEAN] = pooled_mean(rules, t, index)
            armf[SPREAD] = partial
    armf[LOW] = armf[MEAN] - armf[SPREAD]  # Eq. (2)
    armf[HIGH] = armf[MEAN] + armf[SPREAD]  # Eq. (3)


def pooled(rules: Rules, t: Tables, index: int, sigma: float, beta: float) -> float:
    """The partial bound: C(σ, F+R, ·) + [Σ_j C(s, P_j, ·) + R·C_b]/(F+R), Eq. (4) and (6) at R = 1."""
    arm = t.arms[index]
    if arm[POOL_OPEN] == 0 or (rules.feedback == BIASED and arm[BIAS_COUNT] == 0):
        return math.inf
    if rules.ledger == AS_PRINTED:
        return printed_pooled(rules, t, index, bias_scale(rules) if rules.feedback == BIASED else 0.0)
    pulls = arm[POOL_DONE] + arm[POOL_OPEN]
    extra = t.armf[index][POOL_TERMS]
    if rules.feedback == BIASED:
        unbiasing = radius(rules.widen * bias_scale(rules), arm[BIAS_COUNT], beta_at(rules, rules.share_bias))
        extra += arm[POOL_OPEN] * unbiasing
    return radius(sigma, pulls, beta) + extra / pulls


def pooled_mean(rules: Rules, t: Tables, index: int) -> float:
    """(ΣX + Σ_j (Ȳ_j − Z))/(F+R) with Z the mean residual of the finished prefix (0 when unbiased)."""
    arm = t.arms[index]
    armf = t.armf[index]
    total = armf[POOL_SUM] + armf[POOL_MEANS]
    if rules.feedback == BIASED:
        total -= arm[POOL_OPEN] * (armf[BIAS_SUM] / arm[BIAS_COUNT])
    return total / (arm[POOL_DONE] + arm[POOL_OPEN])
