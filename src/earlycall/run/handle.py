"""What a user holds: ask, report, tell. One verb, one turn.

Every verb checks what it is given, applies it as a fact, lets the race decide, and applies the decisions; a refusal
leaves everything as it was. What happened is kept in a book (book.py): in memory, or in a journal, where a verb is one
transaction and others may act on the same race between two of them. Threads may share a race. The facts, in order, are
the race: `earlycall.core.race` makes the same state of them again.
"""

import warnings
from dataclasses import dataclass
from typing import Unpack

from earlycall.core import race, status
from earlycall.core.checks import choice, one_line, real, scale, text, whole
from earlycall.core.facts import ArmAdded, ArmWithdrawn, Closed, Fact, Failed, Lost, News, Opened, Read, Started, Told
from earlycall.core.remedies import suspicions
from earlycall.core.settings import Options, Settings, settings_of
from earlycall.core.state import State, holds_slot, pull_row, stuck
from earlycall.core.status import Explanation, Status
from earlycall.core.tables import ARM, BUSY, OPENED, ORDINAL
from earlycall.errors import GuaranteeWarning, NewsError
from earlycall.run.arms import name_arms
from earlycall.run.book import Book, Memory

FIRST_LOOK = 4  # pulls that have ended before the model is checked
NUMBER = "a finite int or float"
LATE = "Tell a pull that broke as failed: race.fail(pull, reason)."


@dataclass(frozen=True, slots=True)
class Pull:
    """One run of an arm that you were asked to make."""

    id: int
    arm: str
    value: object  # what you gave for this arm; where you gave nothing, its label
    seed: int  # 63 bits, the same whenever this race is run again
    block: int | None = None  # the block to run it on, where arms are paired on blocks


class Race:
    """A race in memory that you drive by hand: `ask` which arms to pull, `report` and `tell` what came of it.

    `earlycall.open_race` gives the same race with a journal.

    >>> race = Race(["A", "B"], k=1, delta=0.05, feedback=Full(sigma=1.0))
    >>> while not race.decided:
    ...     for pull in race.ask():
    ...         race.tell(pull.id, 10.0 if pull.arm == "B" else 0.0)
    >>> race.top, race.outcome, race.confidence
    (['B'], 'exact', 0.95)
    """

    def __init__(self, arms: object, **options: Unpack[Options]) -> None:
        values = name_arms(arms)
        self._keep_in(Memory(Opened(tuple(values), settings_of(options))), values, depth=4)

    @classmethod
    def kept_in(cls, book: Book, values: dict[str, object], depth: int = 4) -> "Race":
        """The race that a book keeps; `values`: what some of its arms are to the user, who is `depth` calls away."""
        made = cls.__new__(cls)
        made._keep_in(book, values, depth)
        return made

    def _keep_in(self, book: Book, values: dict[str, object], depth: int) -> None:
        self._book = book
        self._values = values
        with book.look() as state:
            self._next_look = look_after(ended(state))
            found = doubts(state.settings)
        self._warn(found, depth)

    # Verbs

    def ask(self, limit: int | None = None, key: str | None = None, owner: str | None = None) -> list[Pull]:
        """The pulls to start now, at most `limit`; none when no slot is free or nothing is left to learn.

        Asking again with the same `key` gives the same pulls again. `owner`: the process that runs them, if they are
        lost when it is gone (`earlycall.run.owners.me()`).
        """
        most = None if limit is None else whole("limit", limit, 1, NewsError)
        if key is not None:
            text("key", key, 1, NewsError)
        if owner is not None:
            text("owner", owner, 1, NewsError)
        with self._book.verb() as state:
            if key in state.keys:
                return [self._pull(state, number) for number in state.keys[key]]
            pulls: list[Pull] = []
            while most is None or len(pulls) < most:
                index = race.next_start(state)
                if index < 0:
                    break
                number = len(state.stories) + 1
                seed = race.seed_of(state.settings.seed, number)
                self._apply(state, Started(number, state.labels[index], seed, key, owner))
                pulls.append(self._pull(state, number))
            return pulls

    def report(
        self, pull: int, value: float, step: int | None = None, sd: float | None = None, of: int | None = None
    ) -> bool:
        """A pull shows a reading; True when it should stop now.

        `step`: your own count of progress, growing (left out: one more than the last). `sd`: the sd of this reading
        where it is not the declared one. `of`: the steps of this pull in all, for `Incremental`.
        """
        with self._book.verb(durable=False) as state:
            number = whole("pull", pull, 1, NewsError)
            row = pull_row(state, number)
            told = Read(
                pull=number,
                step=next_step(state, row) if step is None else whole("step", step, 1, NewsError),
                value=real("value", value, NUMBER, NewsError, LATE),
                sd=None if sd is None else scale("sd", sd, NewsError),
                of=None if of is None else whole("of", of, 1, NewsError),
            )
            found = self._turn(state, told)
            stop = not holds_slot(state, row)
        self._warn(found)
        return stop

    def tell(self, pull: int, value: float, step: int | None = None) -> None:
        """A pull ended with its full feedback; late news counts too, but never changes a verdict."""
        with self._book.verb() as state:
            told = Told(
                pull=whole("pull", pull, 1, NewsError),
                value=real("value", value, NUMBER, NewsError, LATE),
                step=None if step is None else whole("step", step, 1, NewsError),
            )
            found = self._turn(state, told)
        self._warn(found)

    def lose(self, pull: int, reason: str = "") -> None:
        """A pull was lost for a reason that has nothing to do with how good it is; another will be asked for."""
        fact = Lost(whole("pull", pull, 1, NewsError), one_line("reason", reason, NewsError))
        with self._book.verb() as state:
            found = self._leave(state, fact)
        self._warn(found)

    def fail(self, pull: int, reason: str = "") -> None:
        """A pull failed or took too long: asked again, counted as a number, or the end, as `failure=` says."""
        fact = Failed(whole("pull", pull, 1, NewsError), one_line("reason", reason, NewsError))
        with self._book.verb() as state:
            found = self._leave(state, fact)
        self._warn(found)

    def add_arm(self, label: str, value: object = None, sigma: float | None = None) -> None:
        """An arm joins the race, if `reserve` has a place for it; arms accepted so far are judged anew.

        `value`: what its pulls bring you (left out: the label). `sigma`: its sd, where each arm was given one.
        """
        added = ArmAdded(
            label=text("label", label, 1, NewsError),
            sigma=None if sigma is None else scale("sigma", sigma, NewsError),
        )
        with self._book.verb() as state:
            found = self._turn(state, added)
        if value is not None:
            self._values.setdefault(added.label, value)
        self._warn(found)

    def withdraw(self, label: str, reason: str = "") -> None:
        """An arm leaves the race for good, and its pulls are to stop; the best k of the others are wanted now."""
        fact = ArmWithdrawn(text("label", label, 1, NewsError), one_line("reason", reason, NewsError))
        with self._book.verb() as state:
            found = self._turn(state, fact)
        self._warn(found)

    def close(self, reason: str = "closed by hand", outcome: str = "stopped") -> None:
        """End the race with the answer of the moment; outcome "stopped", or "deadline" when its time was over."""
        choice("outcome", outcome, ["stopped", "deadline"], NewsError)
        fact = Closed(one_line("reason", reason, NewsError), outcome)
        with self._book.verb() as state:
            found = self._turn(state, fact)
        self._warn(found)

    # Answers

    def should_stop(self, pull: int) -> bool:
        """Whether a pull holds no slot: its arm is decided, it was cut, lost or failed, or it has ended."""
        with self._book.look() as state:
            return not holds_slot(state, pull_row(state, whole("pull", pull, 1, NewsError)))

    @property
    def running(self) -> list[Pull]:
        """The pulls that hold a slot."""
        with self._book.look() as state:
            return [self._pull(state, row + 1) for row in race.slots(state)]

    def owners(self) -> dict[int, str]:
        """Which of the pulls that hold a slot belong to a process, and to which."""
        with self._book.look() as state:
            pulls = {row + 1: state.stories[row].started.owner for row in race.slots(state)}
        return {pull: owner for pull, owner in pulls.items() if owner is not None}

    @property
    def decided(self) -> bool:
        """Whether the race is over."""
        with self._book.look() as state:
            return state.decided is not None

    @property
    def outcome(self) -> str | None:
        """How it ended: "exact", "epsilon", "deadline" or "stopped"; None while it runs."""
        with self._book.look() as state:
            return state.decided.outcome if state.decided else None

    @property
    def top(self) -> list[str]:
        """The labels of the best k so far, in the order the arms were given."""
        with self._book.look() as state:
            return list(race.answer(state))

    @property
    def confidence(self) -> float | None:
        """How sure the answer is now, however often you look; None with method="paper" until it has decided."""
        with self._book.look() as state:
            return race.confidence_of(state)

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Each arm's interval; all hold together, at all times, with probability ≥ 1 − δ."""
        with self._book.look() as state:
            return {label: status.interval(state, index) for label, index in state.index.items()}

    def status(self) -> Status:
        """Everything there is to show, in plain rows."""
        with self._book.look() as state:
            return status.status(state, tuple(self._book.suspected.values()))

    def explain(self, arm: str) -> Explanation:
        """Why an arm stands where it stands; print it."""
        with self._book.look() as state:
            return status.explain(state, arm, tuple(self._book.suspected.values()))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All that happened and was decided, in order."""
        return self._book.facts()

    # A race with a journal holds a file, and gives it back here

    def __enter__(self) -> "Race":
        return self

    def __exit__(self, *problem: object) -> None:
        self._book.close()

    # One verb, one turn

    @property
    def _state(self) -> State:
        with self._book.look() as state:
            return state

    def _turn(self, state: State, fact: News) -> list[str]:
        """Apply some news and what follows from it; what its user should be warned of."""
        if not self._apply(state, fact):
            return []
        decisions = race.decide(state)
        for decision in decisions:
            self._apply(state, decision)
        now = ended(state)
        if now < self._next_look and not (state.decided and decisions):
            return []
        self._next_look = look_after(now)
        return self._look(state)

    def _look(self, state: State) -> list[str]:
        """Check the model; what is suspected for the first time is said once."""
        found = []
        for suspicion in suspicions(state):
            if suspicion.check not in self._book.suspected:
                self._book.suspect(suspicion)
                if suspicion.costs == "guarantee":
                    found.append(suspicion.says)
        return found

    def _leave(self, state: State, fact: Lost | Failed) -> list[str]:
        """The turn in which a pull leaves its slot unfinished."""
        found = self._turn(state, fact)
        doubt = stuck(state, state.tables.pulls[fact.pull - 1][ARM])
        return [*found, doubt] if doubt and not state.decided else found

    def _apply(self, state: State, fact: Fact) -> bool:
        is_news = race.apply(state, fact)
        if is_news:
            self._book.append(fact)
        return is_news

    def _warn(self, found: list[str], depth: int = 3) -> None:
        """Warn whoever called the verb, after it has happened."""
        for doubt in found:
            warnings.warn(doubt, GuaranteeWarning, stacklevel=depth)

    def _pull(self, state: State, number: int) -> Pull:
        pull = state.tables.pulls[number - 1]
        label = state.labels[pull[ARM]]
        block = None if state.settings.blocks is None else pull[ORDINAL]
        return Pull(number, label, self._values.get(label, label), state.stories[number - 1].started.seed, block)


def ended(state: State) -> int:
    """How many pulls hold no slot any more."""
    return state.tables.race[OPENED] - state.tables.race[BUSY]


def look_after(now: int) -> int:
    """How many pulls will have ended at the next look: at 4, 6, 9, … a half more each time, whoever looks."""
    at = FIRST_LOOK
    while at <= now:
        at += (at + 1) // 2
    return at


def next_step(state: State, row: int) -> int:
    """One more than the last step of a pull."""
    return next(reversed(state.stories[row].readings), 0) + 1


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
