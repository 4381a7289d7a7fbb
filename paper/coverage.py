"""`make coverage`: how often each method is wrong, in every world, with exact binomial bounds.

10 000 races of ten arms, 1000 of a hundred and in worlds that break an assumption. *wrong*: some verdict was not so
(with ε: or a leader further than ε from the best). *missed*: some interval did not hold its mean at some step. Both may
happen in at most δ = 5 % of the races wherever the assumptions hold. Some worlds break one on purpose, and some methods
have no guarantee: they are marked, and are there to be seen failing.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rich.console import Console

from earlycall.core.settings import Settings
from earlycall.sim.compiled import OUTCOMES, many
from earlycall.sim.worlds import NAMED, World, bounded, free
from paper.harder import truths
from paper.methods import DELTA, METHODS, PARALLEL, SEQUENTIAL, Method
from paper.results import HERE, progress, put, write_rows

SMALL, LARGE = 10_000, 1000  # races of 10 and of 100 arms (and in worlds that break a promise)
CONTENDERS = Method("evidence, contenders", True, {"allocation": "contenders"})
LIMIT = 20_000  # steps, in the worlds that may never be decided


@dataclass(frozen=True)
class Case:
    """A world, what is special about racing in it, and which assumption it breaks, if any."""

    world: World
    options: dict[str, Any]
    races: int = SMALL
    limit: int = 1_000_000  # steps; far more than any of these races takes, unless a wrong verdict leaves tied arms
    breaks: str = ""


def cases() -> Iterator[Case]:
    """The paper's worlds and their relatives; ties; arms that come and go; and two worlds that break a promise."""
    for world in (bounded(10), free(10)):
        biased = replace(world, name=f"{world.name}, biased", bias=world.sigma)
        for shape in (SEQUENTIAL, PARALLEL):
            yield Case(world, shape)
            yield Case(biased, shape)
    spread = NAMED["random-delays"](10)
    yield Case(spread, PARALLEL)
    yield Case(replace(spread, name="random delays, biased", bias=0.03), PARALLEL)
    for name in ("increments", "refining", "refining-biased", "surrogate"):
        yield Case(NAMED[name](10), PARALLEL)
    tied = NAMED["tied"](10)
    yield Case(replace(tied, name="tied, ε = 0.5"), {**PARALLEL, "epsilon": 0.5})
    yield Case(replace(tied, name="tied, stopped after 500 steps"), PARALLEL, limit=500)
    spaced = World("evenly spaced", tuple(5.0 - 0.6 * place for place in range(10)), 3, 1.0, 10, reading_sd=1.0)
    joined = replace(spaced, name="a newcomer after 50 steps", means=(*spaced.means, 4.6), arrivals={10: 50})
    yield Case(joined, {**PARALLEL, "reserve": 1})
    left = replace(spaced, name="the best arm withdrawn after 50 steps", departures={0: 50})
    yield Case(left, {**PARALLEL, "reserve": 0})
    yield Case(bounded(100), PARALLEL, races=LARGE)
    yield Case(free(100), PARALLEL, races=LARGE)
    crowd = {"parallel": 50, "per_arm": 50}
    yield Case(NAMED["delay-is-reward"](3), crowd, LARGE, LIMIT, breaks="delays are not independent")
    yield Case(NAMED["common"](3), PARALLEL, LARGE, LIMIT, breaks="errors of a pull are not independent")


def methods_for(case: Case) -> Iterator[Method]:
    """The methods that know this world's feedback."""
    refining = case.world.noise in ("refining", "surrogate")
    for method in METHODS:
        of_paper = method.name.startswith(("paper", "printed", "as printed"))
        if refining and of_paper and method.partial:
            continue
        if method.name == "evidence, cutting" and case.world.noise == "increments":
            continue
        yield method
    yield CONTENDERS


HEADS = "world slots method races wrong wrong_upper missed missed_upper undecided steps guarantee".split()


def main() -> int:
    """Count, write results/coverage.csv and .md; 1 when something that is guaranteed fails."""
    todo = lines()
    rows = []
    with progress(sum(line.races for line in todo)) as (bar, task):
        for line in todo:
            bar.update(task, description=f"{line.world.name}: {line.name}")
            rows.append(row(line, partial(bar.advance, task)))
    write_rows("coverage.csv", HEADS, rows)
    put(HERE / "coverage.md", page(rows))
    failed = [row for row in rows if row[-1] == "yes" and (row[4] > allowed(row[3]) or row[6] > allowed(row[3]))]
    Console().print((HERE / "coverage.md").read_text(encoding="utf-8"), markup=False, highlight=False, soft_wrap=True)
    for wrong in failed:
        print("more often than δ:", wrong, file=sys.stderr)
    return 1 if failed else 0


@dataclass(frozen=True)
class Line:
    """A line of the table, before it is counted."""

    world: World
    name: str
    settings: Settings
    races: int
    limit: int
    guarantee: str  # "yes", or why there is none


def lines() -> list[Line]:
    """Every line there is."""
    found = []
    for case in cases():
        for method in methods_for(case):
            settings = method.settings(case.world, case.options)
            found.append(Line(case.world, method.name, settings, case.races, case.limit, guarantee(case, method)))
    for truth in truths(SMALL, LARGE):
        line = Line(truth.world, truth.name, truth.settings, truth.races, truth.limit, truth.breaks or "yes")
        found.append(line)
    return found


def guarantee(case: Case, method: Method) -> str:
    """Whether one is claimed: "yes", or why not."""
    if "print" in method.name:
        return "printed"
    return case.breaks if case.breaks and (method.partial or case.world.delay_is_reward) else "yes"


def row(line: Line, told: Any) -> list[Any]:
    """A line of the table, counted."""
    races = many(line.settings, line.world, line.races, seed=1, limit=line.limit, told=told, watched=True)
    wrong, missed = int(races.wrong.sum()), int(races.missed.sum())
    undecided = int((races.outcome == OUTCOMES.index("undecided")).sum())
    return [
        line.world.name,
        line.settings.parallel,
        line.name,
        line.races,
        wrong,
        f"{upper(wrong, line.races):.4f}",
        missed,
        f"{upper(missed, line.races):.4f}",
        undecided,
        f"{races.steps.mean():.5g}",
        line.guarantee,
    ]


def upper(count: int, races: int) -> float:
    """The exact (Clopper–Pearson) upper bound of a rate, at 97.5 %."""
    from scipy.stats import beta

    return 1.0 if count == races else float(beta.ppf(0.975, count + 1, races - count))


def allowed(races: int) -> int:
    """The largest count that a rate of δ exceeds with probability at most 1e-4."""
    from scipy.stats import binom

    return int(binom.ppf(1.0 - 1e-4, races, DELTA))


def page(rows: list[list[Any]]) -> str:
    """The table for people."""
    lines = [
        "# Errors, counted",
        "",
        "Made by `make coverage`. δ = 5 %. *wrong*: races with a verdict that is not so; *missed*: races in which some",
        "interval did not hold its mean at some step. In brackets the exact 97.5 % upper bound of the rate.",
        "*guarantee*: whether one is claimed; if not, what is broken (*printed*: the radius or the ledger as printed).",
        "",
        "| world | slots | method | races | wrong | missed | undecided | mean steps | guarantee |",
        "|---|---:|---|---:|---:|---:|---:|---:|---|",
    ]
    for world, slots, method, races, wrong, high, missed, missed_high, undecided, steps, guarantee in rows:
        counts = f"{wrong} (≤ {100 * float(high):.2f} %) | {missed} (≤ {100 * float(missed_high):.2f} %) | {undecided}"
        lines.append(f"| {world} | {slots} | {method} | {races} | {counts} | {steps} | {guarantee} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
