"""Pulls that run right here, one step of each in turn. Nothing can be interrupted; a step takes as long as it takes."""

import math
import time
from collections import deque
from collections.abc import Iterator

from earlycall.run import objective
from earlycall.run.handle import Pull
from earlycall.run.objective import Objective, Run
from earlycall.run.workers.news import News, Stopped
from earlycall.run.workers.pool import Pool, Slot


class Inline(Pool):
    """Every slot holds a generator."""

    def __init__(self, function: Objective, slots: int, timeout: float | None = None) -> None:
        super().__init__(slots, timeout, grace=math.inf)
        self.function = function
        self.runs: dict[Slot, Run] = {}
        self.turns: deque[Slot] = deque()  # the slots whose pulls may take a step
        self.stopped: list[tuple[Slot, News]] = []

    def _new_slot(self) -> Slot:
        return Slot()

    def _begin(self, slot: Slot, pull: Pull) -> None:
        self.runs[slot] = objective.run(self.function, pull)
        self.turns.append(slot)

    def _answer(self, slot: Slot, go_on: bool) -> None:
        if go_on:
            self.turns.append(slot)
        else:
            self._interrupt(slot)

    def _interrupt(self, slot: Slot) -> None:
        if slot in self.turns:
            self.turns.remove(slot)
        objective.stop(self.runs.pop(slot))
        if slot.pull is not None:
            self.stopped.append((slot, Stopped(slot.pull.id)))

    def _listen(self, timeout: float) -> Iterator[tuple[Slot, News]]:
        """One step of the pull whose turn it is."""
        stopped, self.stopped = self.stopped, []
        yield from stopped
        if self.turns and not stopped:
            slot = self.turns.popleft()
            yield slot, next(self.runs[slot])
        elif not stopped:
            time.sleep(min(timeout, 0.1))

    def _next_alarm(self) -> float:
        return 0.0 if self.turns or self.stopped else super()._next_alarm()

    def _kill(self, slot: Slot) -> None:
        if slot in self.runs:
            objective.stop(self.runs.pop(slot))
