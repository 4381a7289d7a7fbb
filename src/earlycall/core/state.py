"""What a race is between two facts: its tables, and beside each row what only people need.

Only `race.apply` changes a state. Everything here reads.
"""

from dataclasses import dataclass, field

from earlycall.core.facts import (
    Accepted,
    ArmAdded,
    ArmWithdrawn,
    Closed,
    Decided,
    Failed,
    Lost,
    Opened,
    Read,
    Rejected,
    Started,
    Told,
)
from earlycall.core.paper import keeps_order
from earlycall.core.rules import DECLARED, ArmNumbers, rules_of
from earlycall.core.settings import Settings
from earlycall.core.tables import (
    ABSENT,
    ARM,
    ARM_FLOATS,
    ARM_INTS,
    BIAS_COUNT,
    BIASED,
    BLOCKED,
    FAILED,
    FREE,
    FULL_NEXT,
    JUDGED,
    LOST,
    MEET_FLOATS,
    MEET_INTS,
    RACE_FLOATS,
    RACE_INTS,
    RUNNING,
    STATE,
    STATUS,
    Rules,
    Tables,
)
from earlycall.core.turn import open_race
from earlycall.errors import NewsError

STATES = ("running", "finished", "lost", "failed", "cancelled", "cut")  # by the kernel's codes
VERDICTS = ("surviving", "accepted", "rejected", "absent", "withdrawn")


@dataclass(slots=True)
class Story:
    """What happened to one pull, beside its rows in the tables."""

    started: Started
    readings: dict[int, Read] = field(default_factory=dict)  # by step, in order
    left: Lost | Failed | None = None  # how it lost its slot, where it was not the race that took it
    told: Told | None = None


@dataclass(slots=True)
class State:
    """A race at one moment."""

    settings: Settings
    labels: tuple[str, ...]  # of all arms that have been in the race; its tables may have rows for more
    index: dict[str, int]  # of each label
    rules: Rules
    tables: Tables
    sign: float  # −1 where the race minimises: the kernel always maximises
    stories: list[Story] = field(default_factory=list)
    keys: dict[str, list[int]] = field(default_factory=dict)  # the pulls that each `ask` with a key gave
    verdicts: dict[int, Accepted | Rejected] = field(default_factory=dict)  # that stand, by the row of the arm
    added: dict[int, ArmAdded] = field(default_factory=dict)  # the arms that came later, by their row
    withdrawn: dict[int, ArmWithdrawn] = field(default_factory=dict)  # the arms that have left, by their row
    closed: Closed | None = None
    decided: Decided | None = None


def opened(fact: Opened) -> State:
    """The state of a race that has just been opened."""
    rules, numbers, curve = rules_of(fact.labels, fact.settings)
    tables = Tables(
        arms=[[0] * ARM_INTS for _ in range(rules.arms)],
        armf=[[0.0] * ARM_FLOATS for _ in range(rules.arms)],
        pulls=[],
        pullf=[],
        race=[0] * RACE_INTS,
        racef=[0.0] * RACE_FLOATS,
        curve=curve,
        walk=[],
        walkf=[],
        duels=[[0] * rules.arms for _ in fact.labels] if rules.order != FREE else [],
        meets=[[0] * MEET_INTS for _ in range(rules.arms**2)] if rules.order == BLOCKED else [],
        meetf=[[0.0] * MEET_FLOATS for _ in range(rules.arms**2)] if rules.order == BLOCKED else [],
        spare=[[0.0] * ARM_FLOATS for _ in range(2)],
    )
    put_numbers(tables, 0, numbers)
    for arm in tables.arms[len(fact.labels) :]:
        arm[STATUS] = arm[JUDGED] = ABSENT
    open_race(rules, tables)
    return State(
        settings=fact.settings,
        labels=fact.labels,
        index={label: index for index, label in enumerate(fact.labels)},
        rules=rules,
        tables=tables,
        sign=-1.0 if fact.settings.direction == "minimize" else 1.0,
    )


def put_numbers(tables: Tables, first: int, numbers: ArmNumbers) -> None:
    """Write down what is declared about arms, from row `first` on."""
    for row, given in enumerate(zip(*numbers, strict=True), start=first):
        for column, number in zip(DECLARED, given, strict=True):
            tables.armf[row][column] = number


def arm_index(state: State, label: object) -> int:
    """The row of an arm; refuses a label that is none."""
    index = state.index.get(label) if isinstance(label, str) else None
    if index is None:
        some = ", ".join(map(repr, state.labels[:5])) + (", …" if len(state.labels) > 5 else "")
        raise NewsError(f"arm={label!r}: expected the label of an arm of this race ({some}).")
    return index


def pull_row(state: State, pull: int) -> int:
    """The row of a pull; refuses a number that is none."""
    count = len(state.stories)
    if not 1 <= pull <= count:
        there_are = f"one of the {count} pulls started so far (1 to {count})" if count else "no pull yet: ask() first"
        raise NewsError(f"pull={pull!r}: expected {there_are}.")
    return pull - 1


def pull_state(state: State, row: int) -> str:
    """What a pull is: running, finished, lost, failed, cancelled or cut."""
    counted = not isinstance(state.settings.failure, str)  # a failed pull has finished then, for the tables
    if counted and isinstance(state.stories[row].left, Failed):
        return "failed"
    return STATES[state.tables.pulls[row][STATE]]


def stuck(state: State, index: int) -> str:
    """Why an arm can never be judged as things are, or "".

    The paper's walks go in start order and cannot pass a pull that spoke and was lost: to leave it out would be to
    choose by what it said. Elsewhere its readings stand in for it; but a bias is learned from finished pulls alone.
    """
    arm = state.tables.arms[index]
    first = arm[FULL_NEXT]
    if not keeps_order(state.rules) or state.rules.feedback != BIASED or arm[BIAS_COUNT] > 0 or first < 0:
        return ""
    if state.tables.pulls[first][STATE] not in (LOST, FAILED):
        return ""
    return (
        f"Pull {first + 1} of arm {state.labels[index]!r} spoke and was lost before any of the arm's pulls had shown"
        " its bias; method='paper' cannot go on past it, so this arm will never be judged. Tell its full feedback if it"
        " can still be had, or race with method='evidence'."
    )


def holds_slot(state: State, row: int) -> bool:
    """Whether a pull is to go on running."""
    return state.tables.pulls[row][STATE] == RUNNING


def told_value(state: State, row: int) -> float | None:
    """The full feedback a pull counts with, in the user's direction; None while it has none."""
    now = state.stories[row]
    if now.told:
        return now.told.value
    if isinstance(now.left, Failed) and not isinstance(state.settings.failure, str):
        return float(state.settings.failure)
    return None


def story(state: State, row: int) -> str:
    """What happened to a pull, in a sentence for people.

    "pull 3 of arm 'B': finished; 2 readings, the last at step 20; full feedback 4.5"
    """
    now = state.stories[row]
    told = f"pull {row + 1} of arm {state.labels[state.tables.pulls[row][ARM]]!r}: {pull_state(state, row)}"
    if now.readings:
        count = len(now.readings)
        last = next(reversed(now.readings.values()))
        told += f"; {count} reading{'s' if count > 1 else ''}, the last {last.value!r} at step {last.step}"
    value = told_value(state, row)
    if value is not None:
        told += f"; full feedback {value!r}"
    if now.left and now.left.reason:
        told += f" ({type(now.left).__name__.lower()}: {now.left.reason})"
    return told
