"""Pulls in threads of this process: for objectives that wait (for a machine, a server, a program of their own).

A thread cannot be killed. A pull that neither yields nor returns within its grace is left behind: its thread goes on in
the background until it does, and another takes its slot.
"""

import threading
import warnings
from collections.abc import Iterator
from queue import Empty, SimpleQueue

from earlycall.run import objective
from earlycall.run.handle import Pull
from earlycall.run.objective import Objective, line_of
from earlycall.run.workers.news import Failed, News, Showed, Stopped
from earlycall.run.workers.pool import Pool, Slot

LEFT_BEHIND = (
    "Pull {} was to stop and has not yielded for {:g} seconds. A thread cannot be killed: this one goes on in the"
    ' background, and another takes its slot. Yield more often, or race with workers="processes".'
)


class ThreadSlot(Slot):
    """A slot whose thread takes pulls and answers from its inbox; None ends it."""

    def __init__(self) -> None:
        super().__init__()
        self.inbox: SimpleQueue[Pull | bool | None] = SimpleQueue()


class Threads(Pool):
    """One thread for every slot; all news comes through one queue, in which each has at most one piece."""

    def __init__(self, function: Objective, slots: int, timeout: float | None = None, grace: float = 5.0) -> None:
        super().__init__(slots, timeout, grace)
        self.function = function
        self.heard: SimpleQueue[tuple[ThreadSlot, News]] = SimpleQueue()

    def _new_slot(self) -> Slot:
        slot = ThreadSlot()
        threading.Thread(target=work, args=(self.function, slot, self.heard), daemon=True).start()
        return slot

    def _begin(self, slot: Slot, pull: Pull) -> None:
        assert isinstance(slot, ThreadSlot)
        slot.inbox.put(pull)

    def _answer(self, slot: Slot, go_on: bool) -> None:
        assert isinstance(slot, ThreadSlot)
        slot.inbox.put(go_on)

    def _listen(self, timeout: float) -> Iterator[tuple[Slot, News]]:
        try:
            slot, news = self.heard.get(timeout=timeout) if timeout > 0.0 else self.heard.get_nowait()
            while True:
                if slot in self.slots:
                    yield slot, news
                slot, news = self.heard.get_nowait()
        except Empty:
            return

    def _kill(self, slot: Slot) -> None:
        assert isinstance(slot, ThreadSlot)
        slot.inbox.put(None)
        slot.inbox.put(None)  # the first may be taken for the answer to a reading
        if slot.pull is not None:
            warnings.warn(LEFT_BEHIND.format(slot.pull.id, self.grace), RuntimeWarning, stacklevel=2)


def work(function: Objective, slot: ThreadSlot, heard: "SimpleQueue[tuple[ThreadSlot, News]]") -> None:
    """What a thread does: pull after pull, and a pause after every reading until there is an answer."""
    while isinstance(pull := slot.inbox.get(), Pull):
        running = objective.run(function, pull)
        try:
            for news in running:
                heard.put((slot, news))
                if isinstance(news, Showed) and not slot.inbox.get():
                    objective.stop(running)
                    heard.put((slot, Stopped(pull.id)))
                    break
        except BaseException as problem:  # nobody else would hear of it
            heard.put((slot, Failed(pull.id, line_of(problem))))
