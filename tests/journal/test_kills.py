"""Processes that are killed at any moment, and processes that share a race."""

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import earlycall as ec
from earlycall.core.facts import Decided, Fact, Read, Started, Told
from earlycall.run.owners import GONE, lose_orphans
from tests.house.rooms import ROOT
from tests.journal.kept import difference, entries, race_in, url_of
from tests.journal.runner import ARMS, OPTIONS, act

KILLS = int(os.environ.get("SOAK", "20"))  # `make soak` kills more often
pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")


def runner(file: Path, name: str, shared: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.journal.runner", url_of(file), name, shared]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path})


def words(fact: Fact) -> str:
    """A fact as the runner says it."""
    if isinstance(fact, Started):
        return f"started {fact.pull} {fact.arm}"
    if isinstance(fact, Read):
        return f"read {fact.pull} {fact.step}"
    return f"told {fact.pull}" if isinstance(fact, Told) else ""


def undisturbed() -> tuple[Fact, ...]:
    """The facts of the race when nobody kills anything."""
    race = ec.Race(list(ARMS), **OPTIONS)
    while act(race):
        pass
    return race.facts


def killed(file: Path, name: str, chance: random.Random) -> tuple[list[str], bool]:
    """(what a runner said until it was killed, whether it got to the end before that)."""
    process = runner(file, name)
    assert process.stdout is not None
    said = []
    for _ in range(chance.randrange(1, 40)):
        line = process.stdout.readline()
        if line:
            said.append(line.strip())
    time.sleep(chance.random() * 0.002)  # anywhere in a verb
    process.send_signal(signal.SIGKILL)
    said += [line.strip() for line in process.stdout if line.endswith("\n")]
    process.stdout.close()
    return said, process.wait() == 0


def test_a_killed_process_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    """Every verb that returned is in the journal; the race ends with the very facts of one that nobody killed."""
    chance = random.Random(4)
    expected = undisturbed()
    file = tmp_path / "races.db"
    kills, races = 0, 0
    while kills < KILLS:
        races += 1
        name, over, said = f"race {races}", False, list[str]()
        while not over:
            more, over = killed(file, name, chance) if kills < KILLS else (finished(file, name), True)
            kills += not over
            said += more
            held = [entry.fact for entry in entries(file, name)]
            assert set(said) <= set(map(words, held))
            assert held == list(expected[: len(held)])
            assert difference(file, name) is None
        assert held == list(expected)
        assert len(said) == len(set(said))


def finished(file: Path, name: str) -> list[str]:
    """What a runner says that nobody kills."""
    said, _ = runner(file, name).communicate()
    return said.split("\n")[:-1]


def test_processes_share_a_race(tmp_path: Path) -> None:
    """Three at once, who even open the file together: no pull twice, nothing lost, the same end for all."""
    file = tmp_path / "races.db"
    processes = [runner(file, "spring", "shared") for _ in range(3)]
    said = [line for process in processes for line in process.communicate()[0].split("\n") if line]
    assert [process.returncode for process in processes] == [0, 0, 0]
    held = [entry.fact for entry in entries(file)]
    told = [line for line in said if line != "waited"]
    assert sorted(told) == sorted(word for word in map(words, held) if word)
    assert sum(isinstance(fact, Decided) for fact in held) == 1
    assert difference(file) is None


def test_the_pulls_of_a_process_that_is_gone_are_lost(tmp_path: Path) -> None:
    """Those of one that is still there, and those of nobody, stay."""
    file = tmp_path / "races.db"
    process = runner(file, "spring", "shared")
    assert process.stdout is not None
    while "read" not in process.stdout.readline():
        pass
    process.kill()
    process.communicate()
    with race_in(file) as race:
        orphans = list(race.owners())
        assert orphans
        assert lose_orphans(race) == orphans
        assert all(GONE in str(race._state.stories[pull - 1].left) for pull in orphans)
        again = race.ask(limit=1, owner=f"elsewhere/{os.getpid()}/1") + race.ask()
        assert lose_orphans(race) == []
        assert set(race.running) == set(again)


def test_a_journal_is_not_used_across_a_fork(tmp_path: Path) -> None:
    """The child of a fork would spoil the locks of its parent; it is told so."""
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    with race_in(tmp_path / "races.db", list(ARMS), **OPTIONS) as race:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks where there are threads
            child = os.fork()
        if child == 0:
            try:
                race.ask()
            except ec.WorldError as error:
                os._exit(0 if "fork" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert race.ask()
