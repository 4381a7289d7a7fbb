"""A race by evidence, the slow and obvious way: every matrix made anew from every pull, every pair compared.

Nothing here comes from earlycall. Worlds and outcomes are those of paper.py; the formulas are THEORY §2's, with the
information matrix inverted by NumPy where the kernel has closed forms, and the verdicts counted over all pairs.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.oracles.paper import Outcome, World


@dataclass
class Model:
    """What is declared: sds, whether readings are biased (with which scale), and how they are pooled."""

    n: int
    k: int
    delta: float
    sigma: float = 1.0
    reading_sd: float = math.inf  # inf: readings say nothing
    bias_scale: float = 0.0  # 0: no bias
    refining: bool = False

    @property
    def priors(self) -> list[Any]:
        """The wide one and the narrow one, half the evidence each."""
        offset = [self.bias_scale**-2.0] if self.bias_scale else []
        return [np.diag([ratio * self.sigma**-2.0, *offset]) for ratio in (0.4, 24.0)]


@dataclass
class Run:
    """One pull so far."""

    arm: int
    to_come: list[float]
    readings: list[float]
    full: float | None = None


def contribution(model: Model, run: Run) -> tuple[Any, Any]:
    """(Λ, Λθ̂) of one pull."""
    size = 2 if model.bias_scale else 1
    known, vector = np.zeros((size, size)), np.zeros(size)
    says = 0.0 if not run.readings else (1 if model.refining else len(run.readings)) / model.reading_sd**2
    estimate = 0.0
    if says:
        estimate = run.readings[-1] if model.refining else sum(run.readings) / len(run.readings)
    if run.full is not None:
        known[0, 0], vector[0] = model.sigma**-2.0, model.sigma**-2.0 * run.full
        if model.bias_scale:
            known[1, 1], vector[1] = says, says * (estimate - run.full)
    elif says:
        weight = 1.0 / (model.sigma**2 + 1.0 / says)
        known[:], vector[:] = weight, weight * estimate
    return known, vector


def triple(model: Model, runs: list[Run], prior: Any) -> tuple[float, float, float]:
    """(μ̂, J, pen) of one arm with one prior."""
    parts = [contribution(model, run) for run in runs]
    known = sum((part[0] for part in parts), np.zeros_like(prior))
    vector = sum((part[1] for part in parts), np.zeros(len(prior)))
    if model.bias_scale and known[1, 1] == 0.0:
        known, vector, prior = known[:1, :1], vector[:1], prior[:1, :1]
    pen = 0.5 * math.log(np.linalg.det(np.eye(len(prior)) + np.linalg.inv(prior) @ known))
    if abs(np.linalg.det(known)) < 1e-12:
        return 0.0, 0.0, pen
    a = known @ np.linalg.inv(known + prior) @ known
    j = a[0, 0] if len(prior) == 1 else a[0, 0] - a[0, 1] ** 2 / a[1, 1]
    return float(np.linalg.solve(known, vector)[0]), float(j), pen


def race(model: Model, world: World, b: int, r: int, most_steps: int = 10**9) -> Outcome | None:
    """Every running pull moves one step per time step; None: not decided after `most_steps`."""
    runs: list[Run] = []
    surviving = list(range(model.n))
    out = Outcome(set(), 0, [], [])
    while surviving:
        fill(model, world, runs, surviving, b, r, out)
        if out.time == most_steps:
            return None
        out.time += 1
        for run in running(runs, surviving):
            value = run.to_come.pop(0)
            if run.to_come:
                run.readings.append(value)
            else:
                run.full = value
        surviving = judge(model, runs, surviving, out)
    return out


def running(runs: list[Run], surviving: list[int]) -> list[Run]:
    """The pulls that hold a slot."""
    return [run for run in runs if run.full is None and run.arm in surviving]


def fill(model: Model, world: World, runs: list[Run], surviving: list[int], b: int, r: int, out: Outcome) -> None:
    """Start pulls: the arm that will know least once its running pulls have finished; ties by index."""
    while len(running(runs, surviving)) < b:
        active = [run.arm for run in running(runs, surviving)]
        free = [i for i in surviving if active.count(i) < r]
        if not free:
            return
        # without cuts all that is left on an arm that survives is finished, and each running pull will be
        arm = min(free, key=lambda i: (sum(run.arm == i for run in runs), i))
        runs.append(Run(arm, list(world(arm, 1 + sum(run.arm == arm for run in runs))), []))
        out.pulls.append(arm)


def judge(model: Model, runs: list[Run], surviving: list[int], out: Outcome) -> list[int]:
    """Accept who beats |S| − k_t of S, reject who is beaten by k_t; again until nothing changes."""
    of_arm = [[run for run in runs if run.arm == i] for i in range(model.n)]
    numbers = [[triple(model, of_arm[i], prior) for i in range(model.n)] for prior in model.priors]
    level = math.log(model.k * (model.n - model.k) / model.delta)

    def beats(i: int, j: int) -> bool:
        evidence = []
        for row in numbers:
            (mean, info, pen), (other, other_info, other_pen) = row[i], row[j]
            if mean <= other or info == 0.0 or other_info == 0.0:
                return False
            evidence.append((mean - other) ** 2 / (2.0 * (1.0 / info + 1.0 / other_info)) - pen - other_pen)
        return float(np.logaddexp(evidence[0], evidence[1])) - math.log(2.0) > level

    while surviving:
        places = model.k - len(out.accepted)
        if places in (0, len(surviving)):
            word = "accept" if places else "reject"
            new = [(out.time, word, i) for i in surviving]
        else:
            wins = {i: sum(beats(i, j) for j in surviving) for i in surviving}
            losses = {i: sum(beats(j, i) for j in surviving) for i in surviving}
            new = [(out.time, "accept", i) for i in surviving if wins[i] >= len(surviving) - places]
            new += [(out.time, "reject", i) for i in surviving if losses[i] >= places]
        if not new:
            break
        out.verdicts += new
        out.accepted |= {i for _, word, i in new if word == "accept"}
        surviving = [i for i in surviving if i not in {i for _, _, i in new}]
    return surviving
