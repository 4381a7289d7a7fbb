"""The programs in examples/: short, and they run as they stand."""

import os
import subprocess
import sys

import pytest

from tests.house.rooms import ROOT

PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
SAYS = {"first_race.py": "180: the best of 5, with 95 % confidence."}


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_and_says_what_it_should(name: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / name)]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert told.stderr == ""
    assert told.stdout.startswith(SAYS[name])


def test_every_example_is_short_and_tested() -> None:
    assert {path.name for path in PROGRAMS} == set(SAYS)
    assert all(len(path.read_text(encoding="utf-8").splitlines()) < 60 for path in PROGRAMS)
