"""The rows that every view renders, and the sentences. Labels come from outside: they are text, and never markup."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from earlycall.core.status import ArmStatus, Status

HEADINGS = ("arm", "verdict", "mean", "interval", "pulls", "running")
LEAST_DONE = 0.01  # with less done, an estimate of the rest is a guess
ENDED = ("finished", "failed")  # states of pulls that took their whole time


class Row(NamedTuple):
    """One arm, as text."""

    arm: str
    verdict: str
    mean: str
    interval: str
    pulls: str
    running: str


def rows(status: Status) -> list[Row]:
    """Every arm, those of the answer first, then from the closest to the farthest: as one would read them out."""
    known = [arm.mean for arm in status.arms if arm.top and arm.mean is not None]
    line = sum(known) / len(known) if known else 0.0

    def place(arm: ArmStatus) -> tuple[bool, bool, float]:
        return not arm.top, arm.mean is None, abs((arm.mean or 0.0) - line)

    return [row(arm) for arm in sorted(status.arms, key=place)]


def row(arm: ArmStatus) -> Row:
    """One arm."""
    verdict = f"{arm.verdict}, leads" if arm.top and arm.verdict == "surviving" else arm.verdict
    mean = "–" if arm.mean is None else f"{arm.mean:.5g}"
    interval = "–" if arm.low is None else f"{arm.low:.5g} to {arm.high:.5g}"
    return Row(arm.arm, verdict, mean, interval, f"{arm.finished} of {arm.started}", str(arm.running))


def text_table(status: Status) -> str:
    """The arms as plain text."""
    return columns([HEADINGS, *rows(status)])


def columns(lines: Sequence[Sequence[str]]) -> str:
    """Rows of text, one below the other; the first is the headings."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def named(labels: tuple[str, ...], most: int = 5) -> str:
    """A few labels in a sentence."""
    some = ", ".join(labels[:most])
    return some if len(labels) <= most else f"{some} and {len(labels) - most} more"


def sentences(status: Status, interrupted: bool = False) -> list[str]:
    """What there is to say: the answer, how sure it is, what it took, and what speaks against it."""
    pulls = sum(status.pulls.values())
    took = (
        f"{pulls} pull{'s' if pulls != 1 else ''} of {len(status.arms)} arms, {status.pulls['finished']} to their end."
    )
    return [
        answer(status, interrupted),
        took,
        *(f"But: {suspicion}" for suspicion in status.suspicions),
    ]


def answer(status: Status, interrupted: bool) -> str:
    """The answer and how sure it is."""
    best = f"the best {status.k} of {len(status.arms)}" if status.k > 1 else f"the best of {len(status.arms)}"
    sure = "" if status.confidence is None else f" with {percent(status.confidence)} confidence"
    if status.outcome == "exact":
        return f"{named(status.top)}: {best},{sure}."
    if status.outcome == "epsilon":
        return f"{named(status.top)}: within {status.epsilon:.3g} of {best},{sure}."
    why = {"deadline": "The time was over", "stopped": "Stopped", None: "Interrupted" if interrupted else "Still open"}
    return f"{why[status.outcome]}: not decided. {named(status.top)} may be {best}{sure and ',' + sure} so far."


def percent(share: float) -> str:
    """A confidence without more digits than it has, and never rounded up to certainty."""
    hundredths = math.floor(share * 10_000) / 100
    return f"{hundredths:g} %"


@dataclass(slots=True)
class Pace:
    """How long pulls took so far, and for how long the running ones have run. In seconds."""

    ended: int = 0
    busy: float = 0.0  # of all that ended, together

    def seconds_left(self, status: Status, ages: list[float]) -> float | None:
        """An estimate of how long the race still takes; None while there is nothing to go by.

        What the race can tell apart now is the gap and ε together, and that shrinks like one over the root of the
        pulls: it will be the gap alone when there are ((gap + ε)/gap)² times as many.
        """
        if status.decided:
            return 0.0
        gap = gap_of(status)
        if self.ended < 2 or status.epsilon is None or gap <= 0.0:
            return None
        done = (gap / (gap + status.epsilon)) ** 2
        if done < LEAST_DONE:
            return None
        each = self.busy / self.ended
        had = sum(status.pulls[state] for state in ENDED)
        to_come = had * max(1.0 / done - 1.0, 0.0)
        under_way = sum(min(1.0, age / each) for age in ages)
        return max(to_come - under_way / 2.0, 0.5) * each / status.slots


def gap_of(status: Status) -> float:
    """How far apart the surviving arms of the answer and the others seem to be; 0 where that is not known."""
    sides: dict[bool, list[float]] = {True: [], False: []}
    for arm in status.arms:
        if arm.verdict == "surviving" and arm.mean is not None:
            sides[arm.top].append(arm.mean)
    best, rest = sides[True], sides[False]
    return max(min(best) - max(rest), min(rest) - max(best), 0.0) if best and rest else 0.0


def pretty(seconds: float) -> str:
    """A time in words."""
    for size, unit in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.2g} s"


def headline(status: Status, left: float | None) -> str:
    """One line: how sure, how busy, how long."""
    sure = "–" if status.confidence is None else percent(status.confidence)
    parts = [
        f"{named(status.top, 3)} lead{'s' if len(status.top) == 1 else ''}",
        f"confidence {sure}",
        f"{status.running} of {status.slots} slots busy",
        f"{status.pulls['finished']} pulls finished",
    ]
    if status.decided:
        parts.append(f"decided ({status.outcome})")
    elif left is not None:
        parts.append(f"about {pretty(left)} to go (estimate)")
    return ", ".join(parts)
