"""allocation="contenders": the arm is started that brings down fastest the doubt in the leaders.

A wrong answer has some (leader, other) pair within S the wrong way round, and what speaks against that is
Z = Δ²/(2(v_i + v_j)), v = 1/J. Their doubt is Σ e^(−Z), the sum behind `confidence`. Here v = (I + τ)/I² with I what
will be known once the running pulls have brought what they are planned to bring, so that several slots at once go to
several pairs. One more unit of information about arm i brings Z of a pair up by

    Z/(v_i + v_j)·(I_i + 2τ_i)/I_i³,

and the arm is started for which the sum of this over its pairs, each weighed by e^(−Z), is largest per step. The factor
Z is left out: it is about the same for all pairs that matter, and two means that happen to be equal would never be
looked at again with it.

In the long run only the weakest pairs count, and the arms are started so often that none is better to start than
another: the conditions that make the shares of sim/limit.py the best ones. No arm is left behind for good: while it is,
the others' I grows, what one more pull brings them falls like 1/I, and its own does not. (No share is counted, so there
is nothing to keep; docs/decisions/0004-allocation.md says what became of the rule that counts.)
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
    TAU,
    Floats,
    Rules,
    Tables,
)

MOST_PAIRS = 10_000  # with more of them than this arms are started evenly: `ask` must not take for ever


def comparable(rules: Rules, t: Tables) -> bool:
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
    """The arm that brings the doubt down fastest; ties: of which least will be known, then by index; −1: none may."""
    elect(rules, t)
    weigh_pairs(t)
    best = -1
    most = 0.0
    for p in range(t.race[SURVIVORS]):
        index = t.arms[p][ALIVE]
        if t.arms[index][ACTIVE] >= rules.per_arm:
            continue
        row = t.armf[index]
        brings = row[SCRATCH] * gain(row) * pace(rules, row)
        if best < 0 or brings > most or (brings == most and row[PROMISE] < t.armf[best][PROMISE]):
            best = index
            most = brings
    return best


def weigh_pairs(t: Tables) -> None:
    """Bring Σ e^(−Z)/(v_i + v_j) over its pairs into every survivor's SCRATCH; call `elect` first."""
    count = t.race[SURVIVORS]
    for p in range(count):
        t.armf[t.arms[p][ALIVE]][SCRATCH] = 0.0
    for p in range(count):
        i = t.arms[p][ALIVE]
        if t.arms[i][LEADER] == 1:
            row = t.armf[i]
            spread = promised_spread(row)
            for m in range(count):
                j = t.arms[m][ALIVE]
                if t.arms[j][LEADER] == 0:
                    other = t.armf[j]
                    gap = row[MEAN] - other[MEAN]
                    both = spread + promised_spread(other)
                    doubt = math.exp(-0.5 * gap * gap / both) / both
                    row[SCRATCH] += doubt
                    other[SCRATCH] += doubt


def promised_spread(row: Floats) -> float:
    """v = 1/J once the running pulls have brought what they will; the prior of an offset is left out."""
    return (row[PROMISE] + row[TAU]) / (row[PROMISE] * row[PROMISE])


def gain(row: Floats) -> float:
    """How fast v falls as information comes in: −dv/dI."""
    return (row[PROMISE] + 2.0 * row[TAU]) / (row[PROMISE] * row[PROMISE] * row[PROMISE])


def pace(rules: Rules, row: Floats) -> float:
    """What a fresh pull of the arm brings; per step where its length is the arm's own, because pulls are cut."""
    if rules.setup >= 0.0 and rules.reading_sd > 0.0 and rules.feedback < BIASED:
        return row[FRESH]
    return row[PLANNED]
