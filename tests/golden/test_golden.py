"""Journals that were written once and have to be read for ever: replayed, verified, gone on with."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import earlycall as ec
from earlycall.core.facts import Decision
from earlycall.core.race import check
from earlycall.journal.archive import names, read
from earlycall.journal.replay import state_at, verify
from earlycall.journal.rows import KINDS

FILES = sorted(Path(__file__).parent.glob("schema-*.sql"))
# What the races of schema-1.sql came to: (top, outcome, facts, decisions).
ENDS = {
    "readings with an offset, cut": (("fast",), "exact", 56, 13),
    "the paper's, a failure counts": ((), "", 157, 1),
    "newcomers": (("new",), "exact", 184, 7),
    "sigma unknown, closed": (("slow",), "stopped", 56, 2),
}


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a golden journal, as it was written."""
    file = tmp_path / "golden.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(request.param.read_text(encoding="utf-8"))
    return f"sqlite:///{file}"


def test_its_races_end_as_they_did(url: str) -> None:
    """Facts, decisions and answers, counted when the file was written."""
    found = {}
    for name in names(url):
        entries = read(url, name)
        state = state_at(entries)
        decisions = sum(isinstance(entry.fact, Decision) for entry in entries)
        end = (state.decided.top, state.decided.outcome) if state.decided else ((), "")
        found[name] = (*end, len(entries), decisions)
    assert found == ENDS


def test_its_decisions_follow_from_its_news(url: str) -> None:
    """This version comes to the very decisions that are written there."""
    for name in names(url):
        assert verify(read(url, name)) is None, name
        assert check(state_at(read(url, name))) == ""


def test_its_races_can_be_gone_on_with(url: str) -> None:
    """Each is opened by its name; news is taken in and verified."""
    for name in names(url):
        with ec.open_race(url, name) as race:
            for pull in race.ask():
                race.tell(pull.id, 1.0)
        assert verify(read(url, name)) is None


def test_together_they_hold_every_kind_of_fact(url: str) -> None:
    """Or a kind could change and nobody would see it."""
    held = {type(entry.fact) for name in names(url) for entry in read(url, name)}
    assert set(KINDS.values()) <= held
