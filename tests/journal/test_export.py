"""Export and back: nothing lost, no formula for a spreadsheet, and nothing taken in that could not have happened."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import earlycall as ec
from earlycall.journal.archive import bring_in, names, read
from earlycall.journal.export import from_csv, from_json_lines, to_csv, to_json_lines
from earlycall.journal.rows import Entry
from tests.journal.kept import BASIC, NAME, difference, race_in, url_of
from tests.play import KINDS, games, play

pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")
FORMATS = {"csv": (to_csv, from_csv), "json lines": (to_json_lines, from_json_lines)}
every_format = pytest.mark.parametrize("form", FORMATS)


def text_of(form: str, name: str, entries: list[Entry]) -> str:
    out = io.StringIO(newline="")
    FORMATS[form][0](name, entries, out)
    return out.getvalue()


def back(form: str, text: str) -> tuple[str, list[Entry]]:
    return FORMATS[form][1](io.StringIO(text, newline=""))


@every_format
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=3, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_goes_out_comes_back(form: str, kind: str, data: st.DataObject) -> None:
    """Every fact, every setting, every bit of every number and of the time."""
    facts = play(data.draw(games(kind))).race.facts
    entries = [Entry(seq, 1.7e9 + seq / 7.0, fact) for seq, fact in enumerate(facts, start=1)]
    assert back(form, text_of(form, "=name", entries)) == ("=name", entries)


@every_format
def test_a_race_moves_to_another_journal(form: str, tmp_path: Path) -> None:
    """With awkward labels, keys and reasons; it goes on there, and its decisions follow from it."""
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    arms = ["=1+1", '@b, "c"', "'d", "-5", "ä"]
    with race_in(first, arms, **BASIC | {"parallel": 3, "max_pulls": 60}) as race:
        race.ask(key="+key")
        race.lose(1, "=cmd|' /C calc'!A0")
        for pull in race.ask():
            race.tell(pull.id, -0.0)
        facts, status = race.facts, race.status()
    entries = read(url_of(first), NAME)
    name, again = back(form, text_of(form, NAME, entries))
    bring_in(url_of(second), name, again)
    assert names(url_of(second)) == [NAME]
    assert read(url_of(second), NAME) == entries
    assert difference(second) is None
    with race_in(second) as race:
        assert (race.facts, race.status()) == (facts, status)
        while not race.decided:
            race.ask()
            for pull in race.running:
                race.tell(pull.id, 1.0)
    with pytest.raises(ec.CallerError, match="not taken"):
        bring_in(url_of(second), name, again)
    assert difference(second) is None


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    """Whatever stands in labels, keys and reasons; negative numbers stay numbers."""
    file = tmp_path / "races.db"
    with race_in(file, ["=1", "+2", "-3", "@4", "'5"], **BASIC | {"parallel": 5}) as race:
        race.ask(key="@key")
        race.tell(1, -2.5)
        race.lose(2, "=HYPERLINK(1)")
    text = text_of("csv", NAME, read(url_of(file), NAME))
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert "-2.5" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@")) and cell != "-2.5"]


def lines() -> list[dict[str, Any]]:
    """A short race as JSON lines."""
    race = ec.Race(["a", "b"], k=1, delta=0.05, feedback=ec.Full(1.0))
    for number in (1, 2, 3):
        race.ask()
        race.tell(number, float(number))
    entries = [Entry(seq, float(seq), fact) for seq, fact in enumerate(race.facts, start=1)]
    return [json.loads(line) for line in text_of("json lines", NAME, entries).splitlines()]


@pytest.mark.parametrize(
    ("place", "change", "match"),
    [
        (0, {"kind": "started"}, "opening"),
        (0, {"schema": 99}, "at most"),
        (0, {"labels": ["a", "a\n"]}, "label="),
        (0, {"settings": {"k": 5}}, "settings"),
        (1, {"kind": "dreamt"}, "kind='dreamt'"),
        (1, {"pull": 7}, "could have happened"),
        (1, {"pull": 1.5}, "whole number"),
        (2, {"value": "many"}, "expected a number"),
        (2, {"value": None}, "expected a number"),
        (2, {"seq": 9}, "missing"),
        (4, {"at": "soon"}, "expected a number"),
        (3, {"arm": "c"}, "could have happened"),
        (3, {"key": "a\x1b[2J"}, "control"),
    ],
)
def test_what_could_not_have_happened_is_refused(place: int, change: dict[str, Any], match: str) -> None:
    """With the place and what was expected."""
    told = lines()
    assert back("json lines", "\n".join(map(json.dumps, told)))[0] == NAME
    told[place] |= change
    with pytest.raises(ec.CallerError, match=match):
        back("json lines", "\n".join(map(json.dumps, told)))


@pytest.mark.parametrize("text", ["", "what I did\nin my holidays", '{"seq": 1}', "[1, 2]"])
@every_format
def test_something_else_is_refused(form: str, text: str) -> None:
    with pytest.raises(ec.CallerError, match="expected"):
        back(form, text)


def test_a_journal_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(ec.CallerError, match="no file"):
        read(url_of(tmp_path / "none.db"), NAME)
    assert list(tmp_path.iterdir()) == []
