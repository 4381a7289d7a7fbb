"""A race in a journal. One verb is one transaction, from the lock to the commit.

Lock → apply what others have added → check mine and apply it → decide → append facts and decisions → commit. A state
that a failed transaction has changed is dropped and read again, so what is held here is never ahead of the journal.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import get_args

from earlycall.core.facts import Decision, Fact
from earlycall.core.remedies import Suspicion
from earlycall.core.state import State, opened
from earlycall.errors import EarlycallError, WorldError
from earlycall.journal.replay import catch_up
from earlycall.journal.rows import Entry
from earlycall.journal.sqlite import Journal

DECISIONS = get_args(Decision)
GAP = 5000  # facts that are quickly applied: before so many there is no new snapshot
SHARE = 50  # nor before one fact in so many is new: a snapshot costs as much as the race is long


class Kept:
    """A race in a journal: its state here is a copy, brought up to date before it is used."""

    def __init__(self, journal: Journal) -> None:
        self.suspected: dict[str, Suspicion] = {}
        self._journal = journal
        self._lock = threading.RLock()
        self._state: State | None = None  # dropped when a transaction failed that had changed it
        self._last = Entry(0, 0.0, None)  # type: ignore[arg-type]  # what the state has come to; read before it is used
        self._kept = 0  # the last fact in a snapshot
        self._new: list[Fact] = []  # of this transaction
        self._suspicions: list[Suspicion] = []

    @property
    def state(self) -> State:
        """The state of this moment."""
        with self.look() as state:
            return state

    @contextmanager
    def verb(self, durable: bool = True) -> Iterator[State]:
        """Lock, catch up, do, commit."""
        with self._lock:
            if self._state is None:
                self._catch_up()  # all there is, before anybody has to wait
            self._journal.lock(durable)
            try:
                yield self._catch_up()
                self._commit(durable)
            except BaseException as problem:
                self._journal.rollback()
                if self._new or not isinstance(problem, EarlycallError):
                    self._state = None
                raise
            finally:
                self._new, self._suspicions = [], []
            self._keep()

    @contextmanager
    def look(self) -> Iterator[State]:
        """Catch up."""
        with self._lock:
            yield self._catch_up()

    def append(self, fact: Fact) -> None:
        """Keep a fact until the commit."""
        self._new.append(fact)

    def suspect(self, suspicion: Suspicion) -> None:
        """Keep a suspicion until the commit."""
        self.suspected[suspicion.check] = suspicion
        self._suspicions.append(suspicion)

    def facts(self) -> tuple[Fact, ...]:
        """All facts, from the journal."""
        with self._lock:
            return tuple(entry.fact for entry in self._journal.facts())

    def close(self) -> None:
        """Give the file back."""
        with self._lock:
            self._journal.close()

    # One transaction

    def _catch_up(self) -> State:
        """The state, with all that others have added."""
        if self._state is None:
            self._state = self._first()
        news = self._journal.since(self._last.seq)
        if next(news, None) != self._last:
            raise WorldError(
                f"{self._journal.file}: fact {self._last.seq} was there, and is not, or is another. Expected a journal"
                " that only grows: it was cut short or replaced. Open the race anew."
            )
        state, self._state = self._state, None  # in pieces while facts are applied
        self._last = catch_up(state, news) or self._last
        self._state = state
        return state

    def _first(self) -> State:
        """The state to begin with: of the last snapshot, or of the opening."""
        self.suspected = {suspicion.check: suspicion for suspicion in self._journal.suspicions()}
        kept = self._journal.kept()
        if kept is not None and self._at(kept[1]):
            state, self._kept = kept
            return state
        if not self._at(1):
            raise WorldError(f"{self._journal.file} is damaged: fact 1 of the race is missing. Go on with a copy.")
        self._kept = 1
        return opened(self._journal.opened())

    def _at(self, seq: int) -> bool:
        """Begin after a fact, if it is there."""
        self._last = next(self._journal.since(seq), self._last)
        return self._last.seq == seq

    def _commit(self, durable: bool) -> None:
        """Write down what is new, and wait for the disk where that is due."""
        if not self._new:
            self._journal.rollback()
            return
        now = time.time()
        entries = [Entry(seq, now, fact) for seq, fact in enumerate(self._new, start=self._last.seq + 1)]
        self._journal.append(entries)
        if self._suspicions:
            self._journal.suspect(entries[-1].seq, self._suspicions)
        self._journal.commit()
        if not durable and any(isinstance(fact, DECISIONS) for fact in self._new):
            self._journal.harden(entries[-1].seq)
        self._last = entries[-1]

    def _keep(self) -> None:
        """Keep a snapshot when the last is old; where that cannot be done, the next who opens the race takes longer."""
        if self._state is not None and self._last.seq - self._kept >= max(GAP, self._last.seq // SHARE):
            self._kept = self._last.seq
            with suppress(WorldError):
                self._journal.keep(self._kept, self._state)
