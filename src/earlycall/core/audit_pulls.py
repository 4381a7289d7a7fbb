"""What the tables hold of one pull, checked against its story: what it said, and what that comes to (audit.py)."""

import math
from collections.abc import Iterator

from earlycall.core.facts import Failed, Lost, Read
from earlycall.core.feedback import declared_precision, weight
from earlycall.core.pilot import chi_square_point
from earlycall.core.state import State, told_value
from earlycall.core.tables import (
    ARM,
    CANCELLED,
    CORRELATED,
    COUNTED,
    CUT,
    ESTIMATE,
    FAILED,
    FINISHED,
    FREE,
    INCREMENTAL,
    LENGTH,
    LOST,
    ONCE,
    PAPER,
    PILOTING,
    PLAN,
    PRECISION,
    READINGS,
    REFINING,
    RUNNING,
    SIGMA,
    SLOPE,
    STATE,
    VALUE,
    WEIGHT,
    WITHIN,
)


def same(seen: float, expected: float, size: float) -> bool:
    """Whether two numbers are equal but for rounding, where `size` is that of what was added up."""
    return seen == expected or abs(seen - expected) <= 1e-9 * max(abs(expected), size)


def broken_pull(state: State, row: int) -> Iterator[str]:
    """What the tables hold of one pull against its story."""
    pull, nums = state.tables.pulls[row], state.tables.pullf[row]
    name = f"pull {row + 1}"
    count, estimate, precision, says = said(state, row, heard(state, row))
    if isinstance(state.stories[row].left, Failed) and pull[STATE] == FINISHED and state.stories[row].told is None:
        precision, says = 0.0, nums[WEIGHT]  # it counts as a number, of which its readings said nothing
    size = max((abs(reading.value) for reading in state.stories[row].readings.values()), default=0.0)
    if pull[READINGS] != count:
        yield f"{name} spoke {count} times, {pull[READINGS]} counted"
    for column, expected in ((ESTIMATE, estimate), (PRECISION, precision), (WEIGHT, says)):
        if count and not same(nums[column], expected, size if column == ESTIMATE else 0.0):
            yield f"{name}: float column {column} is {nums[column]!r}, its readings say {expected!r}"
    if not same(nums[WITHIN], within(state, row), 1.0 + size * math.sqrt(nums[PRECISION])):
        yield f"{name}: its readings do not lie {nums[WITHIN]!r} apart"
    if state.rules.looks == ONCE and state.rules.order == FREE:
        yield from broken_count(state, row)
    value = told_value(state, row)
    if (value is not None) != (pull[STATE] == FINISHED):
        yield f"{name} has the full feedback {value!r} and the state {pull[STATE]}"
    if value is not None and nums[VALUE] != state.sign * value:
        yield f"{name} ended with {value!r}, {nums[VALUE]!r} is kept"


def broken_count(state: State, row: int) -> Iterator[str]:
    """Whether a pull that counts once counts as its story says, where pulls of two arms meet as they come."""
    pull, story = state.tables.pulls[row], state.stories[row]
    plan = state.tables.armf[pull[ARM]][PLAN]
    spoke = [step for step, reading in story.readings.items() if precision_of(state, reading) > 0.0]
    if not spoke:  # its full feedback counts whenever it comes
        expected = [2] if pull[STATE] == FINISHED else [0]
    elif pull[STATE] == RUNNING:  # it may have been beyond its length already when a pilot ended
        expected = [0] if not 0.0 < plan <= spoke[-1] else [0, 1] if state.rules.pilot > 0 else [1]
    elif pull[STATE] in (LOST, FAILED, CUT) or isinstance(story.left, Lost):
        expected = [1]
    else:  # 1: it had reached its length, or was silent until it was cancelled; 3: it had spoken before that
        expected = [1, 3] if pull[STATE] == CANCELLED else [1, 2, 3]
    if pull[COUNTED] not in expected:
        yield f"pull {row + 1} counts as {pull[COUNTED]}, its story says {' or '.join(map(str, expected))}"


def said(state: State, row: int, most: int) -> tuple[int, float, float, float]:
    """(readings that say something, Ȳ, q, w) of a pull's first `most` readings, from its story."""
    rules, t = state.rules, state.tables
    sigma = t.armf[t.pulls[row][ARM]][SIGMA]
    readings = list(state.stories[row].readings.values())[:most]
    if rules.feedback == INCREMENTAL:
        if not readings:
            return 0, 0.0, 0.0, 0.0
        share = readings[-1].step / t.pullf[row][LENGTH]
        total = state.sign * math.fsum(reading.value for reading in readings)
        return len(readings), total / share, 0.0, share / sigma**2
    speaking = []
    for reading in readings:
        precision = precision_of(state, reading)
        if precision > 0.0 and rules.reading_sd > 0.0:
            speaking.append((rules.reading_sd**-2.0 if rules.method == PAPER else precision, reading.value))
    if not speaking:
        return 0, 0.0, 0.0, 0.0
    scatter = sigma * t.armf[t.pulls[row][ARM]][SLOPE]
    if rules.feedback == CORRELATED:
        precision, value = speaking[0]
        return len(speaking), state.sign * value, precision, weight(scatter, precision)
    if rules.pooling == REFINING:
        best = max(precision for precision, _ in speaking)
        estimate = [value for precision, value in speaking if precision == best][-1]
        return len(speaking), state.sign * estimate, best, weight(scatter, best)
    whole = math.fsum(precision for precision, _ in speaking)
    estimate = math.fsum(precision * value for precision, value in speaking) / whole
    return len(speaking), state.sign * estimate, whole, weight(scatter, whole)


def heard(state: State, row: int) -> int:
    """How many of a pull's readings were taken in: all, or those before it counted for good (COUNTED)."""
    pull, readings = state.tables.pulls[row], list(state.stories[row].readings.values())
    if pull[COUNTED] not in (1, 3):
        return len(readings)
    spoke = 0
    for place, reading in enumerate(readings):
        if spoke == pull[READINGS]:
            return place
        spoke += state.rules.feedback == INCREMENTAL or precision_of(state, reading) > 0.0
    return len(readings)


def precision_of(state: State, reading: Read) -> float:
    """The precision of a reading: its own, or the declared one."""
    return declared_precision(state.tables.curve, reading.step) if reading.sd is None else reading.sd**-2.0


def within(state: State, row: int) -> float:
    """Σ s⁻²(y − Ȳ)² of the readings that are averaged, or of what a pull gained per step; else 0."""
    rules, t = state.rules, state.tables
    readings = list(state.stories[row].readings.values())[: heard(state, row)]
    if rules.feedback == INCREMENTAL:
        length, sigma = t.pullf[row][LENGTH], t.armf[t.pulls[row][ARM]][SIGMA]
        since = [now.step - before for now, before in zip(readings, [0, *(r.step for r in readings)], strict=False)]
        rates = [reading.value * length / steps for reading, steps in zip(readings, since, strict=True)]
        return scatter(rates, [steps / (length * sigma**2) for steps in since])
    if rules.feedback == CORRELATED or rules.pooling == REFINING or rules.reading_sd <= 0.0:
        return 0.0
    precisions = [precision_of(state, reading) for reading in readings]
    if rules.method == PAPER:
        precisions = [rules.reading_sd**-2.0 if precision > 0.0 else 0.0 for precision in precisions]
    return scatter([reading.value for reading in readings], precisions)


def scatter(values: list[float], weights: list[float]) -> float:
    """Σ w(y − ȳ)² around the weighted mean."""
    total = math.fsum(weights)
    if total <= 0.0:
        return 0.0
    mean = math.fsum(w * y for w, y in zip(weights, values, strict=True)) / total
    return math.fsum(w * (y - mean) ** 2 for w, y in zip(weights, values, strict=True))


# The pilot ----------------------------------------------------------------------------------------------------------


def broken_pilot(state: State) -> Iterator[str]:
    """Whether the sds are what the pilot's pulls say, and the pilot is over when it should be."""
    rules, t = state.rules, state.tables
    if rules.pilot == 0:
        return
    groups = [pilot_pulls(state, index) for index in range(rules.arms)]
    over = all(len(group) == rules.pilot and all(told_value(state, p) is not None for p in group) for group in groups)
    values = [[told_value(state, p) or 0.0 for p in group] for group in groups]
    squares = math.fsum(math.fsum((x - math.fsum(g) / len(g)) ** 2 for x in g) for g in values if g)
    if t.race[PILOTING] == 1:
        largest = max((abs(x) for group in values for x in group), default=0.0)
        if over and squares > 1e-12 * largest * largest and rules.pilot_readings == 0:
            yield "the pilot is over, and the race has not begun"
    elif not over:
        yield "the race has begun before the pilot was over"
    else:
        sd = math.sqrt(squares / chi_square_point(rules.arms * (rules.pilot - 1.0), rules.pilot_risk))
        for index in range(rules.arms):
            if not same(t.armf[index][SIGMA], sd, 0.0):
                yield f"arm {state.labels[index]!r} has the sd {t.armf[index][SIGMA]!r}, its pilot says {sd!r}"


def pilot_pulls(state: State, index: int) -> list[int]:
    """The rows of an arm's first pulls that were not lost."""
    mine = [p for p, pull in enumerate(state.tables.pulls) if pull[ARM] == index]
    return [p for p in mine if not was_lost(state, p)][: state.rules.pilot]


def was_lost(state: State, row: int) -> bool:
    """Whether a pull was lost, or failed and was asked for again; a late result does not undo it."""
    left = state.stories[row].left
    return isinstance(left, Lost) or (left is not None and isinstance(state.settings.failure, str))
