"""Arms that join a simulated race or leave it, by the script of its world; compiled like the rest of the race."""

from collections.abc import Mapping
from typing import Any

from earlycall.core.arrivals import add, withdraw
from earlycall.core.rules import ArmNumbers, arm_numbers
from earlycall.core.settings import Settings
from earlycall.core.tables import ABSENT, ACCEPTED, JUDGED, LEADER, REJECTED, Rules, Tables
from earlycall.sim.worlds import AT, COMES, WHO, Law, World

# The clock's cells: steps so far, running pulls, steps at which an interval missed, arms that came or left, verdicts
# that were wrong when one did.
TIME, HELD, MISSES, CHANGED, SLIPS = 0, 1, 2, 3, 4
CLOCK = 5


def own_sd(world: World, settings: Settings, arm: int) -> float | None:
    """The sd that a newcomer brings with it; None where the race has one for all arms."""
    return world.sigmas[arm] if isinstance(settings.feedback.sigma, Mapping) else None


def newcomers(world: World, settings: Settings, level: float) -> ArmNumbers:
    """What is declared about the arms that will join, in order."""
    declared = settings.feedback.sigma
    late = world.sigmas[len(world.starters) :]
    return arm_numbers([declared if isinstance(declared, float) else sd for sd in late], settings, level)


def come_and_go(rules: Rules, law: Law, t: Tables, clock: Any) -> None:
    """The arms that join or leave at this step; the verdicts that stood until then are looked at a last time."""
    while clock[CHANGED] < len(law.changes) and law.changes[clock[CHANGED], AT] == clock[TIME]:
        change = law.changes[clock[CHANGED]]
        clock[CHANGED] += 1
        clock[SLIPS] += slips(rules, law, t)
        if change[COMES] == 1:
            add(rules, t, change[WHO])
        else:
            withdraw(t, change[WHO])


def slips(rules: Rules, law: Law, t: Tables) -> int:
    """How many verdicts are wrong among the arms that are in the race now; ties may be judged either way."""
    wrong = 0
    for i in range(len(law.means)):
        if t.arms[i][JUDGED] != ACCEPTED and t.arms[i][JUDGED] != REJECTED:
            continue
        better = 0
        as_good = 0
        for j in range(len(law.means)):
            if j != i and t.arms[j][JUDGED] < ABSENT:
                if law.means[j] > law.means[i]:
                    better += 1
                if law.means[j] >= law.means[i]:
                    as_good += 1
        if t.arms[i][JUDGED] == ACCEPTED and better >= rules.k:
            wrong += 1
        if t.arms[i][JUDGED] == REJECTED and as_good < rules.k:
            wrong += 1
    return wrong


def mistaken(rules: Rules, law: Law, t: Tables, clock: Any, within: bool) -> bool:
    """Whether a race said what was not so: a wrong verdict at any time; ended `within` ε: a leader beyond it."""
    if clock[SLIPS] > 0 or slips(rules, law, t) > 0:
        return True
    if not within:
        return False
    there = [(mean, arm) for mean, arm in zip(law.means, t.arms, strict=False) if arm[JUDGED] < ABSENT]
    leads = [mean for mean, arm in there if arm[JUDGED] == ACCEPTED or arm[LEADER] == 1]
    others = [mean for mean, arm in there if arm[JUDGED] != ACCEPTED and arm[LEADER] == 0]
    return bool(min(leads) < max(others) - rules.epsilon)


FUNCTIONS = (come_and_go, slips)
