"""allocation="contenders": the arm is started that brings down the doubt in the leaders fastest.

The answer is wrong only if some (leader, other) pair within S is the wrong way round, and what speaks against that is
Z = Δ²/(2(1/I_i + 1/I_j)). The doubt is Σ e^(−Z) over these pairs, the sum behind `confidence`. With I what will be known
once the running pulls have brought what they will, one more step for arm i brings down ln of its pairs' e^(−Z) by

    rate_i·∂Z/∂I_i = Z·rate_i/I_i·I_j/(I_i + I_j),

and the arm with the largest sum over its pairs, each weighed by e^(−Z), is started. The factor Z is left out: it is the
same for all pairs that matter, and with it two means that happen to be equal would never be looked at again.

In the long run only the weakest pairs count, and where no arm is better than another to start, the shares of the slots
are those of sim/limit.py's best: these are the conditions that make them best. (The plain rule, "of the weakest pair the
arm with less than its share", agrees in the long run and gets stuck on the way: an arm with a bad first pull stays
out while arms that are equally good are told apart. Here each pull of the others makes I_i matter more: 1/I_i is a
reason to look again. docs/decisions/0004-allocation.md)
"""

import math

from earlycall.core.confidence import elect
from earlycall.core.tables import (
    ACTIVE,
    ALIVE,
    BIASED,
    FRESH,
    LEADER,
    MEAN,
    PLANNED,
    PROMISE,
    SCRATCH,
    SPREAD,
    SURVIVORS,
    TAKEN,
    Floats,
    Rules,
    Tables,
)

MOST_PAIRS = 10_000  # with more than these to look at, arms are started evenly


def can_compare(rules: Rules, t: Tables) -> bool:
    """Whether something is known of every survivor, and there are not too many pairs of them."""
    count = t.race[SURVIVORS]
    places = rules.k - t.race[TAKEN]
    if places * (count - places) > MOST_PAIRS:
        return False
    for p in range(count):
        row = t.armf[t.arms[p][ALIVE]]
        if row[SPREAD] == math.inf or row[PROMISE] <= 0.0:
            return False
    return True


def contender(rules: Rules, t: Tables) -> int:
    """The arm to start; ties: the one that will know least, then by index; −1 when none may."""
    elect(rules, t)
    weigh_contenders(t)
    best = -1
    most = 0.0
    for p in range(t.race[SURVIVORS]):
        index = t.arms[p][ALIVE]
        if t.arms[index][ACTIVE] < rules.per_arm:
            row = t.armf[index]
            brings = row[SCRATCH] * pace(rules, row) / row[PROMISE]
            if best < 0 or brings > most or (brings == most and row[PROMISE] < t.armf[best][PROMISE]):
                best = index
                most = brings
    return best


def weigh_contenders(t: Tables) -> None:
    """Σ e^(−Z)·(its share of the pair) into SCRATCH of every survivor, over its pairs; call `elect` first."""
    count = t.race[SURVIVORS]
    for p in range(count):
        t.armf[t.arms[p][ALIVE]][SCRATCH] = 0.0
    for p in range(count):
        i = t.arms[p][ALIVE]
        if t.arms[i][LEADER] == 1:
            for m in range(count):
                j = t.arms[m][ALIVE]
                if t.arms[j][LEADER] == 0:
                    weigh_pair(t.armf[i], t.armf[j])


def weigh_pair(i: Floats, j: Floats) -> None:
    """Add what one pair makes of its two arms: to each e^(−Z)·(the other's part of what is known of both)."""
    gap = i[MEAN] - j[MEAN]
    both = i[PROMISE] + j[PROMISE]
    part = j[PROMISE] / both
    doubt = math.exp(-0.5 * gap * gap * i[PROMISE] * part)
    i[SCRATCH] += doubt * part
    j[SCRATCH] += doubt * (i[PROMISE] / both)


def pace(rules: Rules, row: Floats) -> float:
    """What a fresh pull of the arm brings: per step where pulls are cut to a length of the arm's own."""
    if rules.setup >= 0.0 and rules.reading_sd > 0.0 and rules.feedback < BIASED:
        return row[FRESH]
    return row[PLANNED]
