"""Races with `looks="once"`: a pull counts once, at a length fixed before it starts."""

from typing import Any

import pytest

import earlycall as ec
from earlycall.core.race import check
from tests.play import open_quietly


def open_once(**options: Any) -> ec.Race:
    """Two arms and six slots, in which pulls count from step 2 on and are cut then."""
    forecasts = ec.Unbiased(sigma=1.0, reading_sd={1: 3.0, 2: 0.3}, pooling="refining", steps=50)
    some: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": forecasts, "delays": "independent", "parallel": 6}
    return open_quietly(["A", "B"], **(some | {"looks": "once", "setup": 1.0} | options))


def standing(race: ec.Race, pull: int) -> tuple[float, str]:
    """What a pull counts with now, and the note beside it."""
    story = next(s for arm in "AB" for s in race.explain(arm).pulls if s.pull == pull)
    assert check(race._state) == ""
    return story.information, story.note


def test_a_pull_counts_at_its_length_and_not_before() -> None:
    """Step 1 says nothing yet; at step 2 the pull counts and frees its slot; what is told later is only kept."""
    race = open_once()
    race.ask()
    race.report(1, 5.0, 1)
    assert standing(race, 1) == (0.0, "to count from step 2 on")
    assert "say 5 (to count from step 2 on)" in str(race.explain("A"))
    assert race.explain("A").arm.mean is None
    assert race.report(1, 4.0, 2)
    assert race.explain("A").arm.mean == 4.0
    counts = standing(race, 1)
    assert counts[0] == pytest.approx(1.0 / 1.09)
    assert counts[1] == ""
    race.report(1, 40.0, 3)
    race.tell(1, 40.0)
    assert race.explain("A").arm.mean == 4.0
    assert standing(race, 1) == (counts[0], "it had counted with its readings before it ended")


def test_without_cuts_a_pull_counts_when_it_ends() -> None:
    """Then readings matter for lost pulls alone."""
    race = open_once(setup=None)
    race.ask()
    race.report(1, 5.0, 2)
    assert standing(race, 1) == (0.0, "to count when it ends")
    race.tell(1, 3.0)
    assert race.explain("A").arm.mean == 3.0
    assert standing(race, 1) == (1.0, "")
    assert race.status().arms[0].mean == 3.0


def test_a_lost_pull_counts_with_what_it_said_and_then_no_more() -> None:
    """With its last reading; one that was silent with the first it brings."""
    race = open_once(setup=None)
    race.ask()
    race.report(1, 5.0, 1)
    race.lose(1, "power cut")
    assert race.explain("A").arm.mean == 5.0
    race.tell(1, 3.0)
    assert race.explain("A").arm.mean == 5.0
    race.lose(2, "power cut")
    race.report(2, 7.0, 1)
    assert race.explain("B").arm.mean == 7.0
    race.report(2, 8.0, 2)
    race.tell(2, 9.0)
    assert race.explain("B").arm.mean == 7.0
    assert standing(race, 2)[1] == "it had counted with its readings before it ended"


def test_a_pull_that_was_cancelled_in_mid_course_never_counts() -> None:
    """It goes by nobody's choice; what is told of it later could be told because of what it had shown."""
    race = open_once(setup=None)
    race.ask()
    race.tell(1, 2.0)
    race.report(3, 5.0, 1)
    race.close()
    before = race.intervals()
    assert standing(race, 3) == (0.0, "cancelled before it was to count")
    race.report(3, 5.0, 2)
    race.tell(3, 5.0)
    assert race.intervals() == before
    assert standing(race, 3) == (0.0, "cancelled before it was to count")
    race.tell(5, 4.0)  # silent so far
    assert race.explain("A").arm.mean == 3.0


def test_what_does_not_count_raises_no_suspicion_either() -> None:
    """Of cut pulls only the surprising ones are told: that says nothing of sigma."""
    race = open_once()
    for _ in range(12):
        for pull in race.ask():
            race.report(pull.id, 0.1 * (-1) ** pull.id, 1)
            race.report(pull.id, 0.1 * (-1) ** pull.id, 2)
            race.tell(pull.id, 9.0)
    assert not race.decided
    assert race.status().suspicions == ()


def test_a_pull_told_out_of_turn_says_what_it_waits_for() -> None:
    """Where delays may know the reward, a pull counts when those before it have ended."""
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Full(1.0), delays="informative", parallel=4)
    race.ask()
    race.tell(3, 5.0)
    assert "(counts once pull 1, which started before it, has ended)" in str(race.explain("A"))
    race.tell(1, 4.0)
    assert "(" not in str(race.explain("A"))


def test_a_pull_that_a_pilot_ends_upon_counts_before_it_is_cut() -> None:
    """Its length was not known while the pilot ran: it goes on to its next reading, and counts with that."""
    forecasts = ec.Unbiased(sigma=ec.Pilot(2), reading_sd=0.3, steps=50)
    race = open_once(feedback=forecasts)
    race.ask()
    race.report(5, 0.5, 4)
    for pull, value in ((1, 0.0), (3, 0.6), (2, 1.0), (4, 1.7)):
        race.tell(pull, value)
    assert not race.should_stop(5)
    assert standing(race, 5)[0] == 0.0
    assert race.report(5, 0.5, 5)
    assert standing(race, 5)[0] > 0.0
