"""Races in start order against the same race written down a second time (order.py)."""

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

import earlycall as ec
from earlycall.core.facts import Accepted, Lost, Read, Rejected, Told
from earlycall.core.race import apply, check, decide
from earlycall.core.tables import STEP
from tests.oracles import order, paper
from tests.play import open_quietly, starts

SHORTEST, LONGEST = 2, 6  # steps of a pull: the more the better it is
DECLARED: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {  # (feedback, options, what the oracle is told)
    "full": (ec.Full(1.0), {"delays": "informative"}, {}),
    "unbiased, no early step": (ec.Unbiased(1.0, 0.5), {"delays": "informative"}, {"reading_sd": 0.5}),
    "unbiased": (
        ec.Unbiased(1.0, 0.5),
        {"delays": "informative", "min_delay": SHORTEST},
        {"reading_sd": 0.5, "min_delay": SHORTEST},
    ),
    "refining": (
        ec.Unbiased(1.0, 0.5, "refining"),
        {"delays": "informative", "min_delay": SHORTEST},
        {"reading_sd": 0.5, "min_delay": SHORTEST, "refining": True},
    ),
    "biased": (
        ec.Biased(1.0, 0.5, bias_scale=2.0),
        {"delays": "informative", "min_delay": SHORTEST},
        {"reading_sd": 0.5, "min_delay": SHORTEST, "bias_scale": 2.0},
    ),
    "unknown sigma": (ec.Full(None), {}, {"meets": "student"}),
    "blocks": (ec.Full(None), {"blocks": "endless"}, {"meets": "blocks"}),
}


def late_is_good(seed: int, n: int, gap: float, lost: float, offset: float) -> paper.World:
    """Arms `gap` apart in a shuffled order; a pull lasts the longer the better it is, and some are lost on the way."""
    chance = random.Random(seed)
    means = [gap * place for place in range(n)]
    chance.shuffle(means)
    drawn: dict[tuple[int, int], list[float]] = {}

    def world(arm: int, ordinal: int) -> Sequence[float]:
        if (arm, ordinal) not in drawn:
            draw = random.Random(f"{seed}/{arm}/{ordinal}")
            error = draw.gauss(0.0, 1.0)
            steps = min(max(round(4.0 + 2.0 * error), SHORTEST), LONGEST)
            x = means[arm] + error
            course = [draw.gauss(x + offset, 0.5) for _ in range(steps - 1)] + [x]
            if draw.random() < lost:
                at = draw.randrange(steps)
                course = [*course[:at], order.LOST]
            drawn[arm, ordinal] = course
        return drawn[arm, ordinal]

    return world


def by_race(world: paper.World, n: int, most_steps: int, **options: Any) -> paper.Outcome | None:
    """The same run by earlycall: every running pull moves one step, then one turn."""
    race = open_quietly([str(arm) for arm in range(n)], **options)
    state, rest, count, out = race._state, {}, [0] * n, paper.Outcome(set(), 0, [], [])
    while not race.decided:
        for pull in race.ask():
            count[int(pull.arm)] += 1
            rest[pull.id] = list(world(int(pull.arm), count[int(pull.arm)]))
        if out.time == most_steps:
            return None
        out.time += 1
        for pull in race.running:
            value = rest[pull.id].pop(0)
            step = state.tables.pulls[pull.id - 1][STEP] + 1
            if math.isnan(value):
                apply(state, Lost(pull.id, "the channel tripped"))
            else:
                apply(state, Read(pull.id, step, value) if rest[pull.id] else Told(pull.id, value, step))
        for decision in decide(state):
            apply(state, decision)
            if isinstance(decision, Accepted | Rejected):
                word = "accept" if isinstance(decision, Accepted) else "reject"
                out.verdicts.append((out.time, word, int(decision.arm)))
        assert not check(state)
    out.accepted = {int(arm) for arm in race.top}
    out.pulls = [int(arm) for arm in starts(race.facts)]
    return out


@pytest.mark.parametrize("kind", DECLARED)
@pytest.mark.parametrize(("b", "r"), [(4, 2), (6, 6), (1, 1)])
@pytest.mark.parametrize("lost", [0.0, 0.2])
def test_a_race_in_order_is_what_the_formulas_say(kind: str, b: int, r: int, lost: float) -> None:
    """Same arms pulled in the same order, same verdicts in the same step, where delays know the reward."""
    feedback, options, told = DECLARED[kind]
    decided = 0
    for seed in range(3):
        n, k = (4, 2) if seed % 2 else (3, 1)
        world = late_is_good(100 * b + seed, n, 2.0, lost, 0.8 if kind == "biased" else 0.0)
        plan = order.Plan(n, k, 0.1, per_arm=r, **told)
        most = 120 if b > 1 else 240
        expected = order.race(plan, world, b, most)
        shape: dict[str, Any] = {"k": k, "delta": 0.1, "parallel": b, "per_arm": r}
        seen = by_race(world, n, most, feedback=feedback, **shape, **options)
        assert (expected is None) == (seen is None)
        if expected is not None and seen is not None:
            decided += 1
            assert seen.time == expected.time
            assert seen.pulls == expected.pulls
            assert sorted(seen.verdicts) == sorted(expected.verdicts)
            assert seen.accepted == expected.accepted
    assert decided > 0
