"""A race driven to its end: with pulls that fail, workers that are killed, deadlines and Ctrl-C. Killing is real."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import earlycall as ec
from earlycall.core.facts import Failed, Lost
from earlycall.run.handle import Pull
from earlycall.run.loop import Event
from tests.house.rooms import ROOT
from tests.run.workers import objectives
from tests.run.workers.crew import KINDS
from tests.run.workers.test_commands import is_gone

ARMS = {"A": 1.0, "B": 4.0, "C": 2.0}
FULL: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": ec.Full(1.0)}
SLOTS: dict[str, Any] = FULL | {"parallel": 3, "delays": "independent"}


def kinds(facts: tuple[object, ...], kind: type) -> list[Any]:
    return [fact for fact in facts if isinstance(fact, kind)]


# Pulls that do not end well


def test_a_worker_killed_in_the_middle_loses_its_pull_and_the_race_goes_on(tmp_path: Path) -> None:
    """SIGKILL, for real: that pull is lost, another is asked for, and the answer is what it would have been."""
    result = ec.identify(objectives.killed_once, dict.fromkeys("AB", str(tmp_path)), workers="processes", **FULL)
    assert result.top == ["B"]
    assert kinds(result.race.facts, Lost) == [Lost(1, "The worker process was killed (SIGKILL).")]
    assert result.status.pulls["lost"] == 1


def sometimes(value: float, pull: Pull) -> float:
    if pull.id % 3 == 0:
        raise RuntimeError("the oven is on fire")
    return value


@pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_failed_pulls_are_asked_again(kind: str) -> None:
    result = ec.identify(sometimes, ARMS, workers=kind, **SLOTS | {"delta": 1e-6})
    assert (result.top, result.outcome) == (["B"], "exact")
    assert {fact.reason for fact in kinds(result.race.facts, Failed)} == {"RuntimeError: the oven is on fire"}


@pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")
def test_failed_pulls_end_the_race_or_count_where_that_was_said() -> None:
    stopped = ec.identify(objectives.raising, ARMS, failure="stop", **FULL)
    assert (stopped.outcome, len(kinds(stopped.race.facts, Failed))) == ("stopped", 1)
    counted = ec.identify(sometimes, ARMS, failure=-50.0, max_pulls=9, **FULL)
    assert counted.status.pulls["failed"] >= 2
    assert counted.top == ["B"]


@pytest.mark.parametrize(("objective", "how"), [(objectives.raising, "failed"), (objectives.losing, "were lost")])
def test_a_race_in_which_nothing_comes_back_ends_with_the_reason(objective: Any, how: str) -> None:
    """A mistake in the objective would be asked again for ever."""
    with pytest.raises(ec.WorldError, match=f"the last 20 pulls all {how}; the last one: "):
        ec.identify(objective, ARMS, **SLOTS)


def test_what_the_race_refuses_is_a_failed_pull() -> None:
    """Steps must grow; who goes back has counted wrong."""
    with pytest.raises(ec.WorldError, match="step=3: expected more than 5"):
        ec.identify(going_back, ARMS, **SLOTS | {"feedback": ec.Unbiased(1.0, 1.0)})


def going_back(_value: float, _pull: Pull) -> Iterator[ec.Reading]:
    yield ec.Reading(1.0, step=5)
    yield ec.Reading(1.0, step=3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_that_cannot_be_asked_again_ends_the_run(kind: str) -> None:
    """Where delays may know the reward, to ask again would choose among pulls; the race says what can be done."""
    with pytest.raises(ec.NewsError, match=r"it failed, and where delays may know .*no.* such cell"):
        ec.identify(objectives.raising, ARMS, workers=kind, **FULL, parallel=2, delays="informative")


@pytest.mark.parametrize("kind", KINDS)
def test_an_overdue_pull_has_failed_and_the_race_goes_on(kind: str) -> None:
    result = ec.identify(slow_at_first, ARMS, workers=kind, timeout=0.15, grace=0.1, **FULL)
    assert result.top == ["B"]
    assert "timeout=0.15" in kinds(result.race.facts, Failed)[0].reason


def slow_at_first(value: float, pull: Pull) -> Generator[float, None, float]:
    if pull.id == 1:
        for _ in range(40):
            time.sleep(0.01)
            yield 0.0
    return value * 3.0


# Time


@pytest.mark.parametrize("kind", KINDS)
def test_a_deadline_ends_the_race_with_the_answer_of_the_moment(kind: str) -> None:
    began = time.monotonic()
    result = ec.identify(objectives.endless, dict.fromkeys("AB"), workers=kind, deadline=0.4, grace=1.0, **SLOTS)
    assert (result.outcome, result.decided, len(result.top)) == ("deadline", True, 1)
    assert result.status.pulls["cancelled"] > 0
    assert time.monotonic() - began < 5.0
    assert "The time was over: not decided." in str(result)


def test_a_deadline_may_be_a_moment() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.2)
    assert ec.identify(objectives.endless, dict.fromkeys("AB"), deadline=soon, **FULL).outcome == "deadline"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"deadline": datetime(2030, 1, 1)}, "with its time zone"),  # noqa: DTZ001  # that is the point
        ({"deadline": "2030-01-01"}, "a number of seconds above 0. Or a datetime"),
        ({"deadline": -3}, "above 0"),
        ({"timeout": 0}, "timeout=0: expected a number of seconds above 0"),
        ({"grace": -1}, "grace=-1: expected"),
        ({"workers": "ray"}, "expected 'inline' or 'threads' or 'processes' or 'commands'"),
        ({"workers": 3}, "or workers of your own"),
        ({"journal": "x.db"}, "sqlite:///"),
        ({"name": "spring"}, "a journal beside it"),
        ({"workers": "commands"}, "None with workers='commands'"),
        ({"paralel": 3}, "Did you mean parallel?"),
    ],
)
def test_wrong_input_is_refused_at_the_door(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ec.SettingError) as refused:
        ec.identify(objectives.noisy, ARMS, **FULL | options)
    assert says in str(refused.value)


def test_an_objective_must_be_a_function() -> None:
    with pytest.raises(ec.SettingError, match="a function f"):
        ec.identify(None, ARMS, **FULL)


# What can be sent to a process


def test_what_cannot_be_sent_to_a_process_is_refused_with_the_remedy() -> None:
    with pytest.raises(ec.SettingError, match=r'no lambda.*workers="threads"'):
        ec.identify(lambda value, pull: value, ARMS, workers="processes", **FULL)
    with pytest.raises(ec.SettingError, match="the value of arm 'A'="):
        ec.identify(objectives.noisy, {"A": threading.Lock(), "B": 1}, workers="processes", **FULL)


def program(tmp_path: Path, text: str, *arguments: str) -> subprocess.Popen[str]:
    """Run a program of its own, as a user would."""
    path = tmp_path / "race.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    return subprocess.Popen(
        [sys.executable, str(path), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def test_a_program_without_a_main_guard_is_told_so(tmp_path: Path) -> None:
    """Once, and without a pile of tracebacks of the workers."""
    text = """
        import earlycall as ec

        def f(value, pull):
            return value

        ec.identify(f, {"A": 1, "B": 9}, k=1, delta=0.05, feedback=ec.Full(1.0), workers="processes")
    """
    running = program(tmp_path, text)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 1
    assert errors.count("Traceback") == 1
    assert 'under `if __name__ == "__main__":`' in errors


def test_a_function_typed_at_a_prompt_is_refused() -> None:
    text = (
        "import earlycall as ec\ndef f(value, pull): return value\n"
        "ec.identify(f, ['A', 'B'], k=1, delta=0.05, feedback=ec.Full(1.0), workers='processes')"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    told = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False)
    assert "expected one that worker processes can import" in told.stderr


# Ctrl-C, and the end of the parent

RACE = """
    import json, sys, time
    import earlycall as ec
    from tests.run.workers import objectives

    if __name__ == "__main__":
        kind, name, value = sys.argv[1:]
        value = float(value) if value.replace(".", "").isdigit() else value
        result = ec.identify(
            getattr(objectives, name), dict.fromkeys("AB", value), k=1, delta=0.05, feedback=ec.Full(1.0), parallel=2,
            delays="independent", workers=kind, grace=0.5, callbacks=lambda event: print(event.kind, flush=True),
        )
        print(json.dumps({**result.to_dict(), "line": str(result)}), flush=True)
"""


def until(running: subprocess.Popen[str], word: str, times: int) -> None:
    """Wait until a program has said a word so many times."""
    assert running.stdout is not None
    while times and (line := running.stdout.readline()):
        times -= line.strip() == word
    assert times == 0, running.stderr and running.stderr.read()


def last_words(running: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
    """What a program printed last, read as JSON; and its errors."""
    out, errors = running.communicate(timeout=20)
    return json.loads(out.splitlines()[-1]), errors


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_once_finishes_what_runs(tmp_path: Path, kind: str) -> None:
    """Nothing new is asked for, what runs is heard to its end, and the race is open, not closed."""
    running = program(tmp_path, RACE, kind, "sleeping", "0.3")
    until(running, "began", 2)
    running.send_signal(signal.SIGINT)
    told, errors = last_words(running)
    assert (told["interrupted"], told["decided"], told["outcome"]) == (True, False, None)
    assert told["pulls"]["finished"] == sum(told["pulls"].values()) == 2
    assert told["line"].startswith("Interrupted: not decided.")
    assert errors == ""


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_twice_cancels_what_runs(tmp_path: Path, kind: str) -> None:
    """Inline too, in the middle of an objective; the pulls are lost, and the race is open."""
    running = program(tmp_path, RACE, kind, "sleeping", "20")
    until(running, "began", 2)
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    told, errors = last_words(running)
    assert time.monotonic() - began < 5.0
    assert (told["interrupted"], told["decided"]) == (True, False)
    assert (told["pulls"]["lost"], told["pulls"]["running"]) == (2, 0)
    assert "Traceback" not in errors


def test_no_process_outlives_its_parent(tmp_path: Path) -> None:
    """SIGKILL for the parent: its workers go, and the programs that those have started."""
    running = program(tmp_path, RACE, "processes", "with_a_child", str(tmp_path))
    end = time.monotonic() + 20.0
    while len(list(tmp_path.glob("*.pids"))) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    processes = [int(word) for file in tmp_path.glob("*.pids") for word in file.read_text("utf-8").split()]
    assert len(processes) == 4
    running.kill()
    running.communicate()
    assert all(is_gone(process) for process in processes)


def test_no_program_outlives_its_parent(tmp_path: Path) -> None:
    """The same for pulls that are programs."""
    text = f"""
        import sys
        import earlycall as ec

        if __name__ == "__main__":
            program = "import os, time; open('{tmp_path}/' + str(os.getpid()) + '.pid', 'w').close(); time.sleep(60)"
            arms = dict.fromkeys("AB", [sys.executable, "-c", program])
            ec.identify(None, arms, k=1, delta=0.05, feedback=ec.Full(1.0), parallel=2, workers="commands")
    """
    running = program(tmp_path, text)
    end = time.monotonic() + 20.0
    while len(list(tmp_path.glob("*.pid"))) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    processes = [int(file.stem) for file in tmp_path.glob("*.pid")]
    assert len(processes) == 2
    running.kill()
    running.communicate()
    assert all(is_gone(process) for process in processes)


@pytest.mark.parametrize(
    ("objective", "feedback"),
    [
        (objectives.adding_up, ec.Incremental(1.0, steps=3)),
        (objectives.talking, ec.Biased(1.0, 2.0)),
        (objectives.showing_early, ec.Correlated(1.0, 1.5, 0.6)),
        (objectives.noisy, ec.Full(None)),
    ],
)
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_every_kind_of_feedback_can_be_raced(objective: Any, feedback: Any, direction: str) -> None:
    result = ec.identify(
        objective,
        ARMS,
        workers="threads",
        parallel=3,
        delays="independent",
        **FULL | {"feedback": feedback, "direction": direction},
    )
    assert (result.top, result.outcome) == (["B" if direction == "maximize" else "A"], "exact")


def test_nothing_is_left_of_a_race_that_is_over(tmp_path: Path) -> None:
    """No worker, no program of a worker, no guard."""
    result = ec.identify(
        objectives.with_a_child,
        dict.fromkeys("AB", str(tmp_path)),
        workers="processes",
        deadline=1.5,
        **FULL | {"parallel": 2, "delays": "independent"},
    )
    assert result.outcome == "deadline"
    processes = [int(word) for file in tmp_path.glob("*.pids") for word in file.read_text("utf-8").split()]
    assert len(processes) == 4
    assert all(is_gone(process) for process in processes)


# Those who watch


def test_events_tell_the_whole_story() -> None:
    events: list[Event] = []
    result = ec.identify(
        objectives.talking, ARMS, callbacks=events.append, **FULL | {"feedback": ec.Unbiased(1.0, 2.0)}
    )
    kinds = [event.kind for event in events if event.kind != "tick"]
    assert kinds[:3] == ["started", "began", "reading"]
    assert kinds[-1] == "decided"
    status = result.status
    assert kinds.count("started") == sum(status.pulls.values())
    assert kinds.count("finished") == status.pulls["finished"]
    assert kinds.count("stopped") == status.pulls["cancelled"] + status.pulls["cut"]


def test_a_watcher_that_breaks_ends_the_run() -> None:
    """Its error is the user's to see; the workers are gone by then."""

    def broken(_event: Event) -> None:
        raise KeyError("no such channel")

    with pytest.raises(KeyError, match="no such channel"):
        ec.identify(objectives.noisy, ARMS, workers="threads", callbacks=broken, **SLOTS)


def test_a_result_says_it_all() -> None:
    result = ec.identify(objectives.noisy, ARMS, **FULL)
    assert str(result).startswith("B: the best of 3, with 95 % confidence.\n")
    assert result.table().splitlines()[0].split() == ["arm", "verdict", "mean", "interval", "pulls", "running"]
    assert result.table().splitlines()[1].startswith("B    accepted")
    assert "B" in str(result.explain("B"))
    assert set(result.intervals) == set("ABC")
    assert result.suspicions == ()
    assert json.loads(json.dumps(result.to_dict()))["top"] == ["B"]


def test_interrupted_slow_pulls_are_a_matter_of_the_guarantee() -> None:
    """Slow ones are interrupted more often; where that may know the reward, the user hears of it."""

    def interrupt(event: Event) -> None:
        if event.kind == "reading":
            raise KeyboardInterrupt

    with pytest.warns(ec.GuaranteeWarning, match="2 pulls were interrupted"):
        ec.identify(objectives.endless, dict.fromkeys("AB"), callbacks=interrupt, **FULL, parallel=2)
