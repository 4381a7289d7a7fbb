"""A race to watch: which of 40 charging policies makes cells last longest?

The cells are simulated (earlycall.sim.cell), each in a worker process; everything else is as it would be in a
laboratory. A long-lived cell comes back late, so delays know the reward, and forecasts are off by a constant that
nobody knows, another for each policy.
"""

import json
import math
import os
import random
import shlex
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from earlycall.core.models import Biased
from earlycall.core.status import Status
from earlycall.run.handle import Race
from earlycall.run.loop import Loop
from earlycall.run.opening import open_journal
from earlycall.run.owners import left_over, me
from earlycall.run.workers.processes import Processes
from earlycall.show.live import watching
from earlycall.show.report import sentences
from earlycall.sim.cell import FORECAST_AT, FORECAST_SD, LIFE_SD, Policy, cycled, policies, typical_life

NAME = "demo"  # of the race in its journal
MOST = len(policies())
CYCLES = 40.0  # an answer this near to the best is good enough
CHANNELS = 8  # with more, starting the workers takes longer than they save
INTERRUPTED = 130


def demo(
    seed: Annotated[int, typer.Option(help="Another seed is another set of cells.")] = 7,
    arms: Annotated[int, typer.Option("--policies", min=2, max=MOST, help="How many policies are compared.")] = MOST,
    channels: Annotated[
        int | None, typer.Option(min=1, help="Cells on test at once; one a core (2 to 8) if not said.")
    ] = None,
    epsilon: Annotated[float, typer.Option(min=0.0, help="How near to the best is near enough, in cycles.")] = CYCLES,
    journal: Annotated[Path | None, typer.Option(help="Keep the race here, and take it up again.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Watch a race of charging policies, on simulated cells, from the first cell to the verdict."""
    there = compared(arms, seed)
    slots = channels or max(2, min(os.cpu_count() or 2, CHANNELS))
    file = journal or Path(tempfile.mkdtemp(prefix="earlycall-")) / "demo.db"
    options = {
        "k": 1,
        "delta": 0.05,
        "feedback": Biased(sigma=LIFE_SD, reading_sd=FORECAST_SD),
        "delays": "informative",
        "min_delay": FORECAST_AT,
        "parallel": slots,
        "epsilon": epsilon,
        "seed": seed,
    }
    with open_journal(url_of(file), NAME, there, options) as race:
        for line in [] if as_json else introduction(arms, slots, epsilon, file):
            typer.echo(line)
        finished = raced(race)
        status = race.status()
    if as_json:
        typer.echo(json.dumps(plain(status, there, file, not finished), allow_nan=False))
    else:
        for line in [*sentences(status, not finished), *hindsight(status, there), *next_steps(status, file)]:
            typer.echo(line)
    if not finished:
        raise typer.Exit(INTERRUPTED)


def compared(count: int, seed: int) -> dict[str, Policy]:
    """The policies to compare, by label: all of them, or some."""
    chosen = policies() if count == MOST else sorted(random.Random(seed).sample(policies(), count))
    return {str(policy): policy for policy in chosen}


def raced(race: Race) -> bool:
    """Run the race in worker processes, for somebody to watch; whether it came to its end."""
    with watching(race, show=True) as view:
        workers = Processes(cycled, race.settings.parallel)
        return Loop(race, workers, math.inf, list(view), owner=me()).run(left_over(race))


def introduction(arms: int, slots: int, epsilon: float, file: Path) -> list[str]:
    """What is going to happen."""
    return [
        f"Which of {arms} ways to charge a cell in ten minutes makes it last longest, to within {epsilon:g} cycles?",
        f"Cells of one policy differ by ±{LIFE_SD:g} cycles. Forecasts after {FORECAST_AT} cycles are off by"
        f" ±{FORECAST_SD:g}, and by a bias.",
        f"{slots} simulated cells at a time, 95 % confidence. Ctrl-C stops it, and everything is kept in {file}\n",
    ]


def hindsight(status: Status, there: dict[str, Policy]) -> list[str]:
    """What an even comparison would have taken, and what only a simulation can know."""
    lines = []
    if status.decided:
        started, even = cells(status)
        lines.append(
            f"With as many cells for every policy as for the most tested one it would have been {even},"
            f" {even / started:.1f} times as many."
        )
    best = longest(there)
    mine = "".join(f"; {label} {typical_life(there[label])}" for label in status.top if label != best)
    lines.append(f"The simulation knows the truth: {best} lasts longest, {typical_life(there[best])} cycles{mine}.")
    return lines


def cells(status: Status) -> tuple[int, int]:
    """How many cells were put on test, and how many if every policy had got as many as the one with the most."""
    return sum(status.pulls.values()), max(arm.started for arm in status.arms) * len(status.arms)


def longest(there: dict[str, Policy]) -> str:
    """The policy that is best in truth."""
    return max(there, key=lambda label: typical_life(there[label]))


def url_of(file: Path) -> str:
    """The address of a journal."""
    return f"sqlite:///{file.absolute()}"


def next_steps(status: Status, file: Path) -> list[str]:
    """Where to look next."""
    why = f"earlycall.open_race('{url_of(file)}', '{NAME}').explain('{status.top[0]}')"
    lines = [
        "",
        "Every cell, forecast and verdict is in the journal (docs/journal.md). Look into it:",
        f'  sqlite3 {shlex.quote(str(file))} "SELECT arm, pulls, finished, verdict FROM arms"',
        f'  python -c "import earlycall; print({why})"',
        "A race of your own: examples/first_race.py, docs/running.md.",
    ]
    if not status.decided:
        lines.insert(1, f"To go on with it, say the same again with --journal {shlex.quote(str(file))}")
    return lines


def plain(status: Status, there: dict[str, Policy], file: Path, interrupted: bool) -> dict[str, object]:
    """All of it, ready for JSON."""
    started, even = cells(status)
    return {
        **asdict(status),
        "interrupted": interrupted,
        "cells": started,
        "cells_even": even,
        "truth": {label: typical_life(policy) for label, policy in there.items()},
        "journal": str(file.absolute()),
    }
