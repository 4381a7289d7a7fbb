"""Figure 1: bounded means, free means and delays; sequential and b = r = 10; unbiased, and the biased twin.

100 runs each. The time of every method is set beside that of the paper's full-feedback racing (the paper's own
ratio), and beside the paper's own partial-feedback algorithm in the same run; both with the corrected radius and the
simultaneous ledger. The floor is that of THEORY §3: no method can be faster on average.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from earlycall.sim.compiled import many
from earlycall.sim.limit import floor
from earlycall.sim.worlds import World, bounded, free
from paper.methods import METHODS, SHAPES, Method
from paper.results import progress, write_rows

RUNS = 100
ARMS = (10, 20, 50, 100)
DELAYS = (10, 20, 50, 100, 200, 500, 1000)
BASE, OWN = "paper, full", "paper, partial"
HEADS = (
    "panel shape feedback x method steps steps_se pulls cuts wrong ratio_to_full ratio_to_full_se ratio_to_paper"
    " ratio_to_paper_se floor"
).split()


@dataclass(frozen=True)
class Cell:
    """One point of one line: where it stands in the figure, and what is raced."""

    panel: str
    shape: str
    feedback: str
    x: int
    world: World
    method: Method


def panels() -> Iterator[tuple[str, int, World]]:
    """(panel, x, world), unbiased."""
    for n in ARMS:
        yield "bounded", n, bounded(n)
    for n in ARMS:
        yield "free", n, free(n)
    for steps in DELAYS:
        yield "delay", steps, free(100, steps)


def cells() -> Iterator[Cell]:
    """All points. The biased twin: readings off by one σ."""
    for panel, x, world in panels():
        for shape in SHAPES:
            for feedback, here in (("unbiased", world), ("biased", replace(world, bias=world.sigma))):
                yield from (Cell(panel, shape, feedback, x, here, method) for method in METHODS)


def measure(runs: int = RUNS) -> None:
    """Race every cell and write results/figure1.csv."""
    todo = list(cells())
    done: dict[tuple[Any, ...], tuple[float, ...]] = {}
    with progress(len(todo) * runs) as (bar, task):
        for cell in todo:
            name = f"{cell.panel} {cell.x}, {cell.shape}, {cell.feedback}: {cell.method.name}"
            bar.update(task, description=name)
            done[key(cell)] = race(cell, runs, lambda count: bar.advance(task, count))
    write_rows("figure1.csv", HEADS, [row(cell, done) for cell in todo])


def key(cell: Cell, method: str = "") -> tuple[Any, ...]:
    """Which races a cell is about; those of another method in the same place."""
    return cell.panel, cell.shape, cell.feedback, cell.x, method or cell.method.name


def race(cell: Cell, runs: int, told: Any) -> tuple[float, ...]:
    """(mean steps, its se, mean pulls, mean cuts, wrong answers, floor) of a cell."""
    settings = cell.method.settings(cell.world, SHAPES[cell.shape])
    races = many(settings, cell.world, runs, seed=2018, told=told)
    se = float(races.steps.std(ddof=1)) / math.sqrt(runs)
    least = floor(settings, cell.world).steps
    return float(races.steps.mean()), se, float(races.pulls.mean()), float(races.cuts.mean()), races.wrong.sum(), least


def row(cell: Cell, done: dict[tuple[Any, ...], tuple[float, ...]]) -> list[Any]:
    """A line of the table."""
    steps, se, pulls, cuts, wrong, least = done[key(cell)]
    ratios = []
    for other in (BASE, OWN):
        theirs, their_se = done[key(cell, other)][:2]
        ratio = steps / theirs
        spread = 0.0 if other == cell.method.name else ratio * math.hypot(se / steps, their_se / theirs)
        ratios += [f"{ratio:.4g}", f"{spread:.2g}"]
    numbers = [f"{steps:.6g}", f"{se:.3g}", f"{pulls:.5g}", f"{cuts:.5g}", int(wrong), *ratios, f"{least:.5g}"]
    return [cell.panel, cell.shape, cell.feedback, cell.x, cell.method.name, *numbers]
