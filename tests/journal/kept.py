"""Races with a journal, for tests."""

import warnings
from pathlib import Path
from typing import Any

import earlycall as ec
from earlycall.journal.replay import Difference, verify
from earlycall.journal.rows import Entry
from earlycall.journal.sqlite import Journal

NAME = "spring"
BASIC: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": ec.Full(1.0), "seed": 7}


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def race_in(file: Path, arms: object = None, **options: Any) -> ec.Race:
    """The race in a file, without the warnings that some kinds rightly give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ec.GuaranteeWarning)
        return ec.open_race(url_of(file), NAME, arms, **options)


def entries(file: Path, name: str = NAME) -> list[Entry]:
    """All that a journal holds of a race."""
    journal = Journal(file)
    assert journal.resume(name)
    found = list(journal.facts())
    journal.close()
    return found


def difference(file: Path, name: str = NAME) -> Difference | None:
    return verify(entries(file, name))
