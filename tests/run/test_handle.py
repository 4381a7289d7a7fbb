"""The contract of the handle: the life of a pull, asking, answers, increments. What is refused: test_refusals.py."""

import json
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

import earlycall as ec
from earlycall.core.tables import MET
from tests.play import snapshot

# Rewards without noise, as they stand here, are odd, and a race says so.
pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")
BASIC: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": ec.Unbiased(1.0, 0.5)}


def open_race(**options: Any) -> ec.Race:
    """Three arms, one slot."""
    return ec.Race(["A", "B", "C"], **BASIC | options)


# The life of a pull ---------------------------------------------------------------------------------------------


def running() -> ec.Race:
    """Pull 1 runs, and has shown one reading."""
    race = open_race(parallel=3, delays="independent", failure="retry")
    race.ask()
    race.report(1, 1.0, 1)
    return race


def after(verb: str, *arguments: Any) -> Callable[[], ec.Race]:
    """The same, and then some news of pull 1."""

    def make() -> ec.Race:
        race = running()
        getattr(race, verb)(1, *arguments)
        return race

    return make


def cancelled() -> ec.Race:
    """Pull 1's arm has been rejected under it."""
    race = running()
    for _ in range(40):
        for pull in race.ask() + race.running:
            if pull.id != 1 and not race.should_stop(pull.id):
                race.tell(pull.id, 30.0)
    assert race.explain("A").pulls[0].state == "cancelled"
    return race


def cut() -> ec.Race:
    """Pull 1 no longer earns its slot."""
    feedback = ec.Unbiased(1.0, 0.5, steps=100)
    race = open_race(feedback=feedback, setup=0, parallel=3, delays="independent")
    race.ask()
    race.report(1, 1.0, 1)
    for step in range(2, 100):
        if race.report(1, 1.0, step):
            break
    assert race.explain("A").pulls[0].state == "cut"
    return race


STATES: dict[str, Callable[[], ec.Race]] = {
    "running": running,
    "lost": after("lose", "why"),
    "cancelled": cancelled,
    "cut": cut,
    "finished": after("tell", 2.0),
    "failed": after("fail", "why"),
}
NEWS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "read": ("report", (1.5, 100)),
    "told": ("tell", (2.5,)),
    "lost": ("lose", ("again",)),
    "failed": ("fail", ("again",)),
}
# (what it becomes, or refused), by state and news: DESIGN §6
TABLE: dict[str, dict[str, str]] = {
    "running": {"read": "running", "told": "finished", "lost": "lost", "failed": "failed"},
    "lost": {"read": "lost", "told": "finished", "lost": "lost", "failed": "lost"},
    "cancelled": {"read": "cancelled", "told": "finished", "lost": "cancelled", "failed": "cancelled"},
    "cut": {"read": "cut", "told": "finished", "lost": "cut", "failed": "cut"},
    "finished": {"read": "refused", "told": "refused", "lost": "refused", "failed": "refused"},
    "failed": {"read": "refused", "told": "refused", "lost": "refused", "failed": "failed"},
}


@pytest.mark.parametrize("news", NEWS)
@pytest.mark.parametrize("state", STATES)
def test_the_life_of_a_pull(state: str, news: str) -> None:
    """Every state × every kind of news: where it leads, or that it is refused and changes nothing."""
    race = STATES[state]()
    verb, arguments = NEWS[news]
    before = snapshot(race)
    expected = TABLE[state][news]
    assert race.should_stop(1) == (state != "running")
    if expected == "refused":
        with pytest.raises(ec.NewsError, match="pull 1 of arm 'A'"):
            getattr(race, verb)(1, *arguments)
        assert snapshot(race) == before
    else:
        getattr(race, verb)(1, *arguments)
        if expected == state and news in ("lost", "failed"):
            assert snapshot(race) == before
        assert race.explain("A").pulls[0].state == expected


@pytest.mark.parametrize("state", ["lost", "cancelled", "cut"])
def test_what_a_pull_has_said_is_never_taken_back(state: str) -> None:
    """Off its slot it goes on counting, and later news of it counts too."""
    race = STATES[state]()
    (story,) = race.explain("A").pulls[:1]
    assert story.information > 0.0
    race.report(1, 1.5, 100)
    assert race.explain("A").pulls[0].information > story.information


def test_a_failure_may_count_as_a_number() -> None:
    """Declared before the race, it is the pull's full feedback; saying it again changes nothing."""
    race = open_race(failure=-3.0)
    (pull,) = race.ask()
    race.fail(pull.id, "took too long")
    status = race.status().arms[0]
    assert (status.finished, status.mean) == (1, -3.0)
    race.tell(pull.id, -3.0)
    with pytest.raises(ec.NewsError):
        race.tell(pull.id, 2.0)


def test_a_failure_may_stop_the_race() -> None:
    """failure="stop": the answer of the moment, and the reason in the facts."""
    race = open_race(failure="stop")
    (pull,) = race.ask()
    race.fail(pull.id, "fire")
    assert race.decided
    assert race.outcome == "stopped"
    assert race.confidence == 0.0
    assert race.ask() == []


def test_a_reason_may_be_a_traceback() -> None:
    """Whatever is at hand at two in the morning; kept on one line, without terminal escapes."""
    race = open_race(failure="retry")
    race.ask()
    race.fail(1, "Traceback:\n  oven \x1b[31mon fire\n")
    with pytest.raises(ec.NewsError, match=r"failed: Traceback: oven \[31mon fire"):
        race.report(1, 2.0)


def test_a_paper_race_that_can_never_end_says_so() -> None:
    """Algorithm 4 cannot pass a first pull that spoke and was lost; evidence can. Telling it late sets it free."""
    options: dict[str, Any] = {"feedback": ec.Biased(1.0, 1.0), "delays": "independent", "parallel": 3}
    race = open_race(method="paper", **options)
    race.ask()
    race.report(1, 5.0)
    with pytest.warns(ec.GuaranteeWarning, match="will never be judged"):
        race.lose(1, "why")
    assert "will never be judged" in str(race.explain("A"))
    for _ in range(50):
        for pull in race.ask():
            race.tell(pull.id, 0.0)
    assert race.explain("A").arm.mean is None
    race.tell(1, 0.0)
    assert race.explain("A").arm.mean == 0.0


def test_explanations_can_be_printed_whatever_was_said() -> None:
    """Readings that say nothing (Full, or before the declared curve begins) are progress, and no more."""
    for feedback in (ec.Full(1.0), ec.Unbiased(1.0, {5: 1.0})):
        race = open_race(feedback=feedback)
        race.ask()
        race.report(1, 1e15, 1)
        assert "1 reading to step 1" in str(race.explain("A"))
        race.tell(1, 2.0)
        assert race.explain("A").pulls[0].information == 1.0


def test_a_lost_pull_is_asked_for_again() -> None:
    """The same arm, another pull, another seed."""
    race = open_race()
    (first,) = race.ask()
    race.lose(first.id)
    (second,) = race.ask()
    assert second.arm == first.arm
    assert second.id == first.id + 1
    assert second.seed != first.seed


# Asking ---------------------------------------------------------------------------------------------------------


def test_asking_fills_the_slots_and_no_more() -> None:
    """b in all, r of one arm; `limit` asks for fewer."""
    race = open_race(parallel=5, per_arm=2, delays="independent")
    assert len(race.ask(limit=2)) == 2
    assert [pull.arm for pull in race.ask()] == ["C", "A", "B"]
    assert race.ask() == []
    assert [pull.id for pull in race.running] == [1, 2, 3, 4, 5]


def test_the_same_key_gives_the_same_pulls() -> None:
    """A program that died between asking and hearing the answer asks again."""
    race = open_race(parallel=3, delays="independent")
    first = race.ask(limit=2, key="monday")
    assert race.ask(limit=2, key="monday") == first
    assert len(race.running) == 2
    assert [pull.id for pull in race.ask(key="tuesday")] == [3]


def test_pulls_carry_what_was_given() -> None:
    """`.value` is the user's own object, `.seed` a function of the race's seed and the pull."""
    values = {"slow": object(), "fast": object()}
    race = ec.Race(values, **BASIC, seed=7)
    (pull,) = race.ask()
    assert pull.value is values["slow"]
    assert 0 <= pull.seed < 2**63
    assert ec.Race(values, **BASIC, seed=7).ask()[0].seed == pull.seed
    assert ec.Race(values, **BASIC, seed=8).ask()[0].seed != pull.seed


def test_threads_may_share_a_race() -> None:
    """Eight threads ask and tell; every pull is told once, none is given out twice."""
    race = open_race(parallel=8, delays="independent", max_pulls=400, delta=1e-9)
    seen: list[int] = []

    def work() -> None:
        while not race.decided:
            for pull in race.ask(limit=1):
                seen.append(pull.id)
                race.report(pull.id, 0.0)
                race.tell(pull.id, 0.0)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(1, 401))
    assert race.outcome == "deadline"


# Answers --------------------------------------------------------------------------------------------------------


def decided_race(**options: Any) -> ec.Race:
    """B is far ahead."""
    race = open_race(**options)
    while not race.decided:
        for pull in race.ask():
            race.tell(pull.id, 9.0 if pull.arm == "B" else 0.0)
    return race


def test_a_decided_race_says_who_and_how_sure() -> None:
    """top, outcome, confidence; and every view of it agrees."""
    race = decided_race()
    assert (race.top, race.outcome, race.confidence) == (["B"], "exact", 0.95)
    status = race.status()
    assert status.decided
    assert [arm.verdict for arm in status.arms] == ["rejected", "accepted", "rejected"]
    assert [arm.top for arm in status.arms] == [False, True, False]
    assert status.pulls["running"] == 0
    assert "accepted" in str(race.explain("B"))


def test_the_paper_has_no_confidence_before_it_has_decided() -> None:
    """method="paper": None until decided, 1 − δ then."""
    race = open_race(method="paper")
    assert race.confidence is None
    assert decided_race(method="paper").confidence == 0.95


def test_the_answer_of_the_moment_is_the_best_so_far() -> None:
    """Before anything is known the first k; then the best estimate, with a confidence that grows."""
    race = open_race()
    assert (race.top, race.confidence, race.outcome) == (["A"], 0.0, None)
    for value in (0.0, 3.0, 1.0):
        race.tell(race.ask()[0].id, value)
    assert race.top == ["B"]
    low, high = race.intervals()["B"]
    assert low < 3.0 < high
    assert race.intervals()["A"][1] == -race.intervals()["A"][0]


def test_closing_gives_the_answer_of_the_moment() -> None:
    """A deadline (THEORY §4): the leaders, what they are worth, the smallest ε; the running pulls are cancelled."""
    race = open_race(parallel=3, delays="independent")
    for _ in range(2):
        for pull in race.ask():
            race.tell(pull.id, 3.0 if pull.arm == "B" else 0.0)
    race.ask()
    race.close("the quarter is over", outcome="deadline")
    assert race.outcome == "deadline"
    assert race.top == ["B"]
    assert race.confidence is not None
    assert 0.0 < race.confidence < 0.95
    assert race.running == []
    epsilon = race.status().epsilon
    assert epsilon is not None
    assert epsilon > 0.0
    race.close("again")
    assert race.outcome == "deadline"


def test_max_pulls_waits_for_the_last_one() -> None:
    """Nothing is asked beyond the budget, and the race ends when what runs has ended."""
    race = open_race(parallel=2, delays="independent", max_pulls=3)
    first, second = race.ask()
    race.tell(first.id, 0.0)
    (third,) = race.ask()
    assert third.id == 3
    race.tell(second.id, 0.0)
    assert race.ask() == []
    assert not race.decided
    race.tell(third.id, 0.0)
    assert race.outcome == "deadline"


def test_close_arms_may_be_told_within_epsilon() -> None:
    """Two arms 0.1 apart, ε = 1: over long before they are told apart, and said so."""
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Full(1.0), epsilon=1.0)
    while not race.decided:
        for pull in race.ask():
            race.tell(pull.id, 0.1 if pull.arm == "B" else 0.0)
    assert race.outcome == "epsilon"
    assert race.confidence == 0.95
    assert race.status().epsilon <= 1.0  # type: ignore[operator]  # not None: the race was established within it
    assert len(race.facts) < 200


def test_a_status_is_json() -> None:
    """Everything in it is a plain number, word or list: no infinity, no NaN."""
    for race in (open_race(), running(), cancelled(), decided_race()):
        json.dumps(asdict(race.status()), allow_nan=False)
        for arm in "ABC":
            json.dumps(asdict(race.explain(arm)), allow_nan=False)
            assert str(race.explain(arm)).startswith(f"{arm}: ")


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_what_is_shown_is_in_the_users_direction(direction: str) -> None:
    """Minimising, the smallest mean wins and is shown as it is."""
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Full(1.0), direction=direction)
    while not race.decided:
        for pull in race.ask():
            race.tell(pull.id, 20.0 if pull.arm == "B" else 10.0)
    assert race.top == (["B"] if direction == "maximize" else ["A"])
    assert [arm.mean for arm in race.status().arms] == [10.0, 20.0]
    low, high = race.intervals()["A"]
    assert low < 10.0 < high


# Increments -----------------------------------------------------------------------------------------------------


def test_increments_add_up_and_may_skip_steps() -> None:
    """A reading is what was gained since the last one; P of D steps weigh P/D of a full feedback."""
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Incremental(2.0, 10))
    race.ask()
    race.report(1, 1.5, 2)
    race.report(1, 3.5, 5)
    story = race.explain("A").pulls[0]
    assert story.estimate == 10.0
    assert story.information == pytest.approx(0.5 / 4.0)


@pytest.mark.parametrize(
    ("steps", "calls", "says"),
    [
        (None, [(1.0, 1, None, None)], "of=None"),
        (None, [(1.0, 1, None, 5), (1.0, 2, None, 6)], "as said before"),
        (5, [(1.0, 6, None, None)], "at most 5"),
        (5, [(1.0, 1, None, 6)], "at most the declared"),
        (5, [(1.0, 1, 0.5, None)], "sd=0.5"),
    ],
)
def test_increments_need_their_length(steps: int | None, calls: list[tuple[Any, ...]], says: str) -> None:
    """How many steps a pull has is part of what an increment means."""
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Incremental(1.0, steps))
    race.ask()
    for call in calls[:-1]:
        race.report(1, *call)
    with pytest.raises(ec.NewsError) as caught:
        race.report(1, *calls[-1])
    assert says in str(caught.value)


def test_a_full_feedback_is_told_when_the_pull_has_ended() -> None:
    """Three of twenty steps are no full feedback; a repeat may leave out what it said the first time."""
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Incremental(1.0, 20))
    race.ask()
    race.report(1, 1.0, 3, of=20)
    race.report(1, 1.0, 3)
    with pytest.raises(ec.NewsError, match="expected 20, the steps of this pull"):
        race.tell(1, 3.0, step=4)
    race.tell(1, 3.0, step=20)


def test_every_arm_runs_on_every_block() -> None:
    """`pull.block` counts an arm's pulls; a lost one drops its block, and the race ends when no block is left."""
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Full(None), blocks=4)
    seen: dict[str, list[int | None]] = {"A": [], "B": []}
    while not race.decided:
        for pull in race.ask():
            seen[pull.arm].append(pull.block)
            if (pull.arm, pull.block) == ("A", 2):
                race.lose(pull.id, "the channel tripped")
            else:
                block = pull.block or 0
                race.tell(pull.id, 100.0 * block + (block % 3 if pull.arm == "B" else 0))
    assert seen == {"A": [1, 2, 3, 4], "B": [1, 2, 3, 4]}
    assert race.outcome == "deadline"
    assert race._state.tables.meets[1][MET] == 3
