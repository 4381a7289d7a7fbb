"""Arms, delays and readings as laws of nature: a `World` is plain data, and a few functions say how it unfolds.

A pull of arm i lasts D steps and ends with X ~ N(μ_i, σ). At step t < D it shows a reading Y_t:

* independent: X + b_i + s_t·z, a new z every time (b_i: the arm's bias, 0 where readings are unbiased);
* refining: X + b_i + e_t where e_t is e_{t+1} plus independent noise and has sd s_t: in forward order a Markov chain,
  e_{t+1} = (v_{t+1}/v_t)·e_t + √(v_{t+1}(1 − v_{t+1}/v_t))·z with v = s²;
* common: X + b_i + c + s_t·z with one c ~ N(0, `common`) for all readings of a pull: what no pooling declares;
* surrogate: b_i + `slope`·X + s·z, drawn once at the first step and shown from then on;
* increments: N(μ_i/D, σ/√D) gained at every step, X their sum.

D is fixed, uniform on shortest … steps, or grows with X (`delay_is_reward`). Arms may join at a step (`arrivals`) or
leave at one (`departures`), in the turn of that step, unless the race is over by then. Everything is drawn in the order
in which pulls start and step, from one Generator: the same seed gives the same race, live and compiled.

The functions from `begin` on run compiled, on the `Law` a world comes down to.
"""

import earlycall.sim.extra  # noqa: F401

# isort: split
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from earlycall.core.checks import refusal
from earlycall.core.models import Biased, Correlated, Feedback, Full, Incremental, Unbiased
from earlycall.core.settings import Settings
from earlycall.errors import SettingError

SILENT, SEPARATE, REFINED, SHARED, GAINED, STANDING = 0, 1, 2, 3, 4, 5  # what readings are like
NOISES = {
    "none": SILENT,
    "independent": SEPARATE,
    "refining": REFINED,
    "common": SHARED,
    "increments": GAINED,
    "surrogate": STANDING,
}

# Columns of the hidden table, one row per pull: what nature knows and the race does not.
FINAL = 0  # X; for increments what was gained so far
DELAY = 1  # D
ERROR = 2  # e_t of the last reading, or c, or a surrogate's own error
AGE = 3  # steps so far; below 0 while it is being set up
HIDDEN = 4

NOTHING, READING, ENDED = 0, 1, 2  # what a step brings

# Columns of the changes, one row for each arm that joins or leaves.
AT = 0  # the step
WHO = 1  # the arm
COMES = 2  # 1: it joins, 0: it leaves


@dataclass(frozen=True, slots=True)
class World:
    """A world as a person writes it down. Steps and delays are whole numbers, rewards grow from worse to better."""

    name: str
    means: tuple[float, ...]
    k: int
    sigma: float | tuple[float, ...]  # sd of X, one for all arms or one for each
    steps: int  # the length of a pull; the longest where they differ
    noise: str = "independent"  # none, independent, refining, common, increments or surrogate
    reading_sd: float | Mapping[int, float] = math.inf  # or {from_step: sd}
    bias: float | tuple[float, ...] = 0.0  # of the readings, one for all arms or one for each
    common: float = 0.0  # sd of the error that all readings of a pull share (noise "common")
    slope: float = 1.0  # of a surrogate on X
    shortest: int | None = None  # D is uniform on shortest … steps
    block_sd: float = 0.0  # of what the m-th pull of every arm has in common, beside sigma
    delay_is_reward: bool = False  # D grows with X from shortest to steps
    arrivals: Mapping[int, int] = field(default_factory=dict)  # {arm: step}: the last arms, in order
    departures: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sds = list(self.reading_sd.values()) if isinstance(self.reading_sd, Mapping) else [self.reading_sd]
        if self.noise not in NOISES:
            raise SettingError(refusal("noise", self.noise, " or ".join(map(repr, NOISES))))
        if self.noise == "refining" and sds != sorted(sds, reverse=True):
            raise SettingError(refusal("reading_sd", self.reading_sd, "sds that do not grow when noise is 'refining'"))
        if self.delay_is_reward and (
            self.shortest is None or self.shortest >= self.steps or self.noise == "increments"
        ):
            remedy = "The reward of increments is not known when a pull starts."
            raise SettingError(
                refusal("delay_is_reward", True, "shortest below steps, and another noise than 'increments'", remedy)
            )

        check_changes(self)

    @property
    def best(self) -> frozenset[int]:
        """The k best arms, when all have come that will and all have left that will."""
        order = sorted(set(range(len(self.means))) - set(self.departures), key=lambda i: (-self.means[i], i))
        return frozenset(order[: self.k])

    @property
    def sigmas(self) -> tuple[float, ...]:
        """The sd of X, arm by arm."""
        return self.sigma if isinstance(self.sigma, tuple) else (self.sigma,) * len(self.means)

    def feedback(self) -> Feedback:
        """The honest declaration of this world's feedback ("common" has none: it is declared independent)."""
        starts = len(self.starters)
        sigma = (
            self.sigma if isinstance(self.sigma, float) else dict(zip(self.starters, self.sigmas[:starts], strict=True))
        )
        if self.noise == "none":
            return Full(sigma)
        if self.noise == "increments":
            return Incremental(sigma, self.steps)
        if self.noise == "surrogate" and isinstance(self.sigma, float) and isinstance(self.reading_sd, float):
            surrogate_sd = math.hypot(self.slope * self.sigma, self.reading_sd)
            return Correlated(sigma, surrogate_sd, self.slope * self.sigma / surrogate_sd, steps=self.steps)
        pooling = "refining" if self.noise == "refining" else "independent"
        if self.bias == 0.0:
            return Unbiased(sigma, self.reading_sd, pooling, self.steps)
        return Biased(sigma, self.reading_sd, pooling, steps=self.steps)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the arms are called in simulated races: their numbers."""
        return tuple(map(str, range(len(self.means))))

    @property
    def starters(self) -> tuple[str, ...]:
        """The labels of the arms that are there from the start."""
        return self.labels[: len(self.means) - len(self.arrivals)]

    @property
    def changes(self) -> list[tuple[int, int, int]]:
        """(step, arm, 1: it joins or 0: it leaves), in order; at one step arms join before others leave."""
        come = [(step, arm, 1) for arm, step in self.arrivals.items()]
        go = [(step, arm, 0) for arm, step in self.departures.items()]
        return sorted(come + go, key=lambda change: (change[AT], -change[COMES], change[WHO]))


def check_changes(world: World) -> None:
    """Refuse arms that come in an order that is not that of the arms, or leave too few behind."""
    n = len(world.means)
    if any(step < 1 for step, _, _ in world.changes):
        raise SettingError(refusal("arrivals or departures", world.changes, "steps from 1 on"))
    if [arm for _, arm, comes in world.changes if comes] != list(range(n - len(world.arrivals), n)):
        remedy = "The last arms are the ones that join, and in their order."
        raise SettingError(refusal("arrivals", world.arrivals, "{arm: step} of the last arms, in order", remedy))
    there = set(range(n - len(world.arrivals)))
    for _, arm, comes in world.changes:
        if not comes and (arm not in there or len(there) <= world.k):
            raise SettingError(refusal("departures", world.departures, "arms that are there, and k that remain"))
        there ^= {arm}


class Law(NamedTuple):
    """A world in numbers, for the functions below."""

    means: Any  # arrays of floats, one entry per arm
    biases: Any
    sigmas: Any
    noise: int
    sds: Any  # rows [from_step, sd]
    common: float
    slope: float
    block_sd: float
    shortest: int
    steps: int
    worst: float  # delay = reward: the X that takes `shortest` steps
    per_step: float  # X per further step; 0: the delay does not look at X
    setup: int  # steps that a pull holds its slot before its first
    changes: Any  # rows [AT, WHO, COMES], in order


def law_of(world: World, settings: Settings) -> Law:
    """The numbers of a world for a race; one that declared `Full` hears nothing of its readings."""
    if isinstance(settings.feedback, Full):
        world = replace(world, noise="none")
    if world.changes and (settings.reserve is None or settings.reserve < len(world.arrivals)):
        remedy = "Arms come and go in this world."
        raise SettingError(refusal("reserve", settings.reserve, f"{len(world.arrivals)} or more", remedy))
    curve = world.reading_sd if isinstance(world.reading_sd, Mapping) else {1: world.reading_sd}
    shortest = world.steps if world.shortest is None else world.shortest
    widest = 3.0 * max(world.sigmas)
    worst, top = min(world.means) - widest, max(world.means) + widest
    return Law(
        means=np.array(world.means, dtype=float),
        biases=np.broadcast_to(np.array(world.bias, dtype=float), len(world.means)).copy(),
        sigmas=np.array(world.sigmas, dtype=float),
        noise=NOISES[world.noise],
        sds=np.array([[float(step), float(curve[step])] for step in sorted(curve)]),
        common=float(world.common),
        slope=float(world.slope),
        block_sd=float(world.block_sd),
        shortest=shortest,
        steps=world.steps,
        worst=worst,
        per_step=(top - worst) / (world.steps - shortest) if world.delay_is_reward else 0.0,
        setup=math.ceil(settings.setup or 0.0),
        changes=np.array(world.changes, dtype=np.int64).reshape(-1, 3),
    )


# The paper's synthetic settings (THEORY §1.4; k = 0.2n) --------------------------------------------------------------


def bounded(n: int, bias: float = 0.0) -> World:
    """Means μ_i = 5 − (i/n)^0.6, i = 0 … n−1; σ = s = 0.03, D = 50."""
    means = tuple(5.0 - (i / n) ** 0.6 for i in range(n))
    return World(f"bounded, n = {n}", means, n // 5, 0.03, 50, reading_sd=0.03, bias=bias)


def free(n: int, steps: int = 100, bias: float = 0.0) -> World:
    """Means μ_i = 2n − i; σ = 0.5, s = 0.25, D = 100."""
    means = tuple(2.0 * n - i for i in range(n))
    return World(f"free, n = {n}, D = {steps}", means, n // 5, 0.5, steps, reading_sd=0.25, bias=bias)


# Their relatives, by the names of `earlycall plan --world`; each takes the number of arms ---------------------------

CURVE = {1: 0.12, 10: 0.06, 25: 0.03, 40: 0.015}  # a forecast that gets better, in the bounded world


def near(n: int) -> World:
    """Ten steps, σ = 1, the best arm half a σ above the others."""
    return World("near", (0.5, *[0.0] * (n - 1)), 1, 1.0, 10, reading_sd=1.0)


NAMED: dict[str, Callable[[int], World]] = {
    "bounded": bounded,
    "free": free,
    "biased": lambda n: replace(bounded(n, bias=0.03), name="biased"),
    "random-delays": lambda n: replace(bounded(n), name="random delays", shortest=10),
    "increments": lambda n: replace(bounded(n), name="increments", shortest=10, noise="increments"),
    "refining": lambda n: replace(bounded(n), name="refining", noise="refining", reading_sd=CURVE),
    "refining-biased": lambda n: replace(NAMED["refining"](n), name="refining, biased", bias=0.03),
    "surrogate": lambda n: replace(
        bounded(n), name="surrogate", noise="surrogate", slope=0.5, reading_sd=0.02, bias=7.0
    ),
    "tied": lambda n: replace(near(n), name="two best arms tied", means=(1.0, 1.0, *[0.0] * (n - 2))),
    "delay-is-reward": lambda n: replace(
        near(n), name="delay = reward", steps=50, reading_sd=10.0, shortest=5, delay_is_reward=True
    ),
    "common": lambda n: replace(
        near(n), name="errors shared by a pull", steps=50, noise="common", reading_sd=0.5, common=3.0
    ),
}


# How it unfolds ------------------------------------------------------------------------------------------------------


def begin(law: Law, rng: Any, row: Any, arm: int, block: int) -> None:
    """A pull of an arm starts, its `block`-th: X and D are settled, and nobody knows them."""
    x = rng.normal(law.means[arm], law.sigmas[arm])
    if law.block_sd > 0.0:  # the same for every arm; any numbers will do, and these scatter
        x += law.block_sd * math.sqrt(2.0) * math.cos(2.4 * block)
    row[FINAL] = x
    row[ERROR] = 0.0
    row[AGE] = -float(law.setup)
    if law.per_step > 0.0:
        longer = math.floor((x - law.worst) / law.per_step + 0.5)
        row[DELAY] = min(max(law.shortest + longer, law.shortest), law.steps)
    elif law.shortest < law.steps:
        row[DELAY] = float(rng.integers(law.shortest, law.steps + 1))
    else:
        row[DELAY] = float(law.steps)
    if law.noise == SHARED:
        row[ERROR] = rng.normal(0.0, law.common)
    elif law.noise == GAINED:
        row[FINAL] = 0.0
    elif law.noise == STANDING:
        row[ERROR] = rng.normal(law.biases[arm], sd_at(law, 1))


def sd_at(law: Law, step: int) -> float:
    """The sd of a reading's own error at a step."""
    sd = law.sds[0, 1]
    for m in range(1, len(law.sds)):
        if law.sds[m, 0] <= step:
            sd = law.sds[m, 1]
    return float(sd)


def unfold(law: Law, rng: Any, row: Any, arm: int) -> tuple[int, float]:
    """A pull of an arm goes one step further: (NOTHING, READING or ENDED, the value it shows)."""
    row[AGE] += 1.0
    step = int(row[AGE])
    if step < 1:
        return NOTHING, 0.0
    if law.noise == GAINED:
        gained = rng.normal(law.means[arm] / row[DELAY], law.sigmas[arm] / math.sqrt(row[DELAY]))
        row[FINAL] += gained
        return (READING, gained) if step < row[DELAY] else (ENDED, row[FINAL])
    if step >= row[DELAY]:
        return ENDED, row[FINAL]
    if law.noise == SILENT:
        return NOTHING, 0.0
    return READING, shown(law, rng, row, arm, step)


def shown(law: Law, rng: Any, row: Any, arm: int, step: int) -> float:
    """The reading of a pull at a step before its last."""
    if law.noise == STANDING:
        return float(law.slope * row[FINAL] + row[ERROR])
    sd = sd_at(law, step)
    if law.noise == REFINED:
        kept = 0.0 if step == 1 else (sd / sd_at(law, step - 1)) ** 2
        row[ERROR] = kept * row[ERROR] + sd * math.sqrt(1.0 - kept) * rng.normal(0.0, 1.0)
        return float(row[FINAL] + law.biases[arm] + row[ERROR])
    return float(rng.normal(row[FINAL] + law.biases[arm] + row[ERROR], sd))


FUNCTIONS = (begin, sd_at, shown, unfold)
