"""A race with a journal is the race in memory, fact by fact, whoever holds it and however often it is taken up."""

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import earlycall as ec
from earlycall.core import race as core
from earlycall.core.state import State
from earlycall.run import kept
from tests.journal.kept import difference, race_in
from tests.play import KINDS, Game, Player, games

pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")
some = settings(
    max_examples=5,  # of every kind; files are slow
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],
)
every_kind = pytest.mark.parametrize("kind", KINDS)


@contextmanager
def a_file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "races.db"


def played(game: Game, race: ec.Race, change: Callable[[ec.Race, int], ec.Race]) -> Player:
    """The script of a game and some rounds, in a race that `change` may exchange before every move."""
    player = game.player()
    player.race = race
    for number, (move, about) in enumerate(game.script):
        player.race = change(player.race, number)
        player.act(move, about)
    for number in range(random.Random(game.seed).randrange(20)):
        player.race = change(player.race, number)
        player.round()
    return player


def in_memory(game: Game) -> Player:
    return played(game, game.player().race, lambda race, _: race)


def same_tables(one: State, other: State) -> bool:
    """Whether what a race rests on is the same, bit by bit (derived columns are made again when they are needed)."""
    return one.tables.pulls == other.tables.pulls and one.tables.pullf == other.tables.pullf


@every_kind
@some
@given(data=st.data())
def test_a_journal_changes_nothing(kind: str, data: st.DataObject) -> None:
    """The same facts and decisions, in the same order; deriving the decisions again gives those."""
    game = data.draw(games(kind))
    with a_file() as file:
        with race_in(file, list(game.arms), **game.options) as race:
            played(game, race, lambda race, _: race)
            memory = in_memory(game).race
            assert race.facts == memory.facts
            assert race.status() == memory.status()
        assert difference(file) is None


@every_kind
@some
@given(data=st.data(), kept_often=st.booleans())
def test_taken_up_again_after_every_move_it_is_the_same_race(kind: str, data: st.DataObject, kept_often: bool) -> None:
    """Every move by another process, as it were; from the facts alone, or from a snapshot after every verb."""
    game = data.draw(games(kind))

    def again(race: ec.Race, _: int) -> ec.Race:
        state, status = race._state, race.status()
        said = core.check(state)
        race.__exit__()
        taken_up = race_in(file)
        assert same_tables(taken_up._state, state)
        assert taken_up.status() == status
        assert core.check(taken_up._state) == said
        return taken_up

    with a_file() as file, snapshots_after(1 if kept_often else 10**9):
        player = played(game, race_in(file, list(game.arms), **game.options), again)
        assert player.race.facts == in_memory(game).race.facts
        player.race.__exit__()


@contextmanager
def snapshots_after(facts: int) -> Iterator[None]:
    """Another number of facts between two snapshots."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "GAP", facts)
        yield


@every_kind
@some
@given(data=st.data())
def test_two_handles_on_one_file_are_one_race(kind: str, data: st.DataObject) -> None:
    """Moves by turns, each with the handle that did not make the last: the same facts again."""
    game = data.draw(games(kind))
    with a_file() as file, snapshots_after(7):
        first = race_in(file, list(game.arms), **game.options)
        second = race_in(file)
        player = played(game, first, lambda _, number: (first, second)[number % 2])
        assert first.facts == second.facts == in_memory(game).race.facts
        assert first.status() == second.status()
        assert player.race.top == first.top
        assert difference(file) is None
        first.__exit__()
        second.__exit__()


def test_a_snapshot_holds_every_field_of_the_state() -> None:
    """A new field of the state has to be packed too (journal/snapshot.py); this list says that somebody did."""
    packed = "tables labels index stories keys verdicts added withdrawn closed decided".split()
    made_of_the_opening = "settings rules sign".split()
    assert {field.name for field in fields(State)} == {*packed, *made_of_the_opening}
