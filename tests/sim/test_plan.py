"""Plans: quantiles of what races would do, floors beside them, and what would help."""

from dataclasses import replace

import pytest

import earlycall as ec
from earlycall.core.settings import settings_of
from earlycall.sim.compiled import many
from earlycall.sim.plan import plan
from earlycall.sim.worlds import World, bounded

WORLD = World("w", (2.0, 1.0, 0.0), 1, 1.0, 20, reading_sd=2.0)
SETTINGS = settings_of({"k": 1, "delta": 0.05, "feedback": WORLD.feedback()})


def test_a_plan_is_what_the_races_do() -> None:
    """Its quantiles are those of the same races, run by themselves."""
    first = plan(SETTINGS, WORLD, 100, seed=5)[0]
    steps = sorted(many(SETTINGS, WORLD, 100, seed=5).steps.tolist())
    assert first.steps == (steps[9], steps[49], steps[89])
    assert first.all_steps == tuple(steps)
    assert (first.races, first.undecided) == (100, 0)
    assert first.floor is not None
    assert first.floor < sum(steps) / 100


def test_what_helps_is_seen_to_help() -> None:
    """More slots and better readings are faster, no readings slower; the floors say the same."""
    rows = {row.name: row for row in plan(SETTINGS, WORLD, 300, seed=5)}
    assert list(rows) == [
        "as planned", "one more slot", "cutting (setup = 0)", "readings half as noisy", "no readings at all"
    ]  # fmt: skip
    median = {name: row.steps[1] for name, row in rows.items()}
    assert median["one more slot"] < 0.8 * median["as planned"]  # type: ignore[operator]  # all were decided
    assert median["cutting (setup = 0)"] < median["as planned"] < median["no readings at all"]  # type: ignore[operator]
    assert rows["readings half as noisy"].floor < rows["as planned"].floor  # type: ignore[operator]
    assert rows["cutting (setup = 0)"].cuts[1] > 0


def test_a_surrogate_may_be_cut_or_left_out_too() -> None:
    """What else there is to do with one measurement of a pull; it has no sd to halve."""
    world = replace(WORLD, noise="surrogate", slope=0.5, reading_sd=0.5, bias=4.0)
    rows = plan(settings_of({"k": 1, "delta": 0.05, "feedback": world.feedback()}), world, 20, seed=0)
    assert [row.name for row in rows] == ["as planned", "one more slot", "cutting (setup = 0)", "no readings at all"]
    assert rows[2].cuts[1] > 0


def test_setting_up_costs_time_in_the_forecast_too() -> None:
    """What the floor charges for a fresh pull, the simulated race pays."""
    costly = settings_of({"k": 1, "delta": 0.05, "feedback": WORLD.feedback(), "setup": 100, "delays": "independent"})
    row = plan(costly, WORLD, 50, seed=0)[0]
    assert row.floor is not None
    assert row.steps[0] is not None
    assert row.steps[0] > 100
    assert sum(row.all_steps) / 50 > row.floor


def test_arms_that_differ_in_noise() -> None:
    """One sd for each arm, in the race and in the floor."""
    loud = replace(WORLD, sigma=(3.0, 1.0, 1.0))
    row = plan(settings_of({"k": 1, "delta": 0.05, "feedback": loud.feedback()}), loud, 50, seed=0)[0]
    assert row.floor > plan(SETTINGS, WORLD, 50, seed=0)[0].floor  # type: ignore[operator]


def test_tied_arms_are_planned_only_where_a_race_would_end() -> None:
    """Without ε or a budget: refused, with the reason."""
    tied = replace(WORLD, means=(1.0, 1.0, 0.0))
    with pytest.raises(ec.SettingError, match="equally good"):
        plan(SETTINGS, tied, 20, seed=0)
    budget = plan(replace(SETTINGS, max_pulls=3), tied, 20, seed=0)[0]
    assert (budget.undecided, budget.steps, budget.floor) == (20, (None, None, None), None)  # out of pulls: not decided
    row = plan(replace(SETTINGS, epsilon=0.5), tied, 20, seed=0)[0]
    assert row.floor is None
    assert row.undecided == 0


def test_what_is_not_decided_in_time_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quantile that lies beyond the longest race simulated is not known."""
    monkeypatch.setattr("earlycall.sim.plan.MOST_STEPS", 250)
    row = plan(settings_of({"k": 2, "delta": 0.05, "feedback": bounded(10).feedback()}), bounded(10), 40, seed=0)[0]
    assert 0 < row.undecided <= 40
    assert row.steps[2] is None
