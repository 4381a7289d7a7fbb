"""What can be said of a race now, for people and programs: plain rows, in the user's direction, ready for JSON.

Nothing here is computed with, and asking costs no δ (confidence.py).
"""

import math
from dataclasses import dataclass

from earlycall.core.assumptions import assumptions
from earlycall.core.confidence import elect, half_width, smallest_epsilon
from earlycall.core.evidence import statistic
from earlycall.core.facts import Accepted
from earlycall.core.pairs import pair_evidence
from earlycall.core.race import answer, confidence_of
from earlycall.core.remedies import Suspicion, suspicions
from earlycall.core.state import STATES, VERDICTS, State, arm_index, pull_state, stuck, told_value
from earlycall.core.tables import (
    ACTIVE,
    ARM,
    BUSY,
    COUNTED,
    DEPTH,
    DONE,
    EARLY,
    ESTIMATE,
    FINISHED,
    FREE,
    FULL_END,
    FULL_NEXT,
    HIGH,
    LEADER,
    LOW,
    MEAN,
    ONCE,
    PAPER,
    PILOTING,
    PLAN,
    READINGS,
    SIGMA,
    SPREAD,
    STARTED,
    STATE,
    STATUS,
    STEP,
    SURVIVING,
    SURVIVORS,
    TO_SQUARES,
    WEIGHT,
)


@dataclass(frozen=True, slots=True)
class ArmStatus:
    """One arm: its verdict, its estimate and interval (None: nothing known), and how its pulls are doing."""

    arm: str
    verdict: str  # surviving, accepted, rejected or withdrawn
    top: bool  # whether it is in the answer of the moment
    mean: float | None
    low: float | None  # all arms' intervals hold together, at all times, with probability ≥ 1 − δ
    high: float | None
    started: int
    running: int
    finished: int
    sd: float | None  # of its full feedback: as declared, bounded by the pilot, or seen so far (σ unknown)


@dataclass(frozen=True, slots=True)
class Status:
    """A race at one moment."""

    decided: bool
    outcome: str | None  # exact, epsilon, deadline or stopped
    top: tuple[str, ...]
    confidence: float | None
    epsilon: float | None  # the smallest ε that passes now; None: no ε does
    k: int
    delta: float
    slots: int
    running: int
    pulls: dict[str, int]  # how many are in each state
    arms: tuple[ArmStatus, ...]
    suspicions: tuple[Suspicion, ...]  # checks of the model that failed
    assumes: tuple[str, ...]  # what its verdicts rest on


@dataclass(frozen=True, slots=True)
class PullStory:
    """One pull: its state, what it said, and what that is worth."""

    pull: int
    state: str
    step: int
    readings: int
    estimate: float | None  # what its readings come to: its full feedback, or the surrogate of it
    information: float  # about the arm's mean, in 1/(unit of the rewards)², as it counts now
    value: float | None  # its full feedback
    note: str = ""  # why it does not count with all that it said

    def __str__(self) -> str:
        told = f"pull {self.pull}: {self.state}"
        if self.readings:
            told += f", {self.readings} reading{'s' if self.readings > 1 else ''} to step {self.step}"
            if self.estimate is not None:
                told += f" say {self.estimate:.6g}"
        if self.value is not None:
            told += f", full feedback {self.value:.6g}"
        return f"{told} ({self.note})" if self.note else told


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an arm stands where it stands; print it to read it."""

    arm: ArmStatus
    reason: str
    pulls: tuple[PullStory, ...]
    suspicions: tuple[Suspicion, ...]  # checks of the model that failed here, or in all arms together

    def __str__(self) -> str:
        arm = self.arm
        lines = [f"{arm.arm}: {arm.verdict}. {self.reason}"]
        if arm.mean is not None:
            if arm.low is None or arm.high is None:
                lines.append(f"Estimated at {arm.mean:.6g}.")
            else:
                mean, low, high = (rounded(number, arm.high - arm.low) for number in (arm.mean, arm.low, arm.high))
                lines.append(f"Estimated at {mean}, between {low} and {high}.")
        lines += [f"But: {suspicion}" for suspicion in self.suspicions]
        return "\n".join([*lines, *(f"  {pull}" for pull in self.pulls)])


def status(state: State, former: tuple[Suspicion, ...] = ()) -> Status:
    """The race now; `former`: what was suspected before, which stays."""
    rules, t = state.rules, state.tables
    top = answer(state)
    epsilon: float | None
    if state.decided:
        epsilon = state.decided.epsilon
    else:
        elect(rules, t)
        epsilon = smallest_epsilon(rules, t) if t.race[SURVIVORS] > 0 else 0.0
    states = [pull_state(state, row) for row in range(len(t.pulls))]
    return Status(
        decided=state.decided is not None,
        outcome=state.decided.outcome if state.decided else None,
        top=top,
        confidence=confidence_of(state),
        epsilon=finite(epsilon),
        k=rules.k,
        delta=state.settings.delta,
        slots=rules.slots,
        running=t.race[BUSY],
        pulls={name: states.count(name) for name in STATES},
        arms=tuple(arm_status(state, index, label in top) for index, label in enumerate(state.labels)),
        suspicions=with_former(suspicions(state), former),
        assumes=assumptions(state.settings),
    )


def finite(number: float | None) -> float | None:
    """The number, or None where there is none to speak of."""
    return number if number is not None and math.isfinite(number) else None


def rounded(number: float, size: float) -> str:
    """A number to about a hundredth of `size`, the difference that matters: its other digits are noise.

    >>> rounded(642.063, 352.3), rounded(0.71234, 0.05)
    ('642', '0.7123')
    """
    if not 1e-12 < size < 1e12:
        return f"{number:.6g}"
    places = max(0, 2 - math.floor(math.log10(size)))
    return f"{round(number, places) + 0.0:.{places}f}"  # never −0


def arm_status(state: State, index: int, top: bool) -> ArmStatus:
    """One arm now."""
    arm, armf = state.tables.arms[index], state.tables.armf[index]
    low, high = interval(state, index)
    return ArmStatus(
        arm=state.labels[index],
        verdict=VERDICTS[arm[STATUS]],
        top=top,
        mean=state.sign * armf[MEAN] if armf[SPREAD] < math.inf else None,
        low=finite(low),
        high=finite(high),
        started=arm[STARTED],
        running=arm[ACTIVE],
        finished=arm[DONE],
        sd=sd_of(state, index),
    )


def sd_of(state: State, index: int) -> float | None:
    """The sd of an arm's full feedback, where something is known of it."""
    rules, t = state.rules, state.tables
    if t.race[PILOTING] == 1:
        return None
    if rules.unknown == 0:
        return t.armf[index][SIGMA]
    last = t.arms[index][FULL_END]
    if last < 0 or t.walk[last][DEPTH] < 2:
        return None
    return math.sqrt(t.walkf[last][TO_SQUARES] / (t.walk[last][DEPTH] - 1))


def interval(state: State, index: int) -> tuple[float, float]:
    """The arm's interval; (−∞, ∞) while nothing is known."""
    armf = state.tables.armf[index]
    half = half_width(state.rules, state.tables, index)
    mean = state.sign * armf[MEAN]
    return mean - half, mean + half


def with_former(now: tuple[Suspicion, ...], former: tuple[Suspicion, ...]) -> tuple[Suspicion, ...]:
    """What is suspected now, and what was before and is no longer."""
    checks = {suspicion.check for suspicion in now}
    return (*now, *(suspicion for suspicion in former if suspicion.check not in checks))


def explain(state: State, label: object, former: tuple[Suspicion, ...] = ()) -> Explanation:
    """Why an arm stands where it stands; `former`: what was suspected before."""
    index = arm_index(state, label)
    rows = [row for row, pull in enumerate(state.tables.pulls) if pull[ARM] == index]
    return Explanation(
        arm=arm_status(state, index, state.labels[index] in answer(state)),
        reason=reason(state, index),
        pulls=tuple(pull_story(state, row) for row in rows),
        suspicions=tuple(s for s in with_former(suspicions(state), former) if label in (s.arms or (label,))),
    )


def pull_story(state: State, row: int) -> PullStory:
    """What one pull said."""
    pull, numbers = state.tables.pulls[row], state.tables.pullf[row]
    readings = len(state.stories[row].readings)
    value = told_value(state, row)
    return PullStory(
        pull=row + 1,
        state=pull_state(state, row),
        step=pull[STEP],
        readings=readings,
        estimate=state.sign * numbers[ESTIMATE] if numbers[WEIGHT] > 0.0 else None,
        information=information_in(state, row),
        value=value,
        note=note_on(state, row),
    )


def information_in(state: State, row: int) -> float:
    """What a pull says of its arm's mean, as it counts now; where pulls count in start order, once it is its turn."""
    pull, numbers = state.tables.pulls[row], state.tables.pullf[row]
    counted = pull[COUNTED]
    if state.rules.looks == ONCE and state.rules.order == FREE and counted in (0, 3):
        return 0.0
    if told_value(state, row) is None or counted == 1:
        return numbers[WEIGHT] if state.rules.order == FREE or counted != 1 else numbers[EARLY]
    return 1.0 / state.tables.armf[pull[ARM]][SIGMA] ** 2


def note_on(state: State, row: int) -> str:
    """Why a pull does not count with all that it said, or not yet; "" where it does."""
    rules, pull = state.rules, state.tables.pulls[row]
    arm, ended = state.tables.arms[pull[ARM]], pull[STATE] == FINISHED
    if pull[COUNTED] == 1 and ended:
        return "it had counted with its readings before it ended"
    if pull[COUNTED] == 3:
        return "cancelled before it was to count"
    if rules.looks == ONCE and rules.order == FREE and pull[COUNTED] == 0 and pull[READINGS] > 0:
        plan = state.tables.armf[pull[ARM]][PLAN]
        return f"to count from step {plan:.0f} on" if plan > 0.0 else "to count when it ends"
    if rules.order != FREE and ended and 0 <= arm[FULL_NEXT] < row:
        return f"counts once pull {arm[FULL_NEXT] + 1}, which started before it, has ended"
    return ""


def reason(state: State, index: int) -> str:
    """A sentence on the arm's verdict, or on the comparison that keeps it from one."""
    left = state.withdrawn.get(index)
    if left is not None:
        return f"It left the race: {left.reason}." if left.reason else "It left the race."
    given = state.verdicts.get(index)
    if given is not None:
        if given.rival is None:
            return "The places that were left settled it."
        closest = "the hardest to tell apart" if isinstance(given, Accepted) else "the closest of those that beat it"
        gap = abs(given.mean - (given.rival_mean or 0.0))
        own, other = rounded(given.mean, gap), rounded(given.rival_mean or 0.0, gap)
        return f"It was estimated at {own} then; {given.rival!r}, {closest}, at {other}."
    if state.decided:
        return "The race ended before it was judged."
    if state.tables.race[PILOTING] == 1:
        measured = f"the first {state.rules.pilot} pulls of every arm measure the sds"
        return f"The pilot goes on: {measured}, and nothing is decided before."
    if state.tables.armf[index][SPREAD] == math.inf:
        return stuck(state, index) or "Nothing is known of its mean yet."
    return open_question(state, index)


def open_question(state: State, index: int) -> str:
    """The closest comparison of a survivor with one on the other side of the answer."""
    rules, t = state.rules, state.tables
    elect(rules, t)
    side = t.arms[index][LEADER]
    others = [j for j, arm in enumerate(t.arms) if arm[STATUS] == SURVIVING and arm[LEADER] != side]
    unknown = [j for j in others if t.armf[j][SPREAD] == math.inf]
    if unknown:
        return f"Nothing is known yet of {state.labels[unknown[0]]!r}, which it is up against."
    if rules.method == PAPER:
        j = max(others, key=lambda j: t.armf[j][HIGH] if side else -t.armf[j][LOW])
        return f"Its interval still meets that of {state.labels[j]!r}."
    found = {j: evidence_between(state, index, j) for j in others}
    j = min(others, key=found.__getitem__)
    has = max(0.0, found[j])
    return f"Against {state.labels[j]!r} it has {has:.3g} of the {rules.level:.3g} units of evidence a verdict takes."


def evidence_between(state: State, leading: int, other: int) -> float:
    """The evidence that two arms lie as the answer of the moment has them."""
    rules, t = state.rules, state.tables
    if rules.order == FREE:
        return statistic(t.armf[leading], t.armf[other])
    if t.arms[leading][LEADER] == 0:
        leading, other = other, leading
    return pair_evidence(rules, t, leading, other)
