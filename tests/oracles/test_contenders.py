"""allocation="contenders" against the rule written down the slow way, and in races whose outcome is plain to see."""

import math
import random
from typing import Any

import pytest

import earlycall as ec
from earlycall.core.contenders import MOST_PAIRS
from earlycall.core.race import next_start
from earlycall.core.settings import settings_of
from earlycall.core.state import State
from earlycall.core.tables import ACTIVE, MEAN, PLANNED, PROMISE, SPREAD, STATUS, SURVIVING, TAKEN, TAU
from earlycall.sim.limit import floor
from earlycall.sim.worlds import World
from tests.play import FEEDBACKS, Player, open_quietly

# The readings made here are odd, and suspected.
pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")


def evidence(state: State, i: int, j: int, more: dict[int, float]) -> float:
    """Z of a pair, once the running pulls have brought what they will and `more` has come on top."""
    spread = 0.0
    for arm in (i, j):
        row = state.tables.armf[arm]
        known = row[PROMISE] + more.get(arm, 0.0)
        spread += 1.0 / (known**2 / (known + row[TAU]))
    return (state.tables.armf[i][MEAN] - state.tables.armf[j][MEAN]) ** 2 / (2.0 * spread)


def scores(state: State) -> dict[int, float]:
    """How fast a pull of each arm that may start brings the doubt down, all pairs counted, by differences."""
    rules, t = state.rules, state.tables
    alive = [i for i, arm in enumerate(t.arms) if arm[STATUS] == SURVIVING]
    order = sorted(alive, key=lambda i: (-t.armf[i][MEAN], i))
    places = rules.k - t.race[TAKEN]
    pairs = [(i, j) for i in order[:places] for j in order[places:]]
    found = {}
    for arm in alive:
        step = 1e-4 * t.armf[arm][PROMISE]
        found[arm] = 0.0
        for pair in pairs:
            now = evidence(state, *pair, {})
            if arm in pair and now > 0.0:
                change = evidence(state, *pair, {arm: step}) - evidence(state, *pair, {arm: -step})
                found[arm] += math.exp(-now) * change / (2.0 * step) / now * t.armf[arm][PLANNED]
    return {arm: score for arm, score in found.items() if t.arms[arm][ACTIVE] < rules.per_arm}


def all_are_known(state: State) -> bool:
    """Whether something is known of every survivor."""
    t = state.tables
    return all(row[SPREAD] < math.inf for row, arm in zip(t.armf, t.arms, strict=True) if arm[STATUS] == SURVIVING)


@pytest.mark.parametrize("feedback", ["full", "incremental", "unbiased", "biased", "correlated"])
@pytest.mark.parametrize(("b", "r"), [(1, 1), (6, 2), (5, 5)])
@pytest.mark.parametrize("k", [1, 3])
def test_the_arm_that_starts_brings_the_doubt_down_fastest(feedback: str, b: int, r: int, k: int) -> None:
    """Seven arms, every choice of a race: nothing known, evenly; then the best by numerical differentiation."""
    arms = [f"arm {number}" for number in range(7)]
    options: dict[str, Any] = {"k": k, "delta": 1e-4, "parallel": b, "per_arm": r, "delays": "independent"}
    race = open_quietly(arms, feedback=FEEDBACKS[feedback], allocation="contenders", **options)
    means = {arm: 0.6 * place for place, arm in enumerate(arms)}
    player = Player(race, means, random.Random(100 * b + 10 * r + k))
    evenly = chosen = 0
    for _ in range(400):
        state = player.state
        while (index := next_start(state)) >= 0:
            if all_are_known(state):
                wanted = scores(state)
                assert wanted[index] >= max(wanted.values()) * (1.0 - 1e-5)
                chosen += 1
            else:
                startable = [
                    row[PROMISE]
                    for row, arm in zip(state.tables.armf, state.tables.arms, strict=True)
                    if arm[STATUS] == SURVIVING and arm[ACTIVE] < r
                ]
                assert state.tables.armf[index][PROMISE] == min(startable)
                evenly += 1
            player.ask(limit=1)
        player.round()
    assert evenly >= 7
    assert chosen > 60


def noiseless(means: list[float], k: int, pulls: int) -> list[int]:
    """How often each arm is started in so many pulls that each end with the mean of their arm, δ being tiny."""
    race = open_quietly(
        [str(number) for number in range(len(means))],
        k=k,
        delta=1e-290,
        feedback=ec.Full(1.0),
        delays="independent",
        allocation="contenders",
    )
    for _ in range(pulls):
        (pull,) = race.ask()
        race.tell(pull.id, means[int(pull.arm)])
    return [arm.started for arm in race.status().arms]


@pytest.mark.parametrize(("means", "k"), [([1.0] + 8 * [0.0], 1), ([0.0, 0.5, 1.0, 2.0, 2.7], 2), ([1.5, 1.0, 0.0], 1)])
def test_the_shares_become_the_best_ones(means: list[float], k: int) -> None:
    """Without noise every arm gets what sim/limit.py gives it, to one part in fifty of all pulls."""
    world = World("plain", tuple(means), k, 1.0, 1, noise="none")
    best = floor(settings_of({"k": k, "delta": 0.1, "feedback": world.feedback()}), world).shares
    pulls = 2000
    for started, share in zip(noiseless(means, k, pulls), best, strict=True):
        assert started / pulls == pytest.approx(share, abs=0.02)


def test_an_arm_with_a_bad_first_pull_is_looked_at_again() -> None:
    """The best arm starts badly, and all others are equal: their ties do not keep every pull to themselves."""
    race = open_quietly(
        list("abcdefgh"), k=1, delta=1e-6, feedback=ec.Full(1.0), delays="independent", allocation="contenders"
    )
    looked: list[int] = []  # the pulls of "h"
    while not race.decided:
        (pull,) = race.ask()
        if pull.arm == "h":
            looked.append(pull.id)
        race.tell(pull.id, 0.0 if pull.arm != "h" else 1.0 if looked[1:] else -2.5)
    assert looked[1] < 200
    assert race.top == ["h"]


def test_the_rule_that_counts_shares_gets_stuck() -> None:
    """The same start, by "of the weakest pair, the arm with less than its share": the best arm is left behind."""
    means, counts, credit = [0.0] * 7 + [-2.5], [1] * 8, [0.0] * 8
    for _ in range(5000):
        order = sorted(range(8), key=lambda arm: (-means[arm], arm))
        i, j = min(
            ((order[0], other) for other in order[1:]),
            key=lambda pair: (means[pair[0]] - means[pair[1]]) ** 2 / (1.0 / counts[pair[0]] + 1.0 / counts[pair[1]]),
        )
        credit[i] += counts[j] / (counts[i] + counts[j])
        credit[j] += counts[i] / (counts[i] + counts[j])
        arm = i if credit[i] >= credit[j] else j
        credit[arm] -= 1.0
        means[arm] += ((1.0 if arm == 7 else 0.0) - means[arm]) / (counts[arm] + 1)
        counts[arm] += 1
    assert counts[7] == 1


def test_with_too_many_pairs_arms_start_evenly() -> None:
    """So that `ask` stays quick: the same starts as with allocation="even"."""
    n, k = 210, 105
    assert k * (n - k) > MOST_PAIRS
    orders = []
    for allocation in ("even", "contenders"):
        race = open_quietly(
            [str(number) for number in range(n)],
            k=k,
            delta=0.05,
            feedback=ec.Full(1.0),
            allocation=allocation,
            delays="independent",
        )
        chance = random.Random(1)
        order = []
        for _ in range(3 * n):
            (pull,) = race.ask()
            order.append(pull.arm)
            race.tell(pull.id, chance.gauss(0.0, 1.0))
        orders.append(order)
    assert orders[0] == orders[1]


def test_slots_at_once_go_to_several_arms() -> None:
    """What running pulls will bring counts: eight slots do not all go to the pair that is weakest now."""
    race = open_quietly(
        list("abcd"), k=2, delta=1e-6, feedback=ec.Full(1.0), allocation="contenders", parallel=8, delays="independent"
    )
    for value in (0.0, 1.0, 1.2, 2.2):
        for pull in race.ask(limit=2):
            race.tell(pull.id, value)
    assert len({pull.arm for pull in race.ask()}) >= 3
