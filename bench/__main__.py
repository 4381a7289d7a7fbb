"""Print every row: what was measured, its target, and the ratio to something known, timed in the same run."""

import platform
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from bench import compiled, journal, latency, startup, workers
from bench.rows import Row, pretty


def rows() -> Iterator[Row]:
    """All rows, as they come."""
    yield from startup.rows()
    yield from latency.rows()
    yield from journal.rows()
    yield from compiled.rows()
    yield from workers.rows()


def main() -> int:
    """Measure, print; 1 when a target is missed."""
    console = Console(width=120, highlight=False)
    table = Table(title=f"Python {platform.python_version()} on {platform.machine()}")
    for heading in ("what", "median", "99 %", "target", "beside", "ratio"):
        table.add_column(heading, justify="left" if heading in ("what", "beside") else "right")
    missed = 0
    with console.status("measuring …") as status:
        for row in rows():
            status.update(f"measured: {row.what} …")
            style = "" if row.median < row.target else "red"
            missed += row.median >= row.target
            table.add_row(*row.cells(), style=style)
    console.print(table)
    console.print("A pull-step, compiled, as n grows (bounded means, one slot, 20 pulls of every arm):")
    for name, times, slope in compiled.growth():
        line = ", ".join(f"n = {n}: {pretty(seconds)}" for n, seconds in times.items())
        console.print(f"  {name}: {line}; grows as n^{slope:.2f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
