"""Slots and the pulls in them: what all kinds of workers have in common.

A pull that is cancelled holds no slot in the race any more, but its worker is still busy with it: the next pull waits
here until that one lets go, or its grace is over and the worker is killed and replaced.

Nothing piles up: a pull that showed a reading is paused until somebody asks for news again. So it hears that it is
cancelled at the very reading that settled it, and a chatty one waits instead of filling the memory.
"""

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable

from earlycall.run.handle import Pull
from earlycall.run.workers.news import Began, Ended, Failed, News, Showed, Stopped

HEAD_START = 1.0  # seconds before a worker is killed in which the next one may get ready


class Slot:
    """One place for one pull at a time. Kinds of workers put their own things beside these."""

    def __init__(self) -> None:
        self.pull: Pull | None = None
        self.ready = True  # to take a pull
        self.paused = False  # after a reading
        self.stopping = False  # its pull is cancelled or overdue
        self.began = math.nan
        self.kill_at = math.inf


class Pool(ABC):
    """A number of slots, the pulls that wait for one, and the clock."""

    def __init__(self, slots: int, timeout: float | None, grace: float) -> None:
        self.most = slots
        self.timeout = math.inf if timeout is None else timeout
        self.grace = grace
        self.slots: list[Slot] = []
        self.busy = 0  # of them
        self.waiting: deque[Pull] = deque()
        self.said: list[News] = []  # not yet fetched

    # The three verbs

    def start(self, pull: Pull) -> None:
        """Run this pull, as soon as a slot is free."""
        self.waiting.append(pull)
        self._fill()

    def cancel(self, pull: int) -> None:
        """Nobody needs this pull any more."""
        for waiting in self.waiting:
            if waiting.id == pull:
                self.waiting.remove(waiting)
                self.said.append(Stopped(pull))
                return
        for slot in self.slots:
            if slot.pull is not None and slot.pull.id == pull and not slot.stopping:
                self._stop(slot)

    def news(self, timeout: float) -> list[News]:
        """What happened, in order; waits no longer than so many seconds."""
        self._resume()
        self._fill()
        if not self.said:
            until = max(0.0, min(timeout, self._next_alarm() - time.monotonic()))
            for slot, news in self._listen(until):
                self._hear(slot, news)
        self._alarms()
        self._fill()
        said, self.said = self.said, []
        return said

    def close(self) -> None:
        """Cancel what runs, give it its grace, and leave nothing behind."""
        self.waiting.clear()
        try:
            for slot in self.slots:
                if slot.pull is not None and not slot.stopping:
                    self._stop(slot)
            while any(slot.pull is not None for slot in self.slots):
                self.news(self.grace)
        finally:
            for slot in list(self.slots):
                self._kill(slot)
            self.slots.clear()

    # What the kinds do in their own way

    @abstractmethod
    def _new_slot(self) -> Slot:
        """Another slot; it may take a while to be ready."""

    @abstractmethod
    def _begin(self, slot: Slot, pull: Pull) -> None:
        """Run a pull in a free slot."""

    @abstractmethod
    def _answer(self, slot: Slot, go_on: bool) -> None:
        """Let a paused pull go on, or tell it to stop."""

    @abstractmethod
    def _listen(self, timeout: float) -> Iterable[tuple[Slot, News]]:
        """What the slots say within so many seconds."""

    @abstractmethod
    def _kill(self, slot: Slot) -> None:
        """End a worker, whatever it does."""

    def _interrupt(self, slot: Slot) -> None:  # noqa: B027  # most kinds only hear at their next reading
        """Tell a pull that is under way to stop, where it can hear that."""

    # Slots

    def _fill(self) -> None:
        """Give the pulls that wait to the slots that are free; open slots while there are too few."""
        if not self.waiting:
            return
        self.busy = sum(slot.pull is not None for slot in self.slots)
        for slot in list(self.slots):
            self._offer(slot)
        coming = sum(not slot.ready for slot in self.slots)
        doomed = sum(slot.kill_at - time.monotonic() < HEAD_START for slot in self.slots)
        while len(self.waiting) > coming and len(self.slots) - doomed < self.most:
            slot = self._new_slot()
            self.slots.append(slot)
            coming += not slot.ready
            self._offer(slot)

    def _offer(self, slot: Slot) -> None:
        """Give the next pull to a slot, if it can take one."""
        if self.waiting and slot.pull is None and slot.ready and self.busy < self.most:
            self.busy += 1
            slot.pull, slot.began = self.waiting.popleft(), time.monotonic()
            self.said.append(Began(slot.pull.id))
            self._begin(slot, slot.pull)

    def _resume(self) -> None:
        """The readings so far have been taken in: let their pulls go on."""
        for slot in self.slots:
            if slot.paused:
                slot.paused = False
                self._answer(slot, go_on=not slot.stopping)

    def _stop(self, slot: Slot) -> None:
        """Ask a pull to stop."""
        slot.stopping = True
        slot.kill_at = time.monotonic() + self.grace
        if slot.paused:
            slot.paused = False
            self._answer(slot, go_on=False)
        else:
            self._interrupt(slot)

    def _free(self, slot: Slot) -> None:
        """A worker is done with its pull."""
        slot.pull = None
        slot.paused = slot.stopping = False
        slot.kill_at = math.inf

    def _drop(self, slot: Slot) -> None:
        """Forget a worker that is gone."""
        self.slots.remove(slot)

    # News

    def _hear(self, slot: Slot, news: News) -> None:
        """One thing a slot said."""
        if slot.pull is None or slot.pull.id != news.pull:
            return
        overdue = time.monotonic() - slot.began > self.timeout
        if overdue and not slot.stopping:
            self.said.append(self._took_too_long(news.pull))
        elif not slot.stopping or (isinstance(news, Ended) and not overdue):
            self.said.append(news)
        if isinstance(news, Showed):
            slot.paused = True
            if overdue or slot.stopping:
                self._stop(slot)
        else:
            if slot.stopping:
                self.said.append(Stopped(news.pull))
            self._free(slot)

    def _took_too_long(self, pull: int) -> Failed:
        return Failed(pull, f"It took longer than timeout={self.timeout:g} seconds.")

    def _next_alarm(self) -> float:
        """When a pull is overdue, or its grace over."""
        alarm = math.inf
        for slot in self.slots:
            if slot.pull is not None:
                alarm = min(alarm, slot.kill_at if slot.stopping else slot.began + self.timeout)
        return alarm

    def _alarms(self) -> None:
        """Fail the pulls that take too long, and kill the workers that do not let go."""
        now = time.monotonic()
        for slot in list(self.slots):
            if slot.pull is None:
                continue
            if not slot.stopping and now - slot.began > self.timeout:
                self.said.append(self._took_too_long(slot.pull.id))
                self._stop(slot)
            elif slot.stopping and now >= slot.kill_at:
                self.said.append(Stopped(slot.pull.id))
                self._kill(slot)
                self._drop(slot)
