"""Who is in the race: arms that join it later, arms that leave it, and the verdicts that this calls into question.

Both are news like any other, and may follow from all that was seen: that is what the larger union is for
(rules.level_of). While every pair is judged rightly,

* an accepted arm has at most k − 1 others that are as good. A newcomer may be one more: accepted arms survive again.
  A leaver is at most one less.
* a rejected arm has k better ones. A leaver may be one of them: rejected arms survive again. A newcomer takes none
  away; nor does a leaver that was rejected itself: the k that are better than it do in its place.

docs/guarantees.md, "Newcomers and leavers", has the proof.
"""

from collections.abc import Iterator, Mapping

from earlycall.core.arrivals import add, reopen, withdraw
from earlycall.core.facts import Accepted, ArmAdded, ArmWithdrawn, Reopened
from earlycall.core.rules import arm_numbers
from earlycall.core.state import State, arm_index, put_numbers
from earlycall.core.tables import (
    ABSENT,
    ACCEPTED,
    CHANGES,
    HEAD,
    JUDGED,
    PRESENT,
    REJECTED,
    STARTED,
    STATUS,
    SURVIVING,
    WITHDRAWN,
)
from earlycall.errors import NewsError

FIXED = "Open the race with reserve=how many arms may be added later (0: arms may only be withdrawn)."


def was_added(state: State, fact: ArmAdded) -> bool:
    """An arm joins the race."""
    index = state.index.get(fact.label)
    known = None if index is None else state.added.get(index)
    if known is not None and index not in state.withdrawn and fact.sigma in (None, known.sigma):
        return False
    if index is not None:
        raise NewsError(f"label={fact.label!r}: expected another label: {why_not(state, index)}")
    reserve = open_to(state, fact.label)
    if len(state.added) == reserve:
        raise NewsError(
            f"label={fact.label!r}: expected at most {reserve} newcomers, as reserve={reserve} says, and all have come."
            " Race on without it, or open a new race that has it."
        )
    sigma = sigma_of(state, fact)
    index = len(state.labels)
    put_numbers(state.tables, index, arm_numbers([sigma], state.settings, state.rules.level))
    state.labels += (fact.label,)
    state.index[fact.label] = index
    state.added[index] = fact
    add(state.rules, state.tables, index)
    return True


def why_not(state: State, index: int) -> str:
    """Why an arm cannot be added that has a row already."""
    if index in state.withdrawn:
        return "an arm of this name has left the race, for good. To try it again, give it a new name."
    if index in state.added:
        return f"an arm of this name joined the race with sigma={state.added[index].sigma!r}."
    return "an arm of this name is in the race from the start."


def sigma_of(state: State, fact: ArmAdded) -> float:
    """The sd of a newcomer: its own where each arm was given one, else that of all."""
    declared = state.settings.feedback.sigma
    if isinstance(declared, Mapping):
        if fact.sigma is None:
            raise NewsError("sigma=None: expected the sd of the new arm, as sigma was given arm by arm: sigma=….")
        return fact.sigma
    if fact.sigma is not None:
        raise NewsError(f"sigma={fact.sigma!r}: expected none, as all arms share sigma={declared:g}. Leave it out.")
    return float(declared)  # type: ignore[arg-type]  # an sd that is not known is refused with `reserve`


def open_to(state: State, label: str) -> int:
    """The newcomers there may be; refuses where arms are fixed, or the race is over."""
    if state.settings.reserve is None:
        raise NewsError(f"label={label!r}: expected no arm to come or go, as reserve=None says. {FIXED}")
    if state.decided or state.closed:
        raise NewsError(f"label={label!r}: expected a race that is not over: its answer stands. Open a new one.")
    return state.settings.reserve


def was_withdrawn(state: State, fact: ArmWithdrawn) -> bool:
    """An arm leaves the race for good."""
    index = arm_index(state, fact.label)
    if index in state.withdrawn:
        return False
    open_to(state, fact.label)
    rules, t = state.rules, state.tables
    if t.race[PRESENT] <= rules.k:
        raise NewsError(
            f"label={fact.label!r}: expected at least k={rules.k} arms to remain, and there are {t.race[PRESENT]} now."
            " Close the race, or add another arm first."
        )
    state.verdicts.pop(index, None)
    state.withdrawn[index] = fact
    withdraw(t, index)
    return True


def was_reopened(state: State, fact: Reopened) -> bool:
    """The verdict on an arm stands no more."""
    index = arm_index(state, fact.arm)
    reopen(state.tables, index)
    state.verdicts.pop(index, None)
    return True


def changed(state: State) -> tuple[set[int], list[int]]:
    """(the arms whose verdict is called into question, the arms that have left), asked before the turn is settled."""
    arms = state.tables.arms
    again = {index for index, arm in enumerate(arms) if arm[JUDGED] != arm[STATUS]}
    return again, list(state.withdrawn)


# What `check` looks at -----------------------------------------------------------------------------------------------


def broken_roster(state: State) -> Iterator[str]:
    """What the tables hold of who is in the race, and which verdicts stand."""
    t, k = state.tables, state.rules.k
    if len(state.labels) != len(set(state.labels)) or state.index != {label: i for i, label in enumerate(state.labels)}:
        yield f"the labels {state.labels} and their rows {state.index} do not go together"
    if t.race[CHANGES] != 0:
        yield f"{t.race[CHANGES]} arms that came or left still wait for a turn that is over"
    present = sum(arm[STATUS] in (SURVIVING, ACCEPTED, REJECTED) for arm in t.arms)
    if t.race[PRESENT] != present or present != len(state.labels) - len(state.withdrawn) or present < k:
        yield f"{present} arms are in the race, {t.race[PRESENT]} counted, of {len(state.labels)} that ever were"
    for index, arm in enumerate(t.arms):
        if (arm[STATUS] == ABSENT) != (index >= len(state.labels)):
            yield f"row {index} has the status {arm[STATUS]}, and {len(state.labels)} rows are used"
        if arm[STATUS] == ABSENT and (arm[STARTED] > 0 or arm[HEAD] >= 0):
            yield f"row {index} belongs to no arm and has pulls"
        if (arm[STATUS] == WITHDRAWN) != (index in state.withdrawn):
            yield f"arm {state.labels[index]!r} has the status {arm[STATUS]}, and left: {state.withdrawn.get(index)}"
        given = state.verdicts.get(index)
        stands = SURVIVING if given is None else ACCEPTED if isinstance(given, Accepted) else REJECTED
        if arm[STATUS] != stands and (given or arm[STATUS] in (ACCEPTED, REJECTED)):
            yield f"row {index} has the status {arm[STATUS]}, the verdict that stands is {given}"
