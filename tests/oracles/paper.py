"""Algorithms 1 to 4 as they are printed, with the corrections of THEORY §1 as parameters: slow, obvious, and apart.

Nothing here comes from earlycall. Algorithm 2 and 4 are one loop over single readings, Algorithm 3 a loop over time
steps; both compute every interval from all that was ever seen. A world is a function world(arm, ordinal) -> readings,
of which the last is the full feedback.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

World = Callable[[int, int], Sequence[float]]
INF = math.inf


@dataclass
class Terms:
    """What the intervals depend on. `shares`: (full, partial, bias), or None for the split made anew (as printed)."""

    n: int
    k: int
    delta: float
    sigma: float
    reading_sd: float = 0.0
    bias_sd: float = 0.0  # scale of a residual; 0: the readings are unbiased
    shares: tuple[float, float, float] | None = None
    widen: float = 2.0

    def c(self, scale: float, tau: int, share: float) -> float:
        """Lemma 1: C(σ, τ, share·δ/n)."""
        if tau == 0 or share <= 0.0:
            return INF
        a, c = 0.6, 1.1
        zeta = 11.583_794_993_792_158  # ζ(12/11), printed by mpmath 1.3 (test_constants)
        b = (c / 2.0) * math.log(2.0 * zeta * self.n / (share * self.delta))
        return self.widen * scale * math.sqrt((a * math.log(math.log(tau, c) + 1.0) + b) / tau)


@dataclass
class Arm:
    """All that was seen of one arm, in start order."""

    readings: list[list[float]] = field(default_factory=list)  # of every pull
    full: list[float | None] = field(default_factory=list)  # X of every pull, None while it runs


def interval(terms: Terms, arm: Arm) -> tuple[float, float]:
    """(LCB, UCB): the tighter of Eq. (5) on the finished prefix and the pooled Prop. 1 or 2."""
    prefix = arm.full.index(None) if None in arm.full else len(arm.full)
    finished = [x for x in arm.full[:prefix] if x is not None]
    one = terms.shares is None
    share = 1.0 if terms.shares is None else terms.shares[0]
    mean = sum(finished) / prefix if prefix else 0.0
    width = terms.c(terms.sigma, prefix, share)
    if terms.reading_sd > 0.0:
        other_mean, other = pooled(terms, arm, finished, one)
        if other < width:
            mean, width = other_mean, other
    return mean - width, mean + width


def pooled(terms: Terms, arm: Arm, finished: list[float], printed: bool) -> tuple[float, float]:
    """Prop. 1 (Prop. 2 with a bias) with every running pull of the pooled prefix in its place."""
    running: list[tuple[int, list[float]]] = []
    values: list[float] = []
    for number, x in enumerate(arm.full):
        if x is not None:
            values.append(x)
        elif arm.readings[number]:
            running.append((number + 1, arm.readings[number]))
        else:
            break
    if not running:
        return 0.0, INF
    pulls = len(values) + len(running)
    bias = 0.0
    count = 0
    if terms.bias_sd > 0.0:
        residuals = [sum(r) / len(r) - x for r, x in zip(arm.readings, finished, strict=False) if r]
        count = len(residuals)
        if not residuals:
            return 0.0, INF
        bias = sum(residuals) / count
    mean = (sum(values) + sum(sum(r) / len(r) - bias for _, r in running)) / pulls

    def radius(full: float, partial: Callable[[int], float], residual: float) -> float:
        total = terms.c(terms.sigma, pulls, full)
        total += sum(terms.c(terms.reading_sd, len(r), partial(j)) for j, r in running) / pulls
        if terms.bias_sd > 0.0:
            total += len(running) * terms.c(terms.bias_sd, count, residual) / pulls
        return total

    if terms.shares is not None:
        s_full, s_partial, s_bias = terms.shares
        return mean, radius(s_full, lambda j: s_partial / (j * (j + 1)), s_bias)

    def split(full: float) -> float:
        if terms.bias_sd == 0.0:
            return radius(full, lambda _: 1.0 - full, 0.0)
        rest = 1.0 - full
        return golden(lambda part: radius(full, lambda _: rest * part, rest * (1.0 - part)))

    return mean, golden(split)


def golden(f: Callable[[float], float]) -> float:
    """The smallest value of a convex f on (0, 1)."""
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    low, high = 0.0, 1.0
    x, y = 1.0 - ratio, ratio
    fx, fy = f(x), f(y)
    for _ in range(90):
        if fx < fy:
            high, y, fy = y, x, fx
            x = high - ratio * (high - low)
            fx = f(x)
        else:
            low, x, fx = x, y, fy
            y = low + ratio * (high - low)
            fy = f(y)
    return min(fx, fy)


@dataclass
class Sets:
    """A, R and S of Algorithm 1."""

    accepted: set[int]
    rejected: set[int]
    surviving: set[int]

    def update(self, terms: Terms, bounds: dict[int, tuple[float, float]]) -> None:
        """UpdateArmSets, with the ends THEORY §1.3 adds: no places left, or a place for everyone."""
        places = terms.k - len(self.accepted)
        everyone = sorted(self.surviving)
        uppers = sorted((bounds[i][1] for i in everyone), reverse=True)
        lowers = sorted((bounds[i][0] for i in everyone), reverse=True)
        if places == 0:
            self.rejected |= self.surviving
        elif places == len(everyone):
            self.accepted |= self.surviving
        else:
            self.accepted |= {i for i in everyone if bounds[i][0] > uppers[places]}
            self.rejected |= {i for i in everyone if bounds[i][1] < lowers[places - 1]}
        self.surviving -= self.accepted | self.rejected


@dataclass
class Outcome:
    """What a run of an algorithm came to."""

    accepted: set[int]
    time: int
    pulls: list[int]  # the arms in the order they were pulled
    verdicts: list[tuple[int, str, int]]  # (time step, "accept" or "reject", arm)
    bounds: list[dict[int, tuple[float, float]]] = field(default_factory=list, compare=False)  # at each time step


def sequential(terms: Terms, world: World, most_steps: int = 10**9) -> Outcome | None:
    """Algorithms 2 and 4 (and Eq. 5 alone where readings say nothing). None: not decided after `most_steps`."""
    sets = Sets(set(), set(), set(range(terms.n)))
    arms = [Arm() for _ in range(terms.n)]
    out = Outcome(sets.accepted, 0, [], [])
    while sets.surviving:
        a = min(sets.surviving, key=lambda i: (len(arms[i].full), i))  # fewest started, lowest index
        arms[a].full.append(None)
        arms[a].readings.append([])
        out.pulls.append(a)
        feedback = world(a, len(arms[a].full))
        for step, y in enumerate(feedback, start=1):
            if out.time == most_steps:
                return None
            out.time += 1
            if step == len(feedback):
                arms[a].full[-1] = y
            else:
                arms[a].readings[-1].append(y)
            judge(terms, sets, arms, out)
            if a not in sets.surviving:
                break
    return out


def judge(terms: Terms, sets: Sets, arms: list[Arm], out: Outcome) -> None:
    """One call of UpdateArmSets, its verdicts written down."""
    before = set(sets.accepted), set(sets.rejected)
    out.bounds.append({i: interval(terms, arms[i]) for i in sets.surviving})
    sets.update(terms, out.bounds[-1])
    out.verdicts += [(out.time, "accept", i) for i in sorted(sets.accepted - before[0])]
    out.verdicts += [(out.time, "reject", i) for i in sorted(sets.rejected - before[1])]


def batch(terms: Terms, world: World, b: int, r: int) -> Outcome:
    """Algorithm 3 and its noisy siblings: every running pull moves one step per time step."""
    sets = Sets(set(), set(), set(range(terms.n)))
    arms = [Arm() for _ in range(terms.n)]
    out = Outcome(sets.accepted, 0, [], [])
    running: list[tuple[int, int, list[float]]] = []  # (arm, its pull number from 0, what is still to come)
    while sets.surviving:
        while len(running) < b:  # GetBatchArms, with a_i < r
            active = [arm for arm, _, _ in running]
            free = [i for i in sorted(sets.surviving) if active.count(i) < r]
            if not free:
                break
            j = min(free, key=lambda i: (len(arms[i].full), i))
            arms[j].full.append(None)
            arms[j].readings.append([])
            out.pulls.append(j)
            running.append((j, len(arms[j].full) - 1, list(world(j, len(arms[j].full)))))
        out.time += 1
        for arm, number, rest in running:
            y = rest.pop(0)
            if rest:
                arms[arm].readings[number].append(y)
            else:
                arms[arm].full[number] = y
        judge(terms, sets, arms, out)
        running = [entry for entry in running if entry[2] and entry[0] in sets.surviving]
    return out
