"""Pulls in processes of their own: one process and one pipe for every slot, used again and again.

A process is replaced after it was killed, after a crash, and after a thousand pulls (what a library leaks ends with
it). It is *spawned*: it starts from nothing, imports the objective, and shares no lock and no thread with this one.
"""

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import cast

from earlycall.core.checks import refusal
from earlycall.errors import SettingError, WorldError
from earlycall.run.handle import Pull
from earlycall.run.objective import Objective, line_of
from earlycall.run.workers import child
from earlycall.run.workers.guard import KILL, Guard, exit_of, kill_group
from earlycall.run.workers.news import Failed, Lost, News
from earlycall.run.workers.pool import Pool, Slot

PULLS = 1000  # of one process
STILLBORN = 5  # processes that may end in a row before they are ready
UNGUARDED = 77  # exit code of a child that comes across `identify` while it imports the main module
AWAY = 'Or race with workers="threads" or "inline", where nothing has to be sent.'
IMPORTABLE = f"Write it at the top of a file (no lambda, not inside a function or a notebook) and import it. {AWAY}"
GUARD_MAIN = (
    'workers="processes": every worker imports your program anew, and came across earlycall.identify again. Put what'
    ' your program does under `if __name__ == "__main__":`.'
)


class ProcessSlot(Slot):
    """A slot with its process."""

    def __init__(self, process: SpawnProcess, pipe: "Connection[object, object]") -> None:
        super().__init__()
        self.ready = False
        self.process = process
        self.pipe = pipe
        self.group = process.pid or 0
        self.pulls = 0


class Processes(Pool):
    """One process for every slot."""

    def __init__(self, function: Objective, slots: int, timeout: float | None = None, grace: float = 5.0) -> None:
        super().__init__(slots, timeout, grace)
        self.function = packed("objective", function)
        self.context = multiprocessing.get_context("spawn")
        self.guard = Guard()
        self.stillborn = 0

    def close(self) -> None:
        """Cancel what runs, and leave no process behind."""
        try:
            super().close()
        finally:
            self.guard.close()

    def _new_slot(self) -> Slot:
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=child.main, args=(theirs,), name="earlycall worker")
        with deaf():
            process.start()
        theirs.close()
        slot = ProcessSlot(process, ours)
        self.guard.watch(slot.group)
        send(slot, self.function)
        return slot

    def _begin(self, slot: Slot, pull: Pull) -> None:
        assert isinstance(slot, ProcessSlot)
        slot.pulls += 1
        send(slot, pickle.dumps((pull.id, pickle.dumps(pull))))

    def _answer(self, slot: Slot, go_on: bool) -> None:
        assert isinstance(slot, ProcessSlot)
        send(slot, pickle.dumps(go_on))

    def _free(self, slot: Slot) -> None:
        assert isinstance(slot, ProcessSlot)
        super()._free(slot)
        if slot.pulls >= PULLS:
            self._kill(slot)
            self._drop(slot)

    def _listen(self, timeout: float) -> Iterator[tuple[Slot, News]]:
        slots = {slot.pipe: slot for slot in self.slots if isinstance(slot, ProcessSlot)}
        for pipe in wait(list(slots), timeout):
            slot = slots[pipe]  # type: ignore[index]
            said = None
            with suppress(EOFError, OSError):
                said = slot.pipe.recv()
            if said is None:
                yield from self._died(slot)
            elif isinstance(said, tuple):
                yield slot, cast("News", said)
            else:
                self._arrived(slot, str(said))

    def _arrived(self, slot: ProcessSlot, said: str) -> None:
        """A new process says that it is ready, or why it cannot be."""
        if said != child.READY:
            raise SettingError(f"objective: a worker process cannot load it: {said}. {IMPORTABLE}")
        self.stillborn = 0
        slot.ready = True

    def _died(self, slot: ProcessSlot) -> Iterable[tuple[Slot, News]]:
        """A process is gone."""
        slot.process.join(1.0)
        killed, how = exit_of(slot.process.exitcode or 0)
        if slot.pull is not None:
            if killed:
                yield slot, Lost(slot.pull.id, "The worker process was killed (SIGKILL).")
            else:
                yield slot, Failed(slot.pull.id, f"The worker process ended: {how}.")
        elif not slot.ready:
            self._stillborn(slot, killed, how)
        if slot in self.slots:
            self._kill(slot)
            self._drop(slot)

    def _stillborn(self, slot: ProcessSlot, killed: bool, how: str) -> None:
        """A process ended before it was ready: a reason to stop, unless somebody killed it."""
        if slot.process.exitcode == UNGUARDED:
            raise SettingError(GUARD_MAIN)
        self.stillborn += 1
        if not killed or self.stillborn >= STILLBORN:
            raise WorldError(f"a worker process cannot start ({how}); what it wrote to stderr says why. {AWAY}")

    def _kill(self, slot: Slot) -> None:
        assert isinstance(slot, ProcessSlot)
        kill_group(slot.group, KILL)  # with all it started
        slot.process.kill()  # where it had not yet a group of its own
        slot.process.join()
        slot.pipe.close()
        slot.process.close()
        self.guard.forget(slot.group)


def send(slot: ProcessSlot, packed: bytes) -> None:
    """Send bytes down; a process that is gone is noticed when its news is read."""
    with suppress(OSError):
        slot.pipe.send_bytes(packed)


@contextmanager
def deaf() -> Iterator[None]:
    """Hold back Ctrl-C for a moment: a new process inherits that, until it stands on its own."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# What can be sent


def check_sendable(function: object, values: Mapping[str, object]) -> None:
    """Refuse what cannot make the trip to another process, with the remedy, before anything is started."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # we are a worker, importing the main module
        sys.exit(UNGUARDED)
    packed("objective", function)
    if getattr(function, "__module__", "") == "__main__" and not main_can_be_imported():
        expected = "one that worker processes can import"
        raise SettingError(refusal("objective", function, expected, IMPORTABLE))
    for label, value in values.items():
        packed(f"the value of arm {label!r}", value)


def packed(name: str, seen: object) -> bytes:
    """What was given, as bytes."""
    try:
        return pickle.dumps(seen)
    except Exception as problem:
        expected = f"something that can be sent to a process ({line_of(problem)})"
        raise SettingError(refusal(name, seen, expected, IMPORTABLE)) from None


def main_can_be_imported() -> bool:
    """Whether the main program is a file or a module; a notebook, a prompt or `python -c` is not."""
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    return getattr(main, "__spec__", None) is not None or (path is not None and os.path.isfile(path))
