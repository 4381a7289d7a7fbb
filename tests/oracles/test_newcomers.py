"""Arms that come and go: whole races against the same rule written down a second time, and cases done by hand."""

import math
import random

import pytest

import earlycall as ec
from earlycall.core.confidence import half_width
from earlycall.core.facts import Accepted, Opened, Rejected, Reopened
from earlycall.core.race import check
from earlycall.core.rules import rules_of
from earlycall.core.settings import settings_of
from earlycall.core.state import opened
from earlycall.core.tables import ARM_FLOATS
from tests.oracles import newcomers


def decided(race: ec.Race, since: int) -> list[tuple[str, str]]:
    """The verdicts given and taken back from a fact on."""
    kinds = (Accepted, Rejected, Reopened)
    return sorted((type(fact).__name__, fact.arm) for fact in race.facts[since:] if isinstance(fact, kinds))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(40))
def test_a_race_that_arms_join_and_leave_is_what_the_rule_says(k: int, seed: int) -> None:
    """The same arms pulled, the same verdicts given and taken back in the same turn, the same answer."""
    chance = random.Random(seed)
    means = {arm: chance.choice([0.0, 1.0, 2.0, 3.0]) + 0.2 * place for place, arm in enumerate("abcdef")}
    race = ec.Race(list(means), k=k, delta=0.1, feedback=ec.Full(1.0), reserve=3)
    slow = newcomers.Race(k, 0.1, len(means) + 3, {arm: [] for arm in means})
    coming = list("xyz")
    gone: set[str] = set()
    for _ in range(2000):
        if race.decided:
            break
        since = len(race.facts)
        told = len(slow.story)
        luck = chance.random()
        if luck < 0.04 and coming:
            arm = coming.pop(0)
            means[arm] = chance.choice([1.0, 2.0, 3.0, 4.0])
            race.add_arm(arm)
            slow.comes(arm)
        elif luck < 0.08 and len(means) - len(gone) > k:
            arm = chance.choice(sorted(set(means) - gone))
            gone.add(arm)
            race.withdraw(arm)
            slow.leaves(arm)
        else:
            running = race.ask() or race.running
            assert running[0].arm == slow.next()
            value = chance.gauss(means[running[0].arm], 1.0)
            slow.told(running[0].arm, value)
            race.tell(running[0].id, value)
        assert decided(race, since) == sorted(slow.story[told:])
        assert check(race._state) == ""
    assert race.decided == slow.over
    if race.decided:
        assert set(race.top) == slow.accepted


def race_of(values: dict[str, float], pulls: int, k: int, reserve: int) -> ec.Race:
    """Every arm has been pulled so often, always with the same value."""
    race = ec.Race(list(values), k=k, delta=0.05, feedback=ec.Full(1.0), reserve=reserve, parallel=99,
                   per_arm=pulls, delays="independent")  # fmt: skip
    for pull in race.ask():
        race.tell(pull.id, values[pull.arm])
    return race


def standing(race: ec.Race) -> dict[str, str]:
    """Each arm's verdict."""
    return {arm.arm: arm.verdict for arm in race.status().arms}


def test_a_newcomer_by_hand() -> None:
    """F = 4, level ln(6·5/2/0.05) = 5.70: a gap g has evidence g²/(4·5/16) − ln 5 and passes from 3.02 on.

    k = 2 of a = 10, b = c = 2, d = e = −2: a is accepted, d and e are rejected (4 below b and c), b and c are tied. x
    joins, and a comes back. Of S = {a, b, c, x} it has to beat |S| − k_t = 2, and it beats b and c: it is accepted
    again, in the same turn, though nothing is known of x.
    """
    race = race_of({"a": 10.0, "b": 2.0, "c": 2.0, "d": -2.0, "e": -2.0}, 4, k=2, reserve=1)
    assert standing(race) == {"a": "accepted", "b": "surviving", "c": "surviving", "d": "rejected", "e": "rejected"}
    since = len(race.facts)
    race.add_arm("x")
    assert decided(race, since) == [("Accepted", "a"), ("Reopened", "a")]
    assert standing(race)["x"] == "surviving"


def test_a_leaver_by_hand() -> None:
    """The same five: b leaves; d and e come back for its place, and fall to c at once, from which they are 4 apart.

    That settles c. Had a left instead, b and c would be the two.
    """
    values = {"a": 10.0, "b": 2.0, "c": 2.0, "d": -2.0, "e": -2.0}
    race = race_of(values, 4, k=2, reserve=0)
    since = len(race.facts)
    race.withdraw("b")
    assert decided(race, since) == [("Accepted", "c"), *[(w, a) for w in ("Rejected", "Reopened") for a in "de"]]
    assert (race.top, race.outcome) == (["a", "c"], "exact")
    race = race_of(values, 4, k=2, reserve=0)
    race.withdraw("a")
    assert (race.top, race.outcome) == (["b", "c"], "exact")


def test_a_rejected_arm_that_leaves_takes_nothing_with_it() -> None:
    """d was rejected; that e is none of the best two did not rest on it."""
    race = race_of({"a": 10.0, "b": 2.0, "c": 2.0, "d": -2.0, "e": -2.0}, 4, k=2, reserve=0)
    since = len(race.facts)
    race.withdraw("d")
    assert decided(race, since) == []
    assert standing(race)["e"] == "rejected"


def test_when_k_remain_they_are_the_answer() -> None:
    """Without a single pull."""
    race = ec.Race(["a", "b", "c"], k=2, delta=0.05, feedback=ec.Full(1.0), reserve=0)
    race.withdraw("b")
    assert (race.top, race.outcome) == (["a", "c"], "exact")


def test_what_places_cost() -> None:
    """Three arms and two places: intervals and the paper's shares as of five arms, and the level of all ten pairs."""
    for method in ("evidence", "paper"):
        options = {"k": 1, "delta": 0.05, "feedback": ec.Full(1.0), "method": method}
        kept, _, _ = rules_of(("a", "b", "c"), settings_of({**options, "reserve": 2}))
        five, _, _ = rules_of(("a", "b", "c", "d", "e"), settings_of(options))
        assert kept.log_budget == five.log_budget
        tables = opened(Opened(("a", "b", "c"), settings_of(options))).tables
        tables.armf[0][:] = [1.0] * ARM_FLOATS
        assert half_width(kept, tables, 0) == half_width(five, tables, 0)
        assert kept.level == pytest.approx(math.log(10 / 0.05), rel=1e-15)
        assert five.level == pytest.approx(math.log(4 / 0.05), rel=1e-15)
