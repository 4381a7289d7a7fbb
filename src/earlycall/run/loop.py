"""Drive a race with workers until it is decided.

One thread, this one, talks to the race: it takes the news of the workers one by one, tells the race, cancels the pulls
that hold no slot any more, and starts the ones that the race asks for.
"""

import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NamedTuple

from earlycall.core.facts import Opened
from earlycall.core.settings import Settings
from earlycall.errors import EarlycallError, GuaranteeWarning, NewsError, WorldError
from earlycall.run.handle import Pull, Race
from earlycall.run.workers import Workers
from earlycall.run.workers.news import Began, Ended, Failed, Lost, News, Showed, Stopped

TICK = 0.1  # seconds until the clock and Ctrl-C are looked at again
IN_A_ROW = 20  # pulls that may break before another ends; with many slots, twice as many as those
SLOW_ONES = (
    "{} pulls were interrupted and are lost. Pulls that take longer are interrupted more often, and here how long a"
    " pull takes may know its reward: what is concluded later rests on the others alone."
)


class Event(NamedTuple):
    """Something that happened while a race ran, for people who watch."""

    kind: str  # started, began, reading, finished, failed, lost, stopped, decided, interrupted; tick: time passes
    pull: int | None = None
    arm: str | None = None
    value: float | None = None
    step: int | None = None
    reason: str = ""


Watcher = Callable[[Event], object]


class Loop:
    """One run of a race. `deadline`: on the clock of `time.monotonic`."""

    def __init__(self, race: Race, workers: Workers, slots: int, deadline: float, watchers: list[Watcher]) -> None:
        self.race = race
        self.workers = workers
        self.deadline = deadline
        self.watchers = watchers
        self.settings = settings_of(race)
        self.pulls: dict[int, Pull] = {}  # that hold a slot and run here
        self.late: dict[int, Pull] = {}  # that were stopped, and whose workers have not let go yet
        self.broken = 0  # pulls in a row
        self.most_broken = max(IN_A_ROW, 2 * slots)
        self.interrupts = 0  # how often Ctrl-C was heard
        self.interrupted = False  # whether the run ended with it
        self.raise_at = math.inf  # this many interrupts are an exception now

    def run(self) -> bool:
        """Until the race is decided, or nothing more can be done; False when it was interrupted.

        After an error pulls may be left that hold a slot in the race: whether they are lost is for others to say.
        """
        with self._ctrl_c():
            try:
                self._drive()
            except KeyboardInterrupt:
                self.interrupted = True
                self._give_up()
            finally:
                self.raise_at = self.interrupts + 1
                with suppress(KeyboardInterrupt):  # one more Ctrl-C: without waiting for the grace
                    self.workers.close()
        if self.interrupted:
            self._say(Event("interrupted"))
        return not self.interrupted

    def _drive(self) -> None:
        while not self.race.decided:
            now = time.monotonic()
            if now >= self.deadline:
                self.race.close("the deadline is over", "deadline")
                break
            if self.interrupts > 1:
                raise KeyboardInterrupt
            if self.interrupts == 0:
                self._ask()
            if not self.pulls and (self.interrupts or not self.race.running):  # else others run pulls of this race
                self.interrupted = self.interrupts > 0
                break
            for news in self._news(min(TICK, self.deadline - now)):
                self._take(news)
            self._cancel()
            self._say(Event("tick"))
        self._cancel()
        if self.race.decided:
            self._say(Event("decided", reason=self.race.outcome or ""))

    def _ask(self) -> None:
        """Start what the race asks for."""
        for pull in self.race.ask():
            self.pulls[pull.id] = pull
            self._say(Event("started", pull.id, pull.arm))
            self.workers.start(pull)

    def _news(self, timeout: float) -> list[News]:
        """What the workers have to tell; only here a second Ctrl-C interrupts, and never the race itself."""
        self.raise_at = 2
        try:
            return self.workers.news(timeout)
        finally:
            self.raise_at = math.inf

    def _take(self, news: News) -> None:
        """Tell the race one thing that happened."""
        pull = self.pulls.get(news.pull)
        if isinstance(news, Ended | Failed | Lost):
            self.broken = 0 if isinstance(news, Ended) else self.broken
            late = self.late.pop(news.pull, None)
            if late is not None and isinstance(news, Ended):  # kept, though it changes no verdict
                with suppress(NewsError):
                    self.race.tell(late.id, news.value, news.step)
        if isinstance(news, Stopped):
            self.late.pop(news.pull, None)
        if pull is None:
            return
        match news:
            case Began():
                self._say(Event("began", pull.id, pull.arm))
            case Showed():
                self._showed(pull, news)
            case Ended():
                self._ended(pull, news)
            case Failed():
                self._failed(pull, news.reason)
            case Lost():
                del self.pulls[pull.id]
                self.race.lose(pull.id, news.reason)
                self._say(Event("lost", pull.id, pull.arm, reason=news.reason))
                self._broke("were lost", news.reason)

    def _showed(self, pull: Pull, news: Showed) -> None:
        try:
            stop = self.race.report(pull.id, news.value, news.step, news.sd, news.of)
        except NewsError as refused:
            self.workers.cancel(pull.id)
            self._failed(pull, str(refused))
            return
        self._say(Event("reading", pull.id, pull.arm, news.value, news.step))
        if stop:
            self._stop(pull)

    def _ended(self, pull: Pull, news: Ended) -> None:
        try:
            self.race.tell(pull.id, news.value, news.step)
        except NewsError as refused:
            self._failed(pull, str(refused))
            return
        del self.pulls[pull.id]
        self._say(Event("finished", pull.id, pull.arm, news.value, news.step))

    def _failed(self, pull: Pull, reason: str) -> None:
        del self.pulls[pull.id]
        try:
            self.race.fail(pull.id, reason)
        except NewsError as refused:
            raise NewsError(f"{refused} What happened: {reason}") from None
        self._say(Event("failed", pull.id, pull.arm, reason=reason))
        if isinstance(self.settings.failure, str):  # else it counts, and the race goes on
            self._broke("failed", reason)

    def _broke(self, how: str, reason: str) -> None:
        """End the run where nothing else ever comes back."""
        self.broken += 1
        if self.broken >= self.most_broken and not self.race.decided:
            raise WorldError(
                f"the last {self.broken} pulls all {how}; the last one: {reason} The race is open and nothing in it is"
                " lost. Mend the objective and run it again."
            )

    # Stopping

    def _cancel(self) -> None:
        """Stop the pulls that lost their slot."""
        held = {pull.id for pull in self.race.running} if self.pulls else set()
        for pull in [pull for number, pull in self.pulls.items() if number not in held]:
            self._stop(pull)

    def _stop(self, pull: Pull) -> None:
        self.late[self.pulls.pop(pull.id).id] = pull
        self.workers.cancel(pull.id)
        self._say(Event("stopped", pull.id, pull.arm))

    def _give_up(self) -> None:
        """Cancel all pulls; what they said stays, and the race will ask for others."""
        for number in self.pulls:
            self.workers.cancel(number)
        with suppress(EarlycallError):
            for news in self.workers.news(0.0):
                self._take(news)
        lost = [pull for pull in self.pulls.values() if not self.race.should_stop(pull.id)]
        for pull in lost:
            self.race.lose(pull.id, "interrupted")
            self._say(Event("lost", pull.id, pull.arm, reason="interrupted"))
        if lost and self.settings.informative:
            warnings.warn(SLOW_ONES.format(len(lost)), GuaranteeWarning, stacklevel=4)

    @contextmanager
    def _ctrl_c(self) -> Iterator[None]:
        """Count what Ctrl-C says; other threads than the main one never hear it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self.interrupts += 1
        if self.interrupts >= self.raise_at:
            raise KeyboardInterrupt

    def _say(self, event: Event) -> None:
        for watcher in self.watchers:
            watcher(event)


def settings_of(race: Race) -> Settings:
    """The settings a race was opened with."""
    opened = race.facts[0]
    assert isinstance(opened, Opened)
    return opened.settings
