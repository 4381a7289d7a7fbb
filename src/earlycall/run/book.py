"""Where a race keeps what happened: in memory here, or in a journal that others read and write too (kept.py).

Both have the same face. `verb` is one transaction: nobody else acts on the race until it is over, the state is that of
this moment, and what is appended inside has happened when it ends, or has not when it ends with an error. `look` shows
the state of this moment and changes nothing.
"""

import threading
from contextlib import AbstractContextManager
from typing import Protocol

from earlycall.core.facts import Fact, Opened
from earlycall.core.remedies import Suspicion
from earlycall.core.state import State, opened


class Book(Protocol):
    """What a race asks of the place it is kept in."""

    suspected: dict[str, Suspicion]  # by check, as first seen

    def verb(self, durable: bool = True) -> AbstractContextManager[State]:
        """One transaction; `durable`: whether it is to survive a power cut (it always survives its process)."""

    def look(self) -> AbstractContextManager[State]:
        """The state of this moment, to read."""

    def append(self, fact: Fact) -> None:
        """Keep a fact that has been applied, inside a verb."""

    def suspect(self, suspicion: Suspicion) -> None:
        """Keep a suspicion that is new, inside a verb."""

    def facts(self) -> tuple[Fact, ...]:
        """All that happened and was decided, in order."""

    def close(self) -> None:
        """No verb will follow."""


class Memory:
    """A race that is nowhere else: a lock, its state and its facts."""

    def __init__(self, fact: Opened) -> None:
        self.state = opened(fact)
        self.suspected: dict[str, Suspicion] = {}
        self._facts: list[Fact] = [fact]
        self._lock = threading.RLock()
        self.append = self._facts.append

    def verb(self, durable: bool = True) -> "Memory":
        """One thread at a time."""
        return self

    def look(self) -> "Memory":
        """The same."""
        return self

    def __enter__(self) -> State:
        self._lock.acquire()
        return self.state

    def __exit__(self, *problem: object) -> None:
        self._lock.release()

    def suspect(self, suspicion: Suspicion) -> None:
        """Keep a suspicion."""
        self.suspected[suspicion.check] = suspicion

    def facts(self) -> tuple[Fact, ...]:
        """All facts."""
        with self._lock:
            return tuple(self._facts)

    def close(self) -> None:
        """Nothing to give back."""
