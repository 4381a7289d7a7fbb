"""Who may spend which share of δ (method "paper").

Each arm owns δ/n. The *simultaneous* ledger fixes the shares before the race: `share_full` for the one bound on the
walk of full feedback, `share_partial` for the partial bounds, of which the j-th started pull gets the part
1/(j(j+1)) (they sum to 1), `share_bias` for the one bound on the walk of residuals. They add up to at most 1, so all
bounds hold together, at all times, and the tighter of two may be used.

The *as-printed* ledger gives the full bound all of δ/n, and splits δ/n anew at every step between the terms of the
partial bound so that their sum is smallest. Those bounds do not hold together; it is here for comparison.
"""

import math

from earlycall.core.radius import HALF_C, growth
from earlycall.core.tables import (
    BIAS_COUNT,
    FINISHED,
    FULL_NEXT,
    NEXT,
    OUT,
    POOL_DONE,
    POOL_NEXT,
    POOL_OPEN,
    READINGS,
    SIGMA,
    STATE,
    Ints,
    Rules,
    Tables,
)


def beta_at(rules: Rules, share: float) -> float:
    """β = (c/2)·ln(2ζ(2a/c)/δ') at δ' = share·δ/n; infinite where there is no share."""
    if share <= 0.0:
        return math.inf
    return HALF_C * (rules.log_budget - math.log(share))


def pull_share(rules: Rules, ordinal: int) -> float:
    """The share of the arm's j-th started pull: share_partial/(j(j+1))."""
    return rules.share_partial / (ordinal * (ordinal + 1.0))


def printed_pooled(rules: Rules, t: Tables, arm: int, bias_scale: float) -> float:
    """The pooled radius with the split of δ that makes it smallest (Prop. 1 eq. 4, Prop. 2 eq. 6, pooled).

    The radius is Σ_g Σ_i u_i·√(v_i + (c/2)·ln(2ζn/x_g)) over the groups g = full, partial, bias with shares x_g of δ;
    it is convex in x (each root has v + β ≥ c/4), so it is smallest where its slopes agree: x_g ∝ Σ_i u_i/√(…). That
    is a fixed point whose right side depends on x through a logarithm only: sixteen rounds shrink an error by 1e-12.
    """
    row = t.arms[arm]
    done = row[POOL_DONE]
    running = row[POOL_OPEN]
    pulls = done + running
    bias = row[BIAS_COUNT]
    u_full = rules.widen * t.armf[arm][SIGMA] / math.sqrt(pulls)
    v_full = growth(pulls)
    u_bias = 0.0
    v_bias = 0.0
    if bias_scale > 0.0:
        u_bias = rules.widen * bias_scale * running / (pulls * math.sqrt(bias))
        v_bias = growth(bias)
    x_full = 0.9  # any start will do
    x_partial = 0.05
    x_bias = 0.05 if u_bias > 0.0 else 0.0
    for _ in range(16):
        g_full = u_full / root(rules, v_full, x_full)
        g_partial = partial_terms(rules, t, row, x_partial, -1.0) / pulls
        g_bias = 0.0
        if u_bias > 0.0:
            g_bias = u_bias / root(rules, v_bias, x_bias)
        whole = g_full + g_partial + g_bias
        x_full = g_full / whole
        x_partial = g_partial / whole
        x_bias = g_bias / whole
    total = u_full * root(rules, v_full, x_full)
    total += partial_terms(rules, t, row, x_partial, 1.0) / pulls
    if u_bias > 0.0:
        total += u_bias * root(rules, v_bias, x_bias)
    return total


def root(rules: Rules, v: float, share: float) -> float:
    """√(v + β) at a share of δ/n."""
    return math.sqrt(v + beta_at(rules, share))


def partial_terms(rules: Rules, t: Tables, row: Ints, share: float, power: float) -> float:
    """Σ over the pooled unfinished pulls of (s/√P_j)·√(v_j + β)^power: the radius (1) or minus its slope (−1)."""
    total = 0.0
    pull = row[FULL_NEXT]
    while pull >= 0 and pull != row[POOL_NEXT]:
        now = t.pulls[pull]
        if now[STATE] != FINISHED and now[OUT] == 0:
            readings = now[READINGS]
            term = root(rules, growth(readings), share)
            if power < 0.0:
                term = 1.0 / term
            total += rules.widen * rules.reading_sd / math.sqrt(readings) * term
        pull = now[NEXT]
    return total
