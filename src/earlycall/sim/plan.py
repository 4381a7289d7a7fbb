"""Before the first pull: how long a race will take, how many pulls, how sure, and what would make it shorter.

A plan is a few hundred races in the world one expects, and as many in each world that could be had for money: one more
slot, twice the slots, pulls that may be cut, a predictor half as noisy, none at all. All use the same seeds.
"""

import earlycall.sim.extra  # noqa: F401

# isort: split
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from earlycall.core.models import Biased, Correlated, Full, Unbiased
from earlycall.core.settings import Settings, settings_of
from earlycall.errors import SettingError
from earlycall.sim.compiled import EPSILON, EXACT, Races, many
from earlycall.sim.limit import TIED, floor
from earlycall.sim.worlds import World

LONG = 1000  # times the floor of full feedback: a race that is not over by then counts as undecided
MOST_STEPS = 10_000_000  # nor is one looked at any longer than this


@dataclass(frozen=True, slots=True)
class Forecast:
    """What many races in one world came to. Times are in steps; quantiles are (10 %, 50 %, 90 %), None: undecided."""

    name: str
    races: int
    undecided: int  # out of pulls or of patience
    wrong: int
    steps: tuple[float | None, float | None, float | None]
    pulls: tuple[float, float, float]
    cuts: tuple[float, float, float]
    doubt: float  # half the width of a 95 % interval for the median time, relative to it; inf: not known
    floor: float | None  # the least mean time of any method; None where none is known
    all_steps: tuple[int, ...]  # of the races that were decided, sorted: for pictures


def plan(
    settings: Settings,
    world: World,
    races: int,
    seed: int,
    told: Callable[[str, int], object] = lambda name, done: None,
) -> list[Forecast]:
    """The forecast as things are, and for each thing that could be changed."""
    return [
        forecast(name, changed, there, races, seed, partial(told, name))
        for name, changed, there in choices(settings, world)
    ]


def choices(settings: Settings, world: World) -> list[tuple[str, Settings, World]]:
    """(name, settings, world) of all that is looked at."""
    found = [("as planned", settings, world)]
    knows = settings.delays == "informative"
    safe = settings.blocks is not None or isinstance(settings.feedback, Full) or settings.feedback.sigma is None
    delays = settings.delays if safe or knows else "independent"
    for slots in (settings.parallel + 1, 2 * settings.parallel):
        name = "one more slot" if slots == settings.parallel + 1 else "twice the slots"
        wider = (
            None
            if settings.per_arm is None
            else max(settings.per_arm, math.ceil(settings.per_arm * slots / settings.parallel))
        )
        if name not in [known for known, _, _ in found]:
            found.append((name, replace(settings, parallel=slots, per_arm=wider, delays=delays), world))
    if isinstance(settings.feedback, Unbiased | Biased | Correlated):
        if settings.setup is None and settings.method == "evidence" and settings.looks == "every" and not knows:
            long = replace(settings.feedback, steps=settings.feedback.steps or world.steps)
            found.append(
                ("cutting (setup = 0)", replace(settings, feedback=long, setup=0, delays="independent"), world)
            )
        if not isinstance(settings.feedback, Correlated):
            better = replace(world, reading_sd=halved(world.reading_sd))
            feedback = replace(settings.feedback, reading_sd=better.reading_sd)
            found.append(("readings half as noisy", replace(settings, feedback=feedback), better))
        silent = replace(settings, feedback=Full(settings.feedback.sigma), setup=None, looks="every", min_delay=None)
        found.append(("no readings at all", silent, world))
    return found


def halved(reading_sd: Any) -> Any:
    """Half of every sd."""
    return {step: sd / 2.0 for step, sd in reading_sd.items()} if isinstance(reading_sd, dict) else reading_sd / 2.0


def forecast(
    name: str, settings: Settings, world: World, races: int, seed: int, told: Callable[[int], object]
) -> Forecast:
    """Race many times and sum up."""
    tied = sorted(world.means)[-world.k] == sorted(world.means)[-world.k - 1]
    if tied and settings.epsilon <= 0.0 and settings.max_pulls is None:
        raise SettingError(TIED)
    found = many(settings, world, races, seed, limit=patience(settings, world), told=told)
    over = (found.outcome == EXACT) | (found.outcome == EPSILON)
    return Forecast(
        name=name,
        races=races,
        undecided=int(np.sum(~over)),
        wrong=int(found.wrong.sum()),
        steps=times(found, over),
        pulls=quantiles(found.pulls),
        cuts=quantiles(found.cuts),
        doubt=doubt(found, over),
        floor=least(settings, world),
        all_steps=tuple(sorted(int(steps) for steps in found.steps[over])),
    )


def least(settings: Settings, world: World) -> float | None:
    """The floor, where one is known for these settings and this method keeps to them."""
    if settings.radius == "as-printed" or settings.ledger == "as-printed":
        return None
    try:
        return floor(settings, world).steps
    except SettingError:
        return None


def patience(settings: Settings, world: World) -> int:
    """For how many steps a race is looked at: far beyond what racing without readings needs."""
    plain = replace(world, noise="none", delay_is_reward=False, block_sd=0.0)
    full = settings_of({"k": settings.k, "delta": 0.05, "feedback": plain.feedback(), "delays": "independent"})
    full = replace(full, parallel=settings.parallel, per_arm=settings.per_arm)
    rounds = float(world.steps * len(world.means))
    return math.ceil(min(LONG * max(rounds, least(full, plain) or rounds), MOST_STEPS))


def doubt(found: Races, over: Any) -> float:
    """How well so many races tell the median time: by the ranks that a fair coin's count stays between."""
    steps = np.sort(np.where(over, found.steps.astype(float), np.inf))
    half = math.sqrt(len(steps))  # two sds of a fair coin's count
    low, high = (steps[int(np.clip(0.5 * len(steps) + side * half, 0, len(steps) - 1))] for side in (-1, 1))
    return float((high - low) / (2.0 * np.median(steps))) if high < math.inf else math.inf


def quantiles(values: Any) -> tuple[float, float, float]:
    """The values that 10, 50 and 90 % of all do not exceed."""
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9), method="inverted_cdf")
    return float(low), float(middle), float(high)


def times(found: Races, over: Any) -> tuple[float | None, float | None, float | None]:
    """The same for the times; None where the race was not decided."""
    steps = np.where(over, found.steps.astype(float), np.inf)
    low, middle, high = (value if value < math.inf else None for value in quantiles(steps))
    return low, middle, high
