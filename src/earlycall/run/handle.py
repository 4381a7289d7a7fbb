"""What a user holds: ask, report, tell. One verb, one turn.

Every verb checks what it is given, applies it as a fact, lets the race decide, and applies the decisions; a refusal
leaves everything as it was. One lock makes a verb whole, so threads may share a race. The facts are kept in order:
they are the race, and `earlycall.core.race` makes the same state of them again.
"""

import threading
import warnings
from dataclasses import dataclass
from typing import Unpack

from earlycall.core import race, status
from earlycall.core.checks import choice, one_line, real, scale, text, whole
from earlycall.core.facts import ArmAdded, ArmWithdrawn, Closed, Fact, Failed, Lost, News, Opened, Read, Started, Told
from earlycall.core.remedies import Suspicion, suspicions
from earlycall.core.settings import Options, Settings, settings_of
from earlycall.core.state import holds_slot, opened, pull_row, stuck
from earlycall.core.status import Explanation, Status
from earlycall.core.tables import ARM, BUSY, OPENED, ORDINAL
from earlycall.errors import GuaranteeWarning, NewsError
from earlycall.run.arms import name_arms

FIRST_LOOK = 4  # pulls that have ended before the model is checked
NUMBER = "a finite int or float"
LATE = "Tell a pull that broke as failed: race.fail(pull, reason)."


@dataclass(frozen=True, slots=True)
class Pull:
    """One run of an arm that you were asked to make."""

    id: int
    arm: str
    value: object  # what you gave for this arm
    seed: int  # 63 bits, the same whenever this race is run again
    block: int | None = None  # the block to run it on, where arms are paired on blocks


class Race:
    """A race in memory that you drive by hand: `ask` which arms to pull, `report` and `tell` what came of it.

    >>> race = Race(["A", "B"], k=1, delta=0.05, feedback=Full(sigma=1.0))
    >>> while not race.decided:
    ...     for pull in race.ask():
    ...         race.tell(pull.id, 10.0 if pull.arm == "B" else 0.0)
    >>> race.top, race.outcome, race.confidence
    (['B'], 'exact', 0.95)
    """

    def __init__(self, arms: object, **options: Unpack[Options]) -> None:
        self._values = name_arms(arms)
        settings = settings_of(options)
        fact = Opened(tuple(self._values), settings)
        self._state = opened(fact)
        self._facts: list[Fact] = [fact]
        self._lock = threading.RLock()
        self._suspected: dict[str, Suspicion] = {}  # by check, as first seen
        self._next_look = FIRST_LOOK
        for doubt in doubts(settings):
            warnings.warn(doubt, GuaranteeWarning, stacklevel=2)

    # Verbs

    def ask(self, limit: int | None = None, key: str | None = None) -> list[Pull]:
        """The pulls to start now, at most `limit`; none when no slot is free or nothing is left to learn.

        Asking again with the same `key` gives the same pulls again.
        """
        most = None if limit is None else whole("limit", limit, 1, NewsError)
        if key is not None:
            text("key", key, 1, NewsError)
        with self._lock:
            if key in self._state.keys:
                return [self._pull(number) for number in self._state.keys[key]]
            pulls: list[Pull] = []
            while most is None or len(pulls) < most:
                index = race.next_start(self._state)
                if index < 0:
                    break
                number = len(self._state.stories) + 1
                seed = race.seed_of(self._state.settings.seed, number)
                self._apply(Started(number, self._state.labels[index], seed, key))
                pulls.append(self._pull(number))
            return pulls

    def report(
        self, pull: int, value: float, step: int | None = None, sd: float | None = None, of: int | None = None
    ) -> bool:
        """A pull shows a reading; True when it should stop now.

        `step`: your own count of progress, growing (left out: one more than the last). `sd`: the sd of this reading
        where it is not the declared one. `of`: the steps of this pull in all, for `Incremental`.
        """
        with self._lock:
            number = whole("pull", pull, 1, NewsError)
            row = pull_row(self._state, number)
            told = Read(
                pull=number,
                step=self._next_step(row) if step is None else whole("step", step, 1, NewsError),
                value=real("value", value, NUMBER, NewsError, LATE),
                sd=None if sd is None else scale("sd", sd, NewsError),
                of=None if of is None else whole("of", of, 1, NewsError),
            )
            self._turn(told)
            return not holds_slot(self._state, row)

    def tell(self, pull: int, value: float, step: int | None = None) -> None:
        """A pull ended with its full feedback; late news counts too, but never changes a verdict."""
        with self._lock:
            self._turn(
                Told(
                    pull=whole("pull", pull, 1, NewsError),
                    value=real("value", value, NUMBER, NewsError, LATE),
                    step=None if step is None else whole("step", step, 1, NewsError),
                )
            )

    def lose(self, pull: int, reason: str = "") -> None:
        """A pull was lost for a reason that has nothing to do with how good it is; another will be asked for."""
        with self._lock:
            self._leave(Lost(whole("pull", pull, 1, NewsError), one_line("reason", reason, NewsError)))

    def fail(self, pull: int, reason: str = "") -> None:
        """A pull failed or took too long: asked again, counted as a number, or the end, as `failure=` says."""
        with self._lock:
            self._leave(Failed(whole("pull", pull, 1, NewsError), one_line("reason", reason, NewsError)))

    def add_arm(self, label: str, value: object = None, sigma: float | None = None) -> None:
        """An arm joins the race, if `reserve` has a place for it; arms accepted so far are judged anew.

        `value`: what its pulls bring you (left out: the label). `sigma`: its sd, where each arm was given one.
        """
        added = ArmAdded(
            label=text("label", label, 1, NewsError),
            sigma=None if sigma is None else scale("sigma", sigma, NewsError),
        )
        with self._lock:
            self._turn(added)
            self._values.setdefault(added.label, added.label if value is None else value)

    def withdraw(self, label: str, reason: str = "") -> None:
        """An arm leaves the race for good, and its pulls are to stop; the best k of the others are wanted now."""
        with self._lock:
            self._turn(ArmWithdrawn(text("label", label, 1, NewsError), one_line("reason", reason, NewsError)))

    def close(self, reason: str = "closed by hand", outcome: str = "stopped") -> None:
        """End the race with the answer of the moment; outcome "stopped", or "deadline" when its time was over."""
        choice("outcome", outcome, ["stopped", "deadline"], NewsError)
        with self._lock:
            self._turn(Closed(one_line("reason", reason, NewsError), outcome))

    # Answers

    def should_stop(self, pull: int) -> bool:
        """Whether a pull holds no slot: its arm is decided, it was cut, lost or failed, or it has ended."""
        with self._lock:
            return not holds_slot(self._state, pull_row(self._state, whole("pull", pull, 1, NewsError)))

    @property
    def running(self) -> list[Pull]:
        """The pulls that hold a slot."""
        with self._lock:
            return [self._pull(row + 1) for row in race.slots(self._state)]

    @property
    def decided(self) -> bool:
        """Whether the race is over."""
        return self._state.decided is not None

    @property
    def outcome(self) -> str | None:
        """How it ended: "exact", "epsilon", "deadline" or "stopped"; None while it runs."""
        return self._state.decided.outcome if self._state.decided else None

    @property
    def top(self) -> list[str]:
        """The labels of the best k so far, in the order the arms were given."""
        with self._lock:
            return list(race.answer(self._state))

    @property
    def confidence(self) -> float | None:
        """How sure the answer is now, however often you look; None with method="paper" until it has decided."""
        with self._lock:
            return race.confidence_of(self._state)

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Each arm's interval; all hold together, at all times, with probability ≥ 1 − δ."""
        with self._lock:
            return {label: status.interval(self._state, index) for label, index in self._state.index.items()}

    def status(self) -> Status:
        """Everything there is to show, in plain rows."""
        with self._lock:
            return status.status(self._state, tuple(self._suspected.values()))

    def explain(self, arm: str) -> Explanation:
        """Why an arm stands where it stands; print it."""
        with self._lock:
            return status.explain(self._state, arm, tuple(self._suspected.values()))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All that happened and was decided, in order."""
        with self._lock:
            return tuple(self._facts)

    # One verb, one turn

    def _turn(self, fact: News, depth: int = 4) -> None:
        if self._apply(fact):
            decisions = race.decide(self._state)
            for decision in decisions:
                self._apply(decision)
            counts = self._state.tables.race
            ended = counts[OPENED] - counts[BUSY]
            if ended >= self._next_look or (self.decided and decisions):
                self._next_look = ended + (ended + 1) // 2
                self._look(depth)

    def _look(self, depth: int) -> None:
        """Check the model; what is suspected for the first time is said once."""
        for suspicion in suspicions(self._state):
            if suspicion.check not in self._suspected:
                self._suspected[suspicion.check] = suspicion
                if suspicion.costs == "guarantee":
                    warnings.warn(suspicion.says, GuaranteeWarning, stacklevel=depth)

    def _leave(self, fact: Lost | Failed) -> None:
        self._turn(fact, depth=5)
        doubt = stuck(self._state, self._state.tables.pulls[fact.pull - 1][ARM])
        if doubt and not self._state.decided:
            warnings.warn(doubt, GuaranteeWarning, stacklevel=3)

    def _apply(self, fact: Fact) -> bool:
        is_news = race.apply(self._state, fact)
        if is_news:
            self._facts.append(fact)
        return is_news

    def _pull(self, number: int) -> Pull:
        row = number - 1
        pull = self._state.tables.pulls[row]
        label = self._state.labels[pull[ARM]]
        block = None if self._state.settings.blocks is None else pull[ORDINAL]
        return Pull(number, label, self._values[label], self._state.stories[row].started.seed, block)

    def _next_step(self, row: int) -> int:
        return next(reversed(self._state.stories[row].readings), 0) + 1


def doubts(settings: Settings) -> list[str]:
    """What the guarantee of a race rests on that its user should know."""
    found = []
    if settings.radius == "as-printed":
        found.append(
            'radius="as-printed" is half as wide as its source proves: errors may exceed delta. For comparison only.'
        )
    if settings.ledger == "as-printed":
        found.append('ledger="as-printed" spends delta more than once: errors may exceed it. To compare only.')
    if settings.method == "paper" and settings.parallel > 1 and settings.delays is None:
        found.append(
            'method="paper" with parallel > 1 takes it that how long a pull takes carries no news of how good it is;'
            ' say delays="independent" if that is so.'
        )
    return found
