"""One line of the table."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """A measured time beside its target and beside something known. In seconds."""

    what: str
    median: float
    late: float  # 99 % of the times are below it
    target: float
    beside: str
    known: float  # the median time of what is beside it

    def cells(self) -> tuple[str, ...]:
        """The line as text."""
        ratio = f"{self.median / self.known:.2g}"
        return self.what, pretty(self.median), pretty(self.late), f"< {pretty(self.target)}", self.beside, ratio


def row(what: str, times: Sequence[float], target: float, beside: str, known: Sequence[float]) -> Row:
    """The line for some times."""
    late = sorted(times)[int(0.99 * (len(times) - 1))]
    return Row(what, statistics.median(times), late, target, beside, statistics.median(known))


def pretty(seconds: float) -> str:
    """A time with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
