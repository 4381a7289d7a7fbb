"""Verdicts where arms are compared pair by pair (pairs.py) and no interval of one arm stands for all its pairs.

A table says for every pair whether one arm *may* beat the other, by a quick test that never says no wrongly, and every
arm counts the survivors it may beat and those that may beat it. When an arm moves its row and column are tested again:
n quick tests. Only an arm whose count has come to what a verdict takes is tested for good.

Blocks say more about a pair than the arms' own means do, but who leads is asked of the means: there the answer of the
moment is that of the pulls so far, and the verdicts are those of the pairs.
"""

import math

from earlycall.core.pairs import established, may_beat, meet, pair_evidence, shift_needed
from earlycall.core.tables import (
    ACCEPTED,
    ALIVE,
    BLOCKED,
    JUDGED,
    LEADER,
    LOST_TO,
    REJECTED,
    RIVAL,
    SPREAD,
    SURVIVORS,
    TAKEN,
    WON,
    Rules,
    Tables,
)
from earlycall.core.verdict import gather


def compare(rules: Rules, t: Tables, index: int) -> None:
    """Test one arm against every other survivor again."""
    for p in range(t.race[SURVIVORS]):
        other = t.arms[p][ALIVE]
        if other != index:
            if rules.order == BLOCKED:
                meet(rules, t, index, other)
            put(t, index, other, 1 if may_beat(rules, t, index, other) else 0)
            put(t, other, index, 1 if may_beat(rules, t, other, index) else 0)


def put(t: Tables, i: int, j: int, wins: int) -> None:
    """Put down whether arm i may beat arm j."""
    change = wins - t.duels[i][j]
    if change != 0:
        t.duels[i][j] = wins
        t.arms[i][WON] += change
        t.arms[j][LOST_TO] += change


def recount(t: Tables) -> None:
    """Count every survivor's pairs anew, among the survivors there are now."""
    count = t.race[SURVIVORS]
    for p in range(count):
        i = t.arms[p][ALIVE]
        t.arms[i][WON] = 0
        t.arms[i][LOST_TO] = 0
        for m in range(count):
            j = t.arms[m][ALIVE]
            if j != i:
                t.arms[i][WON] += t.duels[i][j]
                t.arms[i][LOST_TO] += t.duels[j][i]


def judge_pairs(rules: Rules, t: Tables) -> int:
    """Apply the rule until nothing changes (into JUDGED); the number of new verdicts."""
    before = t.race[SURVIVORS]
    changed = 1
    while changed == 1:
        count = t.race[SURVIVORS]
        places = rules.k - t.race[TAKEN]
        if count == 0:
            return before
        if places == 0 or count == places:
            for p in range(count):
                index = t.arms[p][ALIVE]
                t.arms[index][JUDGED] = REJECTED if places == 0 else ACCEPTED
                t.arms[index][RIVAL] = -1
            gather(t)
            return before
        accepted = 0
        rejected = 0
        for p in range(count):
            index = t.arms[p][ALIVE]
            wins = t.arms[index][WON]
            losses = t.arms[index][LOST_TO]
            # Pairs meet on counts of their own, so who beats whom may go round in a circle: there is only so much room.
            if accepted < places and wins >= count - places and beats_enough(rules, t, index, count - places):
                t.arms[index][JUDGED] = ACCEPTED
                accepted += 1
            elif rejected < count - places and losses >= places and beaten_enough(rules, t, index, places):
                t.arms[index][JUDGED] = REJECTED
                rejected += 1
        changed = 1 if accepted + rejected > 0 else 0
        if changed == 1:
            gather(t)
            recount(t)
    return before - t.race[SURVIVORS]


def beats_enough(rules: Rules, t: Tables, index: int, needed: int) -> bool:
    """Whether the arm beats so many survivors, for good; RIVAL becomes the last it was set against."""
    left = t.arms[index][WON]
    for p in range(t.race[SURVIVORS]):
        other = t.arms[p][ALIVE]
        if left < needed:
            return False
        if other != index and t.duels[index][other] == 1:
            if established(rules, t, index, other, 0.0, rules.level):
                t.arms[index][RIVAL] = other
            else:
                left -= 1
    return left >= needed


def beaten_enough(rules: Rules, t: Tables, index: int, needed: int) -> bool:
    """Whether so many survivors beat the arm, for good; RIVAL becomes the last it was set against."""
    left = t.arms[index][LOST_TO]
    for p in range(t.race[SURVIVORS]):
        other = t.arms[p][ALIVE]
        if left < needed:
            return False
        if other != index and t.duels[other][index] == 1:
            if established(rules, t, other, index, 0.0, rules.level):
                t.arms[index][RIVAL] = other
            else:
                left -= 1
    return left >= needed


def weakest_pair(rules: Rules, t: Tables) -> float:
    """Z, the smallest evidence of a (leader, other) pair within S; call `elect` first. −inf where one is unknown."""
    smallest = math.inf
    for p in range(t.race[SURVIVORS]):
        i = t.arms[p][ALIVE]
        for m in range(t.race[SURVIVORS]):
            j = t.arms[m][ALIVE]
            if t.arms[i][LEADER] == 1 and t.arms[j][LEADER] == 0:
                if smallest < math.inf and established(rules, t, i, j, 0.0, smallest):
                    continue  # one test in the place of a search
                found = pair_evidence(rules, t, i, j)
                if found < smallest:
                    smallest = found
    return smallest


def widest_gap(rules: Rules, t: Tables) -> float:
    """The smallest ε with which every (leader, other) pair within S passes; call `elect` first."""
    needed = 0.0
    for p in range(t.race[SURVIVORS]):
        i = t.arms[p][ALIVE]
        for m in range(t.race[SURVIVORS]):
            j = t.arms[m][ALIVE]
            if t.arms[i][LEADER] == 1 and t.arms[j][LEADER] == 0:
                unit = t.armf[i][SPREAD] + t.armf[j][SPREAD]
                if unit == math.inf:
                    return math.inf
                if established(rules, t, i, j, needed, rules.level):
                    continue
                found = shift_needed(rules, t, i, j, math.sqrt(unit))
                if found > needed:
                    needed = found
    return needed


def all_within(rules: Rules, t: Tables, epsilon: float) -> bool:
    """Whether every (leader, other) pair within S passes with ε; call `elect` first."""
    for p in range(t.race[SURVIVORS]):
        i = t.arms[p][ALIVE]
        for m in range(t.race[SURVIVORS]):
            j = t.arms[m][ALIVE]
            if t.arms[i][LEADER] == 1 and t.arms[j][LEADER] == 0:
                if not established(rules, t, i, j, epsilon, rules.level):
                    return False
    return True
