"""A lithium-ion cell that is charged fast, over and over, until it has lost a fifth of its capacity.

A first model, with the standard library alone. Two things age the cell, cycle by cycle:

* a layer that grows on the anode: with the root of the number of cycles, and faster in the heat that currents make;
* lithium that plates instead of going in: with the current, and steeply so the fuller the cell is. What is lost makes
  the same current a higher one for what is left, and what has plated clogs the anode. So plating feeds itself: the
  knee in the curve.

The cells of one policy age alike but not equally fast: each has a pace of its own, such that lives are Gaussian. Its
sizes come from public figures of fast-charged cells: lives of 570 to 1210 cycles, cells of one policy that differ by
an sd of 110 to 126, and forecasts after 100 cycles with errors of sd 105 around a bias of 80 to 255, another for each
policy. It is not fitted to any cell, and no battery should be charged by it.
"""

import math
import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from earlycall.run.handle import Pull
from earlycall.run.objective import Reading

LIFE_SD = 118.0  # of the cells of one policy, in cycles
FORECAST_SD = 105.0  # of the error of a forecast, around the bias of its policy
BIAS = (80.0, 255.0)  # forecasts are too high by something in between
FORECAST_AT = 100  # cycles
LEAST_LIFE = 150  # no cell dies before
END = 0.8  # capacity at which a cell has come to its end

FIRST_STEPS = (4.9, 5.2, 5.6, 6.0, 6.4, 6.8, 7.4, 8.0)  # C
UNTIL = (0.2, 0.3, 0.4, 0.5, 0.6)
CHARGED, MINUTES = 0.8, 10.0  # every policy charges to here in this time
SLICES = 200  # of the second step, to add up plating
LAYER = 0.0038  # capacity lost by the first cycle, at no heat
WARMTH = 0.085  # how much faster the layer grows for each unit of heat
COOL = 23.0  # heat of an even charge, in C²
CLOGGING = 7.0  # what plated takes this much of the anode away from the current
OPEN = 0.3  # of the anode stays open to the current, whatever happens
PLATING = 1.7e-5  # capacity lost a cycle, at a current of 4C in a cell half full
CURRENT, FULLNESS = 0.5, 2.8  # how steeply plating grows with both


class Policy(NamedTuple):
    """Charge at `first` C up to the share `until` of the capacity, then at `second` C up to 80 %."""

    first: float
    until: float
    second: float

    def __str__(self) -> str:
        return f"{self.first:.1f}C({self.until:.0%})-{self.second:.1f}C"


def in_ten_minutes(first: float, until: float) -> Policy:
    """The policy whose second step makes it ten minutes in all."""
    left = MINUTES / 60.0 - until / first
    return Policy(first, until, round((CHARGED - until) / left, 2))


def fades(policy: Policy, pace: float = 1.0) -> Iterator[float]:
    """The share of its capacity that a cell has after each cycle; `pace` 2: it ages twice as fast. Without an end."""
    layer = LAYER * math.exp(WARMTH * (heat(policy) - COOL))
    slices = full_slices(policy)
    lost = age = plated = 0.0
    while True:
        age += pace
        current = policy.second / max(1.0 - lost - CLOGGING * plated, OPEN)
        plated += pace * sum(PLATING * math.exp(CURRENT * (current - 4.0) + steep) for steep in slices) / SLICES
        lost = min(layer * math.sqrt(age) + plated, 0.9)
        yield 1.0 - lost


def heat(policy: Policy) -> float:
    """What warms the cell: the square of the current, on average over the charge, in C²."""
    second = CHARGED - policy.until
    time = policy.until / policy.first + second / policy.second
    return (policy.first * policy.until + policy.second * second) / time


def full_slices(policy: Policy) -> list[float]:
    """How much steeper plating is in each slice of the second step, as an exponent."""
    width = (CHARGED - policy.until) / SLICES
    return [FULLNESS * (policy.until + width * (number + 0.5) - 0.5) for number in range(SLICES)]


@cache
def typical_life(policy: Policy) -> int:
    """How many cycles a cell of middling pace lasts: the mean of its policy."""
    return next(cycle for cycle, capacity in enumerate(fades(policy), 1) if capacity <= END)


class Cell:
    """One cell of a policy; another seed is another cell."""

    def __init__(self, policy: Policy, seed: int | str) -> None:
        chance = random.Random(f"cell/{seed}")
        typical = typical_life(policy)
        life = max(LEAST_LIFE, chance.gauss(typical, LIFE_SD))
        self.policy = policy
        self.pace = typical / life
        self.error = chance.gauss(bias_of(policy), FORECAST_SD)
        self._expected = life

    def cycles(self) -> Iterator[float]:
        """The capacity after each cycle, up to the last, in which it comes to 80 %."""
        for capacity in fades(self.policy, self.pace):
            yield capacity
            if capacity <= END:
                return

    def forecast(self) -> float:
        """What its first 100 cycles seem to say about its life."""
        return self._expected + self.error


def bias_of(policy: Policy) -> float:
    """By how much forecasts are too high for this policy: whoever made them had learned from others."""
    return random.Random(f"bias/{policy}").uniform(*BIAS)


def cycled(policy: Policy, pull: Pull) -> Iterator[Reading]:
    """An objective to race with: one cell to its end. A forecast after 100 cycles, then its life in cycles."""
    cell = Cell(policy, pull.seed)
    cycle = 0
    for _ in cell.cycles():
        cycle += 1
        if cycle == FORECAST_AT:
            yield Reading(cell.forecast(), step=cycle)
    yield Reading(cycle, step=cycle, final=True)


def policies() -> list[Policy]:
    """Forty policies that charge in ten minutes."""
    return [in_ten_minutes(first, until) for first in FIRST_STEPS for until in UNTIL]
