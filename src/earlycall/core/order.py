"""Observations in the order in which pulls started, whatever comes back first (THEORY §2: Student, informative).

Where the delay of a pull says how good it is, the pulls already back are no fair sample; and where σ is not known, two
arms must be compared on equal counts. Both ask for an order that nobody can choose: that of the starts. The *walk* of
an arm is a list of its observations in this order, each with the sums of everything up to it, so that the state at any
earlier count can be had again: `at` finds it, by links that jump back, in a logarithm of steps.

σ unknown, or blocks: an observation is a full feedback, or an increment. It is put down when it is heard (`heard`) and
enters the walk when all pulls started before its own are over (`enter`). A pull that is lost gives way to the next.

σ known: an observation is a pull. It enters the walk once it has shown all its readings of the first `min_delay` steps,
a step no pull can have ended by (EARLY_END), with the sums of these; and when it and all before it are over, the sums
of what they came to in the end (FULL_END). A pull lost after it spoke, or cut as planned, counts with its early
readings for good: what it said later was only heard because it had not ended. A pull that the race stopped stands in
the way for good.
"""

from earlycall.core.tables import (
    AFTER,
    ARM,
    BEFORE,
    BIASED,
    BLOCK,
    BLOCKED,
    COUNTED,
    DEPTH,
    EARLY,
    EARLY_END,
    EARLY_Y,
    ESTIMATE,
    FAILED,
    FINISHED,
    FIRST_ROW,
    FULL_END,
    FULL_NEXT,
    INCREMENTAL,
    JUMP,
    LAST_ROW,
    LOST,
    NEXT,
    ORDINAL,
    OUT,
    PLAN,
    POOL_NEXT,
    PRECISION,
    SEEN,
    SHARE,
    SIGMA,
    SLOPE,
    STATE,
    STEP,
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
    TOTAL,
    VALUE,
    WALKED,
    WEIGHT,
    Rules,
    Tables,
)


def by_observation(rules: Rules) -> bool:
    """Whether the walk is made of single observations; else of pulls."""
    return rules.unknown == 1 or rules.order == BLOCKED


def at(t: Tables, row: int, depth: int) -> int:
    """The row `depth` observations into the walk that ends in `row`; −1 at depth 0."""
    if depth == 0:
        return -1
    while t.walk[row][DEPTH] > depth:
        far = t.walk[row][JUMP]
        row = far if t.walk[far][DEPTH] >= depth else t.walk[row][BEFORE]
    return row


def depth_of(t: Tables, row: int) -> int:
    """How many observations there are up to a row (−1: none)."""
    return t.walk[row][DEPTH] if row >= 0 else 0


def new_row(t: Tables) -> int:
    """The next free row of the walk."""
    row = t.race[WALKED]
    t.race[WALKED] += 1
    return row


def append(t: Tables, last: int, row: int) -> None:
    """Put a row after the last of an arm's walk (−1: it is the first)."""
    now = t.walk[row]
    now[BEFORE] = last
    now[AFTER] = -1
    if last < 0:
        now[DEPTH] = 1
        now[JUMP] = row
        return
    before = t.walk[last]
    before[AFTER] = row
    now[DEPTH] = before[DEPTH] + 1
    far = before[JUMP]
    further = t.walk[far][JUMP]
    even = before[DEPTH] - t.walk[far][DEPTH] == t.walk[far][DEPTH] - t.walk[further][DEPTH]
    now[JUMP] = further if even else last


# σ unknown, or blocks -----------------------------------------------------------------------------------------------


def heard(t: Tables, pull: int, share: float, value: float) -> None:
    """Put down one observation of a pull, to enter the walk in its turn."""
    row = new_row(t)
    t.walk[row][DEPTH] = 0
    t.walk[row][AFTER] = -1
    t.walk[row][BLOCK] = t.pulls[pull][ORDINAL]
    t.walkf[row][SHARE] = share
    t.walkf[row][SEEN] = value
    last = t.pulls[pull][LAST_ROW]
    if last >= 0:
        t.walk[last][AFTER] = row
    else:
        t.pulls[pull][FIRST_ROW] = row
    t.pulls[pull][LAST_ROW] = row


def heard_full(rules: Rules, t: Tables, pull: int, value: float) -> None:
    """Put down what the full feedback adds to what the pull's readings said."""
    row = t.pullf[pull]
    share = 1.0
    if rules.feedback == INCREMENTAL:
        share -= row[WEIGHT]  # σ counts as 1 where it is not known
        value -= row[TOTAL]
    if share > 0.0:
        heard(t, pull, share, value / share)


def enter(rules: Rules, t: Tables, index: int) -> None:
    """Let an arm's observations into its walk as far as the start order allows."""
    arm = t.arms[index]
    pull = arm[FULL_NEXT]
    while pull >= 0:
        row = t.pulls[pull][FIRST_ROW]
        while row >= 0:
            after = t.walk[row][AFTER]
            add_up(t, arm[FULL_END], row)
            arm[FULL_END] = row
            row = after
        t.pulls[pull][FIRST_ROW] = -1
        state = t.pulls[pull][STATE]
        if state != FINISHED and state != LOST and state != FAILED:
            t.pulls[pull][LAST_ROW] = -1
            break
        pull = t.pulls[pull][NEXT]
    arm[FULL_NEXT] = pull


def add_up(t: Tables, last: int, row: int) -> None:
    """Append an observation and carry the sums on (weighted, after Welford: no large numbers are subtracted)."""
    append(t, last, row)
    now = t.walkf[row]
    total = now[SHARE]
    mean = now[SEEN]
    squares = 0.0
    if last >= 0:
        before = t.walkf[last]
        total += before[TO_WEIGHT]
        gap = now[SEEN] - before[TO_MEAN]
        mean = before[TO_MEAN] + gap * (now[SHARE] / total)
        squares = before[TO_SQUARES] + now[SHARE] * gap * (now[SEEN] - mean)
    now[TO_WEIGHT] = total
    now[TO_MEAN] = mean
    now[TO_SQUARES] = squares


# σ known ------------------------------------------------------------------------------------------------------------


def keep_early(rules: Rules, t: Tables, pull: int) -> None:
    """Keep what a pull's readings say as long as no pull can have ended; at its planned length it is over."""
    now = t.pulls[pull]
    if now[STEP] <= rules.min_delay:
        row = t.pullf[pull]
        row[EARLY] = row[WEIGHT]
        row[EARLY_Y] = row[WEIGHT] * row[ESTIMATE]
    if 0.0 < t.armf[now[ARM]][PLAN] <= now[STEP]:
        now[COUNTED] = 1


def over(t: Tables, pull: int) -> bool:
    """Whether nothing more is to come of a pull that would count."""
    return t.pulls[pull][STATE] == FINISHED or t.pulls[pull][COUNTED] == 1


def walk_on(rules: Rules, t: Tables, index: int) -> None:
    """Let an arm's pulls into its walk, early and in the end, as far as the start order allows."""
    arm = t.arms[index]
    pull = arm[POOL_NEXT]
    while pull >= 0 and (over(t, pull) or (0 < rules.min_delay <= t.pulls[pull][STEP])):
        if t.pulls[pull][OUT] == 0:
            row = new_row(t)
            t.pulls[pull][FIRST_ROW] = row
            append(t, arm[EARLY_END], row)
            now = t.walkf[row]
            now[TO_EARLY] = t.pullf[pull][EARLY]
            now[TO_EARLY_Y] = t.pullf[pull][EARLY_Y]
            if arm[EARLY_END] >= 0:
                now[TO_EARLY] += t.walkf[arm[EARLY_END]][TO_EARLY]
                now[TO_EARLY_Y] += t.walkf[arm[EARLY_END]][TO_EARLY_Y]
            arm[EARLY_END] = row
        pull = t.pulls[pull][NEXT]
    arm[POOL_NEXT] = pull
    pull = arm[FULL_NEXT]
    while pull >= 0 and pull != arm[POOL_NEXT] and over(t, pull):
        if t.pulls[pull][OUT] == 0:
            close_up(rules, t, pull, arm[FULL_END])
            arm[FULL_END] = t.pulls[pull][FIRST_ROW]
        pull = t.pulls[pull][NEXT]
    arm[FULL_NEXT] = pull


def close_up(rules: Rules, t: Tables, pull: int, last: int) -> None:
    """Carry the sums on over a pull that is over."""
    row = t.pullf[pull]
    armf = t.armf[t.pulls[pull][ARM]]
    now = t.walkf[t.pulls[pull][FIRST_ROW]]
    for column in (TO_A, TO_AX, TO_W, TO_WY, TO_Q, TO_QZ):
        now[column] = t.walkf[last][column] if last >= 0 else 0.0
    if t.pulls[pull][STATE] == FINISHED and t.pulls[pull][COUNTED] != 1:
        precision = 1.0 / (armf[SIGMA] * armf[SIGMA])
        now[TO_A] += precision
        now[TO_AX] += precision * row[VALUE]
        if rules.feedback >= BIASED and row[WEIGHT] > 0.0:
            now[TO_Q] += row[PRECISION]
            now[TO_QZ] += row[PRECISION] * (row[ESTIMATE] - armf[SLOPE] * row[VALUE])
    else:
        now[TO_W] += row[EARLY]
        now[TO_WY] += row[EARLY_Y]
