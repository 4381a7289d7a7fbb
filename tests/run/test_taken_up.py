"""Races that `identify` keeps in a journal: killed at any moment, and taken up again by calling it once more."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import earlycall as ec
from earlycall.core.facts import Decided, Lost, Started, Told
from earlycall.run.owners import GONE
from tests.house.rooms import ROOT
from tests.journal.kept import difference, entries, url_of
from tests.run.workers import objectives

NAME = "spring"
ARMS = {"A": 0.0, "B": 2.0, "C": 1.0}
PROGRAM = """
import sys, random, time
import earlycall as ec

def slow(mean, pull):
    chance = random.Random(pull.seed)
    life = chance.gauss(mean, 1.0)
    time.sleep(0.004 * max(1.0, 4.0 + life))  # a good one is a late one
    return life

if __name__ == "__main__":
    ec.identify(slow, {"A": 0.0, "B": 2.0, "C": 1.0}, workers=sys.argv[2], journal=sys.argv[1], name="spring",
                k=1, delta=0.05, feedback=ec.Full(sigma=1.0), parallel=4, delays=sys.argv[3])
"""


def runner(file: Path, workers: str, delays: str) -> subprocess.Popen[bytes]:
    program = file.with_name("program.py")
    program.write_text(PROGRAM, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "ignore", str(program), url_of(file), workers, delays]
    with file.with_name("said.txt").open("w", encoding="utf-8") as said:
        return subprocess.Popen(command, env=environment, stderr=said)


@pytest.mark.parametrize("delays", ["independent", "informative"])
@pytest.mark.parametrize("workers", ["threads", "processes"])
def test_a_runner_that_is_killed_loses_no_fact_and_repeats_none(workers: str, delays: str, tmp_path: Path) -> None:
    """Three kills at random moments, then a run to the end: the journal verifies, each pull counts once.

    Where delays know the reward, the pulls of the dead are run again with their seeds, not lost: to lose them would
    choose the short ones.
    """
    file = tmp_path / "races.db"
    chance = random.Random(f"{workers} {delays}")
    seen: list[object] = []
    for _ in range(3):
        process = runner(file, workers, delays)
        time.sleep(0.5 + chance.random() * 0.4)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if file.exists():
            now: list[object] = [entry.fact for entry in entries(file)]
            assert now[: len(seen)] == seen
            seen = now
    process = runner(file, workers, delays)
    assert process.wait(timeout=60) == 0, (tmp_path / "said.txt").read_text(encoding="utf-8")
    facts = [entry.fact for entry in entries(file)]
    assert facts[: len(seen)] == seen
    assert difference(file) is None
    assert isinstance(facts[-1], Decided | Told)
    assert max(Counter(fact.pull for fact in facts if isinstance(fact, Told)).values()) == 1
    lost = [fact for fact in facts if isinstance(fact, Lost)]
    assert all(fact.reason == GONE for fact in lost)
    assert not lost or delays == "independent"
    values = {fact.pull: fact.value for fact in facts if isinstance(fact, Told)}
    for fact in facts:
        if isinstance(fact, Started) and fact.pull in values:
            assert values[fact.pull] == objectives.noisy(ARMS[fact.arm], ec.Pull(fact.pull, fact.arm, None, fact.seed))


def test_calling_again_gives_the_answer_again(tmp_path: Path) -> None:
    """A race that is over is not raced again; one of another shape is refused."""
    url = url_of(tmp_path / "races.db")
    options = {"k": 1, "delta": 0.05, "feedback": ec.Full(1.0)}
    first = ec.identify(objectives.noisy, ARMS, journal=url, name=NAME, **options)  # type: ignore[arg-type]
    again = ec.identify(objectives.noisy, ARMS, journal=url, name=NAME, **options)  # type: ignore[arg-type]
    assert first.top == again.top == ["B"]
    assert first.race.facts == again.race.facts
    with pytest.raises(ec.SettingError, match=r"delta is 0\.05 in the journal"):
        ec.identify(objectives.noisy, ARMS, journal=url, name=NAME, **options | {"delta": 0.1})  # type: ignore[arg-type]
