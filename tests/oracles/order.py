"""Races in start order, the slow and obvious way: at every step all is made anew from all pulls, pair by pair.

Nothing here comes from earlycall. A world says of every pull how it goes: Y at each step and X at the last, or LOST at
some step. The formulas are THEORY §2's: what was said comes from evidence.py's matrices, the least of Student's pair
from a grid.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.oracles.evidence import Model, Run, triple
from tests.oracles.paper import Outcome, World

LOST = math.nan  # in the place of the value of the step at which a pull is lost


@dataclass
class Plan(Model):
    """What is declared beside the model: the step every pull outlives, r, and how arms meet."""

    min_delay: int = 0
    per_arm: int = 1
    meets: str = "in order"  # or "student", "blocks"

    @property
    def early_counts(self) -> list[tuple[int, float]]:
        """(c, its share of δ): half for none, the rest in equal parts for 1, 2, 4 … up to r."""
        if not self.min_delay:
            return [(0, 1.0)]
        tried = [c for c in (1, 2, 4, 8, 16) if c <= self.per_arm]
        return [(0, 0.5)] + [(c, 0.5 / len(tried)) for c in tried]


@dataclass
class Going(Run):
    """One pull so far, and whether it was lost, at which step."""

    lost: bool = False
    steps: int = 0
    place: int = 0

    @property
    def over(self) -> bool:
        return self.lost or self.full is not None

    def early(self, plan: Plan) -> Run:
        """What it said before any pull could have ended."""
        return Run(self.arm, [], self.readings[: plan.min_delay])


@dataclass
class Race:
    """All that was seen."""

    plan: Plan
    runs: list[Going] = field(default_factory=list)

    def silent(self, run: Going) -> bool:
        """Whether a pull was lost before it said anything."""
        return run.lost and (not run.readings or self.plan.reading_sd == math.inf)

    def prefix(self, arm: int) -> list[Going]:
        """The arm's pulls in start order up to the first that is not over, without those lost in silence."""
        found = []
        for run in (run for run in self.runs if run.arm == arm):
            if not run.over:
                break
            if not self.silent(run):
                found.append(run)
        return found

    def order(self, arm: int) -> list[Going]:
        """The same up to the first that has neither ended nor come to `min_delay`."""
        found = []
        for run in (run for run in self.runs if run.arm == arm):
            if not run.over and not 0 < self.plan.min_delay <= run.steps:
                break
            if not self.silent(run):
                found.append(run)
        return found

    def evidence(self, i: int, j: int) -> float:
        """That arm i is better than arm j; 0 where nothing is known."""
        if self.plan.meets == "blocks":
            return self.on_blocks(i, j)
        if self.plan.meets == "student":
            return self.by_student(i, j)
        count = min(len(self.prefix(i)), len(self.prefix(j)))
        found = [self.with_early(i, j, count, c) + math.log(share) for c, share in self.plan.early_counts]
        return max(found)

    def with_early(self, i: int, j: int, count: int, early: int) -> float:
        """On the first `count` pulls of both, and the early readings of the next `early` ones."""
        if min(len(self.order(i)), len(self.order(j))) < count + early:
            return -math.inf
        by_prior = []
        for prior in self.plan.priors:
            rows = []
            for arm in (i, j):
                past = [run if not run.lost else run.early(self.plan) for run in self.prefix(arm)[:count]]
                past += [run.early(self.plan) for run in self.order(arm)[count : count + early]]
                rows.append(triple(self.plan, list(past), prior))
            (mean, info, pen), (other, other_info, other_pen) = rows
            if mean <= other or info == 0.0 or other_info == 0.0:
                return -math.inf
            by_prior.append((mean - other) ** 2 / (2.0 * (1.0 / info + 1.0 / other_info)) - pen - other_pen)
        return float(np.logaddexp(by_prior[0], by_prior[1])) - math.log(2.0)

    def values(self, arm: int) -> dict[int, float]:
        """X of the arm's pulls in order, by their place among all its pulls."""
        return {run.place: run.full for run in self.prefix(arm) if run.full is not None}

    def by_student(self, i: int, j: int) -> float:
        """The least over common means on equal counts."""
        first, second = list(self.values(i).values()), list(self.values(j).values())
        count = min(len(first), len(second))
        if count < 2 or np.mean(first[:count]) <= np.mean(second[:count]):
            return 0.0
        means = np.linspace(np.mean(second[:count]), np.mean(first[:count]), 2001)
        return float((log_g(first[:count], means) + log_g(second[:count], means)).min())

    def on_blocks(self, i: int, j: int) -> float:
        """On the differences on the blocks that both have finished."""
        first, second = self.values(i), self.values(j)
        both = [first[place] - second[place] for place in sorted(first.keys() & second.keys())]
        if len(both) < 2 or np.mean(both) <= 0.0:
            return 0.0
        return float(log_g(both, np.zeros(1))[0])


def log_g(values: list[float], means: Any) -> Any:
    """ln G at each of the means."""
    seen = np.array(values)
    count, squares, total = len(seen), ((seen - means[:, None]) ** 2).sum(1), (seen - means[:, None]).sum(1)
    whole = (count + 1.0) * squares
    return -0.5 * np.log(count + 1.0) + 0.5 * count * np.log(whole / (whole - total**2))


def race(plan: Plan, world: World, b: int, most_steps: int) -> Outcome | None:
    """Every running pull moves one step per time step; None: not decided after `most_steps`."""
    seen = Race(plan)
    surviving = list(range(plan.n))
    out = Outcome(set(), 0, [], [])
    while surviving:
        fill(seen, world, surviving, b, out)
        if out.time == most_steps:
            return None
        out.time += 1
        for run in running(seen, surviving):
            step(run)
        surviving = judge(seen, surviving, out)
    return out


def step(run: Going) -> None:
    """One step of a pull."""
    value = run.to_come.pop(0)
    run.steps += 1
    if math.isnan(value):
        run.lost = True
    elif run.to_come:
        run.readings.append(value)
    else:
        run.full = value


def running(seen: Race, surviving: list[int]) -> list[Going]:
    """The pulls that hold a slot."""
    return [run for run in seen.runs if not run.over and run.arm in surviving]


def fill(seen: Race, world: World, surviving: list[int], b: int, out: Outcome) -> None:
    """Start pulls: the arm with the fewest that were not lost (blocks: with the fewest); ties by index."""
    while len(running(seen, surviving)) < b:
        active = [run.arm for run in running(seen, surviving)]
        free = [i for i in surviving if active.count(i) < seen.plan.per_arm]
        if not free:
            return
        lost_count = seen.plan.meets == "blocks"
        arm = min(free, key=lambda i: (sum(run.arm == i and (lost_count or not run.lost) for run in seen.runs), i))
        place = 1 + sum(run.arm == arm for run in seen.runs)
        seen.runs.append(Going(arm, list(world(arm, place)), [], place=place))
        out.pulls.append(arm)


def judge(seen: Race, surviving: list[int], out: Outcome) -> list[int]:
    """Accept who beats |S| − k_t of S, reject who is beaten by k_t; again until nothing changes."""
    plan = seen.plan
    level = math.log(plan.k * (plan.n - plan.k) / plan.delta)
    beats = {(i, j): seen.evidence(i, j) > level for i in surviving for j in surviving if i != j}
    while surviving:
        places = plan.k - len(out.accepted)
        if places in (0, len(surviving)):
            new = [(out.time, "accept" if places else "reject", i) for i in surviving]
        else:
            wins = {i: sum(beats[i, j] for j in surviving if j != i) for i in surviving}
            losses = {i: sum(beats[j, i] for j in surviving if j != i) for i in surviving}
            new = [(out.time, "accept", i) for i in surviving if wins[i] >= len(surviving) - places]
            new += [(out.time, "reject", i) for i in surviving if losses[i] >= places]
        if not new:
            break
        out.verdicts += new
        out.accepted |= {i for _, word, i in new if word == "accept"}
        surviving = [i for i in surviving if i not in {i for _, _, i in new}]
    return surviving
