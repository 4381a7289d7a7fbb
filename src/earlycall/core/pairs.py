"""Two arms side by side on equal counts, or block by block: when one is established as better than the other.

*Equal counts* (order.py). With m the smaller number of the two arms' pulls that are over, both are taken as they were
after their first m pulls. The product of their evidences is then a process of the one index m, whose values nobody can
choose: it does not depend on which pull came back when, nor on who was pulled how often. So Ville's inequality holds,
whatever the delays know.

*Early pulls* (σ known). Beside its first m pulls an arm may count the early readings of the next c, if c was fixed
beforehand: this, too, is a process of m alone. Which c is of use depends on the delays, so c = 0, 1, 2, 4 … are all
tried, each with a share of δ: ½ for c = 0, the rest in equal parts. (One event for all c at once is not proved, only
measured: docs/guarantees.md.)

*Blocks.* For two arms the differences on the blocks that both have finished are one stream around the difference of
their means, whatever the blocks do to both.
"""

import math

from earlycall.core.evidence import LN2, half_of_both, reach, weigh, weight_of
from earlycall.core.order import at, depth_of
from earlycall.core.student import LEAST_SQUARES, certified, least_of_three, log_g, reach_of, varies
from earlycall.core.tables import (
    AFTER,
    AX,
    BLOCK,
    BLOCKED,
    DEPTH,
    DIFFERENCE,
    EARLY_END,
    FULL_END,
    MEAN,
    MET,
    NARROW_PENALTY,
    NARROW_SPREAD,
    NARROW_TAU,
    NEXT_FIRST,
    NEXT_SECOND,
    PENALTY,
    QZ,
    SEEN,
    SIGMA,
    SLOPE,
    SPREAD,
    SQUARES,
    TAU,
    TAU_BIAS,
    TO_A,
    TO_AX,
    TO_EARLY,
    TO_EARLY_Y,
    TO_MEAN,
    TO_Q,
    TO_QZ,
    TO_SQUARES,
    TO_W,
    TO_WEIGHT,
    TO_WY,
    WY,
    A,
    Floats,
    Q,
    Rules,
    Tables,
    W,
)

# The prior precisions of a difference of two means, in 1/σ_d²: a quarter of a mean's, as σ_d² = 2σ².
WIDE_DIFFERENCE, NARROW_DIFFERENCE = 0.2, 12.0
NOTHING = -1e300  # the evidence of a pair that cannot be compared yet
HALVINGS = 40


def may_beat(rules: Rules, t: Tables, i: int, j: int) -> bool:
    """Whether arm i may be established as better than arm j: quick, and never wrong when it says no."""
    if rules.order == BLOCKED or rules.unknown == 0:
        return established(rules, t, i, j, 0.0, rules.level)
    first, second, count = common_rows(t, i, j)
    if not comparable(t, first, second, count):
        return False
    own = t.walkf[first]
    other = t.walkf[second]
    gap = own[TO_MEAN] - other[TO_MEAN]
    if gap <= 0.0:
        return False
    least = least_of_three(count, own[TO_WEIGHT], own[TO_SQUARES], other[TO_WEIGHT], other[TO_SQUARES], gap)
    return least > rules.level


def established(rules: Rules, t: Tables, i: int, j: int, shift: float, level: float) -> bool:
    """Whether arm i, given `shift` more than it showed, is established as better than arm j."""
    if rules.order == BLOCKED or rules.unknown == 0:
        return exact_evidence(rules, t, i, j, shift) > level
    first, second, count = common_rows(t, i, j)
    if not comparable(t, first, second, count):
        return False
    own = t.walkf[first]
    other = t.walkf[second]
    gap = own[TO_MEAN] - other[TO_MEAN] + shift
    if gap <= 0.0:
        return False
    return certified(count, own[TO_WEIGHT], own[TO_SQUARES], other[TO_WEIGHT], other[TO_SQUARES], gap, level)


def pair_evidence(rules: Rules, t: Tables, i: int, j: int) -> float:
    """The evidence that arm i is better than arm j; never more than there is."""
    if rules.order == BLOCKED or rules.unknown == 0:
        return exact_evidence(rules, t, i, j, 0.0)
    if not established(rules, t, i, j, 0.0, 0.0):
        return 0.0
    low = 0.0
    high = 1.0
    while high < 1e6 and established(rules, t, i, j, 0.0, high):
        low = high
        high *= 2.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if established(rules, t, i, j, 0.0, middle):
            low = middle
        else:
            high = middle
    return low


def shift_needed(rules: Rules, t: Tables, i: int, j: int, unit: float) -> float:
    """The smallest ε by which arm i must be lifted to be established against arm j; inf where none will do.

    `unit`: where the search begins, any size of the order of the answer.
    """
    if established(rules, t, i, j, 0.0, rules.level):
        return 0.0
    low = 0.0
    high = unit
    for _ in range(HALVINGS):
        if established(rules, t, i, j, high, rules.level):
            break
        low = high
        high *= 2.0
    if not established(rules, t, i, j, high, rules.level):
        return math.inf
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if established(rules, t, i, j, middle, rules.level):
            high = middle
        else:
            low = middle
    return high


def exact_evidence(rules: Rules, t: Tables, i: int, j: int, shift: float) -> float:
    """The evidence of a pair where it is a formula: on equal counts with σ known, or on differences."""
    if rules.order == BLOCKED:
        return difference_evidence(rules, t, i, j, shift)
    return ordered_evidence(rules, t, i, j, shift)


# Equal counts -------------------------------------------------------------------------------------------------------


def common_rows(t: Tables, i: int, j: int) -> tuple[int, int, int]:
    """(row of arm i, row of arm j, count) at the smaller of the two counts of what is over."""
    first = t.arms[i][FULL_END]
    second = t.arms[j][FULL_END]
    count = depth_of(t, first)
    if depth_of(t, second) < count:
        count = depth_of(t, second)
    return at(t, first, count), at(t, second, count), count


def comparable(t: Tables, first: int, second: int, count: int) -> bool:
    """Whether both arms have shown how much they scatter."""
    if count < 2:
        return False
    own = t.walkf[first]
    other = t.walkf[second]
    if not varies(own[TO_WEIGHT], own[TO_MEAN], own[TO_SQUARES]):
        return False
    return varies(other[TO_WEIGHT], other[TO_MEAN], other[TO_SQUARES])


def lag_cost(rules: Rules, lag: int) -> float:
    """−ln of the share of δ that belongs to c = 0 (lag 0) or 2^(lag−1) early pulls."""
    if rules.lags == 0:
        return 0.0
    return LN2 if lag == 0 else LN2 + math.log(rules.lags)


def ordered_evidence(rules: Rules, t: Tables, i: int, j: int, shift: float) -> float:
    """The best over the numbers of early pulls."""
    _, _, count = common_rows(t, i, j)
    best = NOTHING
    early = 0
    for lag in range(rules.lags + 1):
        if not recall(rules, t, i, count, early, t.spare[0]) or not recall(rules, t, j, count, early, t.spare[1]):
            break
        found = two_rows(t.spare[0], t.spare[1], shift) - lag_cost(rules, lag)
        if found > best:
            best = found
        early = 1 if early == 0 else 2 * early
    return best


def two_rows(own: Floats, other: Floats, shift: float) -> float:
    """The evidence of two arms whose numbers are known, the first lifted by `shift`."""
    gap = own[MEAN] - other[MEAN] + shift
    if gap <= 0.0 or own[SPREAD] == math.inf or other[SPREAD] == math.inf:
        return NOTHING
    wide = weight_of(gap, own[SPREAD] + other[SPREAD], own[PENALTY] + other[PENALTY])
    narrow = weight_of(gap, own[NARROW_SPREAD] + other[NARROW_SPREAD], own[NARROW_PENALTY] + other[NARROW_PENALTY])
    return half_of_both(wide, narrow)


def recall(rules: Rules, t: Tables, index: int, count: int, early: int, row: Floats) -> bool:
    """Put into `row` what the arm had come to after `count` pulls and the early readings of the next ones.

    False when fewer pulls have shown their early readings.
    """
    arm = t.arms[index]
    armf = t.armf[index]
    if depth_of(t, arm[EARLY_END]) < count + early:
        return False
    for column in (A, AX, W, WY, Q, QZ):
        row[column] = 0.0
    if count > 0:
        past = t.walkf[at(t, arm[FULL_END], count)]
        row[A] = past[TO_A]
        row[AX] = past[TO_AX]
        row[W] = past[TO_W]
        row[WY] = past[TO_WY]
        row[Q] = past[TO_Q]
        row[QZ] = past[TO_QZ]
    if early > 0:
        last = at(t, arm[EARLY_END], count + early)
        row[W] += t.walkf[last][TO_EARLY]
        row[WY] += t.walkf[last][TO_EARLY_Y]
        if count > 0:
            past = t.walkf[at(t, last, count)]
            row[W] -= past[TO_EARLY]
            row[WY] -= past[TO_EARLY_Y]
            if row[W] <= 1e-12 * past[TO_EARLY]:  # differences leave dust
                row[W] = 0.0
                row[WY] = 0.0
    for column in (SIGMA, TAU, NARROW_TAU, TAU_BIAS, SLOPE):
        row[column] = armf[column]
    weigh(rules, row)
    return True


def stand(rules: Rules, t: Tables, index: int) -> None:
    """Bring an arm's own numbers up to date: the ones with the shortest interval, at its own count."""
    arm = t.arms[index]
    armf = t.armf[index]
    armf[SPREAD] = math.inf
    armf[NARROW_SPREAD] = math.inf
    if rules.order == BLOCKED or rules.unknown == 1:
        last = arm[FULL_END]
        if last >= 0:
            row = t.walkf[last]
            armf[MEAN] = row[TO_MEAN]
            if varies(row[TO_WEIGHT], row[TO_MEAN], row[TO_SQUARES]):  # what is seen of σ²/F; for people only
                armf[SPREAD] = row[TO_SQUARES] / (t.walk[last][DEPTH] * row[TO_WEIGHT])
        return
    level = math.log(rules.arms / rules.delta)
    count = depth_of(t, arm[FULL_END])
    shortest = math.inf
    early = 0
    row = t.spare[0]
    for lag in range(rules.lags + 1):
        if not recall(rules, t, index, count, early, row):
            break
        row[PENALTY] += lag_cost(rules, lag)
        row[NARROW_PENALTY] += lag_cost(rules, lag)
        half = reach(level, row[SPREAD], row[PENALTY], row[NARROW_SPREAD], row[NARROW_PENALTY])
        if half < shortest:
            shortest = half
            for column in (MEAN, SPREAD, PENALTY, NARROW_SPREAD, NARROW_PENALTY):
                armf[column] = row[column]
        early = 1 if early == 0 else 2 * early


def student_reach(rules: Rules, t: Tables, index: int) -> float:
    """Half the width of an arm's interval where σ is not known: ln G < ln(n/δ)."""
    last = t.arms[index][FULL_END]
    if last < 0:
        return math.inf
    row = t.walkf[last]
    if not varies(row[TO_WEIGHT], row[TO_MEAN], row[TO_SQUARES]):
        return math.inf
    level = math.log(rules.arms / rules.delta)
    return reach_of(t.walk[last][DEPTH], row[TO_WEIGHT], row[TO_SQUARES], level)


# Blocks -------------------------------------------------------------------------------------------------------------


def meeting(rules: Rules, i: int, j: int) -> int:
    """The row of a pair."""
    return i * rules.arms + j if i < j else j * rules.arms + i


def meet(rules: Rules, t: Tables, i: int, j: int) -> None:
    """Let a pair meet on the blocks that both have been through since they last met."""
    first = i if i < j else j
    second = j if i < j else i
    now = t.meets[meeting(rules, i, j)]
    own = following(t, now[NEXT_FIRST], first)
    other = following(t, now[NEXT_SECOND], second)
    while own >= 0 and other >= 0:
        lead = t.walk[own][BLOCK] - t.walk[other][BLOCK]
        if lead == 0:
            add_difference(now, t.meetf[meeting(rules, i, j)], t.walkf[own][SEEN] - t.walkf[other][SEEN])
        if lead <= 0:  # else the other lost its pull on this one's block
            now[NEXT_FIRST] = own
            own = t.walk[own][AFTER]
        if lead >= 0:
            now[NEXT_SECOND] = other
            other = t.walk[other][AFTER]


def following(t: Tables, last: int, index: int) -> int:
    """The observation after the last one an arm met at; −1: there is none yet."""
    if last >= 0:
        return t.walk[last][AFTER]
    return at(t, t.arms[index][FULL_END], 1) if t.arms[index][FULL_END] >= 0 else -1


def add_difference(now: list[int], row: Floats, difference: float) -> None:
    """Take one more difference into its mean and squares."""
    now[MET] += 1
    gap = difference - row[DIFFERENCE]
    row[DIFFERENCE] += gap / now[MET]
    row[SQUARES] += gap * (difference - row[DIFFERENCE])


def difference_evidence(rules: Rules, t: Tables, i: int, j: int, shift: float) -> float:
    """The evidence in the differences of two arms, the first lifted by `shift`."""
    count = t.meets[meeting(rules, i, j)][MET]
    row = t.meetf[meeting(rules, i, j)]
    gap = row[DIFFERENCE] if i < j else -row[DIFFERENCE]
    gap += shift
    if gap <= 0.0 or count < 1:
        return NOTHING
    if rules.unknown == 1:
        if count < 2 or row[SQUARES] <= rounding(t, i) + rounding(t, j):
            return NOTHING
        if row[SQUARES] <= LEAST_SQUARES:
            return NOTHING
        return log_g(count, float(count), row[SQUARES], gap)
    variance = t.armf[i][SIGMA] * t.armf[i][SIGMA] + t.armf[j][SIGMA] * t.armf[j][SIGMA]
    wide = one_stream(count / variance, gap, WIDE_DIFFERENCE / variance)
    return half_of_both(wide, one_stream(count / variance, gap, NARROW_DIFFERENCE / variance))


def rounding(t: Tables, index: int) -> float:
    """What rounding an arm's observations may leave in the squares: a block may do far more to both than they differ.

    As in `varies`, on the safe side.
    """
    row = t.walkf[t.arms[index][FULL_END]]
    return 1e-18 * (row[TO_WEIGHT] * row[TO_MEAN] * row[TO_MEAN] + row[TO_SQUARES])


def one_stream(known: float, gap: float, tau: float) -> float:
    """½Δ²I²/(I+τ) − ½ln(1+I/τ)."""
    return 0.5 * gap * gap * known * known / (known + tau) - 0.5 * math.log1p(known / tau)
