"""Pulls that are programs: what they print, how they end, and that nothing is left of them."""

import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import earlycall as ec
from earlycall.run.handle import Pull
from earlycall.run.workers.commands import Commands, check_commands
from earlycall.run.workers.news import Ended, Failed, Lost, News, Showed, Stopped
from tests.run.workers.crew import heard, told


@pytest.fixture
def commands() -> Iterator[Commands]:
    with closing(Commands(slots=2, grace=1.0)) as workers:
        yield workers


def python(program: str, number: int = 1) -> Pull:
    """A pull whose arm is a Python program."""
    return Pull(number, "A", [sys.executable, "-S", "-c", program], seed=77, block=3)


def test_the_last_line_is_the_full_feedback(commands: Commands) -> None:
    said = told(commands, python('print(1, 2.5, \'{"value": 4, "sd": 2, "step": 9}\', "", 8, sep="\\n")'))
    assert said == [Showed(1, 1.0), Showed(1, 2.5), Showed(1, 4.0, 9, 2.0), Ended(1, 8.0)]


def test_a_last_line_needs_no_line_break(commands: Commands) -> None:
    assert told(commands, python('print(3, end="")')) == [Ended(1, 3.0)]


def test_a_line_can_say_itself_whether_it_is_final(commands: Commands) -> None:
    lines = ['{"value": 1, "final": false}', '{"value": 2, "step": 5, "final": true}', "this is not read any more"]
    assert told(commands, python(f'print(*{lines}, sep="\\n")')) == [Showed(1, 1.0), Ended(1, 2.0, 5)]


def test_a_line_that_is_not_final_is_heard_at_once(commands: Commands) -> None:
    program = 'import time; print(\'{"value": 1, "final": false}\', flush=True); time.sleep(60)'
    commands.start(python(program))
    heard(commands, lambda news: Showed(1, 1.0) in news)


def test_programs_get_their_seed_their_pull_and_their_block(commands: Commands) -> None:
    names = ["EARLYCALL_SEED", "EARLYCALL_PULL", "EARLYCALL_BLOCK"]
    said = told(commands, python(f"import os\nfor name in {names}: print(os.environ[name])", 5))
    assert said == [Showed(5, 77.0), Showed(5, 5.0), Ended(5, 3.0)]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("", "The program printed no number."),
        ("import sys; sys.exit('oven on \\x1b[31mfire')", "The program ended: exit code 1. oven on [31mfire"),
        ("print(1); raise SystemExit(3)", "The program ended: exit code 3."),
        ("import os; os.kill(os.getpid(), 11)", "The program ended: SIGSEGV."),
        ("print('nan')", "line='nan': expected a number"),
        ("print(1); print('oops'); print(2)", "line='oops': expected a number"),
        ("import os; os.write(1, bytes(range(256)))", "expected a number"),
        ("import os, time; os.write(1, b'9' * 200_000); time.sleep(60)", "expected a number"),
        ("import sys; sys.stderr.write('x' * 10**6); sys.exit(1)", "xxxxx"),
    ],
)
def test_what_goes_wrong_is_a_failed_pull_with_a_reason(commands: Commands, program: str, reason: str) -> None:
    last = told(commands, python(program))[-1]
    assert isinstance(last, Failed)
    assert reason in last.reason
    assert len(last.reason) < 600


def test_a_program_that_was_killed_is_lost(commands: Commands) -> None:
    said = told(commands, python("import os; os.kill(os.getpid(), 9)"))
    assert said == [Lost(1, "The program was killed (SIGKILL).")]


def test_a_program_that_is_not_there_has_failed(commands: Commands) -> None:
    (failed,) = told(commands, Pull(1, "A", "no-such-program --x", 0))
    assert isinstance(failed, Failed)
    assert "No such file" in failed.reason


def test_a_cancelled_program_hears_of_it_and_what_it_says_then_is_no_full_feedback(commands: Commands) -> None:
    """It prints a number and exits with 0, as if it were done. It is not."""
    program = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print(5), sys.exit(0)))\n"
        "print(1, flush=True); print(2, flush=True); time.sleep(60)"
    )
    commands.start(python(program))
    heard(commands, lambda news: Showed(1, 1.0) in news)
    commands.cancel(1)
    news = heard(commands, lambda news: Stopped(1) in news)
    assert not [one for one in news if isinstance(one, Ended)]


def test_a_program_that_does_not_listen_is_killed_with_all_it_started(commands: Commands) -> None:
    program = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True); print(0, flush=True); time.sleep(60)"
    )
    commands.start(python(program))
    news = heard(commands, lambda news: any(isinstance(one, Showed) for one in news))
    child = int(next(one.value for one in news if isinstance(one, Showed)))
    began = time.monotonic()
    commands.cancel(1)
    heard(commands, lambda news: Stopped(1) in news)
    assert 0.9 < time.monotonic() - began < 5.0
    assert is_gone(child)


def test_a_program_that_runs_on_after_its_end_is_ended(commands: Commands) -> None:
    program = 'import time; print(\'{"value": 2, "final": true}\', flush=True); time.sleep(60)'
    assert told(commands, python(program)) == [Ended(1, 2.0)]


def test_a_chatty_program_waits_instead_of_filling_the_memory(commands: Commands) -> None:
    commands.start(python("while True: print(1)"))
    heard(commands, lambda news: any(isinstance(one, Showed) for one in news))
    time.sleep(0.2)
    news: list[News] = []
    for _ in range(50):
        news += commands.news(0.1)
    assert len(news) <= 50
    assert all(len(slot.lines) <= 40_000 for slot in commands.slots)  # type: ignore[attr-defined]


def test_a_program_that_takes_too_long_has_failed() -> None:
    with closing(Commands(slots=1, timeout=0.3, grace=1.0)) as commands:
        assert told(commands, python("import time; time.sleep(60)"))[0] == Failed(
            1, "It took longer than timeout=0.3 seconds."
        )


def test_command_lines_race(tmp_path: Path) -> None:
    program = tmp_path / "test.py"
    program.write_text(
        "import os, random, sys\nprint(random.Random(os.environ['EARLYCALL_SEED']).gauss(float(sys.argv[1]), 1.0))\n",
        encoding="utf-8",
    )
    arms = {mode: f"{sys.executable} -S '{program}' {mode}" for mode in ("1", "5")}
    result = ec.identify(None, arms, workers="commands", k=1, delta=0.05, feedback=ec.Full(1.0))
    assert (result.top, result.outcome) == (["5"], "exact")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "expected a command line"),
        ([], "expected a command line"),
        (3, "expected a command line"),
        (["ls", 3], "expected a command line"),
        ("echo 'no end", "No closing quotation"),
        ("no-such-program --x", "expected 'no-such-program' to be a program"),
    ],
)
def test_command_lines_that_cannot_run_are_refused_at_the_door(value: object, says: str) -> None:
    with pytest.raises(ec.SettingError, match=says):
        check_commands({"A": value})


def is_gone(process: int, patience: float = 5.0) -> bool:
    """Whether a process has ended, or is about to; one that has may stay a zombie where nobody fetches it."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False
