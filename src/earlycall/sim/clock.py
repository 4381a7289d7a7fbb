"""Virtual time: a race in a world where waiting costs nothing, by the same facts and decisions as any live race.

Every running pull moves one step, arms come and go, then the race decides: one time step is one turn, as in Algorithms
1 to 4. What is drawn, and in which order, is what compiled.py draws, so both come to the same race in every bit.
"""

import earlycall.sim.extra  # noqa: F401

# isort: split
import math
from typing import Any

import numpy as np

from earlycall.core.facts import ArmAdded, ArmWithdrawn, Cancelled, Cut, Opened, Read, Started, Told
from earlycall.core.race import apply, decide, next_start, seed_of
from earlycall.core.settings import Settings
from earlycall.core.state import State, opened
from earlycall.core.tables import ARM, STARTED
from earlycall.sim.roster import own_sd
from earlycall.sim.worlds import AGE, DELAY, ENDED, GAINED, HIDDEN, READING, Law, World, begin, law_of, unfold


def race_live(settings: Settings, world: World, rng: np.random.Generator, limit: float = math.inf) -> tuple[State, int]:
    """(the race, its time steps) after it is decided, or after `limit` steps."""
    state = opened(Opened(world.starters, settings))
    law = law_of(world, settings)
    hidden: dict[int, list[float]] = {}  # of the pulls that hold a slot, in start order
    time = 0
    while True:
        start_pulls(state, law, hidden, rng)
        if time == limit or state.decided:
            return state, time
        time += 1
        for row in hidden:
            step(state, law, row, hidden[row], rng)
        come_and_go(state, world, time)
        for decision in decide(state):
            apply(state, decision)
            if isinstance(decision, Cancelled | Cut):
                hidden.pop(decision.pull - 1, None)
        hidden = {row: nature for row, nature in hidden.items() if state.stories[row].told is None}


def start_pulls(state: State, law: Law, hidden: dict[int, list[float]], rng: np.random.Generator) -> None:
    """Fill the free slots."""
    while (arm := next_start(state)) >= 0:
        row = len(state.stories)
        hidden[row] = [0.0] * HIDDEN
        begin(law, rng, hidden[row], arm, state.tables.arms[arm][STARTED] + 1)
        apply(state, Started(row + 1, state.labels[arm], seed_of(state.settings.seed, row + 1)))


def come_and_go(state: State, world: World, time: int) -> None:
    """The arms that join or leave at this step."""
    for at, arm, comes in world.changes:
        if at == time and comes:
            apply(state, ArmAdded(world.labels[arm], own_sd(world, state.settings, arm)))
        elif at == time:
            apply(state, ArmWithdrawn(world.labels[arm], ""))


def step(state: State, law: Law, row: int, nature: list[float], rng: Any) -> None:
    """A running pull takes one step: nothing to see, a reading, or its full feedback."""
    kind, value = unfold(law, rng, nature, state.tables.pulls[row][ARM])
    if kind == READING:
        of = int(nature[DELAY]) if law.noise == GAINED else None
        apply(state, Read(row + 1, int(nature[AGE]), state.sign * value, of=of))
    elif kind == ENDED:
        apply(state, Told(row + 1, state.sign * value, int(nature[AGE])))
