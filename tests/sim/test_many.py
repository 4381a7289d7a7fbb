"""Many races at once: the same whatever the threads, whole or not at all, and compiled from the source there is."""

import subprocess
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest

from earlycall.core.settings import settings_of
from earlycall.sim import compiled
from earlycall.sim.compiled import DEADLINE, EPSILON, EXACT, UNDECIDED, cache_folder, many
from earlycall.sim.worlds import World, bounded

WORLD = bounded(10)
SETTINGS = settings_of({"k": 2, "delta": 0.05, "feedback": WORLD.feedback()})


def test_the_threads_change_no_result() -> None:
    """Every replication has its own stream: 60 races on 1, 2 and 5 threads are the same 60 races."""
    alone = many(SETTINGS, WORLD, 60, seed=3, threads=1)
    for threads in (2, 5):
        together = many(SETTINGS, WORLD, 60, seed=3, threads=threads)
        for name in ("outcome", "steps", "pulls", "cuts", "wrong"):
            assert np.array_equal(getattr(together, name), getattr(alone, name)), name
    assert not np.array_equal(many(SETTINGS, WORLD, 60, seed=4).steps, alone.steps)
    assert np.array_equal(many(SETTINGS, WORLD, 20, seed=3).steps, alone.steps[:20])  # more races add to fewer
    assert len(set(alone.steps.tolist())) > 10


def test_every_race_is_told_once() -> None:
    """What a progress bar hears adds up."""
    heard: list[int] = []
    many(SETTINGS, WORLD, 37, seed=0, told=heard.append)
    assert sum(heard) == 37
    assert len(many(SETTINGS, WORLD, 0, seed=0)) == 0


def test_an_interrupt_ends_it_without_a_result() -> None:
    """Ctrl-C: nothing more is begun, no thread is left behind, nothing is returned."""

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        many(SETTINGS, WORLD, 1000, seed=0, told=interrupt)
    assert threading.active_count() == before


def test_every_outcome_is_told_apart() -> None:
    """Exact, within ε, out of pulls, undecided at the limit."""
    tied = World("tied", (1.0, 1.0, 0.0), 1, 1.0, 5, reading_sd=1.0)
    base = {"k": 1, "delta": 0.1, "feedback": tied.feedback()}
    assert set(many(SETTINGS, WORLD, 5, seed=0).outcome) == {EXACT}
    assert set(many(settings_of({**base, "epsilon": 0.5}), tied, 5, seed=0).outcome) == {EPSILON}
    assert set(many(settings_of({**base, "max_pulls": 12}), tied, 5, seed=0).outcome) == {DEADLINE}
    stopped = many(settings_of(base), tied, 5, seed=0, limit=100)
    assert set(stopped.outcome) <= {UNDECIDED, EXACT}
    assert stopped.steps.max() == 100


def test_a_wrong_answer_is_counted() -> None:
    """δ = 0.9 between arms that are nearly alike: wrong now and then; between tied ones nothing is wrong."""
    near = World("near", (0.3, 0.0), 1, 1.0, 2, reading_sd=1.0)
    careless = settings_of({"k": 1, "delta": 0.9, "feedback": near.feedback()})
    assert 2 <= many(careless, near, 100, seed=0).wrong.sum() <= 30
    tied = World("tied", (0.0, 0.0), 1, 1.0, 2, reading_sd=1.0)
    assert many(careless, tied, 100, seed=0, limit=10_000).wrong.sum() == 0


def test_the_cache_is_named_after_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kernel, another compiler, bounds checked or not: another folder; the same: the same."""
    here = cache_folder()
    assert cache_folder() == here
    monkeypatch.setattr(numba, "__version__", "0.0.0")
    assert cache_folder() != here
    monkeypatch.undo()
    original = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: original(path) + b"#" * (path.name == "radius.py"))
    assert cache_folder() != here


def test_numbas_own_setting_is_left_as_it_was() -> None:
    """A user's own compiled functions are cached where the user said."""
    before = numba.config.CACHE_DIR
    compiled.cached(lambda: 0)
    assert before == numba.config.CACHE_DIR


def test_a_missing_library_gets_the_install_line() -> None:
    """Without NumPy or numba, importing a world says what to install."""
    code = "import sys; sys.modules['numba'] = None; import earlycall.sim.worlds"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError: simulating needs numba: pip install 'earlycall[sim]'." in told.stderr
