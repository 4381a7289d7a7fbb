"""What can happen to the tables: a pull starts, reads, finishes or leaves its slot; an arm is judged, comes or goes.

Each move of a pull changes it and one arm, in time that does not depend on n, and marks the arm as moved. `settle` then
brings every moved arm's numbers up to date and the verdicts with them. One *turn* is any number of moves of one
instant and one `settle`, after which its caller carries out what follows: verdicts, cancelled pulls, cuts. The caller
is `state.py` and `race.py` live, and a compiled loop in simulations; both call only what stands here.
"""

import math

from earlycall.core.duels import compare, judge_pairs, recount
from earlycall.core.evidence import replace_by_full, replace_reading, weigh
from earlycall.core.feedback import take_reading
from earlycall.core.ledger import beta_at, pull_share
from earlycall.core.order import by_observation, enter, heard, heard_full, keep_early, walk_on
from earlycall.core.pairs import stand
from earlycall.core.paper import bound, extend, keeps_order, repool_full, repool_reading
from earlycall.core.pilot import end_pilot
from earlycall.core.schedule import cuts, earns_its_slot, look_ahead, promise
from earlycall.core.tables import (
    ABSENT,
    ACTIVE,
    ARM,
    BETA,
    BIASED,
    BUSY,
    CANCELLED,
    CHANGES,
    COUNTED,
    CUT,
    DONE,
    EARLY_END,
    ESTIMATE,
    EVERY,
    FAILED,
    FENCED,
    FINISHED,
    FIRST,
    FIRST_ROW,
    FREE,
    FULL_END,
    FULL_NEXT,
    HEAD,
    HIGH,
    INCREMENTAL,
    JUDGED,
    LAST,
    LAST_ROW,
    LEFT,
    LENGTH,
    LOST,
    LOW,
    MOVED,
    NARROW_SPREAD,
    NEWS_OF,
    NEXT,
    NEXT_FIRST,
    NEXT_SECOND,
    ONCE,
    OPENED,
    ORDERED,
    ORDINAL,
    OUT,
    PAPER,
    PILOTING,
    PLAN,
    POOL_NEXT,
    PULLED,
    QUEUE,
    QUEUED,
    READINGS,
    RIGHT,
    RIVAL,
    RUNNING,
    SEVERAL,
    SPREAD,
    STARTED,
    STATE,
    STATUS,
    STEP,
    SURVIVING,
    TAIL,
    VALUE,
    W_LEFT,
    WEIGHT,
    Rules,
    Tables,
)
from earlycall.core.verdict import follow, gather, judge, standing


def open_race(rules: Rules, t: Tables) -> None:
    """Make tables of zeros, with the arms' numbers and the ABSENT filled in, those of a race that has not begun."""
    t.race[PILOTING] = 1 if rules.pilot > 0 else 0
    for index in range(rules.arms):
        arm = t.arms[index]
        arm[RIVAL] = -1
        arm[HEAD] = -1
        arm[LAST] = -1
        arm[TAIL] = -1
        arm[FIRST] = -1
        arm[FULL_NEXT] = -1
        arm[POOL_NEXT] = -1
        arm[EARLY_END] = -1
        arm[FULL_END] = -1
        armf = t.armf[index]
        armf[SPREAD] = math.inf
        armf[NARROW_SPREAD] = math.inf
        armf[LOW] = -math.inf
        armf[HIGH] = math.inf
        if arm[STATUS] != ABSENT:
            look_ahead(rules, t, index)
    for row in range(len(t.meets)):
        t.meets[row][NEXT_FIRST] = -1
        t.meets[row][NEXT_SECOND] = -1
    gather(t)


def start(rules: Rules, t: Tables, index: int, length: float) -> int:
    """Start the next pull of an arm (`length`: its D in steps, where that is known) and return its row."""
    pull = t.race[OPENED]
    t.race[OPENED] += 1
    t.pulls[pull][FIRST_ROW] = -1
    t.pulls[pull][LAST_ROW] = -1
    t.race[BUSY] += 1
    arm = t.arms[index]
    arm[STARTED] += 1
    arm[PULLED] += 1
    arm[ACTIVE] += 1
    now = t.pulls[pull]
    now[ARM] = index
    now[STATE] = RUNNING
    now[ORDINAL] = arm[STARTED]
    t.pullf[pull][LENGTH] = length
    t.pullf[pull][BETA] = beta_at(rules, pull_share(rules, arm[STARTED]))
    now[NEXT] = -1
    last = arm[TAIL]
    if last >= 0:
        t.pulls[last][NEXT] = pull
    else:
        arm[FIRST] = pull
    if arm[FULL_NEXT] < 0:
        arm[FULL_NEXT] = pull
    if arm[POOL_NEXT] < 0:
        arm[POOL_NEXT] = pull
    arm[TAIL] = pull
    link(t, index, pull)
    promise(rules, t, index)
    return pull


def read(rules: Rules, t: Tables, pull: int, step: int, value: float, precision: float) -> None:
    """A pull shows a reading, in its slot or after it left it; one without precision says nothing but its step."""
    now = t.pulls[pull]
    nowf = t.pullf[pull]
    index = now[ARM]
    if precision <= 0.0 and rules.feedback != INCREMENTAL:  # progress, and nothing else
        now[STEP] = step
        if 0 < rules.min_delay <= step:  # it has shown that it has nothing to say early
            proceed(rules, t, index)
            mark(t, index, pull)
        return
    if now[COUNTED] != 0:  # what it says now may only be heard because of what it had said
        now[STEP] = step
        return
    weight = nowf[WEIGHT]
    estimate = nowf[ESTIMATE]
    if rules.method == PAPER and rules.reading_sd > 0.0:  # all alike, so Ȳ is the plain mean of Alg. 2, line 7:
        precision = 1.0 / (rules.reading_sd * rules.reading_sd)  # C(s, P, ·) holds as no declared sd is above s
    take_reading(rules, t.armf[index], now, nowf, step, value, precision)
    if by_observation(rules):
        share = nowf[WEIGHT] - weight
        heard(t, pull, share, value / share)
        proceed(rules, t, index)
    elif rules.order == ORDERED:
        keep_early(rules, t, pull)
        proceed(rules, t, index)
    elif rules.looks == EVERY:
        replace_reading(t.arms[index], t.armf[index], now, nowf, weight, estimate)
        if keeps_order(rules):
            repool_reading(rules, t, pull, estimate)
    elif now[STATE] != RUNNING or 0.0 < t.armf[index][PLAN] <= step:
        count_once(t, pull)
    else:  # its time to count has not come
        return
    mark(t, index, pull)


def proceed(rules: Rules, t: Tables, index: int) -> None:
    """Let an arm's walk go on as far as the start order allows."""
    if by_observation(rules):
        enter(rules, t, index)
    else:
        walk_on(rules, t, index)


def count_once(t: Tables, pull: int) -> None:
    """What a pull has said counts from now on, as it is, for good (looks once)."""
    now = t.pulls[pull]
    if now[COUNTED] == 0 and now[READINGS] > 0:
        now[COUNTED] = 1
        replace_reading(t.arms[now[ARM]], t.armf[now[ARM]], now, t.pullf[pull], 0.0, 0.0)


def finish(rules: Rules, t: Tables, pull: int, value: float) -> None:
    """A pull ends, in its slot or long after it left it, with its full feedback."""
    now = t.pulls[pull]
    index = now[ARM]
    arm = t.arms[index]
    if rules.order == ORDERED and now[COUNTED] == 0 and t.armf[index][PLAN] > 0.0:
        now[COUNTED] = 1  # not heard at its planned length: that it ended before says what it is worth
    counts = now[COUNTED] == 0  # late news of a pull that has counted, or never will, is only kept
    if counts:
        now[COUNTED] = 2
        if rules.order == FREE:
            count_full(rules, t, pull, value)
        elif by_observation(rules):
            heard_full(rules, t, pull, value)
    if now[STATE] == RUNNING:
        unlink(t, index, pull)
    elif now[STATE] == LOST:
        arm[PULLED] += 1
    now[STATE] = FINISHED
    t.pullf[pull][VALUE] = value
    arm[DONE] += 1
    if keeps_order(rules):
        repool_full(rules, t, pull)
    elif rules.order != FREE:
        proceed(rules, t, index)
    mark(t, index, pull)
    look_at_pilot(rules, t)


def look_at_pilot(rules: Rules, t: Tables) -> None:
    """Where the pilot was only waiting for this, the race begins: every arm has moved."""
    if t.race[PILOTING] == 1 and end_pilot(rules, t):
        for index in range(rules.arms):
            look_ahead(rules, t, index)
            promise(rules, t, index)
            mark(t, index, SEVERAL)


def count_full(rules: Rules, t: Tables, pull: int, value: float) -> None:
    """A full feedback counts, in the place of what the pull had said."""
    now = t.pulls[pull]
    arm = t.arms[now[ARM]]
    if rules.looks == ONCE and now[READINGS] > 0:  # which had not counted yet
        replace_reading(arm, t.armf[now[ARM]], now, t.pullf[pull], 0.0, 0.0)
    replace_by_full(rules, arm, t.armf[now[ARM]], now, t.pullf[pull], value)


def leave(rules: Rules, t: Tables, pull: int, state: int) -> None:
    """A running pull leaves its slot unfinished (LOST, FAILED, CANCELLED or CUT); what it said stays."""
    now = t.pulls[pull]
    index = now[ARM]
    unlink(t, index, pull)
    lost = state == LOST or state == FAILED
    if rules.looks == ONCE and rules.order == FREE:
        if lost:
            count_once(t, pull)
            mark(t, index, pull)
        elif now[COUNTED] == 0 and now[READINGS] > 0:  # else its late news could be told for what it has shown
            now[COUNTED] = 3
    now[STATE] = state
    if rules.order == FREE and (rules.looks == EVERY or now[COUNTED] == 1):
        t.armf[index][W_LEFT] += t.pullf[pull][WEIGHT]
    if lost:
        t.arms[index][PULLED] -= 1
        silent = now[READINGS] == 0 and not 0 < rules.min_delay <= now[STEP]
        if silent or rules.pilot > 0:  # (a pilot does without lost pulls, whatever they said)
            now[OUT] = 1
            if keeps_order(rules):
                extend(rules, t, index)
                mark(t, index, pull)
    if rules.order != FREE and lost:
        now[COUNTED] = 1
        proceed(rules, t, index)
        mark(t, index, pull)
    promise(rules, t, index)
    if lost:
        look_at_pilot(rules, t)


def give(t: Tables, index: int, verdict: int) -> None:
    """A verdict stands from now on."""
    t.arms[index][STATUS] = verdict
    if t.arms[index][JUDGED] != verdict:  # replayed, not judged here
        t.arms[index][JUDGED] = verdict
        gather(t)
        if len(t.duels) > 0:  # who is judged is no survivor that others may beat
            recount(t)


def link(t: Tables, index: int, pull: int) -> None:
    """Put a pull at the end of its arm's list of slots."""
    arm = t.arms[index]
    last = arm[LAST]
    t.pulls[pull][LEFT] = last
    t.pulls[pull][RIGHT] = -1
    if last >= 0:
        t.pulls[last][RIGHT] = pull
    else:
        arm[HEAD] = pull
    arm[LAST] = pull


def unlink(t: Tables, index: int, pull: int) -> None:
    """Free the slot of a pull."""
    arm = t.arms[index]
    left = t.pulls[pull][LEFT]
    right = t.pulls[pull][RIGHT]
    if left >= 0:
        t.pulls[left][RIGHT] = right
    else:
        arm[HEAD] = right
    if right >= 0:
        t.pulls[right][LEFT] = left
    else:
        arm[LAST] = left
    arm[ACTIVE] -= 1
    t.race[BUSY] -= 1


def mark(t: Tables, index: int, pull: int) -> None:
    """Put an arm in the queue of those that wait for `settle`: there is news of this pull."""
    arm = t.arms[index]
    if arm[MOVED] == 0:
        arm[MOVED] = 1
        arm[NEWS_OF] = pull
        t.arms[t.race[QUEUED]][QUEUE] = index
        t.race[QUEUED] += 1
    elif arm[NEWS_OF] != pull:
        arm[NEWS_OF] = SEVERAL


def settle(rules: Rules, t: Tables) -> int:
    """Bring the moved arms and the verdicts up to date; the number of new verdicts (in JUDGED).

    The queue stays, for its reader to look for cuts, until `clear`.
    """
    refresh(rules, t)
    if t.race[FENCED] == 1 or t.race[PILOTING] == 1:
        return 0
    if rules.order != FREE:
        return judge_pairs(rules, t) if t.race[QUEUED] > 0 else 0
    return judge(rules, t)


def refresh(rules: Rules, t: Tables) -> None:
    """Bring the numbers of the moved arms up to date, and let the fences feel it."""
    race = t.race
    for p in range(race[QUEUED]):
        index = t.arms[p][QUEUE]
        armf = t.armf[index]
        before = standing(armf)
        if t.race[PILOTING] == 1:
            promise(rules, t, index)
        elif rules.method == PAPER:
            bound(rules, t, index)
        elif rules.order != FREE:
            stand(rules, t, index)
            promise(rules, t, index)
            if t.arms[index][JUDGED] == SURVIVING:
                compare(rules, t, index)
        else:
            weigh(rules, armf)
            if rules.feedback >= BIASED and cuts(rules):
                look_ahead(rules, t, index)
            promise(rules, t, index)
        if race[FENCED] == 1 and t.arms[index][JUDGED] == SURVIVING:
            follow(rules, t, index, before)


def act(rules: Rules, t: Tables, judged: int) -> None:
    """Carry out what a turn decided, in a race that keeps no facts: so many new verdicts, cancelled pulls, cuts."""
    if judged > 0 or t.race[CHANGES] > 0:
        for index in range(rules.arms):
            t.arms[index][STATUS] = t.arms[index][JUDGED]
            while t.arms[index][JUDGED] != SURVIVING and t.arms[index][HEAD] >= 0:
                leave(rules, t, t.arms[index][HEAD], CANCELLED)
    if cuts(rules):
        for p in range(t.race[QUEUED]):
            pull = t.arms[t.arms[p][QUEUE]][HEAD]
            while pull >= 0:
                after = t.pulls[pull][RIGHT]
                if not earns_its_slot(rules, t, pull):
                    leave(rules, t, pull, CUT)
                pull = after


def clear(t: Tables) -> None:
    """Empty the queue: the turn is over."""
    for p in range(t.race[QUEUED]):
        t.arms[t.arms[p][QUEUE]][MOVED] = 0
    t.race[QUEUED] = 0
    t.race[CHANGES] = 0
