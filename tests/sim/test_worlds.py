"""Worlds do what they say: the moments of X, D and the readings, counted."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import earlycall as ec
from earlycall.core.settings import settings_of
from earlycall.errors import SettingError
from earlycall.sim.compiled import many, track_of
from earlycall.sim.limit import floor
from earlycall.sim.worlds import (
    DELAY,
    ENDED,
    FINAL,
    HIDDEN,
    NAMED,
    NOTHING,
    READING,
    World,
    begin,
    bounded,
    free,
    law_of,
    unfold,
)

PULLS = 4000
FREELY: dict[str, Any] = {"delays": "independent"}
BASE = World("base", (3.0, 1.0), 1, 2.0, 8, reading_sd={1: 1.5, 4: 0.5})


def play(world: World, arm: int = 0, setup: float | None = None) -> tuple[list[float], list[int], list[list[float]]]:
    """(X, D, readings) of many pulls of an arm."""
    settings = settings_of({"k": world.k, "delta": 0.05, "feedback": world.feedback(), "setup": setup, **FREELY})
    law, rng = law_of(world, settings), np.random.default_rng(2018)
    finals, delays, readings = [], [], []
    for _ in range(PULLS):
        row, shown = [0.0] * HIDDEN, []
        begin(law, rng, row, arm, 1)
        kind: Any = READING
        while kind != ENDED:
            kind, value = unfold(law, rng, row, arm)
            if kind == READING:
                shown.append(value)
        finals.append(row[FINAL])
        delays.append(int(row[DELAY]))
        readings.append(shown)
    return finals, delays, readings


def close(seen: float, expected: float, sd: float) -> bool:
    """Whether a mean of PULLS draws of this sd is within 4.5 of its own sds (one in 150 000)."""
    return abs(seen - expected) <= 4.5 * sd / math.sqrt(PULLS)


def sd_is(errors: Any, expected: float) -> bool:
    """Whether the sd of PULLS normal draws is what is expected."""
    return abs(float(np.std(errors)) / expected - 1.0) <= 4.5 / math.sqrt(2.0 * PULLS)


@pytest.mark.parametrize("noise", ["independent", "refining", "common"])
def test_readings_scatter_as_declared(noise: str) -> None:
    """X ~ N(μ, σ); a reading is X + bias with its own sd at every step (plus what a pull's readings share)."""
    world = replace(BASE, noise=noise, bias=0.7, common=1.0 if noise == "common" else 0.0)
    finals, delays, readings = play(world)
    assert close(float(np.mean(finals)), 3.0, 2.0)
    assert sd_is(finals, 2.0)
    assert set(delays) == {8}
    errors = np.array(readings) - np.array(finals)[:, None] - 0.7
    for step, expected in enumerate([1.5, 1.5, 1.5, 0.5, 0.5, 0.5, 0.5]):
        sd = math.hypot(expected, world.common)
        assert close(float(errors[:, step].mean()), 0.0, sd)
        assert sd_is(errors[:, step], sd)


def test_a_refining_reading_contains_the_ones_before_it() -> None:
    """e_t − e_{t+1} is independent of e_{t+1}: their covariance is 0, and Cov(e_1, e_7) = Var(e_7)."""
    finals, _, readings = play(replace(BASE, noise="refining"))
    errors = np.array(readings) - np.array(finals)[:, None]
    lost = errors[:, 0] - errors[:, 6]
    assert close(float(np.mean(lost * errors[:, 6])), 0.0, 0.5 * math.sqrt(1.5**2 - 0.5**2))


def test_a_surrogate_goes_with_x() -> None:
    """Its sd and its correlation are those that are declared; it is drawn once and stands."""
    world = replace(BASE, noise="surrogate", slope=0.5, reading_sd=1.5, bias=4.0)
    finals, _, readings = play(world)
    declared = world.feedback()
    assert isinstance(declared, ec.Correlated)
    first = [shown[0] for shown in readings]
    assert all(set(shown) == {shown[0]} for shown in readings)
    assert close(float(np.mean(first)), 0.5 * 3.0 + 4.0, declared.surrogate_sd)
    assert sd_is(first, declared.surrogate_sd)
    assert float(np.corrcoef(finals, first)[0, 1]) == pytest.approx(declared.correlation, abs=4.5 / math.sqrt(PULLS))


def test_increments_add_up() -> None:
    """X is the sum of D increments N(μ/D, σ/√D)."""
    finals, delays, readings = play(replace(BASE, noise="increments", shortest=2))
    assert close(float(np.mean(finals)), 3.0, 2.0)
    assert sd_is(finals, 2.0)
    assert all(len(shown) == delay - 1 for shown, delay in zip(readings, delays, strict=True))
    long = [shown for shown, delay in zip(readings, delays, strict=True) if delay == 8]
    assert float(np.mean(long)) == pytest.approx(3.0 / 8.0, abs=4.5 * 2.0 / math.sqrt(8 * 7 * len(long)))


def test_random_delays_are_uniform_and_say_nothing() -> None:
    """D uniform on shortest … steps, uncorrelated with X."""
    finals, delays, _ = play(replace(BASE, shortest=3))
    counts = np.bincount(delays, minlength=9)[3:]
    assert counts.sum() == PULLS
    assert float(np.sum((counts - PULLS / 6) ** 2) / (PULLS / 6)) < 22.0  # χ² with 5 degrees: 5e-4
    assert abs(float(np.corrcoef(finals, delays)[0, 1])) < 4.5 / math.sqrt(PULLS)


def test_a_delay_that_is_the_reward_grows_with_it() -> None:
    """The better the pull, the longer it takes, within its limits."""
    finals, delays, _ = play(replace(BASE, shortest=2, delay_is_reward=True))
    order = np.argsort(finals)
    assert np.all(np.diff(np.array(delays)[order]) >= 0)
    assert min(delays) >= 2
    assert max(delays) <= 8
    assert len(set(delays)) > 3


def test_setting_up_takes_its_steps() -> None:
    """A pull holds its slot for `setup` steps before its first, and then does what it would have done."""
    at_once, _, shown = play(BASE)
    late, _, shown_late = play(BASE, setup=2.5)
    assert late == at_once
    assert shown_late == shown
    law = law_of(BASE, settings_of({"k": 1, "delta": 0.05, "feedback": BASE.feedback(), "setup": 2.5, **FREELY}))
    row = [0.0] * HIDDEN
    begin(law, np.random.default_rng(0), row, 0, 1)
    kinds = [unfold(law, np.random.default_rng(0), row, 0)[0] for _ in range(11)]
    assert kinds == [NOTHING] * 3 + [READING] * 7 + [ENDED]


@pytest.mark.parametrize(
    "wrong",
    [
        {"noise": "pink"},
        {"noise": "refining", "reading_sd": {1: 1.0, 2: 3.0}},
        {"delay_is_reward": True},
        {"delay_is_reward": True, "shortest": 2, "noise": "increments"},
    ],
    ids=str,
)
def test_a_world_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    """One sentence."""
    with pytest.raises(ec.SettingError, match="expected"):
        replace(BASE, **wrong)


def test_the_named_worlds_can_be_raced() -> None:
    """Every name of `earlycall plan --world` is a world, and has an honest declaration or none."""
    for name, make in NAMED.items():
        world = make(10)
        settings = settings_of({"k": world.k, "delta": 0.5, "feedback": world.feedback(), "max_pulls": 30})
        assert len(many(settings, world, 3, seed=0)) == 3, name


def test_the_papers_worlds() -> None:
    """Bounded and free means as printed, k = 0.2n, the best first."""
    world = bounded(10)
    assert world.means[0] == 5.0
    assert world.means[9] == pytest.approx(5.0 - 0.9**0.6)
    assert (world.k, world.sigma, world.reading_sd, world.steps) == (2, 0.03, 0.03, 50)
    assert free(20).means[:2] == (40.0, 39.0)
    assert (free(20).k, free(20).sigma, free(20).reading_sd, free(20).steps) == (4, 0.5, 0.25, 100)
    assert free(5).best == frozenset([0])


def test_what_a_world_declares_is_what_it_does() -> None:
    """The honest declaration of each kind of noise."""
    assert BASE.feedback() == ec.Unbiased(2.0, {1: 1.5, 4: 0.5}, steps=8)
    assert replace(BASE, bias=1.0, noise="refining").feedback() == ec.Biased(2.0, {1: 1.5, 4: 0.5}, "refining", steps=8)
    assert replace(BASE, noise="none").feedback() == ec.Full(2.0)
    assert replace(BASE, noise="increments").feedback() == ec.Incremental(2.0, 8)
    assert replace(BASE, noise="none", sigma=(1.0, 2.0)).feedback() == ec.Full({"0": 1.0, "1": 2.0})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"arrivals": {0: 5}}, "The last arms are the ones that join"),
        ({"arrivals": {2: 9, 3: 5}}, "in their order"),
        ({"arrivals": {3: 0}}, "steps from 1 on"),
        ({"departures": {3: -1}}, "steps from 1 on"),
        ({"arrivals": {3: 9}, "departures": {3: 5}}, "arms that are there"),
        ({"departures": {7: 5}}, "arms that are there"),
        ({"departures": {0: 5, 1: 6, 2: 6}}, "k that remain"),
    ],
)
def test_arms_come_and_go_in_an_order_that_can_be(changes: dict[str, Any], says: str) -> None:
    """The last arms join, in their order; only those leave that are there, and k remain."""
    with pytest.raises(SettingError, match=says):
        World("changing", (3.0, 2.0, 1.0, 0.0), 2, 1.0, 5, "none", **changes)


def test_a_world_that_changes_says_who_is_there() -> None:
    """Who starts, what happens in which order, who are the best in the end; and the race must have room for it."""
    world = World("changing", (3.0, 2.0, 1.0, 0.0), 2, 1.0, 5, "none", arrivals={3: 7}, departures={0: 7, 1: 3})
    assert world.starters == ("0", "1", "2")
    assert world.changes == [(3, 1, 0), (7, 3, 1), (7, 0, 0)]
    assert world.best == frozenset([2, 3])
    options: dict[str, Any] = {"k": 2, "delta": 0.05, "feedback": world.feedback()}
    for reserve in (None, 0):
        with pytest.raises(SettingError, match="expected 1 or more"):
            track_of(settings_of({**options, "reserve": reserve}), world)
    with pytest.raises(SettingError, match="arms come and go"):
        floor(settings_of({**options, "reserve": 1}), world)
