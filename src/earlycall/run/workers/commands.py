"""Pulls that are programs: one run of an arm's command line for every pull, without a shell.

The last line a program prints is its full feedback, if it exits with 0. So a line waits until there is another, or says
itself which it is: {"value": 3.5, "final": false}. Its seed and block are in its environment.
"""

import math
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from selectors import EVENT_READ, DefaultSelector
from typing import IO

from earlycall.core.checks import one_line, refusal
from earlycall.errors import NewsError, SettingError
from earlycall.run.handle import Pull
from earlycall.run.objective import Reading, line_of
from earlycall.run.workers.guard import KILL, Guard, exit_of, kill_group
from earlycall.run.workers.lines import LONGEST, reading_of
from earlycall.run.workers.news import Ended, Failed, Lost, News, Showed, Stopped, shortened
from earlycall.run.workers.pool import Pool, Slot

CHUNK = 65_536  # bytes read at once
TAIL = 2000  # bytes of stderr that are kept
TICK, QUICK = 0.05, 0.002  # seconds until programs are looked at again; one that closed its output is about to exit
EXPECTED = 'a command line, "./test.sh --mode a" or ["./test.sh", "--mode", "a"]'


class CommandSlot(Slot):
    """A slot with its program, and what it has printed and nobody has heard."""

    def __init__(self) -> None:
        super().__init__()
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: deque[bytes] = deque()
        self.rest = b""  # of a line
        self.tail = b""  # of stderr
        self.closed = False  # its stdout
        self.held: Reading | None = None  # the last line, as long as it may be the full feedback
        self.end: Ended | Failed | None = None  # said, and waiting for the program to exit
        self.exit_by = math.inf


class Commands(Pool):
    """One program for every pull; at most `slots` at a time.

    `arms`: those with a command; another one, that somebody added to the journal, brings its label alone, and a label
    is never run.
    """

    def __init__(
        self, slots: int, timeout: float | None = None, grace: float = 5.0, arms: Collection[str] | None = None
    ) -> None:
        super().__init__(slots, timeout, grace)
        self.arms = arms
        self.selector = DefaultSelector()
        self.guard = Guard()

    def start(self, pull: Pull) -> None:
        """Run a pull as soon as a slot is free."""
        if self.arms is not None and pull.arm not in self.arms:
            raise SettingError(
                f"arm {pull.arm!r} has joined the race, and has no command here: expected one for every arm. Run again"
                " with a command for it, or withdraw it."
            )
        super().start(pull)

    def close(self) -> None:
        """Cancel what runs, and leave no program behind."""
        try:
            super().close()
        finally:
            self.selector.close()
            self.guard.close()

    def _new_slot(self) -> Slot:
        return CommandSlot()

    def _begin(self, slot: Slot, pull: Pull) -> None:
        assert isinstance(slot, CommandSlot)
        vars(slot).update(vars(CommandSlot()) | {"pull": pull, "began": slot.began})
        try:
            slot.process = program(pull)
        except (OSError, ValueError) as problem:
            slot.end = Failed(pull.id, line_of(problem))
            return
        self.guard.watch(slot.process.pid)
        for stream in (slot.process.stdout, slot.process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self.selector.register(stream, EVENT_READ, slot)

    def _answer(self, slot: Slot, go_on: bool) -> None:
        if not go_on:
            self._interrupt(slot)

    def _interrupt(self, slot: Slot) -> None:
        assert isinstance(slot, CommandSlot)
        if slot.process is not None and slot.process.poll() is None:
            kill_group(slot.process.pid, signal.SIGTERM)

    def _kill(self, slot: Slot) -> None:
        assert isinstance(slot, CommandSlot)
        if slot.process is None:
            return
        kill_group(slot.process.pid, KILL)  # with all it started
        slot.process.wait()
        self.guard.forget(slot.process.pid)
        for stream in (slot.process.stdout, slot.process.stderr):
            if stream is not None and not stream.closed:
                self._shut(stream)
        slot.process = None

    def _listen(self, timeout: float) -> Iterator[tuple[Slot, News]]:
        busy = [slot for slot in self.slots if isinstance(slot, CommandSlot) and slot.pull is not None]
        if any(slot.lines or (slot.process is None and slot.end) for slot in busy):
            timeout = 0.0
        elif busy:
            timeout = min(timeout, QUICK if any(slot.closed for slot in busy) else TICK)
        for key, _ in self.selector.select(timeout):
            if key.fileobj is not key.data.process.stdout:
                self._read_errors(key.data)
            elif not key.data.lines:  # else it has to wait: nothing piles up
                self._read(key.data)
        for slot in busy:
            news = self._next(slot)
            if news is not None:
                yield slot, news

    # What programs print

    def _read(self, slot: CommandSlot) -> bool:
        """Read some of what a program has printed; False when there is nothing."""
        stream = slot.process.stdout if slot.process else None
        if stream is None or stream.closed:
            return False
        data = stream.read(CHUNK)
        if not data:
            if data is not None:
                slot.closed = True
                self._shut(stream)
            return False
        *lines, slot.rest = (slot.rest + data).split(b"\n")
        slot.lines.extend(lines)
        if len(slot.rest) > LONGEST:  # it may never end
            slot.lines.append(slot.rest)
            slot.rest = b""
        return True

    def _read_errors(self, slot: CommandSlot) -> None:
        """Read some of what a program has complained of."""
        stream = slot.process.stderr if slot.process else None
        if stream is None or stream.closed:
            return
        data = stream.read(CHUNK)
        if data:
            slot.tail = (slot.tail + data)[-TAIL:]
        elif data is not None:
            self._shut(stream)

    def _shut(self, stream: IO[bytes]) -> None:
        self.selector.unregister(stream)
        stream.close()

    def _next(self, slot: CommandSlot) -> News | None:
        """The next news of a pull, where there is any."""
        if slot.end is None and slot.lines:
            news = self._next_line(slot)
            if news is not None:
                return news
        running = slot.process is not None and slot.process.poll() is None
        if running and time.monotonic() < slot.exit_by:
            return None
        if slot.end is None and self._read(slot):
            return self._next(slot)
        if slot.end is None and slot.rest:
            slot.lines.append(slot.rest)
            slot.rest = b""
            return self._next(slot)
        self._read_errors(slot)
        news = self._outcome(slot)
        self._kill(slot)
        return news

    def _next_line(self, slot: CommandSlot) -> News | None:
        """The next reading among the lines of a pull. The last line waits: it may be the full feedback."""
        pull = slot.pull.id if slot.pull else 0
        while slot.lines and slot.end is None:
            line = slot.lines.popleft()
            if not line.strip():
                continue
            if slot.held is not None:
                slot.lines.appendleft(line)
                held, slot.held = slot.held, None
                return Showed(pull, held.value, held.step, held.sd, held.of)
            try:
                reading, said_so = reading_of(line)
            except NewsError as problem:
                self._leave(slot, Failed(pull, line_of(problem)))
                self._interrupt(slot)
                return None
            if reading.final:
                self._leave(slot, Ended(pull, reading.value, reading.step))
            elif said_so:
                return Showed(pull, reading.value, reading.step, reading.sd, reading.of)
            else:
                slot.held = reading
        return None

    def _leave(self, slot: CommandSlot, end: Ended | Failed) -> None:
        """It is clear how the pull ended; its program has its grace to exit."""
        slot.end = end
        slot.lines.clear()
        slot.exit_by = time.monotonic() + self.grace

    def _outcome(self, slot: CommandSlot) -> News:
        """How a pull ended whose program has exited."""
        pull = slot.pull.id if slot.pull else 0
        if slot.end is not None:
            return slot.end
        if slot.stopping:  # its last line is where it was stopped, and no full feedback
            return Stopped(pull)
        killed, how = exit_of(slot.process.returncode if slot.process else 0)
        said = one_line("stderr", slot.tail.decode("utf-8", "replace"), NewsError)
        if killed:
            return Lost(pull, "The program was killed (SIGKILL).")
        if how != "exit code 0":
            return Failed(pull, shortened(f"The program ended: {how}. {said}".strip()))
        if slot.held is None:
            return Failed(pull, shortened(f"The program printed no number. {said}".strip()))
        return Ended(pull, slot.held.value, slot.held.step)


def program(pull: Pull) -> "subprocess.Popen[bytes]":
    """Start the program of a pull."""
    environment = os.environ | {"EARLYCALL_SEED": str(pull.seed), "EARLYCALL_PULL": str(pull.id)}
    environment["EARLYCALL_BLOCK"] = "" if pull.block is None else str(pull.block)
    return subprocess.Popen(
        words_of(pull.arm, pull.value),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )


def words_of(label: str, value: object) -> list[str]:
    """The words of an arm's command line, split as a shell would, without being one."""
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as problem:  # a quotation that does not end
        raise SettingError(refusal(f"the command of arm {label!r}", value, f"{EXPECTED} ({problem})")) from None
    if not isinstance(words, Sequence) or not words or not all(isinstance(w, str) and "\0" not in w for w in words):
        raise SettingError(refusal(f"the command of arm {label!r}", value, EXPECTED))
    return list(words)


def check_commands(values: Mapping[str, object]) -> None:
    """Refuse command lines that cannot run, before anything is started."""
    for label, value in values.items():
        words = words_of(label, value)
        if shutil.which(words[0]) is None:
            expected = f"{words[0]!r} to be a program that can be run from here"
            raise SettingError(refusal(f"the command of arm {label!r}", value, expected))
