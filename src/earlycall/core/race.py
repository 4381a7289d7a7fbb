"""The race: `apply` a fact, `decide` what follows, `next_start`; and `check`, which names the first broken promise.

A turn is any number of facts of one instant, all applied, then one `decide`; each decision it returns is a fact like
the others and is applied by the same `apply`. Replay is `apply` without `decide`.
"""

import hashlib
import math
from collections.abc import Iterator

from earlycall.core import news, roster
from earlycall.core.audit import check
from earlycall.core.confidence import close_enough, confidence_now, elect, smallest_epsilon
from earlycall.core.facts import (
    Accepted,
    ArmAdded,
    ArmWithdrawn,
    Cancelled,
    Closed,
    Cut,
    Decided,
    Decision,
    Fact,
    Failed,
    Lost,
    Opened,
    Read,
    Rejected,
    Reopened,
    Started,
    Told,
)
from earlycall.core.schedule import cuts, earns_its_slot, next_arm, used_up
from earlycall.core.state import State
from earlycall.core.tables import (
    ACCEPTED,
    BUSY,
    CHANGES,
    HEAD,
    JUDGED,
    LEADER,
    MEAN,
    PAPER,
    PRESENT,
    QUEUE,
    QUEUED,
    REJECTED,
    RIGHT,
    RIVAL,
    STATUS,
    SURVIVING,
    SURVIVORS,
)
from earlycall.core.turn import clear, refresh, settle
from earlycall.errors import NewsError

__all__ = ["answer", "apply", "check", "confidence_of", "decide", "next_start", "seed_of"]


def apply(state: State, fact: Fact) -> bool:
    """Take in one fact; True when it was news. Refuses with an error that leaves everything as it was."""
    match fact:
        case Read():
            return news.was_read(state, fact)
        case Told():
            return news.was_told(state, fact)
        case Started():
            return news.started(state, fact)
        case Lost():
            return news.was_lost(state, fact)
        case Failed():
            return news.has_failed(state, fact)
        case Cancelled() | Cut():
            return news.lost_its_slot(state, fact)
        case Accepted() | Rejected():
            return news.got_verdict(state, fact)
        case Reopened():
            return roster.was_reopened(state, fact)
        case ArmAdded():
            return roster.was_added(state, fact)
        case ArmWithdrawn():
            return roster.was_withdrawn(state, fact)
        case Closed():
            return news.was_closed(state, fact)
        case Decided():
            return news.was_decided(state, fact)
        case Opened():
            raise NewsError("Opened: expected once, as the first fact of a race.")


def decide(state: State) -> list[Decision]:
    """What follows from the facts applied since the last turn, to be applied in this order.

    Verdicts that are called into question come first: an arm may be reopened and judged anew in the same turn.
    """
    rules, t = state.rules, state.tables
    if state.decided:  # late news moves the numbers, never a verdict
        refresh(rules, t)
        clear(t)
        return []
    again, gone = roster.changed(state) if t.race[CHANGES] > 0 else (set(), [])
    decisions: list[Decision] = [Reopened(state.labels[i]) for i in sorted(again)]
    stopped = sorted(pull for i in gone for pull in slots_of(state, i))
    if settle(rules, t) > 0:
        judged = [i for i in range(rules.arms) if t.arms[i][JUDGED] != t.arms[i][STATUS] or i in again]
        decisions += [verdict(state, Accepted, i) for i in judged if t.arms[i][JUDGED] == ACCEPTED]
        decisions += [verdict(state, Rejected, i) for i in judged if t.arms[i][JUDGED] == REJECTED]
        stopped = sorted([*stopped, *(pull for i in judged for pull in slots_of(state, i))])
    cut = to_cut(state) if cuts(rules) else []
    end = ending(state, len(stopped) + len(cut))
    if end:
        stopped = slots(state)
        cut = []
    decisions += [Cancelled(pull + 1) for pull in stopped]
    decisions += [Cut(pull + 1) for pull in cut]
    if end:
        decisions.append(Decided(answer(state), end, *claim(state, end)))
    clear(t)
    return decisions


def verdict(state: State, kind: type[Accepted] | type[Rejected], index: int) -> Accepted | Rejected:
    """The verdict on an arm, with the numbers it rests on."""
    t = state.tables
    rival = t.arms[index][RIVAL]
    mean = state.sign * t.armf[index][MEAN]
    if rival < 0:
        return kind(state.labels[index], mean, None, None)
    return kind(state.labels[index], mean, state.labels[rival], state.sign * t.armf[rival][MEAN])


def slots_of(state: State, index: int) -> Iterator[int]:
    """The rows of the arm's pulls that hold a slot, in start order."""
    pull = state.tables.arms[index][HEAD]
    while pull >= 0:
        yield pull
        pull = state.tables.pulls[pull][RIGHT]


def slots(state: State) -> list[int]:
    """The rows of all pulls that hold a slot, in start order."""
    return sorted(pull for index in range(state.rules.arms) for pull in slots_of(state, index))


def to_cut(state: State) -> list[int]:
    """The running pulls that no longer earn their slot, among the arms that moved."""
    t = state.tables
    moved = [t.arms[p][QUEUE] for p in range(t.race[QUEUED])]
    alive = [index for index in moved if t.arms[index][JUDGED] == SURVIVING]
    return sorted(pull for i in alive for pull in slots_of(state, i) if not earns_its_slot(state.rules, t, pull))


def ending(state: State, freed: int) -> str:
    """The outcome when the race is over, else ""; `freed`: slots that this turn is about to free."""
    rules, t = state.rules, state.tables
    if t.race[SURVIVORS] == 0:
        return "exact"
    if state.closed:
        return state.closed.outcome
    if close_enough(rules, t):
        return "epsilon"
    if t.race[BUSY] == freed and (state.settings.max_pulls == len(state.stories) or used_up(rules, t)):
        return "deadline"
    return ""


def claim(state: State, outcome: str) -> tuple[float | None, float | None]:
    """(confidence in what the outcome claims, the smallest ε that passes or None)."""
    rules, t = state.rules, state.tables
    elect(rules, t)
    epsilon = smallest_epsilon(rules, t) if t.race[SURVIVORS] > 0 else 0.0
    confidence = confidence_of(state) if outcome in ("deadline", "stopped") else 1.0 - state.settings.delta
    return confidence, epsilon if epsilon < math.inf else None


def confidence_of(state: State) -> float | None:
    """The confidence in the answer of this moment (None: method "paper" has none before it has decided)."""
    rules, t = state.rules, state.tables
    if state.decided:
        return state.decided.confidence
    if rules.method == PAPER:
        return None
    elect(rules, t)
    return confidence_now(rules, t, t.race[PRESENT] - t.race[SURVIVORS])


def answer(state: State) -> tuple[str, ...]:
    """The labels of the best k so far, in the order the arms were given."""
    if state.decided:
        return state.decided.top
    t = state.tables
    elect(state.rules, t)
    return tuple(
        label
        for label, arm in zip(state.labels, t.arms, strict=False)  # rows kept for newcomers have no label yet
        if arm[JUDGED] == ACCEPTED or arm[LEADER] == 1
    )


def next_start(state: State) -> int:
    """The arm whose next pull should start now, by its row; −1 when none may."""
    if state.decided or state.closed or len(state.stories) == state.settings.max_pulls:
        return -1
    return next_arm(state.rules, state.tables)


def seed_of(race_seed: int, pull: int) -> int:
    """The seed of a pull: 63 bits, the same for the same race seed and pull everywhere."""
    digest = hashlib.blake2b(f"{race_seed}/{pull}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
