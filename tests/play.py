"""Random races to test laws on: every method × feedback × batch shape, in every order of events a user can cause."""

import copy
import random
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import strategies as st

import earlycall as ec
from earlycall.core import race as core
from earlycall.core.facts import Fact, Opened, Started
from earlycall.core.state import State, opened
from earlycall.core.tables import TAKEN

STEPS = 5  # of a pull, in these tests

# Every kind of race there is: what a law must hold for. σ is 1 throughout, for arms that differ it is a table.
FEEDBACKS: dict[str, Any] = {
    "full": ec.Full(1.0),
    "incremental": ec.Incremental(1.0, STEPS),
    "unbiased": ec.Unbiased(1.0, 0.8, steps=STEPS),
    "refining": ec.Unbiased(1.0, {1: 2.0, 2: 1.0, 4: 0.5}, pooling="refining", steps=STEPS),
    "biased": ec.Biased(1.0, {1: 1.0, 3: 0.5}, steps=STEPS),
    "correlated": ec.Correlated(1.0, 1.5, 0.6, from_step=2, steps=STEPS),
    "biased refining": ec.Biased(1.0, {1: 1.0, 3: 0.5}, pooling="refining", bias_scale=3.0, steps=STEPS),
}
# What is raced by evidence alone, with options of its own.
OTHERS: dict[str, dict[str, Any]] = {
    "full, unknown sigma": {"feedback": ec.Full(None)},
    "incremental, unknown sigma": {"feedback": ec.Incremental(None, STEPS), "delays": "independent"},
    "full, blocks": {"feedback": ec.Full(1.0), "blocks": "endless"},
    "full, blocks, unknown sigma": {"feedback": ec.Full(None), "blocks": 6},
    "full, informative": {"feedback": ec.Full(1.0), "delays": "informative"},
    "unbiased, informative": {"feedback": FEEDBACKS["unbiased"], "delays": "informative", "min_delay": 2},
    "unbiased, informative, cutting": {
        "feedback": FEEDBACKS["unbiased"],
        "delays": "informative",
        "min_delay": 3,
        "setup": 0.5,
    },
    "refining, informative": {"feedback": FEEDBACKS["refining"], "delays": "informative", "min_delay": 2},
    "biased, informative": {"feedback": FEEDBACKS["biased"], "delays": "informative", "min_delay": 2},
    "correlated, informative": {"feedback": FEEDBACKS["correlated"], "delays": "informative", "min_delay": 3},
    "unbiased, once": {"feedback": FEEDBACKS["unbiased"], "delays": "independent", "looks": "once"},
    "refining, once, cutting": {
        "feedback": FEEDBACKS["refining"],
        "delays": "independent",
        "looks": "once",
        "setup": 0.5,
    },
    "full, pilot": {"feedback": ec.Full(ec.Pilot(2)), "delays": "independent"},
    "full, informative, pilot": {"feedback": ec.Full(ec.Pilot(3)), "delays": "informative"},
    "incremental, pilot": {"feedback": ec.Incremental(ec.Pilot(2), STEPS), "delays": "independent"},
    "unbiased, once, pilot": {
        "feedback": ec.Unbiased(ec.Pilot(2), {1: 1.0, 3: 0.5}, steps=STEPS),
        "delays": "independent",
        "looks": "once",
        "setup": 0.5,
    },
    "biased, once, pilot of both": {
        "feedback": ec.Biased(ec.Pilot(3), None, steps=STEPS),
        "delays": "independent",
        "looks": "once",
    },
    "biased, once": {"feedback": FEEDBACKS["biased"], "delays": "independent", "looks": "once"},
    "unbiased, once, informative": {
        "feedback": FEEDBACKS["unbiased"],
        "delays": "informative",
        "min_delay": 2,
        "looks": "once",
    },
}
METHODS: dict[str, dict[str, Any]] = {
    "evidence": {"delays": "independent"},
    "evidence, cutting": {"delays": "independent", "setup": 0.5},
    "evidence, contenders": {"delays": "independent", "allocation": "contenders"},
    "evidence, cutting, contenders": {"delays": "independent", "allocation": "contenders", "setup": 0.5},
    "paper": {"method": "paper", "delays": "independent"},
    "paper as printed": {"method": "paper", "ledger": "as-printed", "radius": "as-printed", "delays": "independent"},
}
OPEN = {  # arms come and go
    "full, evidence, open": {"feedback": FEEDBACKS["full"], **METHODS["evidence"], "reserve": 2},
    "unbiased, evidence, cutting, open": {
        "feedback": FEEDBACKS["unbiased"],
        **METHODS["evidence, cutting"],
        "reserve": 3,
    },
    "refining, once, cutting, open": {
        "feedback": FEEDBACKS["refining"],
        **METHODS["evidence, cutting"],
        "looks": "once",
        "reserve": 2,
    },
    "biased, evidence, cutting, open": {"feedback": FEEDBACKS["biased"], **METHODS["evidence, cutting"], "reserve": 1},
    "incremental, evidence, leaving": {"feedback": FEEDBACKS["incremental"], **METHODS["evidence"], "reserve": 0},
    "biased, paper, open": {"feedback": FEEDBACKS["biased"], **METHODS["paper"], "reserve": 2},
}
NEWCOMERS = ("v", "w", "x")  # their labels, in order
KINDS = (
    {
        f"{feedback}, {method}": {"feedback": FEEDBACKS[feedback], **METHODS[method]}
        for feedback in FEEDBACKS
        for method in METHODS
        if not (method.startswith("paper") and ("refining" in feedback or feedback == "correlated"))
        and not ("cutting" in method and feedback in ("full", "incremental"))
    }
    | OTHERS
    | OPEN
)
SHAPES = [(1, 1), (3, 1), (4, 4), (5, 2)]  # (b, r)


def open_quietly(arms: list[str], **options: Any) -> ec.Race:
    """A race, without the warnings that some kinds rightly give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ec.GuaranteeWarning)
        return ec.Race(arms, **options)


@dataclass
class Player:
    """Runs the pulls of a race in a world where arm i has mean `means[i]`, and can misbehave in every way."""

    race: ec.Race
    means: dict[str, float]
    chance: random.Random
    sds: bool = False  # whether readings bring an sd of their own now and then
    values: dict[int, float] = field(default_factory=dict)  # X of each pull
    calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)  # news as it was given

    def ask(self, limit: int | None = None) -> None:
        for pull in self.race.ask(limit):
            self.values[pull.id] = self.means[pull.arm] + self.noise(1.0)

    def noise(self, sd: float) -> float:
        """Coarse, so that ties happen."""
        return sd * round(self.chance.gauss(0.0, 1.0), 1)

    def advance(self, pull: int) -> None:
        """One more step of a pull: a reading, or at the last step the full feedback."""
        story = self.state.stories[pull - 1]
        step = next(reversed(story.readings), 0) + 1
        if step >= STEPS:
            self.call("tell", pull, self.values[pull])
        else:
            self.call("report", pull, self.reading(pull), step, self.own_sd())

    def reading(self, pull: int) -> float:
        if isinstance(self.state.settings.feedback, ec.Incremental):
            return self.values[pull] / STEPS + self.noise(0.3)
        return self.values[pull] + self.noise(0.8)

    def own_sd(self) -> float | None:
        """An sd below every declared one, at even odds."""
        feedback = self.state.settings.feedback
        noisy = isinstance(feedback, ec.Unbiased | ec.Biased) and feedback.reading_sd is not None
        return 0.4 if self.sds and noisy and self.chance.random() < 0.5 else None

    def call(self, verb: str, *arguments: Any) -> None:
        getattr(self.race, verb)(*arguments)
        self.calls.append((verb, arguments))

    @property
    def state(self) -> State:
        return self.race._state

    @property
    def running(self) -> list[int]:
        return [pull.id for pull in self.race.running]

    def round(self) -> None:
        """Every slot filled, every running pull one step further."""
        self.ask()
        for pull in self.running:
            if not self.race.should_stop(pull):
                self.advance(pull)

    def add(self, number: int) -> None:
        """The next newcomer joins, with the mean of some arm or a better one, if there is a place for it.

        Mostly it waits until some arm has been accepted, and the race still goes on.
        """
        come = len(self.state.added)
        waits = self.state.tables.race[TAKEN] == 0 and number % 8 > 0
        if self.race.decided or waits or come == self.state.settings.reserve:
            return
        best = max(self.means.values(), default=0.0)
        self.means[NEWCOMERS[come]] = [*self.means.values(), best + 2.0][number % (len(self.means) + 1)]
        sigma = 1.5 if isinstance(self.state.settings.feedback.sigma, dict) else None
        self.call("add_arm", NEWCOMERS[come], None, sigma)

    def withdraw(self, number: int) -> None:
        """Some arm leaves, if k remain; to add it again would be refused from now on."""
        there = [arm for arm, index in self.state.index.items() if index not in self.state.withdrawn]
        if self.race.decided or len(there) <= self.state.settings.k:
            return
        leaver = there[number % len(there)]
        self.calls = [(verb, said) for verb, said in self.calls if (verb, said[0]) != ("add_arm", leaver)]
        self.call("withdraw", leaver, "too dear")

    def changes_that_cannot_be(self) -> list[tuple[Any, ...]]:
        """Additions and withdrawals that this race has to refuse."""
        race, state = self.race, self.state
        there = [arm for arm, index in state.index.items() if index not in state.withdrawn]
        fixed = state.settings.reserve is None or race.decided
        wrong: list[tuple[Any, ...]] = [(race.add_arm, state.labels[0]), (race.withdraw, "nobody")]
        if fixed or len(state.added) == state.settings.reserve:
            wrong += [(race.add_arm, "one too many")]
        if fixed or len(there) == state.settings.k:
            wrong += [(race.withdraw, arm) for arm in there]
        wrong += [(race.add_arm, fact.label) for fact in state.withdrawn.values()]
        return wrong + [(race.add_arm, fact.label, None, 99.0) for fact in state.added.values()]

    def act(self, move: str, number: int) -> None:
        """One move of a script; `number` picks what it is about."""
        running, known = self.running, list(self.values)
        if move == "ask":
            self.ask(number % 3 + 1)
        elif move == "round":
            self.round()
        elif move == "repeat" and self.calls:
            verb, arguments = self.calls[number % len(self.calls)]
            self.call(verb, *arguments)
        elif move == "add":
            self.add(number)
        elif move == "withdraw":
            self.withdraw(number)
        elif move == "late" and known:
            late = known[number % len(known)]
            if core_state(self.state, late) not in ("finished", "failed"):
                self.advance(late)
        elif running:
            pull = running[number % len(running)]
            if move == "advance":
                self.advance(pull)
            elif move == "tell":
                self.call("tell", pull, self.values[pull])
            elif move == "fail" and self.race._state.settings.informative and options_retry(self.race):
                with pytest.raises(ec.NewsError):
                    self.race.fail(pull, "the channel tripped")
            elif move in ("lose", "fail"):
                self.call(move, pull, "the channel tripped")


MOVES = ["ask", "round", "round", "advance", "advance", "tell", "late", "lose", "fail", "repeat"]
COMING_AND_GOING = [*MOVES, *["round"] * 8, "add", "add", "add", "withdraw"]


def options_retry(race: ec.Race) -> bool:
    """Whether a failed pull would be asked for again."""
    return race._state.settings.failure == "retry"


def core_state(state: State, pull: int) -> str:
    from earlycall.core.state import pull_state

    return pull_state(state, pull - 1)


@dataclass(frozen=True)
class Game:
    """A race to open, and a script to play in it."""

    arms: tuple[str, ...]
    options: dict[str, Any]
    gap: float
    seed: int
    script: tuple[tuple[str, int], ...]
    sds: bool = False

    def player(self) -> Player:
        means = {arm: self.gap * place for place, arm in enumerate(self.arms)}
        return Player(open_quietly(list(self.arms), **self.options), means, random.Random(self.seed), self.sds)


def play(game: Game) -> Player:
    """The script, and then enough rounds for most races to end."""
    player = game.player()
    for move, number in game.script:
        player.act(move, number)
    for _ in range(random.Random(game.seed).randrange(60)):
        player.round()
    return player


@st.composite
def games(draw: st.DrawFn, kind: str) -> Game:
    """A game of one kind (`KINDS`)."""
    n = draw(st.integers(2, 5))
    slots, per_arm = draw(st.sampled_from(SHAPES))
    options = dict(KINDS[kind])
    options |= {"k": draw(st.integers(1, n - 1)), "delta": 0.1, "parallel": slots, "per_arm": per_arm}
    options["direction"] = draw(st.sampled_from(["maximize", "minimize"]))
    planned = options["delays"] == "informative" and "setup" in options if "delays" in options else False
    options["failure"] = draw(st.sampled_from(["retry", "stop"] if planned else ["retry", 0.0, "stop"]))
    options["epsilon"] = draw(st.sampled_from([0.0, 0.0, 1.0]))
    options["max_pulls"] = draw(st.sampled_from([None, None, 12]))
    if isinstance(options["feedback"].sigma, float) and draw(st.booleans()):
        sigma = {arm: 1.0 + 0.25 * place for place, arm in enumerate("abcde"[:n])}
        options["feedback"] = replace(options["feedback"], sigma=sigma)
    gap = draw(st.sampled_from([0.0, 1.0, 6.0]))
    script = draw(st.lists(st.tuples(st.sampled_from(MOVES), st.integers(0, 99)), max_size=40))
    if "reserve" in options:  # a race that is judged in part when somebody comes or goes
        options["k"] = draw(st.integers(1, n - 1).filter(lambda k: n < 4 or 1 < k < n - 1))
        gap = draw(st.sampled_from([1.0, 3.0, 6.0]))
        chance = random.Random(draw(st.integers(0, 10_000)))
        script += [(chance.choice(COMING_AND_GOING), chance.randrange(100)) for _ in range(draw(st.integers(0, 60)))]
    return Game(
        arms=tuple("abcde"[:n]),
        options=options,
        gap=gap,
        seed=draw(st.integers(0, 10_000)),
        script=tuple(script),
        sds=draw(st.booleans()),
    )


def snapshot(race: ec.Race) -> Any:
    """All there is of a race, to see whether anything changed."""
    return copy.deepcopy((race._state, race.facts))


def replayed(facts: tuple[Fact, ...]) -> State:
    """The state made of facts and decisions alone: nothing is decided again."""
    first = facts[0]
    assert isinstance(first, Opened)
    state = opened(first)
    for fact in facts[1:]:
        assert core.apply(state, fact)
    return state


def starts(facts: tuple[Fact, ...]) -> list[str]:
    """The arms in the order they were pulled."""
    return [fact.arm for fact in facts if isinstance(fact, Started)]
