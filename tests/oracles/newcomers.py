"""A race that arms join and leave, the slow and obvious way: sets of arms, and every pair compared at every turn.

Nothing here comes from earlycall. Full feedback with σ = 1 and one pull at a time; the formulas are THEORY §2's, the
rule for who comes and goes is THEORY §7's, with one exception: a rejected arm that leaves takes nothing with it.
"""

import math
from dataclasses import dataclass, field


@dataclass
class Race:
    """The values of each arm that is or was there, and what is thought of it."""

    k: int
    delta: float
    most: int  # arms there can ever be
    values: dict[str, list[float]]
    surviving: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    story: list[tuple[str, str]] = field(default_factory=list)  # what was decided, turn by turn in no order

    def __post_init__(self) -> None:
        self.surviving = set(self.values)

    @property
    def over(self) -> bool:
        return not self.surviving

    def next(self) -> str:
        """The survivor with the fewest pulls, the oldest first."""
        return min((arm for arm in self.values if arm in self.surviving), key=lambda arm: len(self.values[arm]))

    def beats(self, i: str, j: str) -> bool:
        """½Δ²/(1/J_i + 1/J_j) − pen_i − pen_j, J = F²/(F+τ), pen = ½ln(1+F/τ): on average over two τ, in e to that.

        It must exceed ln(N(N−1)/(2δ)).
        """
        first, second = self.values[i], self.values[j]
        if not first or not second:
            return False
        gap = sum(first) / len(first) - sum(second) / len(second)
        total = 0.0
        for tau in (0.4, 24.0):
            spread = (len(first) + tau) / len(first) ** 2 + (len(second) + tau) / len(second) ** 2
            penalty = 0.5 * math.log((1 + len(first) / tau) * (1 + len(second) / tau))
            total += 0.5 * math.exp(min(gap * gap / (2.0 * spread) - penalty, 700.0))
        return gap > 0.0 and math.log(total) > math.log(self.most * (self.most - 1) / 2 / self.delta)

    def told(self, arm: str, value: float) -> None:
        self.values[arm].append(value)
        self.judge()

    def comes(self, arm: str) -> None:
        """Whoever was accepted has to be compared with the newcomer."""
        self.reopen(self.accepted)
        self.values[arm] = []
        self.surviving.add(arm)
        self.judge()

    def leaves(self, arm: str) -> None:
        """A place is free for somebody who was rejected, unless it was the leaver that was."""
        if arm not in self.rejected:
            self.reopen(self.rejected)
        for group in (self.surviving, self.accepted, self.rejected):
            group.discard(arm)
        self.judge()

    def reopen(self, arms: set[str]) -> None:
        self.story += [("Reopened", arm) for arm in arms]
        self.surviving |= arms
        arms.clear()

    def judge(self) -> None:
        """Accept who beats |S| − k_t of S, reject whom k_t of S beat; again until nothing changes."""
        while self.surviving:
            alive, places = self.surviving, self.k - len(self.accepted)
            wins = {i: sum(self.beats(i, j) for j in alive) for i in alive}
            losses = {i: sum(self.beats(j, i) for j in alive) for i in alive}
            up = {i for i in alive if places == len(alive) or (places > 0 and wins[i] >= len(alive) - places)}
            down = {i for i in alive if places == 0 or (places < len(alive) and losses[i] >= places)}
            if not up | down:
                return
            self.accepted |= up
            self.rejected |= down
            self.surviving = alive - up - down
            self.story += [("Accepted", i) for i in up] + [("Rejected", i) for i in down]
