"""The contract of `add_arm` and `withdraw`: what they do to a race, what is a repeat, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

import earlycall as ec
from earlycall.core.facts import ArmAdded, ArmWithdrawn, Cancelled
from earlycall.core.race import apply, check
from tests.play import snapshot

BASIC: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": ec.Unbiased(1.0, 0.5)}


def open_race(**options: Any) -> ec.Race:
    """Three arms, with places for two more."""
    return ec.Race({"A": 1, "B": 2, "C": 3}, **BASIC | {"reserve": 2} | options)


def test_a_newcomer_is_pulled_first_and_brings_its_value() -> None:
    """Nothing is known of it, so it comes next; its pulls carry what was given for it, or its label."""
    race = open_race(parallel=2, delays="independent")
    for pull in race.ask():
        race.tell(pull.id, 0.0)
    race.add_arm("D", value={"rate": 0.1})
    race.add_arm("E")
    assert [(pull.arm, pull.value) for pull in race.ask()] == [("C", 3), ("D", {"rate": 0.1})]
    race.tell(3, 0.0)
    assert [(pull.arm, pull.value) for pull in race.ask()] == [("E", "E")]
    assert [arm.arm for arm in race.status().arms] == ["A", "B", "C", "D", "E"] == list(race.intervals())
    assert race.confidence == 0.0


def test_an_arm_that_leaves_frees_its_slots_at_once() -> None:
    """Its pulls are cancelled; what they say later is kept and shown, and it is never pulled again."""
    race = open_race(parallel=4, delays="independent")
    pulls = [pull for pull in race.ask() if pull.arm == "B"]
    race.report(pulls[0].id, 1.0)
    race.withdraw("B", "the supplier is gone")
    assert race.facts[-2:] == (ArmWithdrawn("B", "the supplier is gone"), Cancelled(pulls[0].id))
    assert race.should_stop(pulls[0].id)
    assert "B" not in [pull.arm for pull in race.ask()]
    race.report(pulls[0].id, 2.0)
    race.tell(pulls[0].id, 9.0)
    shown = race.explain("B")
    assert (shown.arm.verdict, shown.arm.top, shown.pulls[0].value) == ("withdrawn", False, 9.0)
    assert shown.reason == "It left the race: the supplier is gone."
    assert "B" not in race.top
    assert check(race._state) == ""


def test_a_verdict_that_stands_no_more_is_not_shown() -> None:
    """Of a reopened arm the open question is told, not the old verdict."""
    race = ec.Race(["A", "B", "C"], k=1, delta=0.05, feedback=ec.Full(1.0), reserve=0, parallel=3, per_arm=1,
                   delays="independent")  # fmt: skip
    for _ in range(8):
        for pull in race.ask() or race.running:
            if pull.arm != "C" and not race.should_stop(pull.id):
                race.tell(pull.id, {"A": 5.0, "B": 0.0}[pull.arm])
    assert race.explain("B").reason.startswith("It was estimated at 0.00 then; 'A'")
    assert race.confidence == 0.0
    race.withdraw("A")
    assert race.explain("B").arm.verdict == "surviving"
    assert race.explain("B").reason == "Nothing is known yet of 'C', which it is up against."
    assert race.top == ["B"]


def test_repeats_change_nothing() -> None:
    """The same label again, with or without what was said beside it."""
    race = open_race()
    race.add_arm("D", value=4)
    race.withdraw("A", "too dear")
    before = snapshot(race)
    race.add_arm("D")
    race.add_arm("D", value=5)
    race.withdraw("A")
    race.withdraw("A", "for another reason")
    assert snapshot(race) == before
    assert race._values["D"] == 4


def test_a_repeat_is_a_repeat_after_the_race_too() -> None:
    """Whoever says it again need not know that the race is over."""
    race = open_race()
    race.add_arm("D")
    race.withdraw("A")
    race.close()
    before = snapshot(race)
    race.add_arm("D")
    race.withdraw("A")
    assert snapshot(race) == before


def test_every_arm_has_its_sd_where_they_differ() -> None:
    """Given arm by arm, a newcomer brings its own; it counts with it."""
    race = open_race(feedback=ec.Full({"A": 1.0, "B": 1.0, "C": 1.0}))
    race.add_arm("D", sigma=0.5)
    assert race.facts[-1] == ArmAdded("D", 0.5)
    while race.ask()[0].arm != "D":
        race.tell(race.running[0].id, 0.0)
    race.tell(race.running[0].id, 0.0)
    low, high = race.intervals()["D"]
    assert high - low < 0.6 * (race.intervals()["A"][1] - race.intervals()["A"][0])


def closed() -> ec.Race:
    """A race that is over."""
    race = open_race()
    race.close()
    return race


def changed() -> ec.Race:
    """D has come and C has left."""
    race = open_race()
    race.add_arm("D")
    race.withdraw("C")
    return race


@pytest.mark.parametrize(
    ("make", "call", "says"),
    [
        (lambda: open_race(reserve=None), lambda race: race.add_arm("D"), "Open the race with reserve="),
        (lambda: open_race(reserve=None), lambda race: race.withdraw("A"), "Open the race with reserve="),
        (lambda: open_race(reserve=0), lambda race: race.add_arm("D"), "at most 0 newcomers"),
        (closed, lambda race: race.add_arm("D"), "its answer stands. Open a new one"),
        (closed, lambda race: race.withdraw("A"), "its answer stands. Open a new one"),
        (open_race, lambda race: race.add_arm("A"), "in the race from the start"),
        (changed, lambda race: race.add_arm("C"), "give it a new name"),
        (changed, lambda race: race.add_arm("D", sigma=2.0), "joined the race with sigma=None"),
        (open_race, lambda race: race.add_arm("D", sigma=2.0), "all arms share sigma=1"),
        (
            lambda: open_race(feedback=ec.Full({"A": 1.0, "B": 1.0, "C": 1.0})),
            lambda race: race.add_arm("D"),
            "expected the sd of the new arm",
        ),
        (open_race, lambda race: race.add_arm("D", sigma=-1.0), "a number above 0"),
        (open_race, lambda race: race.add_arm(""), "text that is not empty"),
        (open_race, lambda race: race.add_arm(7), "expected text"),
        (open_race, lambda race: race.withdraw("Z"), "label of an arm of this race"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], ec.Race], call: Callable[[ec.Race], Any], says: str) -> None:
    """With what was seen, what was expected, what to do; and nothing has changed."""
    race = make()
    before = snapshot(race)
    with pytest.raises(ec.NewsError) as caught:
        call(race)
    assert says in str(caught.value)
    assert snapshot(race) == before


def test_k_arms_remain_whatever_happens() -> None:
    """The last withdrawal that leaves k arms decides the race; two in one turn may not leave fewer."""
    race = open_race(k=2)
    race.withdraw("A")
    assert (race.top, race.outcome) == (["B", "C"], "exact")
    with pytest.raises(ec.NewsError, match="its answer stands"):
        race.withdraw("B")
    state = open_race(k=2)._state
    apply(state, ArmWithdrawn("A", ""))
    with pytest.raises(ec.NewsError, match="expected at least k=2 arms to remain, and there are 2 now"):
        apply(state, ArmWithdrawn("B", ""))


@pytest.mark.parametrize("reserve", [-1, 1.5, True, 10**9])
def test_a_reserve_is_a_whole_number(reserve: Any) -> None:
    """0 or more."""
    with pytest.raises(ec.SettingError, match="reserve="):
        open_race(reserve=reserve)


def test_a_number_for_failures_must_suit_newcomers_too() -> None:
    """What a failed pull counts as lies within the reach of every arm's sd."""
    race = open_race(feedback=ec.Full({"A": 1.0, "B": 1.0, "C": 1.0}), failure=-5.0)
    before = snapshot(race)
    with pytest.raises(ec.SettingError, match="rounding would eat"):
        race.add_arm("D", sigma=1e-12)
    assert snapshot(race) == before
