"""Which arm is started next, and which running pull has earned its slot.

*Next.* The paper takes the arm with the fewest pulls (Alg. 1 line 7, Alg. 3), evidence the arm that will know least
once its running pulls have brought what they are planned to bring, or the one in contenders.py; ties by index; never
more than b pulls at once, nor r of one arm.

*Cutting.* A slot is worth what it brings per step. With I(P) the information after P steps (I(D): finished), a fresh
pull brings at best max_P (I(P) − I)/(setup + P), a pull that has run P steps at best max_{P'>P} (I(P') − I)/(P' − P).
It is cut when the second is below the first. I comes from declared sds and steps only, never from values: a length
that followed the values would void the guarantee.

With a bias, what readings say becomes information only through pulls that finish, so gains do not add up: a fresh pull
that finishes would be credited with all that waits for a finish, and so would the running one that is nearer to it. A
running pull is then compared with fresh pulls that are cut, and finishing is left to the one that is under way.

Between two knots of the declared curve I is concave in P, so each rate is a concave function over a line, has one
peak, and bisection finds it. Readings are taken to come at every step.
"""

import math

from earlycall.core.contenders import comparable, contender
from earlycall.core.evidence import information
from earlycall.core.feedback import weight
from earlycall.core.tables import (
    ACTIVE,
    ALIVE,
    ARM,
    BIASED,
    BLOCKED,
    BUSY,
    CONTENDERS,
    CORRELATED,
    COUNTED,
    CURVE_PRECISION,
    FREE,
    FRESH,
    FROM_STEP,
    NEWS_OF,
    ONCE,
    ORDERED,
    PAPER,
    PILOTING,
    PLAN,
    PLANNED,
    PRECISION,
    PROMISE,
    PULLED,
    REFINING,
    SEVERAL,
    SIGMA,
    SLOPE,
    STARTED,
    STEP,
    SURVIVORS,
    W_LEFT,
    WEIGHT,
    A,
    Floats,
    Q,
    Rules,
    Tables,
    W,
)


def next_arm(rules: Rules, t: Tables) -> int:
    """The arm to start (`GetBatchArms`, with a_i < r where the print has a_i ≤ r); −1 when no arm may."""
    if t.race[BUSY] >= rules.slots:
        return -1
    if rules.allocation == CONTENDERS and comparable(rules, t):
        return contender(rules, t)
    return least_known(rules, t)


def least_known(rules: Rules, t: Tables) -> int:
    """The arm with the fewest pulls (paper), or of which least will be known; ties by index; −1 when none may start."""
    best = -1
    for p in range(t.race[SURVIVORS]):
        index = t.arms[p][ALIVE]
        if t.arms[index][ACTIVE] >= rules.per_arm or 0 < rules.blocks <= t.arms[index][STARTED]:
            continue
        if best < 0:
            best = index
        elif rules.method == PAPER:
            if t.arms[index][PULLED] < t.arms[best][PULLED]:
                best = index
        elif t.armf[index][PROMISE] < t.armf[best][PROMISE]:
            best = index
    return best


def used_up(rules: Rules, t: Tables) -> bool:
    """Whether every survivor has been on every block there is."""
    if rules.blocks == 0:
        return False
    for p in range(t.race[SURVIVORS]):
        if t.arms[t.arms[p][ALIVE]][STARTED] < rules.blocks:
            return False
    return True


def cuts(rules: Rules) -> bool:
    """Whether pulls are ever cut. (Increments bring the same at every step: finishing is always best.)"""
    return rules.setup >= 0.0 and rules.reading_sd > 0.0


def look_ahead(rules: Rules, t: Tables, index: int) -> None:
    """Bring up to date what a fresh pull of the arm would bring, in all and per step."""
    armf = t.armf[index]
    armf[PLANNED] = 1.0 / (armf[SIGMA] * armf[SIGMA])
    if cuts(rules):
        cut_short, best, armf[PLANNED], length = outlook(rules, t.curve, armf, 0.0, 0, 0.0, rules.setup)
        armf[FRESH] = cut_short if rules.feedback >= BIASED else best
        if planned(rules):
            armf[PLAN] = length if t.race[PILOTING] == 0 else 0.0


def planned(rules: Rules) -> bool:
    """Whether every pull's length is fixed before it starts."""
    return rules.looks == ONCE or rules.order == ORDERED


def promise(rules: Rules, t: Tables, index: int) -> None:
    """Bring up to date what the arm will know once its running pulls have brought what they will.

    Where arms are compared on equal counts, the count is what matters.
    """
    armf = t.armf[index]
    if rules.order != FREE:
        armf[PROMISE] = float(t.arms[index][STARTED] if rules.order == BLOCKED else t.arms[index][PULLED])
        return
    settled = information(rules, armf[SLOPE], armf[A], armf[W_LEFT], armf[Q])
    armf[PROMISE] = settled + t.arms[index][ACTIVE] * armf[PLANNED]


def earns_its_slot(rules: Rules, t: Tables, pull: int) -> bool:
    """Whether a running pull still brings as much per step as a fresh one of its arm would (asked when news came)."""
    step = t.pulls[pull][STEP]
    if planned(rules):  # it counts when it has come to its length, and nothing more is to come of it
        return t.pulls[pull][COUNTED] != 1
    if step >= rules.steps:  # it has run its length: its full feedback costs nothing more
        return True
    news_of = t.arms[t.pulls[pull][ARM]][NEWS_OF]
    if rules.feedback < BIASED and news_of != pull and news_of != SEVERAL:  # only a bias ties it to what others say
        return True
    armf = t.armf[t.pulls[pull][ARM]]
    now = t.pullf[pull]
    _, staying, _, _ = outlook(rules, t.curve, armf, now[WEIGHT], step, now[PRECISION], 0.0)
    return staying >= armf[FRESH]


def outlook(
    rules: Rules, curve: list[Floats], armf: Floats, said: float, step: int, precision: float, extra: float
) -> tuple[float, float, float, float]:
    """(best gain per step if it is cut, best gain per step, that gain, the length then) of going on with a pull.

    It ran `step` steps so far; the length is 0 when it is best to let it finish.

    The pull has precision `precision` and weight `said` now; `extra` steps are paid before the next one. Where two
    lengths are equally good the longer one is taken.
    """
    paid = extra - step  # a pull of length P costs paid + P
    base = replaced(rules, armf, 0.0, said, said, 0.0)
    best_rate = -math.inf
    best_gain = 0.0
    best_length = 0.0
    for m in range(len(curve)):
        first, last = span(rules, curve, m, step)
        if last < first:
            continue
        per_step = curve[m][CURVE_PRECISION]
        if rules.feedback == CORRELATED or rules.pooling == REFINING:
            precision = per_step if per_step > precision else precision
            length = first
            gain = gain_at(rules, armf, said, base, precision)
        else:
            precision -= (first - 1) * per_step  # so that after P steps it is precision + P·per_step
            length = peak(rules, armf, said, base, precision, per_step, first, last, paid)
            gain = gain_at(rules, armf, said, base, precision + length * per_step)
            precision += last * per_step
        if gain / (paid + length) >= best_rate:
            best_rate = gain / (paid + length)
            best_gain = gain
            best_length = float(length)
    cut_rate = best_rate
    gain = replaced(rules, armf, 1.0 / (armf[SIGMA] * armf[SIGMA]), said, 0.0, precision) - base
    if gain / (paid + rules.steps) >= best_rate:
        best_rate = gain / (paid + rules.steps)
        best_gain = gain
        best_length = 0.0
    return cut_rate, best_rate, best_gain, best_length


def span(rules: Rules, curve: list[Floats], m: int, step: int) -> tuple[int, int]:
    """First and last step after `step` that belong to row m of the curve; step D belongs to the full feedback."""
    first = int(curve[m][FROM_STEP])
    last = rules.steps - 1
    if rules.order == ORDERED and rules.min_delay < last:  # a longer pull is only seen because it had not ended
        last = rules.min_delay
    if m + 1 < len(curve) and int(curve[m + 1][FROM_STEP]) <= last:
        last = int(curve[m + 1][FROM_STEP]) - 1
    return (first if first > step else step + 1), last


def peak(
    rules: Rules,
    armf: Floats,
    said: float,
    base: float,
    precision: float,
    per_step: float,
    first: int,
    last: int,
    paid: float,
) -> int:
    """The length P in first … last with the best gain per step, where precision + P·per_step is what it then says."""
    low = first
    high = last
    while low < high:
        middle = (low + high + 1) // 2
        gain = gain_at(rules, armf, said, base, precision + middle * per_step)
        shorter = gain_at(rules, armf, said, base, precision + (middle - 1) * per_step)
        if gain / (paid + middle) >= shorter / (paid + middle - 1):
            low = middle
        else:
            high = middle - 1
    return low


def gain_at(rules: Rules, armf: Floats, said: float, base: float, precision: float) -> float:
    """What is gained when the pull's readings have come to `precision`."""
    return replaced(rules, armf, 0.0, said, weight(armf[SLOPE] * armf[SIGMA], precision), 0.0) - base


def replaced(rules: Rules, armf: Floats, full: float, said: float, says: float, residual: float) -> float:
    """The arm's information with the pull's weight `said` replaced: by `says`, or by full feedback and a residual.

    Without a bias information adds up, and what the other pulls said is left out: it cancels in every gain.
    """
    if rules.feedback >= BIASED:
        return information(rules, armf[SLOPE], armf[A] + full, armf[W] - said + says, armf[Q] + residual)
    return full + says
