"""What holds for workers of every kind."""

import math
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import earlycall as ec
from earlycall.run.workers.news import Began, Ended, Failed, Lost, Showed, Stopped
from tests.run.workers import objectives
from tests.run.workers.crew import KINDS, crew, heard, pull, told

ARMS = {"A": 1.0, "B": 4.0, "C": 2.0}
FULL: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": ec.Full(1.0)}
UNBIASED: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": ec.Unbiased(1.0, 2.0)}
FORMS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "plain": (objectives.noisy, FULL),
    "generator": (objectives.talking, UNBIASED),
    "coroutine": (objectives.awaiting, FULL),
    "async generator": (objectives.streaming, UNBIASED),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_objective_makes_the_same_race(form: str) -> None:
    """With one slot nothing is left to chance: every fact is the same, wherever the pulls run."""
    objective, options = FORMS[form]
    races = [ec.identify(objective, ARMS, workers=kind, **options).race for kind in KINDS]
    assert races[0].top == ["B"]
    assert all(race.facts == races[0].facts for race in races)


@pytest.mark.parametrize("kind", KINDS)
def test_many_slots_come_to_the_same_answer(kind: str) -> None:
    result = ec.identify(objectives.talking, ARMS, workers=kind, parallel=4, delays="independent", **UNBIASED)
    assert (result.top, result.outcome, result.decided) == (["B"], "exact", True)
    assert result.status.pulls["running"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_readings_arrive_in_order_and_before_the_end(kind: str) -> None:
    with crew(kind, objectives.chatty) as workers:
        news = told(workers, pull(1, 50), pull(2, 0))
    assert news == [*[Showed(1, 1.0)] * 50, Ended(1, 0.0), Ended(2, 0.0)]


@pytest.mark.parametrize("kind", KINDS)
def test_pulls_get_their_seeds_and_values(kind: str) -> None:
    with crew(kind, objectives.what_it_got, slots=2) as workers:
        news = told(workers, pull(1, seed=5), pull(2, seed=1007))
    assert sorted(news) == [Ended(1, 5.0), Ended(2, 7.0)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_cancelled_pull_is_closed_and_its_slot_goes_to_the_next(kind: str, tmp_path: Path) -> None:
    """It stops at its next reading, and what it has to tidy up is tidied up."""
    with crew(kind, objectives.endless) as workers:
        workers.start(pull(1, str(tmp_path)))
        heard(workers, lambda news: any(isinstance(one, Showed) for one in news))
        workers.start(pull(2, str(tmp_path)))
        workers.cancel(1)
        news = heard(workers, lambda news: any(isinstance(one, Showed) and one.pull == 2 for one in news))
        assert Stopped(1) in news
        assert news.index(Stopped(1)) < news.index(Began(2))
        assert (tmp_path / "1.closed").exists()
    assert (tmp_path / "2.closed").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_pull_cancelled_while_it_waits_is_never_begun(kind: str) -> None:
    with crew(kind, objectives.endless) as workers:
        workers.start(pull(1))
        workers.start(pull(2))
        heard(workers, lambda news: Began(1) in news)
        workers.cancel(2)
        workers.cancel(2)  # twice is once
        workers.cancel(77)  # and a stranger is nobody
        assert Stopped(2) in heard(workers, lambda news: Stopped(2) in news)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("objective", "value", "reason"),
    [
        (objectives.raising, None, "ValueError: [red]no[/red] such cell"),
        (objectives.raising_later, None, "ZeroDivisionError"),
        (objectives.leaving, None, "SystemExit: 3"),
        (objectives.saying, None, "the objective returned None: expected a finite int or float"),
        (objectives.saying, "12", "the objective returned '12'"),
        (objectives.saying, math.nan, "the objective returned nan"),
        (objectives.saying, [1.0, 2.0], "yield readings"),
        (objectives.saying, True, "the objective returned True"),
        (objectives.showing, None, "reading=None: expected a finite int or float"),
        (objectives.showing, ec.Reading(1.0, sd=-1), "sd=-1: expected a number above 0"),
        (objectives.showing, ec.Reading(1.0, step=0), "step=0: expected a whole number"),
    ],
)
def test_what_goes_wrong_is_a_failed_pull_with_a_reason(
    kind: str, objective: Callable[..., object], value: object, reason: str
) -> None:
    """And the worker lives on."""
    with crew(kind, objective) as workers:
        for number in (1, 2):
            last = told(workers, pull(number, value))[-1]
            assert isinstance(last, Failed)
            assert reason in last.reason
            assert last.reason.isprintable()


@pytest.mark.parametrize("kind", KINDS)
def test_an_objective_can_say_that_its_pull_was_lost(kind: str) -> None:
    with crew(kind, objectives.losing) as workers:
        assert told(workers, pull(1)) == [Lost(1, "channel 7 tripped")]


@pytest.mark.parametrize("kind", KINDS)
def test_an_objective_that_will_not_be_closed_is_let_go(kind: str) -> None:
    with crew(kind, objectives.stubborn) as workers:
        workers.start(pull(1))
        heard(workers, lambda news: any(isinstance(one, Showed) for one in news))
        workers.cancel(1)
        assert Stopped(1) in heard(workers, lambda news: Stopped(1) in news)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pull_that_takes_too_long_has_failed(kind: str) -> None:
    """Between readings, where one can look; and however it ends after that."""
    with crew(kind, objectives.endless, timeout=0.2) as workers:
        news = told(workers, pull(1))
    last = next(one for one in news if not isinstance(one, Showed))
    assert last == Failed(1, "It took longer than timeout=0.2 seconds.")


@pytest.mark.parametrize("kind", KINDS)
def test_full_feedback_that_comes_too_late_does_not_count(kind: str) -> None:
    with crew(kind, objectives.sleeping, timeout=0.1) as workers:
        news = told(workers, pull(1, 0.3))
        assert [type(one) for one in news] in ([Failed], [Failed, Stopped])


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_a_pull_without_end_loses_its_slot_after_the_grace(kind: str, recwarn: pytest.WarningsRecorder) -> None:
    """A process is killed; a thread cannot be, is left behind, and the user hears of it."""
    with crew(kind, objectives.sleeping, timeout=0.1, grace=0.2) as workers:
        workers.start(pull(1, 2.0 if kind == "threads" else 60.0))
        workers.start(pull(2, 0.0))
        news = heard(workers, lambda news: Ended(2, 0.0) in news)
        assert [one for one in news if one.pull == 1] == [
            Began(1),
            Failed(1, "It took longer than timeout=0.1 seconds."),
            Stopped(1),
        ]
    assert ["cannot be killed" in str(warning.message) for warning in recwarn] == ([True] * (kind == "threads"))


@pytest.mark.parametrize("kind", KINDS)
def test_chatty_pulls_wait_instead_of_filling_the_memory(kind: str) -> None:
    """A million readings in a hurry, and nobody listens: at most one of each pull is under way."""
    with crew(kind, objectives.chatty, slots=2) as workers:
        workers.start(pull(1, 10**6))
        workers.start(pull(2, 10**6))
        heard(workers, lambda news: len(news) > 6)
        time.sleep(0.1)
        assert len(workers.news(0.0)) <= 4
        assert len(workers.news(0.0)) <= 4


def test_a_process_is_used_again_and_replaced_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earlycall.run.workers.processes.PULLS", 3)
    with crew("processes", objectives.process_id) as workers:
        ids = [told(workers, pull(number))[0].value for number in range(1, 7)]  # type: ignore[union-attr]
    assert len(set(ids[:3])) == len(set(ids[3:])) == 1
    assert ids[0] != ids[3]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("objective", "value", "expected"),
    [
        (objectives.dying, signal.SIGKILL, Lost(1, "The worker process was killed (SIGKILL).")),
        (objectives.dying, signal.SIGSEGV, Failed(1, "The worker process ended: SIGSEGV.")),
        (objectives.exiting, 0, Failed(1, "The worker process ended: exit code 0.")),
        (objectives.exiting, 9, Failed(1, "The worker process ended: exit code 9.")),
    ],
)
def test_a_process_that_dies_is_replaced(objective: Callable[..., object], value: int, expected: object) -> None:
    """Killed from outside is lost: it says nothing of the arm. All else is the objective's own doing, and failed."""
    with crew("processes", objective) as workers:
        assert told(workers, pull(1, int(value))) == [expected]
        again = told(workers, pull(2, int(value)))
        assert again == [expected._replace(pull=2)]  # type: ignore[attr-defined]


def test_killed_at_random_no_pull_is_told_twice_and_none_is_forgotten() -> None:
    """Workers of a busy pool are killed again and again; each pull comes to one end, lost or told."""
    with crew("processes", objectives.chatty, slots=3) as workers:
        for number in range(1, 41):
            workers.start(pull(number, 5))
        ends: list[Any] = []
        rounds = 0
        while len(ends) < 40:
            ends += [one for one in workers.news(1.0) if isinstance(one, Ended | Failed | Lost | Stopped)]
            rounds += 1
            if rounds % 40 == 0 and workers.slots:  # type: ignore[attr-defined]
                workers.slots[0].process.kill()  # type: ignore[attr-defined]
    assert sorted(one.pull for one in ends) == list(range(1, 41))
    assert {type(one) for one in ends} <= {Ended, Lost}
