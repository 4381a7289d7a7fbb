"""The moves of arms that join a race or leave it (THEORY §7); why these verdicts come back: docs/guarantees.md."""

from earlycall.core.schedule import look_ahead
from earlycall.core.tables import ACCEPTED, CHANGES, JUDGED, REJECTED, STATUS, SURVIVING, WITHDRAWN, Rules, Tables
from earlycall.core.verdict import gather


def add(rules: Rules, t: Tables, index: int) -> None:
    """An arm joins the race, in a row that was ABSENT; it may be better than an accepted one: those survive again."""
    t.arms[index][STATUS] = SURVIVING
    t.arms[index][JUDGED] = SURVIVING
    look_ahead(rules, t, index)
    call_back(t, ACCEPTED)
    gather(t)
    t.race[CHANGES] += 1


def withdraw(t: Tables, index: int) -> None:
    """An arm leaves for good; a rejected one may move up: those survive again, unless it was rejected itself."""
    judged = t.arms[index][JUDGED]
    t.arms[index][STATUS] = WITHDRAWN
    t.arms[index][JUDGED] = WITHDRAWN
    if judged != REJECTED:
        call_back(t, REJECTED)
    gather(t)
    t.race[CHANGES] += 1


def call_back(t: Tables, verdict: int) -> None:
    """Let the arms with this verdict survive again; STATUS keeps it until the decision that takes it away."""
    for index in range(len(t.arms)):
        if t.arms[index][JUDGED] == verdict:
            t.arms[index][JUDGED] = SURVIVING


def reopen(t: Tables, index: int) -> None:
    """The verdict on an arm stands no more; `settle` may have come to a new one already, which follows."""
    t.arms[index][STATUS] = SURVIVING
