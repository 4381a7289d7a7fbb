"""What each kind of fact does to a race: refuse, or change one pull and one arm.

A refusal raises with the story of the pull, and nothing has changed. A repeat of what is recorded returns False and
changes nothing; news returns True. Nothing here compares arms: that is `race.decide`.
"""

import math

from earlycall.core.checks import COARSE, too_coarse
from earlycall.core.facts import (
    Accepted,
    Cancelled,
    Closed,
    Cut,
    Decided,
    Failed,
    Lost,
    Read,
    Rejected,
    Started,
    Told,
)
from earlycall.core.feedback import declared_precision
from earlycall.core.order import by_observation
from earlycall.core.state import (
    State,
    Story,
    arm_index,
    holds_slot,
    pull_row,
    pull_state,
    story,
    told_value,
)
from earlycall.core.tables import (
    ACCEPTED,
    ACTIVE,
    ARM,
    BUSY,
    CANCELLED,
    CORRELATED,
    CUT,
    FAILED,
    FREE,
    FULL,
    INCREMENTAL,
    LENGTH,
    LOST,
    PAPER,
    PRECISION,
    PULL_FLOATS,
    PULL_INTS,
    REJECTED,
    SIGMA,
    SLOPE,
    STATUS,
    STEP,
    SURVIVING,
    WALK_FLOATS,
    WALK_INTS,
)
from earlycall.core.turn import finish, give, leave, read, start
from earlycall.errors import NewsError

FARTHEST = 1e100  # beyond it squares of sums come to infinity


def started(state: State, fact: Started) -> bool:
    """A pull takes a slot."""
    index = arm_index(state, fact.arm)
    rules, t = state.rules, state.tables
    if fact.pull != len(state.stories) + 1:
        raise NewsError(f"pull={fact.pull!r}: expected {len(state.stories) + 1}, the next number.")
    if state.decided or t.arms[index][STATUS] != SURVIVING:
        raise NewsError(f"arm={fact.arm!r}: expected an arm that is still in the race.")
    if t.race[BUSY] >= rules.slots or t.arms[index][ACTIVE] >= rules.per_arm:
        raise NewsError(
            f"arm={fact.arm!r}: expected a free slot; {t.race[BUSY]} of {rules.slots} are held,"
            f" {t.arms[index][ACTIVE]} of {rules.per_arm} by this arm."
        )
    t.pulls.append([0] * PULL_INTS)
    t.pullf.append([0.0] * PULL_FLOATS)
    make_room(state)
    state.stories.append(Story(fact))
    if fact.key is not None:
        state.keys.setdefault(fact.key, []).append(fact.pull)
    start(rules, t, index, float(rules.steps))
    return True


def make_room(state: State) -> None:
    """A row in the walk for one more observation: each pull brings one, and each increment where σ is not known."""
    if state.rules.order != FREE:
        state.tables.walk.append([0] * WALK_INTS)
        state.tables.walkf.append([0.0] * WALK_FLOATS)


def was_read(state: State, fact: Read) -> bool:
    """A pull showed a reading."""
    row = pull_row(state, fact.pull)
    readings = state.stories[row].readings
    known = readings.get(fact.step)
    if known is not None and known.value == fact.value and fact.sd in (None, known.sd) and fact.of in (None, known.of):
        return False
    now = state.tables.pulls[row]
    if pull_state(state, row) in ("finished", "failed"):
        raise NewsError(f"step={fact.step!r}: expected no reading any more. {story(state, row)}.")
    if fact.step <= now[STEP]:
        raise NewsError(f"step={fact.step!r}: expected more than {now[STEP]}, the last step. {story(state, row)}.")
    length, precision = vet_reading(state, row, fact)
    if precision > 0.0 or state.rules.feedback == INCREMENTAL:  # else it says nothing but its step
        fits(state, row, fact.value, reading_scale(state, row, precision))
    if length > 0.0:
        state.tables.pullf[row][LENGTH] = length
    if by_observation(state.rules):
        make_room(state)
    read(state.rules, state.tables, row, fact.step, state.sign * fact.value, precision)
    readings[fact.step] = fact
    return True


def vet_reading(state: State, row: int, fact: Read) -> tuple[float, float]:
    """(length of the pull, precision of the reading); refuses a reading that does not fit the declared feedback."""
    rules = state.rules
    if rules.feedback == INCREMENTAL:
        if fact.sd is not None:
            raise NewsError(f"sd={fact.sd!r}: expected none: the sd of an increment follows from sigma. Leave it out.")
        return length_of(state, row, fact), 0.0
    if fact.of is not None:
        raise NewsError(f"of={fact.of!r}: expected none: only Incremental needs the length of a pull. Leave it out.")
    if fact.sd is not None and rules.feedback == CORRELATED:
        raise NewsError(f"sd={fact.sd!r}: expected none: the sds of a surrogate are declared. Leave it out.")
    if fact.sd is not None and rules.pilot_readings == 1:
        raise NewsError(f"sd={fact.sd!r}: expected none: the sd of a reading is measured by the pilot. Leave it out.")
    if fact.sd is None or rules.feedback == FULL:
        return 0.0, declared_precision(state.tables.curve, fact.step)
    if rules.method == PAPER and fact.sd > rules.reading_sd * (1.0 + 1e-9):
        raise NewsError(
            f"sd={fact.sd!r}: expected at most the declared reading_sd {rules.reading_sd:g} with method='paper'."
            " Open the race with the largest sd a reading can have."
        )
    return 0.0, 1.0 / (fact.sd * fact.sd)


def length_of(state: State, row: int, fact: Read) -> float:
    """How many steps an incremental pull has in all."""
    first = next(iter(state.stories[row].readings.values()), None)
    length = int(state.tables.pullf[row][LENGTH]) if first else fact.of or state.rules.steps
    if fact.of not in (None, length):
        raise NewsError(f"of={fact.of!r}: expected {length!r} as said before. {story(state, row)}.")
    if length == 0:
        raise NewsError(
            "of=None: expected the number of steps this pull has in all. Say report(…, of=…),"
            " or Incremental(…, steps=…) if it is the same for every pull."
        )
    if 0 < state.rules.steps < length:
        raise NewsError(f"of={length!r}: expected at most the declared steps={state.rules.steps}.")
    if fact.step > length:
        raise NewsError(f"step={fact.step!r}: expected at most {length}, the steps of this pull. {story(state, row)}.")
    return float(length)


def reading_scale(state: State, row: int, precision: float) -> float:
    """The sd of one reading's value around its mean, roughly."""
    armf = state.tables.armf[state.tables.pulls[row][ARM]]
    sigma = armf[SIGMA] * abs(armf[SLOPE])
    return sigma if precision <= 0.0 else max(sigma, 1.0 / math.sqrt(precision))


def fits(state: State, row: int, value: float, sd: float) -> None:
    """Refuse a value so far from 0 that rounding would eat what it says, or that its square is no number."""
    measured = state.rules.unknown == 1 or state.rules.pilot > 0
    if measured and abs(value) > FARTHEST:
        raise NewsError(
            f"value={value!r}: expected at most {FARTHEST:g} in size. Use another unit, or tell the pull as failed."
            f" {story(state, row)}."
        )
    if not measured and abs(value) > COARSE * sd:
        raise NewsError(f"{too_coarse('value', value, sd)} Or tell the pull as failed. {story(state, row)}.")


def was_told(state: State, fact: Told) -> bool:
    """A pull ended with its full feedback."""
    row = pull_row(state, fact.pull)
    known = told_value(state, row)
    if known == fact.value:
        return False
    if pull_state(state, row) in ("finished", "failed"):
        raise NewsError(f"value={fact.value!r}: expected no other full feedback. {story(state, row)}.")
    now = state.tables.pulls[row]
    if fact.step is not None and fact.step < now[STEP]:
        raise NewsError(f"step={fact.step!r}: expected {now[STEP]} or more, the last step. {story(state, row)}.")
    length = state.tables.pullf[row][LENGTH]
    if (
        state.rules.feedback == INCREMENTAL
        and fact.step is not None
        and fact.step < length
        and state.stories[row].readings
    ):
        raise NewsError(
            f"step={fact.step!r}: expected {length:g}, the steps of this pull, with its full feedback."
            f" Report what it gained so far instead. {story(state, row)}."
        )
    if fact.step is not None and fact.step < state.rules.min_delay:
        raise NewsError(
            f"step={fact.step!r}: expected at least min_delay={state.rules.min_delay}: no pull ends before, it was"
            f" declared. If this one broke, fail or lose it. {story(state, row)}."
        )
    fits(state, row, fact.value, state.tables.armf[now[ARM]][SIGMA])
    if fact.step is not None:
        now[STEP] = fact.step
    finish(state.rules, state.tables, row, state.sign * fact.value)
    state.stories[row].told = fact
    return True


def was_lost(state: State, fact: Lost) -> bool:
    """A pull was lost: its slot is free, and what it said stays."""
    row = pull_row(state, fact.pull)
    if isinstance(state.stories[row].left, Lost):
        return False
    if pull_state(state, row) in ("finished", "failed"):
        raise NewsError(f"pull={fact.pull!r}: expected a pull that could still be lost. {story(state, row)}.")
    if not holds_slot(state, row):
        return False
    leave(state.rules, state.tables, row, LOST)
    state.stories[row].left = fact
    return True


def has_failed(state: State, fact: Failed) -> bool:
    """A pull failed: asked again, counted as the number declared for it, or the end of the race."""
    row = pull_row(state, fact.pull)
    if pull_state(state, row) == "finished":
        raise NewsError(f"pull={fact.pull!r}: expected a pull that could still fail. {story(state, row)}.")
    if not holds_slot(state, row):
        return False
    failure = state.settings.failure
    if failure == "retry" and state.settings.informative:
        raise NewsError(
            f"pull={fact.pull!r}: it failed, and where delays may know the reward (delays='informative') to ask again"
            " would choose among pulls by how they end. If its failure has nothing to do with how good it is, lose it."
            " Else this race can only be closed; open the next with failure=<the number that a failed pull counts as>."
        )
    if isinstance(failure, str):
        leave(state.rules, state.tables, row, CANCELLED if stands_in_the_way(state) else FAILED)
    else:
        state.tables.pullf[row][PRECISION] = 0.0  # its readings were of a result that it never came to
        finish(state.rules, state.tables, row, state.sign * failure)
    state.stories[row].left = fact
    if failure == "stop" and not state.closed:
        state.closed = Closed(f"pull {fact.pull} failed: {fact.reason}")
    return True


def stands_in_the_way(state: State) -> bool:
    """Whether a failed pull ends its arm's start order: to pass over it would choose among pulls by how they end."""
    return state.settings.failure == "stop" and state.rules.order != FREE


def was_closed(state: State, fact: Closed) -> bool:
    """Somebody ended the race."""
    if state.closed or state.decided:
        return False
    state.closed = fact
    return True


def got_verdict(state: State, fact: Accepted | Rejected) -> bool:
    """An arm is accepted or rejected, for good."""
    index = arm_index(state, fact.arm)
    give(state.tables, index, ACCEPTED if isinstance(fact, Accepted) else REJECTED)
    state.verdicts[index] = fact
    return True


def lost_its_slot(state: State, fact: Cancelled | Cut) -> bool:
    """A running pull's slot is taken away; what it said stays."""
    leave(state.rules, state.tables, pull_row(state, fact.pull), CUT if isinstance(fact, Cut) else CANCELLED)
    return True


def was_decided(state: State, fact: Decided) -> bool:
    """The race is over."""
    state.decided = fact
    return True
