"""What may not go wrong where pulls count in start order: one test for each way in which it once could."""

import random
from typing import Any

import pytest

import earlycall as ec
from earlycall.core import race as core
from earlycall.core.duels import compare
from earlycall.core.facts import Accepted, Told
from earlycall.core.race import check
from earlycall.core.tables import LOST_TO, MOVED, QUEUE, QUEUED, STATUS, SURVIVING, WON
from tests.play import open_quietly, snapshot

FULL_IN_ORDER: dict[str, Any] = {"feedback": ec.Full(1.0), "delays": "informative"}
READ_IN_ORDER: dict[str, Any] = {"feedback": ec.Unbiased(1.0, 1.0, steps=20), "delays": "informative", "min_delay": 3}


def started(race: ec.Race, arm: str) -> list[int]:
    """The running pulls of an arm."""
    return [pull.id for pull in race.running if pull.arm == arm]


def test_a_verdict_of_somebody_else_leaves_no_wins_over_the_judged() -> None:
    """A verdict that is applied, not come to here, takes the judged arm out of everybody's counts.

    Wins over arms that are no survivors any more would count towards the next verdict.
    """
    race = open_quietly(["a", "b", "c", "d"], k=2, delta=0.05, parallel=8, **FULL_IN_ORDER)
    seen = False
    while not seen:
        race.ask()
        state, first = snapshot(race)[0], len(race.facts)
        for pull in race.running:
            race.tell(pull.id, {"a": 100.0, "b": 50.0, "c": 49.9, "d": 0.0}[pull.arm])
        seen = any(isinstance(fact, Accepted) for fact in race.facts)
    for fact in race.facts[first:]:
        core.apply(state, fact)
        if isinstance(fact, Told):  # a turn of its own, which decides nothing
            index = state.tables.arms[0][QUEUE]
            if state.tables.arms[index][STATUS] == SURVIVING:
                compare(state.rules, state.tables, index)
            state.tables.arms[index][MOVED] = state.tables.race[QUEUED] = 0
    for mine, theirs in zip(state.tables.arms, race._state.tables.arms, strict=True):
        if mine[STATUS] == SURVIVING:
            assert (mine[WON], mine[LOST_TO]) == (theirs[WON], theirs[LOST_TO])


@pytest.mark.parametrize("lost", [False, True])
def test_a_pull_that_has_nothing_to_say_early_goes_into_the_walk_all_the_same(lost: bool) -> None:
    """Progress beyond `min_delay` without a reading: the pull is in its place, with nothing; also if lost then."""
    feedback = ec.Unbiased(1.0, {4: 1.0})
    race = open_quietly(["a", "b"], k=1, delta=0.05, feedback=feedback, delays="informative", min_delay=2, parallel=4)
    race.ask()
    first, second = started(race, "a")
    race.report(first, 7.0, 2)
    assert not check(race._state)
    race.report(second, 7.0, 5)
    if lost:
        race.lose(first, "the channel tripped")
    race.tell(second, 1.0, step=6)
    assert not check(race._state)


def test_a_pull_told_before_it_was_heard_at_its_planned_length_says_nothing_more() -> None:
    """Where pulls are cut at a fixed step, results of pulls not heard there would be those of early enders."""
    race = open_quietly(["a", "b"], k=1, delta=0.05, parallel=2, setup=0.0, **READ_IN_ORDER)
    chance = random.Random(2)
    for _ in range(40):
        race.ask()
        for pull in race.running:
            race.tell(pull.id, 100.0 * (pull.arm == "a") + chance.gauss(0.0, 1.0))
        assert not check(race._state)
    assert race.decided is False
    assert race.confidence == 0.0


def test_pairs_that_go_round_in_a_circle_do_not_fill_more_places_than_there_are() -> None:
    """B beats c, c beats d and d beats b, on blocks of their own; then all beat a at once. There are two places."""
    race = open_quietly(list("abcd"), k=2, delta=0.05, parallel=240, per_arm=60, feedback=ec.Full(None), blocks=60)
    race.ask()
    chance = random.Random(1)
    better, worse, absent = "bcd", "cdb", "dbc"
    pulls = {arm: started(race, arm) for arm in "abcd"}
    for block in range(60):
        part = block // 20
        race.lose(pulls[absent[part]][block], "the channel tripped")
        race.tell(pulls[better[part]][block], 5.0 + chance.gauss(0.0, 1.0))
        race.tell(pulls[worse[part]][block], chance.gauss(0.0, 1.0))
        if block > 0:
            race.tell(pulls["a"][block], -20.0 + chance.gauss(0.0, 1.0))
    assert not [fact for fact in race.facts if isinstance(fact, Accepted)]
    race.tell(pulls["a"][0], -20.0)
    assert race.decided
    assert len(race.top) == 2


def test_differences_that_are_rounding_are_no_scatter() -> None:
    """Two arms that differ by the same on every block, where blocks do 10⁹ times as much: nothing is known of σ."""
    race = open_quietly(["a", "b"], k=1, delta=0.05, feedback=ec.Full(None), blocks="endless")
    chance = random.Random(3)
    effects: dict[int, float] = {}
    for _ in range(200):
        for pull in race.ask():
            assert pull.block is not None
            effect = effects.setdefault(pull.block, 1e8 * chance.gauss(0.0, 1.0))
            race.tell(pull.id, effect + 0.1 * (pull.arm == "a"))
    assert not race.decided
    assert race.confidence == 0.0


@pytest.mark.parametrize("feedback", [ec.Full(None), ec.Incremental(None, 5)])
def test_a_value_whose_square_is_no_number_is_refused(feedback: Any) -> None:
    """Where σ is not known no unit is; but sums of squares have to be numbers."""
    race = open_quietly(["a", "b"], k=1, delta=0.05, feedback=feedback)
    pull = race.ask()[0]
    with pytest.raises(ec.NewsError, match="expected at most 1e\\+100"):
        race.tell(pull.id, 1e200)
    race.tell(pull.id, 1e99)
    assert not check(race._state)


@pytest.mark.parametrize("scale", [1e-160, 1e-100, 1e90])
def test_tiny_and_huge_units_are_units(scale: float) -> None:
    """Nothing is divided by what has come to 0; where squares do, nothing is known."""
    race = open_quietly(["a", "b"], k=1, delta=0.05, feedback=ec.Full(None))
    chance = random.Random(4)
    for _ in range(60):
        for pull in race.ask():
            race.tell(pull.id, scale * (3.0 * (pull.arm == "a") + chance.gauss(0.0, 1.0)))
    assert race.decided == (scale > 1e-101)


def test_a_failure_that_ends_the_race_is_not_passed_over() -> None:
    """failure="stop": the answer of the end does not come from the pulls that went well."""
    race = open_quietly(["a", "b"], k=1, delta=0.05, parallel=60, per_arm=30, failure="stop", **FULL_IN_ORDER)
    race.ask()
    for arm, mean in (("a", 5.0), ("b", 0.0)):
        for pull in started(race, arm)[1:]:
            race.tell(pull, mean)
    race.tell(started(race, "a")[0], 5.0)
    race.fail(started(race, "b")[0], "it burned")
    assert race.decided
    assert race.outcome == "stopped"
    assert race.confidence == 0.0
    assert not check(race._state)
