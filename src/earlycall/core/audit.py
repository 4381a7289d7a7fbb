"""Every promise a race keeps between two turns, checked the slow and obvious way.

`broken` rebuilds from the stories of the pulls what the tables should hold, pull by pull and pair by pair, and says
where they differ. It shares formulas with the kernel (evidence.weigh, paper.bound, schedule.outlook), never its
bookkeeping: no sum is carried along, no fence trusted, no arm skipped.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from earlycall.core.audit_order import broken_order
from earlycall.core.audit_pulls import broken_pilot, broken_pull, same
from earlycall.core.evidence import beats, weigh
from earlycall.core.pairs import established
from earlycall.core.paper import bound, keeps_order, partial_radius
from earlycall.core.roster import broken_roster
from earlycall.core.schedule import look_ahead, promise
from earlycall.core.state import State, holds_slot
from earlycall.core.tables import (
    ACCEPT_AT,
    ACCEPT_COUNT,
    ACCEPTED,
    ACTIVE,
    ALIVE,
    ARM,
    AX,
    BETA,
    BIAS_COUNT,
    BIAS_SUM,
    BIASED,
    BUSY,
    CLEAR,
    CLOSE_AT,
    CLOSE_HIGH,
    CLOSE_LOW,
    COUNTED,
    DONE,
    DOUBT,
    ESTIMATE,
    FAILED,
    FALLING,
    FENCED,
    FINISHED,
    FIRST,
    FREE,
    FRESH,
    FULL_COUNT,
    FULL_SUM,
    HEAD,
    HIGH,
    JUDGED,
    LOST,
    LOW,
    MEAN,
    NEXT,
    ONCE,
    OPENED,
    ORDINAL,
    OUT,
    PAPER,
    PILOTING,
    PLANNED,
    POOL_DONE,
    POOL_MEANS,
    POOL_OPEN,
    POOL_SUM,
    POOL_TERMS,
    PRECISION,
    PROMISE,
    PULLED,
    QUEUED,
    QZ,
    READINGS,
    REJECT_AT,
    REJECT_COUNT,
    RIGHT,
    RISING,
    SCORE,
    SIGMA,
    SLOPE,
    SPEAKING,
    STARTED,
    STATE,
    STATUS,
    SURVIVING,
    SURVIVORS,
    TAKEN,
    TERM,
    VALUE,
    W_LEFT,
    WEIGHT,
    WY,
    A,
    Floats,
    Q,
    Tables,
    W,
)


def check(state: State) -> str:
    """The first broken promise of a race between two turns, or "" when it keeps them all."""
    return next(broken(state), "")


def broken(state: State) -> Iterator[str]:
    """Every broken promise."""
    yield from broken_counts(state)
    for row in range(len(state.stories)):
        yield from broken_pull(state, row)
    for index in range(len(state.labels)):
        yield from broken_arm(state, index)
    if state.rules.order != FREE:
        yield from broken_order(state)
    yield from broken_roster(state)
    yield from broken_pilot(state)
    if not state.decided:
        yield from broken_verdicts(state)


def pulls_of(state: State, index: int) -> list[int]:
    """The rows of an arm's pulls, in start order."""
    return [row for row, pull in enumerate(state.tables.pulls) if pull[ARM] == index]


# Counts ---------------------------------------------------------------------------------------------------------


def broken_counts(state: State) -> Iterator[str]:
    """What the race's own row says of slots and survivors."""
    rules, t = state.rules, state.tables
    running = [row for row in range(len(t.pulls)) if holds_slot(state, row)]
    if not len(t.pulls) == len(t.pullf) == len(state.stories) == t.race[OPENED]:
        yield f"{len(state.stories)} pulls were started, {t.race[OPENED]} counted"
    if t.race[BUSY] != len(running) or len(running) > rules.slots:
        yield f"{len(running)} pulls hold a slot, {t.race[BUSY]} counted; there are {rules.slots}"
    if t.race[QUEUED] != 0:
        yield f"{t.race[QUEUED]} arms still wait for a turn that is over"
    if state.decided and running:
        yield f"the race is decided and pulls {[row + 1 for row in running]} hold slots"
    alive = [index for index, arm in enumerate(t.arms) if arm[JUDGED] == SURVIVING]
    if t.race[SURVIVORS] != len(alive) or [t.arms[p][ALIVE] for p in range(len(alive))] != alive:
        yield f"arms {alive} survive, the list of survivors says otherwise"
    if t.race[TAKEN] != sum(arm[JUDGED] == ACCEPTED for arm in t.arms):
        yield f"{t.race[TAKEN]} accepted arms are counted, which is wrong"
    for index, arm in enumerate(t.arms):
        if arm[STATUS] != arm[JUDGED]:
            yield f"arm {state.labels[index]!r} is judged {arm[JUDGED]}, its standing verdict is {arm[STATUS]}"


# Arms -----------------------------------------------------------------------------------------------------------


def broken_arm(state: State, index: int) -> Iterator[str]:
    """What the tables hold of one arm against its pulls."""
    t, rules = state.tables, state.rules
    arm, name = t.arms[index], f"arm {state.labels[index]!r}"
    mine = pulls_of(state, index)
    running = [row for row in mine if holds_slot(state, row)]
    gone = [row for row in mine if t.pulls[row][STATE] in (LOST, FAILED)]
    spoke = [row for row in mine if counts_by_readings(state, row)]
    finished = [row for row in mine if t.pulls[row][STATE] == FINISHED]
    counts = {
        STARTED: len(mine),
        PULLED: len(mine) - len(gone),
        ACTIVE: len(running),
        DONE: len(finished),
        SPEAKING: len(spoke),
    }
    if keeps_order(rules):
        of = prefixes(state, mine)
        counts |= {FULL_COUNT: len(of.full), BIAS_COUNT: len(of.biased)}
        counts |= {POOL_DONE: len(of.ended), POOL_OPEN: len(of.going)}
    for column, expected in counts.items():
        if arm[column] != expected:
            yield f"{name}: integer column {column} is {arm[column]}, its pulls say {expected}"
    if len(running) > rules.per_arm:
        yield f"{name} holds {len(running)} slots, at most {rules.per_arm} are allowed"
    if running and arm[JUDGED] != SURVIVING:
        yield f"{name} is judged and pulls {[row + 1 for row in running]} hold slots"
    if [t.pulls[row][ORDINAL] for row in mine] != list(range(1, len(mine) + 1)):
        yield f"{name}: its pulls are not numbered in start order"
    if chain(t, arm[FIRST], NEXT) != mine:
        yield f"{name}: its pulls are not linked in start order"
    if chain(t, arm[HEAD], RIGHT) != running:
        yield f"{name}: its slots are not linked in start order"
    fresh, sizes = rebuilt(state, index, mine)
    for column, wanted in enumerate(fresh):
        if not same(t.armf[index][column], wanted, sizes[column]):
            yield f"{name}: float column {column} is {t.armf[index][column]!r}, its pulls say {wanted!r}"


def chain(t: Tables, first: int, link: int) -> list[int]:
    """The rows that a column of links leads to."""
    rows = []
    row = first
    while row >= 0:
        rows.append(row)
        row = t.pulls[row][link]
    return rows


def rebuilt(state: State, index: int, mine: list[int]) -> tuple[Floats, Floats]:
    """(the arm's row of floats made anew from its pulls, the size of what was added up in each column)."""
    rules, t = state.rules, state.tables
    row = list(t.armf[index])
    sizes = [0.0] * len(row)
    precision = 1.0 / row[SIGMA] ** 2
    finished = [t.pullf[p] for p in mine if t.pulls[p][COUNTED] == 2]
    others = [t.pullf[p] for p in mine if counts_by_readings(state, p)]
    left = [t.pullf[p] for p in mine if counts_by_readings(state, p) and not holds_slot(state, p)]
    if rules.order != FREE:  # there it is the walk that counts
        finished, others, left = [], [], []
    spoke = [pull for pull in finished if pull[WEIGHT] > 0.0] if rules.feedback >= BIASED else []
    put(row, sizes, A, [precision for _ in finished])
    put(row, sizes, AX, [precision * pull[VALUE] for pull in finished])
    put(row, sizes, W, [pull[WEIGHT] for pull in others])
    put(row, sizes, WY, [pull[WEIGHT] * pull[ESTIMATE] for pull in others])
    put(row, sizes, W_LEFT, [pull[WEIGHT] for pull in left])
    put(row, sizes, Q, [pull[PRECISION] for pull in spoke])
    put(row, sizes, QZ, [pull[PRECISION] * (pull[ESTIMATE] - row[SLOPE] * pull[VALUE]) for pull in spoke])
    # What has been in a sum and left it leaves rounding behind, of the size of the largest that was ever in it.
    seen = [abs(t.pullf[p][ESTIMATE]) for p in mine] + [abs(pull[VALUE]) for pull in finished]
    seen += [abs(reading.value) for p in mine for reading in state.stories[p].readings.values()]
    most = max(seen, default=0.0) * len(mine)
    for column in (AX, WY, QZ):
        sizes[column] = max(sizes[column], most * (row[A] + row[W] + row[Q]))
    sizes[W] = sizes[W_LEFT] = len(mine) * precision
    sizes[MEAN] = most
    if rules.method == PAPER:
        if keeps_order(rules):
            put_prefixes(state, mine, row, sizes)
        for column in (FULL_SUM, BIAS_SUM, POOL_SUM, POOL_MEANS, POOL_TERMS, LOW, HIGH):
            sizes[column] = most + sum(t.pullf[p][TERM] for p in mine if t.pullf[p][TERM] < math.inf)
        bound(rules, with_row(t, index, row), index)
        return row, sizes
    if rules.order == FREE and t.race[PILOTING] == 0:
        weigh(rules, row)
    sizes[LOW] = sizes[HIGH] = most
    look_ahead(rules, with_row(t, index, row), index)
    promise(rules, with_row(t, index, row), index)
    for column in (PROMISE, PLANNED, FRESH):
        sizes[column] = len(mine) * precision
    return row, sizes


def counts_by_readings(state: State, row: int) -> bool:
    """Whether a pull stands in its arm's sums with what its readings said."""
    pull = state.tables.pulls[row]
    if state.rules.order != FREE or pull[READINGS] == 0:
        return False
    return pull[COUNTED] == 1 if state.rules.looks == ONCE else pull[COUNTED] != 2


def put(row: Floats, sizes: Floats, column: int, terms: Floats) -> None:
    """Put a sum in its column, and its size beside it."""
    row[column] = math.fsum(terms)
    sizes[column] = math.fsum(map(abs, terms))


def with_row(t: Tables, index: int, row: Floats) -> Tables:
    """The same tables with another row of floats for one arm."""
    armf = list(t.armf)
    armf[index] = row
    return t._replace(armf=armf)


class Prefixes(NamedTuple):
    """The pulls the paper's two bounds rest on (paper.py), by their rows."""

    full: list[int]  # the finished prefix of the start order
    biased: list[int]  # of these, the ones that speak about the bias
    ended: list[int]  # the finished ones of the pooled prefix
    going: list[int]  # its unfinished ones


def prefixes(state: State, mine: list[int]) -> Prefixes:
    """Both prefixes of an arm's start order."""
    t = state.tables
    order = [p for p in mine if t.pulls[p][OUT] == 0]
    done = [t.pulls[p][STATE] == FINISHED for p in order]
    spoke = [t.pulls[p][STATE] == FINISHED or t.pulls[p][READINGS] > 0 for p in order]
    full = order[: done.index(False)] if False in done else order
    pool = order[: spoke.index(False)] if False in spoke else order
    return Prefixes(
        full=full,
        biased=[p for p in full if t.pulls[p][READINGS] >= state.rules.min_readings and t.pullf[p][PRECISION] > 0.0],
        ended=[p for p in pool if t.pulls[p][STATE] == FINISHED],
        going=[p for p in pool if t.pulls[p][STATE] != FINISHED],
    )


def put_prefixes(state: State, mine: list[int], row: Floats, sizes: Floats) -> None:
    """Put the sums over both prefixes in their columns."""
    rules, t = state.rules, state.tables
    of = prefixes(state, mine)
    put(row, sizes, FULL_SUM, [t.pullf[p][VALUE] for p in of.full])
    put(row, sizes, BIAS_SUM, [t.pullf[p][ESTIMATE] - t.pullf[p][VALUE] for p in of.biased])
    put(row, sizes, POOL_SUM, [t.pullf[p][VALUE] for p in of.ended])
    put(row, sizes, POOL_MEANS, [t.pullf[p][ESTIMATE] for p in of.going])
    put(row, sizes, POOL_TERMS, [partial_radius(rules, t.pulls[p][READINGS], t.pullf[p][BETA]) for p in of.going])


# Verdicts -------------------------------------------------------------------------------------------------------


def broken_verdicts(state: State) -> Iterator[str]:
    """Whether some survivor should have been judged, pair by pair; whether the fences are where they claim to be."""
    rules, t = state.rules, state.tables
    alive = [index for index, arm in enumerate(t.arms) if arm[STATUS] == SURVIVING]
    places = rules.k - sum(arm[STATUS] == ACCEPTED for arm in t.arms)
    for i in alive:
        wins = sum(better(state, i, j) for j in alive if j != i)
        losses = sum(better(state, j, i) for j in alive if j != i)
        if wins >= len(alive) - places or losses >= places:
            yield f"arm {state.labels[i]!r} beats {wins} and loses to {losses} of {len(alive)}, and is not judged"
    if t.race[FENCED] == 1:
        yield from broken_fences(state, alive, places)


def broken_fences(state: State, alive: list[int], places: int) -> Iterator[str]:
    """Whether each fence proves what it stands for (verdict.py)."""
    rows = [state.tables.armf[index] for index in alive]
    race, racef, epsilon = state.tables.race, state.tables.racef, state.rules.epsilon
    seen = {
        ACCEPT_COUNT: sum(row[HIGH] >= racef[ACCEPT_AT] for row in rows),
        REJECT_COUNT: sum(row[LOW] > racef[REJECT_AT] for row in rows),
    }
    for index in alive:
        row, arm, name = state.tables.armf[index], state.tables.arms[index], f"arm {state.labels[index]!r}"
        if row[LOW] > racef[ACCEPT_AT] and arm[DOUBT] != RISING:
            yield f"{name} has crossed the fence to the accepted, and is not in doubt"
        if row[HIGH] < racef[REJECT_AT] and arm[DOUBT] != FALLING:
            yield f"{name} has crossed the fence to the rejected, and is not in doubt"
        rising = arm[DOUBT] == RISING
        score = sum(better(state, index, j) if rising else better(state, j, index) for j in alive)
        if arm[DOUBT] != CLEAR and arm[SCORE] != score:
            yield f"{name} is in doubt with a score of {arm[SCORE]}, its pairs say {score}"
    if epsilon > 0.0:
        seen[CLOSE_HIGH] = sum(row[HIGH] >= racef[CLOSE_AT] + epsilon for row in rows)
        seen[CLOSE_LOW] = sum(row[LOW] > racef[CLOSE_AT] for row in rows)
    for column, expected in seen.items():
        if race[column] != expected:
            yield f"the race's integer column {column} is {race[column]}, the intervals say {expected}"
        enough = expected > places if column in (ACCEPT_COUNT, CLOSE_HIGH) else expected < places
        if not enough:
            yield f"the fence counted in the race's column {column} proves nothing: {expected} for {places} places"


def better(state: State, i: int, j: int) -> bool:
    """Whether arm i is established as better than arm j."""
    first, second = state.tables.armf[i], state.tables.armf[j]
    if state.rules.method == PAPER:
        return first[LOW] > second[HIGH]
    if state.rules.order != FREE:
        return established(state.rules, state.tables, i, j, 0.0, state.rules.level)
    return beats(state.rules, first, second)
