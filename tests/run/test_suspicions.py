"""Checks of the model in a live race: said once, shown with their remedy, and never a verdict changed."""

import json
import random
import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

import earlycall as ec
from earlycall.core.suspicions import delay_in
from tests.play import KINDS, open_quietly

quiet = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")


def race_of(feedback: Any, pulls: int, says: Callable[[random.Random, float], list[float]], **options: Any) -> ec.Race:
    """Two arms of mean 0 and σ = 1; each pull shows what `says` makes of its full feedback, and ends."""
    options = {"k": 1, "delta": 1e-9, "feedback": feedback, "max_pulls": pulls} | options
    race = ec.Race(["a", "b"], **options)
    chance = random.Random(2018)
    while not race.decided:
        for pull in race.ask():
            x = chance.gauss(0.0, 1.0)
            readings = says(chance, x)
            for step, y in enumerate(readings, start=1):
                race.report(pull.id, y, step)
            race.tell(pull.id, x, len(readings) + 1)
    return race


def silent(chance: random.Random, x: float) -> list[float]:
    """Nothing before the end."""
    return []


def honest(chance: random.Random, x: float) -> list[float]:
    """Four readings of sd 1."""
    return [chance.gauss(x, 1.0) for _ in range(4)]


def high(chance: random.Random, x: float) -> list[float]:
    """Four readings of sd 1, each too high by 1."""
    return [chance.gauss(x + 1.0, 1.0) for _ in range(4)]


def together(chance: random.Random, x: float) -> list[float]:
    """Four readings that share an error of sd 2."""
    return honest(chance, x + chance.gauss(0.0, 2.0))


def late_when_good(chance: random.Random, x: float) -> list[float]:
    """One step more for every quarter of a σ."""
    return [0.0] * max(1, round(12 + 4 * x))


# (declared, what pulls show, other options, the check that fails, what it says)
CASES: dict[str, tuple[Any, Any, dict[str, Any], str, list[str]]] = {
    "bias": (ec.Unbiased(1.0, 1.0), high, {}, "bias", ["above", "feedback=Biased(…)"]),
    "small sigma": (ec.Full(0.5), silent, {}, "sigma", ["about 2 times", "larger sigma", "sigma=None"]),
    "large sigma": (ec.Full(2.0), silent, {}, "sigma", ["about 0.5 times", "time and not the guarantee"]),
    "large sigma, readings": (ec.Biased(2.0, 1.0), honest, {}, "sigma", ["about 0.5 times", "smaller sigma"]),
    "large sigma, surrogate": (ec.Correlated(2.0, 1.0, 0.0), honest, {}, "sigma", ["declare a smaller sigma."]),
    "small sigma, increments": (ec.Incremental(0.5, 5), silent, {}, "sigma", ["increments", "race with Full"]),
    "shared": (ec.Biased(1.0, 1.0), together, {}, "shared errors", ['pooling="refining"', 'looks="once"']),
    "reading_sd": (ec.Unbiased(1.0, 0.5), honest, {}, "reading_sd", ["about 2 times", "sd="]),
    "delays": (
        ec.Full(1.0), late_when_good, {"delays": "independent"}, "delays", ["end higher", 'delays="informative"']
    ),
}  # fmt: skip


@quiet
@pytest.mark.parametrize("case", CASES)
def test_a_suspicion_names_what_was_seen_and_what_to_do(case: str) -> None:
    """Each declaration that is wrong is found, in the status and in the explanation of an arm, ready for JSON."""
    feedback, says, options, check, words = CASES[case]
    race = race_of(feedback, 300, says, **options)
    found = race.status().suspicions
    assert check in [suspicion.check for suspicion in found]
    (suspicion,) = [suspicion for suspicion in found if suspicion.check == check]
    assert all(word in suspicion.says for word in words), suspicion.says
    assert suspicion.odds >= 100.0
    assert suspicion.costs == ("time" if case == "large sigma" else "guarantee")
    for arm in suspicion.arms or ("a", "b"):
        assert suspicion in race.explain(arm).suspicions
        assert f"But: {suspicion}" in str(race.explain(arm))
    json.dumps(asdict(race.status()), allow_nan=False)


@quiet
def test_a_suspicion_is_said_in_the_users_direction() -> None:
    """Minimising, readings that are too high are too high, and late pulls that end higher end higher."""
    bias = race_of(ec.Unbiased(1.0, 1.0), 100, high, direction="minimize").status().suspicions[0]
    assert " 1." in bias.says or " 0.9" in bias.says
    assert "above" in bias.says
    options = {"delays": "independent", "direction": "minimize"}
    late = race_of(ec.Full(1.0), 300, late_when_good, **options).status().suspicions[0]
    assert "end higher" in late.says


def test_it_is_said_once_from_the_verb() -> None:
    """A warning when it is first seen, from the line that told the race; later it is in the status alone."""
    with pytest.warns(ec.GuaranteeWarning) as caught:
        race = race_of(ec.Unbiased(1.0, 1.0), 200, high)
    said = [warning for warning in caught if "unbiased" in str(warning.message)]
    assert len(said) == 1
    assert said[0].filename == __file__
    assert [suspicion.check for suspicion in race.status().suspicions] == ["bias"]


def test_what_costs_only_time_is_shown_and_not_warned_of() -> None:
    """Full feedback with a σ that is too large: the guarantee holds, so there is no warning (warnings fail here)."""
    race = race_of(ec.Full(4.0), 100, silent)
    assert [suspicion.costs for suspicion in race.status().suspicions] == ["time"]


def test_an_honest_race_is_not_suspected() -> None:
    """No warning, and nothing in the status."""
    race = race_of(ec.Unbiased(1.0, 1.0), 200, honest, delays="independent")
    assert race.status().suspicions == ()
    assert race.explain("a").suspicions == ()


@quiet
def test_one_arm_may_be_the_only_one() -> None:
    """The σ of arm b alone is wrong: it is named, and the other arm's explanation is silent."""
    race = ec.Race(["a", "b"], k=1, delta=1e-99, feedback=ec.Full({"a": 1.0, "b": 0.5}), max_pulls=300)
    chance = random.Random(2018)
    while not race.decided:
        for pull in race.ask():
            race.tell(pull.id, chance.gauss(0.0, 1.0))
    (suspicion,) = race.status().suspicions
    assert suspicion.arms == ("b",)
    assert race.explain("a").suspicions == ()
    assert race.explain("b").suspicions == (suspicion,)


# Nothing is declared of σ, or only differences count; planned cuts leave no pull to look at.
SILENT = ("unknown sigma", "pilot", "blocks", "informative, cutting")


@quiet
@pytest.mark.parametrize("kind", [kind for kind in KINDS if not any(word in kind for word in SILENT)])
def test_looking_changes_no_verdict(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings far off everything that was declared: the facts are the same with and without the checks."""

    def race() -> ec.Race:
        options = KINDS[kind] | {"k": 1, "delta": 1e-9, "parallel": 4, "max_pulls": 60}
        race = open_quietly(["a", "b", "c"], **options)
        chance = random.Random(2018)
        for _ in range(60):
            race.ask()
            for pull in race.running:
                if race.should_stop(pull.id):
                    continue
                if chance.random() < 0.3:
                    race.tell(pull.id, chance.gauss(0.0, 2.5))
                elif len(race._state.stories[pull.id - 1].readings) < 4:
                    race.report(pull.id, chance.gauss(0.5, 2.5))
                race.status()
        return race

    looked = race()
    assert looked._book.suspected
    monkeypatch.setattr(ec.Race, "_look", lambda self, state: [])
    assert race().facts == looked.facts


def test_looks_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is checked when the pulls that have ended are half as many again, and at the end."""
    looks: list[int] = []

    def counted(self: ec.Race, state: object) -> list[str]:
        looks.append(len(self.facts))
        return []

    monkeypatch.setattr(ec.Race, "_look", counted)
    race_of(ec.Full(1.0), 1000, silent)
    assert 10 < len(looks) < 20


def test_the_prefix_of_ranks_ends_where_an_order_could_be_chosen() -> None:
    """A pull lost in silence is skipped where its arm has one slot; where others may be known it ends the prefix."""
    for slots, counts in ((1, True), (2, False)):
        race = ec.Race(["a", "b"], k=1, delta=1e-9, feedback=ec.Full(1.0), parallel=slots, delays="independent")
        chance = random.Random(2018)
        first = True
        for _ in range(30):
            for pull in race.ask():
                if pull.arm == "a" and first:
                    race.lose(pull.id)
                    first = False
                else:
                    x = chance.gauss(0.0, 1.0)
                    race.tell(pull.id, x, round(100 + 20 * x))
        state = race._state
        assert (delay_in(state.rules, state.tables, 0)[0] > 0.0) == counts
        assert delay_in(state.rules, state.tables, 1)[0] > 0.0


def test_a_race_goes_on_when_warnings_are_errors() -> None:
    """What was told has been taken in before anything is said of it."""
    race = ec.Race(["a", "b"], k=1, delta=1e-99, feedback=ec.Full(0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, value in enumerate((0.0, 0.3, 1.2, -0.9, 0.6, -0.6), start=1):
            race.ask()
            try:
                race.tell(number, value)
            except ec.GuaranteeWarning:
                continue
    assert race.status().pulls["finished"] == 6
    assert [suspicion.check for suspicion in race.status().suspicions] == ["sigma"]
