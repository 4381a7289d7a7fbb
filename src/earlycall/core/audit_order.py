"""The promises of start order (order.py, pairs.py, duels.py), made anew from the stories, as in audit.py."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from earlycall.core.audit_pulls import heard, said, same
from earlycall.core.order import by_observation
from earlycall.core.pairs import established, may_beat, meeting
from earlycall.core.state import State, told_value
from earlycall.core.tables import (
    ARM,
    BEFORE,
    BIASED,
    BLOCK,
    BLOCKED,
    COUNTED,
    DEPTH,
    DIFFERENCE,
    EARLY_END,
    ESTIMATE,
    FAILED,
    FINISHED,
    FULL_END,
    INCREMENTAL,
    JUMP,
    LENGTH,
    LOST,
    LOST_TO,
    MET,
    ORDINAL,
    OUT,
    PRECISION,
    READINGS,
    SIGMA,
    SLOPE,
    SQUARES,
    STATE,
    STATUS,
    STEP,
    SURVIVING,
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
    WEIGHT,
    WON,
)

OVER = (FINISHED, LOST, FAILED)


class Heard(NamedTuple):
    """One observation: its pull's place among the arm's, its weight and its value."""

    block: int
    share: float
    value: float


def broken_order(state: State) -> Iterator[str]:
    """Every broken promise of start order."""
    t = state.tables
    for index in range(state.rules.arms):
        mine = [row for row, pull in enumerate(t.pulls) if pull[ARM] == index]
        name = f"arm {state.labels[index]!r}"
        if by_observation(state.rules):
            yield from broken_observations(state, index, mine, name)
        else:
            yield from broken_walk(state, index, mine, name)
    yield from broken_duels(state)


def walked(state: State, last: int) -> list[int]:
    """The rows of a walk, first to last; its links are checked on the way."""
    rows: list[int] = []
    while last >= 0:
        rows.append(last)
        last = state.tables.walk[last][BEFORE]
    return rows[::-1]


def broken_links(state: State, rows: list[int], name: str) -> Iterator[str]:
    """Whether every row knows its depth, and jumps to one of those before it."""
    for place, row in enumerate(rows):
        far = state.tables.walk[row][JUMP]
        if state.tables.walk[row][DEPTH] != place + 1 or far not in rows[: max(place, 1)]:
            yield f"{name}: observation {place + 1} of its walk is linked wrongly"


# σ unknown, or blocks -----------------------------------------------------------------------------------------------


def in_turn(state: State, mine: list[int]) -> list[Heard]:
    """The observations of an arm's pulls in start order, up to the first pull that is not over."""
    found: list[Heard] = []
    for row in mine:
        found += observations(state, row)
        if state.tables.pulls[row][STATE] not in OVER:
            break
    return found


def observations(state: State, row: int) -> list[Heard]:
    """What one pull has shown that counts."""
    t = state.tables
    pull, place = t.pulls[row], t.pulls[row][ORDINAL]
    found: list[Heard] = []
    done, gained = 0.0, 0.0
    if state.rules.feedback == INCREMENTAL:
        for reading in list(state.stories[row].readings.values())[: pull[READINGS]]:
            share = reading.step / t.pullf[row][LENGTH]
            found.append(Heard(place, share - done, state.sign * reading.value / (share - done)))
            done, gained = share, gained + state.sign * reading.value
    value = told_value(state, row)
    if value is not None and pull[COUNTED] == 2 and done < 1.0:
        found.append(Heard(place, 1.0 - done, (state.sign * value - gained) / (1.0 - done)))
    return found


def broken_observations(state: State, index: int, mine: list[int], name: str) -> Iterator[str]:
    """Whether the walk holds what the pulls said, in order, with the sums of it."""
    t = state.tables
    rows = walked(state, t.arms[index][FULL_END])
    yield from broken_links(state, rows, name)
    heard = in_turn(state, mine)
    if len(heard) != len(rows):
        yield f"{name}: {len(heard)} observations are in order, {len(rows)} in its walk"
        return
    for count, row in enumerate(rows, 1):
        past = heard[:count]
        weight = math.fsum(one.share for one in past)
        mean = math.fsum(one.share * one.value for one in past) / weight
        squares = math.fsum(one.share * (one.value - mean) ** 2 for one in past)
        size = max(abs(one.value) for one in past)
        if t.walk[row][BLOCK] != past[-1].block:
            yield f"{name}: observation {count} is of block {past[-1].block}, not {t.walk[row][BLOCK]}"
        wanted = ((TO_WEIGHT, weight, 1.0), (TO_MEAN, mean, size), (TO_SQUARES, squares, size * size))
        for column, expected, about in wanted:
            if not same(t.walkf[row][column], expected, about):
                yield f"{name}: float column {column} of its walk is {t.walkf[row][column]!r}, not {expected!r}"


# σ known ------------------------------------------------------------------------------------------------------------


def early(state: State, row: int) -> tuple[float, float]:
    """(w, w·Ȳ) of what a pull said before any could have ended."""
    first = [step for step in state.stories[row].readings if step <= state.rules.min_delay]
    _, estimate, _, weight = said(state, row, min(len(first), heard(state, row)))
    return weight, weight * estimate


def broken_walk(state: State, index: int, mine: list[int], name: str) -> Iterator[str]:
    """Whether the walk holds the pulls in start order, with the sums of what they said early and in the end."""
    rules, t = state.rules, state.tables
    order = [row for row in mine if t.pulls[row][OUT] == 0]
    over = [t.pulls[row][STATE] == FINISHED or t.pulls[row][COUNTED] == 1 for row in order]
    shown = [done or 0 < rules.min_delay <= t.pulls[row][STEP] for row, done in zip(order, over, strict=True)]
    early_count = shown.index(False) if False in shown else len(shown)
    full_count = over.index(False) if False in over else len(over)
    rows = walked(state, t.arms[index][EARLY_END])
    yield from broken_links(state, rows, name)
    if len(rows) != early_count:
        yield f"{name}: {early_count} pulls have shown their early readings in order, {len(rows)} are in its walk"
        return
    if walked(state, t.arms[index][FULL_END]) != rows[:full_count]:
        yield f"{name}: {full_count} pulls are over in order, its walk says otherwise"
        return
    sums = dict.fromkeys((TO_EARLY, TO_EARLY_Y, TO_A, TO_AX, TO_W, TO_WY, TO_Q, TO_QZ), 0.0)
    size = 0.0
    for count, (row, pull) in enumerate(zip(rows, order, strict=False), 1):
        first, first_y = early(state, pull)
        sums[TO_EARLY] += first
        sums[TO_EARLY_Y] += first_y
        if count <= full_count:
            add_end(state, pull, first, first_y, sums)
        size += abs(t.pullf[pull][ESTIMATE]) + abs(told_value(state, pull) or 0.0)
        size += sum(abs(reading.value) for reading in state.stories[pull].readings.values()) * (1.0 + first)
        for column, expected in sums.items():
            if count > full_count and column not in (TO_EARLY, TO_EARLY_Y):
                continue
            if not same(t.walkf[row][column], expected, size):
                yield f"{name}: float column {column} of its walk is {t.walkf[row][column]!r}, not {expected!r}"


def add_end(state: State, pull: int, first: float, first_y: float, sums: dict[int, float]) -> None:
    """Add what a pull came to in the end."""
    rules, t = state.rules, state.tables
    row, armf = t.pullf[pull], t.armf[t.pulls[pull][ARM]]
    value = told_value(state, pull)
    if value is None or t.pulls[pull][COUNTED] == 1:
        sums[TO_W] += first
        sums[TO_WY] += first_y
        return
    value *= state.sign
    sums[TO_A] += armf[SIGMA] ** -2.0
    sums[TO_AX] += armf[SIGMA] ** -2.0 * value
    if rules.feedback >= BIASED and row[WEIGHT] > 0.0:
        sums[TO_Q] += row[PRECISION]
        sums[TO_QZ] += row[PRECISION] * (row[ESTIMATE] - armf[SLOPE] * value)


# Pairs --------------------------------------------------------------------------------------------------------------


def broken_duels(state: State) -> Iterator[str]:
    """Whether the duels, the counts and the meetings are what the walks say, and the quick test never wrong."""
    rules, t = state.rules, state.tables
    alive = [index for index, arm in enumerate(t.arms) if arm[STATUS] == SURVIVING]
    for i in alive:
        wins = [j for j in alive if j != i and may_beat(rules, t, i, j)]
        losses = [j for j in alive if j != i and may_beat(rules, t, j, i)]
        if not state.decided and (t.arms[i][WON], t.arms[i][LOST_TO]) != (len(wins), len(losses)):
            yield f"arm {state.labels[i]!r} may beat {len(wins)} and lose to {len(losses)}, counted otherwise"
        for j in alive:
            if j != i and j not in wins and established(rules, t, i, j, 0.0, rules.level):
                yield f"arm {state.labels[i]!r} beats {state.labels[j]!r}, and the quick test says it cannot"
    if rules.order == BLOCKED and not state.decided:
        for i in alive:
            for j in alive:
                if i < j:
                    yield from broken_meeting(state, i, j)


def broken_meeting(state: State, i: int, j: int) -> Iterator[str]:
    """Whether a pair has met on every block that both have been through, in order."""
    t = state.tables
    sides = []
    for index in (i, j):
        mine = [row for row, pull in enumerate(t.pulls) if pull[ARM] == index]
        sides.append({one.block: one.value for one in in_turn(state, mine)})
    both = [sides[0][block] - sides[1][block] for block in sorted(sides[0].keys() & sides[1].keys())]
    row = meeting(state.rules, i, j)
    if t.meets[row][MET] != len(both):
        yield f"{state.labels[i]!r} and {state.labels[j]!r} share {len(both)} blocks, {t.meets[row][MET]} are counted"
    elif both:
        mean = math.fsum(both) / len(both)
        squares = math.fsum((one - mean) ** 2 for one in both)
        size = max(map(abs, (*sides[0].values(), *sides[1].values())))
        met = t.meetf[row]
        if not same(met[DIFFERENCE], mean, size) or not same(met[SQUARES], squares, size * size):
            yield f"{state.labels[i]!r} and {state.labels[j]!r} differ by {mean!r} on average, not {met[DIFFERENCE]!r}"
