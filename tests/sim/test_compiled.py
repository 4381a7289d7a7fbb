"""Compiled races are the live ones, to the last bit, and thousands of them are the same thousands every time."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from earlycall.core.settings import settings_of
from earlycall.core.tables import HIGH, LEADER, MEAN, OPENED, SCRATCH, WALKED
from earlycall.sim.clock import race_live
from earlycall.sim.compiled import OUTCOMES, run, track_of
from earlycall.sim.worlds import World
from tests.play import FEEDBACKS, KINDS, OPEN, OTHERS, STEPS

MEANS = (0.0, 1.5, 3.0, 3.5, 6.0)
WORLDS = {  # by the name of the feedback; pulls take 3 to 5 steps
    "full": World("full", MEANS, 2, 1.0, STEPS, "none", shortest=3),
    "incremental": World("incremental", MEANS, 2, 1.0, STEPS, "increments", shortest=3),
    "unbiased": World("unbiased", MEANS, 2, 1.0, STEPS, "common", 0.8, common=0.3, shortest=3),
    "refining": World("refining", MEANS, 2, 1.0, STEPS, "refining", {1: 2.0, 2: 1.0, 4: 0.5}, shortest=3),
    "biased": World("biased", MEANS, 2, 1.0, STEPS, "independent", {1: 1.0, 3: 0.5}, bias=0.5, shortest=3),
    "correlated": World("correlated", MEANS, 2, 1.0, STEPS, "surrogate", 1.2, bias=4.0, slope=0.9, shortest=3),
    "biased refining": World("biased refining", MEANS, 2, 1.0, STEPS, "refining", {1: 1.0, 3: 0.5}, bias=(0.5,) * 5),
}
CHANGING = {  # two arms join and two leave, one of them a newcomer; by the kind of race
    kind: replace(
        WORLDS[kind.split(",")[0]],
        means=(3.0, 2.5, 0.0, 1.5, 2.0, 3.5),
        k=2,
        bias=0.5 if "biased" in kind else 0.0,
        arrivals={4: 4, 5: 9},
        departures={0: 9, 4: 14},
    )
    for kind in OPEN
    if OPEN[kind]["reserve"] >= 2
}
SHAPES: list[dict[str, Any]] = [{"parallel": 1}, {"parallel": 5, "per_arm": 2}]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_python_and_compiled_races_agree_in_every_bit(kind: str, shape: dict[str, Any]) -> None:
    """Every method × feedback: the same race by facts and decisions on lists, and compiled on arrays."""
    feedback = kind.split(",")[0]
    assert kind in OTHERS or settings_of({"k": 2, "delta": 0.1, **KINDS[kind]}).feedback == FEEDBACKS[feedback]
    agree(replace(WORLDS[feedback], block_sd=2.0 if "blocks" in kind else 0.0), KINDS[kind] | shape)


@pytest.mark.parametrize("kind", CHANGING)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_they_agree_when_arms_come_and_go(kind: str, shape: dict[str, Any]) -> None:
    """Two arms join and two leave, with one sd for all and with one for each; verdicts are reopened on the way."""
    world = CHANGING[kind]
    left = agree(world, KINDS[kind] | shape)
    world = replace(world, sigma=(1.0, 1.25, 0.75, 1.0, 1.5, 0.5))
    feedback = replace(KINDS[kind]["feedback"], sigma=world.feedback().sigma)
    left += agree(world, KINDS[kind] | shape | {"feedback": feedback})
    assert left >= 6


def agree(world: World, options: dict[str, Any]) -> int:
    """Four races of the kind are the same in Python and compiled; how many arms left them."""
    extras: list[dict[str, Any]] = [{}, {"epsilon": 0.7}, {"max_pulls": 12}, {"delta": 1e-6}]
    total = left = 0
    for seed, more in enumerate(extras):
        settings = settings_of({"k": 2, "delta": 0.1, **options, **more})
        state, steps = race_live(settings, world, np.random.default_rng(seed), limit=4000)
        track = track_of(settings, world, pulls=5)  # so that rows run out, too
        code = run(track, np.random.default_rng(seed), limit=4000)
        assert OUTCOMES[code] == (state.decided.outcome if state.decided else "undecided")
        assert (track.clock[0], track.tables.race[OPENED]) == (steps, len(state.stories))
        total += steps
        walked = track.tables.race[WALKED]
        left += len(state.withdrawn)
        arrived = (
            len(state.labels) if world.changes else len(state.tables.arms)
        )  # numbers of arms that never came differ
        for name, theirs in track.tables._asdict().items():
            mine = np.array(getattr(state.tables, name), dtype=theirs.dtype)
            if name.startswith("walk"):  # both keep rows ready
                mine, theirs = mine[:walked], theirs[:walked]
            if name == "spare":
                continue
            theirs = theirs[: len(mine)].copy()
            if name == "armf":
                mine, theirs = mine[:arrived], theirs[:arrived]
            mine = mine.reshape(theirs.shape)
            if (
                state.decided
            ):  # the live race has elected leaders to name them; if it stopped early, cancelled its pulls
                if name == "arms":
                    mine[:, LEADER] = theirs[:, LEADER]
                if name == "armf":
                    mine[:, SCRATCH] = theirs[:, SCRATCH]
                if state.decided.outcome != "exact" and name in ("arms", "pulls", "race"):
                    continue
                if state.decided.outcome != "exact" and name == "armf":
                    mine, theirs = mine[:, MEAN : HIGH + 1], theirs[:, MEAN : HIGH + 1]
            assert mine.tobytes() == theirs.tobytes(), name
    assert total > 30
    return left
