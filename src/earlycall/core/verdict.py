"""Accepted, rejected, surviving: `UpdateArmSets` (Algorithm 1), and the fences that make it cheap.

The rule, counted among the k_t = k − |A| places left and the survivors S: accept an arm that beats at least |S| − k_t
of them, reject one that at least k_t beat; again until nothing changes. With intervals (method "paper") "beats" is
LOW_i > HIGH_j, so an arm is accepted when LOW_i lies above the (k_t+1)-th largest HIGH and rejected when HIGH_i lies
below the k_t-th largest LOW. With evidence "beats" is judged pair by pair, but only intervals that lie apart can beat
(evidence.py), so the same two comparisons pick the few arms whose pairs are worth counting.

*Fences.* Most news changes no verdict, and two numbers prove it without looking at the other arms:

* ACCEPT_AT with at least k_t+1 HIGHs at or above it: an arm whose LOW is not above it cannot be accepted;
* REJECT_AT with at most k_t−1 LOWs above it: an arm whose HIGH is not below it cannot be rejected;
* CLOSE_AT (only with ε > 0) with at least k_t+1 HIGHs at or above CLOSE_AT+ε and at most k_t−1 LOWs above it: some
  leader and some other are not yet within ε, whoever leads.

With evidence a few arms may be beyond a fence although too many of their pairs are still open. These are *in doubt*,
and for them the pairs are counted: SCORE.

When an arm moves, two counts and two comparisons say whether the fences still stand, and its pairs with the arms in
doubt whether a score has come to its goal. Only then does `judge` look at all survivors, and put the fences up again as
far from both sides as they go.
"""

import math

from earlycall.core.evidence import beats, settles, statistic
from earlycall.core.tables import (
    ABSENT,
    ACCEPT_AT,
    ACCEPT_COUNT,
    ACCEPTED,
    ALIVE,
    CLEAR,
    CLOSE_AT,
    CLOSE_HIGH,
    CLOSE_LOW,
    DOUBT,
    DOUBTS,
    FALLING,
    FENCED,
    HIGH,
    IN_DOUBT,
    JUDGED,
    LOW,
    MEAN,
    NARROW_PENALTY,
    NARROW_SPREAD,
    PAPER,
    PENALTY,
    PRESENT,
    REJECT_AT,
    REJECT_COUNT,
    REJECTED,
    RISING,
    RIVAL,
    SCORE,
    SCRATCH,
    SPREAD,
    SURVIVING,
    SURVIVORS,
    TAKEN,
    Floats,
    Rules,
    Tables,
)


def middle_of(x: float, y: float, z: float) -> float:
    """The middle one of three numbers: a pivot that sorted and valley-shaped columns do not fool."""
    if x > y:
        x, y = y, x
    if z < x:
        return x
    return y if y < z else z


MOST_DOUBTS = 256  # more arms in doubt than this are not followed: judge at every turn


def select(armf: list[Floats], count: int, rank: int) -> float:
    """The rank-th largest (1 ≤ rank ≤ count) of the first `count` entries of SCRATCH, which it reorders."""
    low = 0
    high = count - 1
    want = rank - 1
    while low < high:
        pivot = middle_of(armf[low][SCRATCH], armf[(low + high) // 2][SCRATCH], armf[high][SCRATCH])
        i = low
        j = high
        while i <= j:
            while armf[i][SCRATCH] > pivot:
                i += 1
            while armf[j][SCRATCH] < pivot:
                j -= 1
            if i <= j:
                swap = armf[i][SCRATCH]
                armf[i][SCRATCH] = armf[j][SCRATCH]
                armf[j][SCRATCH] = swap
                i += 1
                j -= 1
        if want <= j:
            high = j
        elif want >= i:
            low = i
        else:
            return armf[want][SCRATCH]
    return armf[want][SCRATCH]


def ranked(t: Tables, column: int, rank: int) -> float:
    """The rank-th largest entry of a column of the arms table among the survivors."""
    count = t.race[SURVIVORS]
    for p in range(count):
        t.armf[p][SCRATCH] = t.armf[t.arms[p][ALIVE]][column]
    return select(t.armf, count, rank)


Before = tuple[float, float, float, float, float, float, float]


def standing(row: Floats) -> Before:
    """Where an arm stands, to be remembered while it moves: (low, high, mean, 1/J and pen of each prior)."""
    return (
        row[LOW],
        row[HIGH],
        row[MEAN],
        row[SPREAD],
        row[PENALTY],
        row[NARROW_SPREAD],
        row[NARROW_PENALTY],
    )


def follow(rules: Rules, t: Tables, index: int, before: Before) -> None:
    """Let the fences feel one survivor's move from `before` (`standing`); one that falls takes all down."""
    race = t.race
    racef = t.racef
    low = t.armf[index][LOW]
    high = t.armf[index][HIGH]
    old_low = before[0]
    old_high = before[1]
    fence = racef[ACCEPT_AT]
    if low > fence and t.arms[index][DOUBT] != RISING:
        race[FENCED] = 0
    if high >= fence:
        race[ACCEPT_COUNT] += 1
    if old_high >= fence:
        race[ACCEPT_COUNT] -= 1
    fence = racef[REJECT_AT]
    if high < fence and t.arms[index][DOUBT] != FALLING:
        race[FENCED] = 0
    if low > fence:
        race[REJECT_COUNT] += 1
    if old_low > fence:
        race[REJECT_COUNT] -= 1
    places = rules.k - race[TAKEN]
    if race[ACCEPT_COUNT] <= places or race[REJECT_COUNT] >= places:
        race[FENCED] = 0
    if rules.epsilon > 0.0:
        fence = racef[CLOSE_AT]
        if low > fence:
            race[CLOSE_LOW] += 1
        if old_low > fence:
            race[CLOSE_LOW] -= 1
        fence += rules.epsilon
        if high >= fence:
            race[CLOSE_HIGH] += 1
        if old_high >= fence:
            race[CLOSE_HIGH] -= 1
        if race[CLOSE_HIGH] <= places or race[CLOSE_LOW] >= places:
            race[FENCED] = 0
    if race[FENCED] == 1 and race[DOUBTS] > 0:
        rescore(rules, t, index, before)


def rescore(rules: Rules, t: Tables, moved: int, before: Before) -> None:
    """Bring the scores of the arms in doubt up to date with one arm's move; a goal reached takes the fences down."""
    now = t.armf[moved]
    places = rules.k - t.race[TAKEN]
    for p in range(t.race[DOUBTS]):
        index = t.arms[p][IN_DOUBT]
        arm = t.arms[index]
        row = t.armf[index]
        gap = row[MEAN] - before[2]
        if arm[DOUBT] == FALLING:
            gap = -gap
        if index == moved:
            arm[SCORE] = score(rules, t, index)
        else:
            wide = row[SPREAD] + before[3]
            narrow = row[NARROW_SPREAD] + before[5]
            if settles(rules, gap, wide, row[PENALTY] + before[4], narrow, row[NARROW_PENALTY] + before[6]):
                arm[SCORE] -= 1
            if beats(rules, row, now) if arm[DOUBT] == RISING else beats(rules, now, row):
                arm[SCORE] += 1
        goal = places if arm[DOUBT] == FALLING else t.race[SURVIVORS] - places
        if arm[SCORE] >= goal:
            t.race[FENCED] = 0


def score(rules: Rules, t: Tables, index: int) -> int:
    """Of an arm in doubt: how many survivors it beats, or beat it."""
    found = 0
    row = t.armf[index]
    rising = t.arms[index][DOUBT] == RISING
    for p in range(t.race[SURVIVORS]):
        other = t.armf[t.arms[p][ALIVE]]
        if beats(rules, row, other) if rising else beats(rules, other, row):
            found += 1
    return found


def doubt(t: Tables, index: int, kind: int) -> None:
    """Put an arm in doubt."""
    if t.race[DOUBTS] < MOST_DOUBTS:
        t.arms[t.race[DOUBTS]][IN_DOUBT] = index
        t.arms[index][DOUBT] = kind
    t.race[DOUBTS] += 1


def clear_doubts(t: Tables) -> None:
    """Put no arm in doubt."""
    for p in range(min(t.race[DOUBTS], MOST_DOUBTS)):
        t.arms[t.arms[p][IN_DOUBT]][DOUBT] = CLEAR
    t.race[DOUBTS] = 0


def judge(rules: Rules, t: Tables) -> int:
    """Apply the rule until nothing changes (into JUDGED), put the fences up again; the number of new verdicts."""
    race = t.race
    before = race[SURVIVORS]
    top_high = math.inf
    top_low = -math.inf
    changed = 1
    while changed == 1:
        changed = 0
        count = race[SURVIVORS]
        places = rules.k - race[TAKEN]
        if count == 0:
            return before
        if places == 0 or count == places:
            for p in range(count):
                index = t.arms[p][ALIVE]
                t.arms[index][JUDGED] = REJECTED if places == 0 else ACCEPTED
                t.arms[index][RIVAL] = -1
            gather(t)
            return before
        top_high = ranked(t, HIGH, places + 1)
        top_low = ranked(t, LOW, places)
        clear_doubts(t)
        for p in range(count):
            index = t.arms[p][ALIVE]
            if t.armf[index][LOW] > top_high:
                if wins(rules, t, index, count - places, top_high) == 1:
                    t.arms[index][JUDGED] = ACCEPTED
                    changed = 1
                else:
                    doubt(t, index, RISING)
            elif t.armf[index][HIGH] < top_low:
                if loses(rules, t, index, places, top_low) == 1:
                    t.arms[index][JUDGED] = REJECTED
                    changed = 1
                else:
                    doubt(t, index, FALLING)
        if changed == 1:
            gather(t)
    fence_off(rules, t, top_high, top_low)
    return before - race[SURVIVORS]


def wins(rules: Rules, t: Tables, index: int, needed: int, top_high: float) -> int:
    """1 when the arm beats at least `needed` survivors; RIVAL becomes the hardest to beat of those it beats."""
    beaten = 0
    rival = -1
    count = t.race[SURVIVORS]
    for p in range(count):
        if beaten + count - p < needed:  # not even if it beats all that are left
            return 0
        other = t.arms[p][ALIVE]
        if other == index:
            continue
        if rules.method == PAPER:
            if t.armf[other][HIGH] <= top_high:
                beaten += 1
                if rival < 0 or t.armf[other][HIGH] > t.armf[rival][HIGH]:
                    rival = other
        elif beats(rules, t.armf[index], t.armf[other]):
            beaten += 1
            if rival < 0 or statistic(t.armf[index], t.armf[other]) < statistic(t.armf[index], t.armf[rival]):
                rival = other
    if beaten < needed:
        return 0
    t.arms[index][RIVAL] = rival
    return 1


def loses(rules: Rules, t: Tables, index: int, needed: int, top_low: float) -> int:
    """1 when at least `needed` survivors beat the arm; RIVAL becomes the closest of those that do."""
    beaten_by = 0
    rival = -1
    count = t.race[SURVIVORS]
    for p in range(count):
        if beaten_by + count - p < needed:
            return 0
        other = t.arms[p][ALIVE]
        if other == index:
            continue
        if rules.method == PAPER:
            if t.armf[other][LOW] >= top_low:
                beaten_by += 1
                if rival < 0 or t.armf[other][LOW] < t.armf[rival][LOW]:
                    rival = other
        elif beats(rules, t.armf[other], t.armf[index]):
            beaten_by += 1
            if rival < 0 or statistic(t.armf[other], t.armf[index]) < statistic(t.armf[rival], t.armf[index]):
                rival = other
    if beaten_by < needed:
        return 0
    t.arms[index][RIVAL] = rival
    return 1


def gather(t: Tables) -> None:
    """List the survivors, in order, and count the accepted and all that are in the race."""
    alive = 0
    taken = 0
    present = 0
    for index in range(len(t.arms)):
        judged = t.arms[index][JUDGED]
        if judged < ABSENT:
            present += 1
        if judged == SURVIVING:
            t.arms[alive][ALIVE] = index
            alive += 1
        elif judged == ACCEPTED:
            taken += 1
    t.race[SURVIVORS] = alive
    t.race[TAKEN] = taken
    t.race[PRESENT] = present
    t.race[FENCED] = 0


def between(near: float, far: float) -> float:
    """The middle of two bounds; where one is infinite it is the best place itself, the far one first."""
    if math.isinf(far):
        return far
    if math.isinf(near):
        return near
    return near + 0.5 * (far - near)


def fence_off(rules: Rules, t: Tables, top_high: float, top_low: float) -> None:
    """Put the fences midway between what they keep apart; leave them down where that is impossible."""
    race = t.race
    racef = t.racef
    race[FENCED] = 0
    if race[DOUBTS] > MOST_DOUBTS or top_high - top_low < rules.epsilon:
        return
    best_low = -math.inf
    worst_high = math.inf
    for p in range(race[SURVIVORS]):
        index = t.arms[p][ALIVE]
        row = t.armf[index]
        if row[LOW] > best_low and t.arms[index][DOUBT] != RISING:
            best_low = row[LOW]
        if row[HIGH] < worst_high and t.arms[index][DOUBT] != FALLING:
            worst_high = row[HIGH]
    race[FENCED] = 1
    for p in range(race[DOUBTS]):
        t.arms[t.arms[p][IN_DOUBT]][SCORE] = score(rules, t, t.arms[p][IN_DOUBT])
    racef[ACCEPT_AT] = between(best_low, top_high)
    racef[REJECT_AT] = between(worst_high, top_low)
    racef[CLOSE_AT] = between(top_low, top_high - rules.epsilon)
    race[ACCEPT_COUNT] = 0
    race[REJECT_COUNT] = 0
    race[CLOSE_HIGH] = 0
    race[CLOSE_LOW] = 0
    for p in range(race[SURVIVORS]):
        row = t.armf[t.arms[p][ALIVE]]
        if row[HIGH] >= racef[ACCEPT_AT]:
            race[ACCEPT_COUNT] += 1
        if row[LOW] > racef[REJECT_AT]:
            race[REJECT_COUNT] += 1
        if row[HIGH] >= racef[CLOSE_AT] + rules.epsilon:
            race[CLOSE_HIGH] += 1
        if row[LOW] > racef[CLOSE_AT]:
            race[CLOSE_LOW] += 1
