"""The harder truths in the table of errors: σ unknown, delays that know the reward, one look a pull, blocks.

Each line is a world, what is declared of it (which may be less, or more careful, than the truth), and what is promised.
The lines that promise nothing are the same races with an assumption too many: they are there to be seen failing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from earlycall.core.models import Biased, Feedback, Full, Incremental, Pilot, Unbiased
from earlycall.core.settings import Settings, settings_of
from earlycall.sim.worlds import NAMED, World, bounded, free
from paper.methods import DELTA, PARALLEL

CROWD: dict[str, Any] = {"parallel": 50, "per_arm": 50}
MEASURED = Pilot(10)


@dataclass(frozen=True)
class Truth:
    """A world, what is declared of it, and what the declaration leaves out ("": nothing)."""

    world: World
    name: str
    declare: Callable[[World], Feedback]
    options: dict[str, Any]
    races: int
    breaks: str = ""
    limit: int = 1_000_000

    @property
    def settings(self) -> Settings:
        """The settings of the race."""
        return settings_of(
            {"k": self.world.k, "delta": DELTA, "feedback": self.declare(self.world), **PARALLEL, **self.options}
        )


def sd(world: World) -> float:
    """The sd of all arms."""
    assert isinstance(world.sigma, float)
    return world.sigma


def truths(small: int, large: int) -> Iterator[Truth]:
    """All lines: `small` races each where they are quick, `large` where they take long."""
    free_delays = {"delays": "independent"}
    once = {**free_delays, "looks": "once"}
    for world in (bounded(10), free(10)):
        yield Truth(world, "σ unknown", lambda w: Full(None), {}, small)
        yield Truth(world, "pilot of 10, full", lambda w: Full(MEASURED), free_delays, small)
        yield Truth(world, "pilot of 10, partial, once", lambda w: Unbiased(MEASURED, None), once, small)
        yield Truth(world, "informative, full", lambda w: Full(sd(w)), {}, small)
    yield Truth(NAMED["increments"](10), "σ unknown", lambda w: Incremental(None, w.steps), free_delays, small)
    unequal = replace(free(10), name="free, n = 10, unequal sds", sigma=tuple(0.2 + 0.1 * i for i in range(10)))
    yield Truth(unequal, "σ unknown", lambda w: Full(None), {}, small)
    blocks = replace(free(10), name="free, n = 10, blocks of sd 5", block_sd=5.0, noise="none")
    yield Truth(blocks, "blocks, σ unknown", lambda w: Full(None), {"blocks": "endless"}, small)
    yield Truth(blocks, "blocks, σ known", lambda w: Full(sd(w)), {"blocks": "endless"}, small)
    yield from delays_that_know(large)
    yield from sds_that_are_wrong(small)


def delays_that_know(races: int) -> Iterator[Truth]:
    """Delay = reward, with 50 slots."""
    noisy = NAMED["delay-is-reward"](3)
    good = replace(noisy, name="delay = reward, s = σ", reading_sd=1.0)
    biased = replace(good, name="delay = reward, s = σ, biased", bias=0.5)
    early = {**CROWD, "delays": "informative", "min_delay": 5}
    yield Truth(noisy, "informative, full", lambda w: Full(sd(w)), CROWD, races)
    yield Truth(noisy, "independent, full", lambda w: Full(sd(w)), {**CROWD, "delays": "independent"}, races, DELAYS)
    for world in (noisy, good):
        yield Truth(world, "informative, partial", lambda w: Unbiased(sd(w), w.reading_sd, steps=50), early, races)
    cut = {**early, "setup": 0}
    yield Truth(good, "informative, cutting", lambda w: Unbiased(sd(w), w.reading_sd, steps=50), cut, races)
    yield Truth(biased, "informative, partial", lambda w: Biased(sd(w), w.reading_sd), early, races)


DELAYS = "delays are not independent"
NOT_EXACT = "the sd is not exact"


def sds_that_are_wrong(races: int) -> Iterator[Truth]:
    """Sds declared too large, errors that are not what `pooling` says."""
    loose = replace(bounded(10), name="bounded, n = 10, s declared 3 times too large", reading_sd=0.01)
    once = {"delays": "independent", "looks": "once"}
    every = {"delays": "independent"}
    for name, options, breaks in (("every look", every, NOT_EXACT), ("once", once, "")):
        declared = lambda w: Unbiased(sd(w), 0.03, steps=w.steps)  # noqa: E731
        yield Truth(loose, f"{name}, cutting", declared, {**options, "setup": 0}, races, breaks)
    shared = NAMED["common"](3)
    spread = (3.0**2 + 0.5**2) ** 0.5
    careful = lambda w: Unbiased(sd(w), spread, "refining", steps=w.steps)  # noqa: E731
    yield Truth(shared, "once, refining", careful, once, races)
