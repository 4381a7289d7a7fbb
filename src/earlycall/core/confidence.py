"""What can be said now: the leaders, the confidence in them, the smallest ε, intervals.

*Leaders* are the k_t best means among the survivors; with the accepted they are the answer. All that is said here
follows from the events the verdicts already rest on, so it costs no further δ and may be asked at any time:

* a wrong answer means that some (leader, other) pair within S is the wrong way round, so with Z the smallest pair
  statistic its probability is at most pairs·e^(−Z), or δ while a verdict stands: confidence = 1 − that;
* every leader is within ε of every other when every pair would pass with μ̂_i − μ̂_j + ε in the place of μ̂_i − μ̂_j.

Scanning all pairs would cost |S|²/4; a bound on what a leader can contribute skips nearly all of them.
"""

import math

from earlycall.core.duels import all_within, weakest_pair, widest_gap
from earlycall.core.evidence import LN2, evidence_against, reach, statistic, width
from earlycall.core.order import at, depth_of
from earlycall.core.pairs import student_reach
from earlycall.core.tables import (
    ALIVE,
    BLOCKED,
    FENCED,
    FREE,
    FULL_END,
    HIGH,
    LEADER,
    LOW,
    MEAN,
    NARROW_PENALTY,
    NARROW_SPREAD,
    PAPER,
    PENALTY,
    PILOTING,
    SCRATCH,
    SPREAD,
    SURVIVORS,
    TAKEN,
    TO_MEAN,
    Floats,
    Rules,
    Tables,
)
from earlycall.core.verdict import select


def rank_mean(row: Floats) -> float:
    """The arm's estimate for ranking: an arm nothing is known of comes last."""
    return row[MEAN] if row[SPREAD] < math.inf else -math.inf


def rank(rules: Rules, t: Tables, index: int, blocks: int) -> float:
    """The same for a survivor; block by block: its mean over the first `blocks` of its own."""
    if rules.order != BLOCKED or blocks == 0 or t.arms[index][FULL_END] < 0:
        return rank_mean(t.armf[index])
    return t.walkf[at(t, t.arms[index][FULL_END], blocks)][TO_MEAN]


def common_blocks(rules: Rules, t: Tables) -> int:
    """On how many blocks every survivor that was ever pulled has finished; 0 where there are no blocks."""
    fewest = 0
    if rules.order == BLOCKED:
        for p in range(t.race[SURVIVORS]):
            blocks = depth_of(t, t.arms[t.arms[p][ALIVE]][FULL_END])
            if blocks > 0 and (fewest == 0 or blocks < fewest):
                fewest = blocks
    return fewest


def elect(rules: Rules, t: Tables) -> None:
    """Mark the leaders: the k_t best means of the survivors, ties by index."""
    blocks = common_blocks(rules, t)
    count = t.race[SURVIVORS]
    places = rules.k - t.race[TAKEN]
    for index in range(len(t.arms)):
        t.arms[index][LEADER] = 0
    if places <= 0 or count == 0:
        return
    for p in range(count):
        t.armf[p][SCRATCH] = rank(rules, t, t.arms[p][ALIVE], blocks)
    last = select(t.armf, count, places)
    for p in range(count):
        index = t.arms[p][ALIVE]
        if rank(rules, t, index, blocks) > last:
            t.arms[index][LEADER] = 1
            places -= 1
    for p in range(count):
        index = t.arms[p][ALIVE]
        if places > 0 and rank(rules, t, index, blocks) == last:
            t.arms[index][LEADER] = 1
            places -= 1


def bounds_on_others(t: Tables) -> tuple[float, float, float]:
    """(best mean of the others, largest 1/J, largest pen) among the survivors; 1/J = inf where one is unknown."""
    best_other = -math.inf
    spread = 0.0
    penalty = 0.0
    for p in range(t.race[SURVIVORS]):
        index = t.arms[p][ALIVE]
        row = t.armf[index]
        if row[SPREAD] > spread:
            spread = row[SPREAD]
        if row[PENALTY] > penalty:
            penalty = row[PENALTY]
        if t.arms[index][LEADER] == 0 and row[MEAN] > best_other:
            best_other = row[MEAN]
    return best_other, spread, penalty


def weakest(rules: Rules, t: Tables) -> float:
    """Z, the smallest pair statistic over (leader, other) within S (evidence); call `elect` first.

    −inf where a survivor is unknown, inf where there is no pair.
    """
    count = t.race[SURVIVORS]
    best_other, spread, penalty = bounds_on_others(t)
    if spread == math.inf:
        return -math.inf
    smallest = math.inf
    for p in range(count):
        i = t.arms[p][ALIVE]
        if t.arms[i][LEADER] == 1:
            row = t.armf[i]
            gap = row[MEAN] - best_other
            if gap * gap / (2.0 * (row[SPREAD] + spread)) - row[PENALTY] - penalty - LN2 < smallest:
                for m in range(count):
                    j = t.arms[m][ALIVE]
                    if t.arms[j][LEADER] == 0:
                        pair = statistic(row, t.armf[j])
                        if pair < smallest:
                            smallest = pair
    return smallest


def confidence_now(rules: Rules, t: Tables, judged: int) -> float:
    """Confidence in the answer of the moment (evidence); `judged` is the number of verdicts that stand."""
    doubt = rules.delta if judged > 0 else 0.0
    if t.race[SURVIVORS] == 0:
        return 1.0 - doubt - rules.spent
    if t.race[PILOTING] == 1:
        return 0.0
    z = weakest(rules, t) if rules.order == FREE else weakest_pair(rules, t)
    log_doubt = rules.level + math.log(rules.delta) - z  # ln(pairs·e^(−Z)), with the pairs of `level`
    if log_doubt >= 0.0:
        return 0.0
    from_pairs = math.exp(log_doubt)
    sure = 1.0 - (from_pairs if from_pairs > doubt else doubt) - rules.spent
    return sure if sure > 0.0 else 0.0


def smallest_epsilon(rules: Rules, t: Tables) -> float:
    """The smallest ε with which every (leader, other) pair within S passes, ≥ 0; call `elect` first."""
    count = t.race[SURVIVORS]
    if rules.method == PAPER:
        return printed_epsilon(t)
    if t.race[PILOTING] == 1:
        return math.inf
    if rules.order != FREE:
        return widest_gap(rules, t)
    best_other, spread, penalty = bounds_on_others(t)
    if spread == math.inf:
        return math.inf
    needed = 0.0
    for p in range(count):
        i = t.arms[p][ALIVE]
        if t.arms[i][LEADER] == 1:
            row = t.armf[i]
            most = math.sqrt(2.0 * (row[SPREAD] + spread) * (rules.level + LN2 + row[PENALTY] + penalty))
            if most - row[MEAN] + best_other > needed:
                for m in range(count):
                    j = t.arms[m][ALIVE]
                    if t.arms[j][LEADER] == 0:
                        pair = width(rules, row, t.armf[j]) - (row[MEAN] - t.armf[j][MEAN])
                        if pair > needed:
                            needed = pair
    return needed


def close_enough(rules: Rules, t: Tables) -> bool:
    """Whether the race may end because every leader is within ε of every other; while the fences stand it is not."""
    if rules.epsilon <= 0.0 or t.race[FENCED] == 1 or t.race[PILOTING] == 1:
        return False
    elect(rules, t)
    if rules.order != FREE:
        return all_within(rules, t, rules.epsilon)
    return smallest_epsilon(rules, t) <= rules.epsilon


def printed_epsilon(t: Tables) -> float:
    """The smallest ε by intervals: the best HIGH of the others less the worst LOW of the leaders."""
    count = t.race[SURVIVORS]
    best_high = -math.inf
    worst_low = math.inf
    for p in range(count):
        index = t.arms[p][ALIVE]
        if t.arms[index][LEADER] == 1:
            if t.armf[index][LOW] < worst_low:
                worst_low = t.armf[index][LOW]
        elif t.armf[index][HIGH] > best_high:
            best_high = t.armf[index][HIGH]
    needed = best_high - worst_low
    return needed if needed > 0.0 else 0.0


def half_width(rules: Rules, t: Tables, index: int) -> float:
    """Half the width of an arm's interval, all of which hold together, always, with probability ≥ 1 − δ.

    Evidence: ln M(μ) < ln(N/δ) with N arms at most. Paper: the radius itself. Block by block only differences are
    known: ∞.
    """
    armf = t.armf[index]
    if rules.method == PAPER:
        return armf[SPREAD]
    if rules.order == BLOCKED:
        return math.inf
    if rules.unknown == 1:
        return student_reach(rules, t, index)
    level = math.log(rules.arms / rules.delta)
    return reach(level, armf[SPREAD], armf[PENALTY], armf[NARROW_SPREAD], armf[NARROW_PENALTY])


def misses(rules: Rules, t: Tables, index: int, mean: float) -> bool:
    """Whether the arm's interval does not hold this mean."""
    armf = t.armf[index]
    if armf[SPREAD] == math.inf:
        return False
    if rules.method == PAPER or rules.unknown == 1 or rules.order == BLOCKED:
        return math.fabs(armf[MEAN] - mean) > half_width(rules, t, index)
    return evidence_against(armf, mean) > math.log(rules.arms / rules.delta)
