"""Facts → the state of a race at any moment; its decisions derived anew and compared; one arm explained.

Replay applies what was decided and decides nothing, so a verdict of an older version stands. `verify` decides again.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import get_args

from earlycall.core import race, status
from earlycall.core.facts import Decision, Fact, Opened, Started
from earlycall.core.state import State, opened
from earlycall.core.status import Explanation
from earlycall.core.turn import clear, refresh
from earlycall.errors import CallerError, NewsError, WorldError
from earlycall.journal.rows import Entry

DECISIONS = get_args(Decision)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the decisions of a journal are not those that follow from it here."""

    seq: int  # of the news they follow
    news: Fact
    held: tuple[Fact, ...]  # what the journal has
    derived: tuple[Fact, ...]  # what follows by this version

    def __str__(self) -> str:
        return f"after fact {self.seq}, {self.news}: the journal holds {self.held}, and {self.derived} follows."


def catch_up(state: State, entries: Iterable[Entry]) -> Entry | None:
    """Apply what others have added; the last of it, None where there was nothing."""
    last = None
    for last in entries:
        take_in(state, last.seq, last.fact)
    if last is not None:
        refresh(state.rules, state.tables)
        clear(state.tables)
    return last


def take_in(state: State, seq: int, fact: Fact) -> None:
    """Apply one fact of a journal; all of them were news when they were written."""
    try:
        if race.apply(state, fact):
            return
        problem = "it says nothing that was not known"
    except NewsError as error:
        problem = str(error)
    raise WorldError(
        f"fact {seq} of the journal, {fact}, does not follow from those before it: {problem}. Expected a journal that"
        " only earlycall wrote to. Go on with a copy that `verify` finds whole."
    )


def state_at(entries: Iterable[Entry], seq: int | None = None, at: float | None = None) -> State:
    """The state of a race after fact `seq`, or at a moment (seconds, UTC); left out: after the last fact."""
    state: State | None = None
    for entry in in_order(entries):
        if (seq is not None and entry.seq > seq) or (at is not None and entry.at > at):
            break
        if isinstance(entry.fact, Opened):
            state = opened(entry.fact)
        elif state is not None:
            take_in(state, entry.seq, entry.fact)
    if state is None:
        raise CallerError(f"seq={seq!r}, at={at!r}: expected a moment after the race was opened.")
    refresh(state.rules, state.tables)
    clear(state.tables)
    return state


def in_order(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries, which have to be numbered 1, 2, 3 … and begin with the opening."""
    for number, entry in enumerate(entries, start=1):
        if entry.seq != number:
            raise WorldError(f"fact {number} of the journal is missing, and fact {entry.seq} is there: it is damaged.")
        yield entry


def explain(entries: Iterable[Entry], arm: str, seq: int | None = None, at: float | None = None) -> Explanation:
    """Why an arm stood where it stood at a moment; print it."""
    return status.explain(state_at(entries, seq, at), arm)


def verify(entries: Iterable[Entry]) -> Difference | None:
    """Derive every decision again; the first place where the journal has others, None where it has the same.

    What comes after a difference rests on it, so it is not looked at.
    """
    state: State | None = None
    for news, held in turns(entries):
        if isinstance(news.fact, Opened):
            state = opened(news.fact)
            continue
        assert state is not None  # `turns` begins with the opening
        take_in(state, news.seq, news.fact)
        derived = [] if isinstance(news.fact, Started) else race.decide(state)
        if not alike(held, derived):
            return Difference(news.seq, news.fact, tuple(held), tuple(derived))
        for number, decision in enumerate(held, start=1):
            take_in(state, news.seq + number, decision)
    return None


def turns(entries: Iterable[Entry]) -> Iterator[tuple[Entry, list[Fact]]]:
    """Each piece of news with the decisions that follow it."""
    news: Entry | None = None
    decisions: list[Fact] = []
    for entry in in_order(entries):
        if isinstance(entry.fact, DECISIONS) and news is not None:
            decisions.append(entry.fact)
            continue
        if news is not None:
            yield news, decisions
        news, decisions = entry, []
    if news is not None:
        yield news, decisions


def alike(held: Sequence[Fact], derived: Sequence[Fact]) -> bool:
    """Whether two lists of decisions are the same, but for the last digits of numbers (logarithms differ there)."""
    return len(held) == len(derived) and all(map(same, held, derived))


def same(one: Fact, other: Fact) -> bool:
    """Whether two decisions are the same."""
    if type(one) is not type(other):
        return False
    pairs = ((getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in pairs
    )
