"""The programs of examples/ that start worker processes: run as a user runs them, as a program of their own.

(All others: test_examples.py.)
"""

import os
import subprocess
import sys

import pytest

from tests.house.rooms import ROOT

SAYS = {"first_race.py": "180: the best of 5, with 95 % confidence."}


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_and_says_what_it_should(name: str) -> None:
    """Nothing on standard error, and the answer first."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / name)]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert told.stderr == ""
    assert told.stdout.startswith(SAYS[name])
