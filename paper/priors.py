"""`make priors`: what the default prior costs against the best one for each world, had it been known.

The default is a pair of priors, wide and narrow (docs/guarantees.md, "Two priors"). It is set beside fixed ones,
τ = 1/256 … 1024 in 1/σ², in the paper's worlds and among six arms 0.3σ apart. With readings and cuts a unit of
information comes in small pieces, with full feedback alone in whole pulls; both are raced.
"""

import math
from dataclasses import replace

from rich.console import Console

from earlycall.core.settings import settings_of
from earlycall.sim.compiled import many
from earlycall.sim.worlds import World, bounded, free
from paper.methods import DELTA
from paper.results import HERE, progress, put, write_rows

RUNS = 1000
LIMIT = 1_000_000
FIXED = [4.0**power for power in range(-4, 6)]  # τ in 1/σ²
SIX = World("six arms 0.3σ apart", tuple(0.3 * (6 - i) for i in range(6)), 1, 1.0, 1, noise="none")
HEADS = "world method prior steps steps_se ratio_to_best".split()


def worlds() -> list[tuple[World, str]]:
    """Each world, and how it is raced."""
    found = [(SIX, "full")]
    for n in (10, 20, 50, 100):
        for world in (bounded(n), free(n)):
            found += [(world, "cutting"), (replace(world, noise="none", steps=1), "full")]
    return found


def level_of(world: World) -> float:
    """x = L + ln(1 + L), which `scale=` turns into a prior (THEORY §2, "τ")."""
    level = math.log(world.k * (len(world.means) - world.k) / DELTA)
    return level + math.log1p(level)


def race(world: World, method: str, tau: float | None) -> tuple[float, float]:
    """Mean steps and its standard error, with a fixed prior (None: the default)."""
    options = {"k": world.k, "delta": DELTA, "feedback": world.feedback(), "delays": "independent"}
    if method == "cutting":
        options["setup"] = 0.0
    if tau is not None:
        sigma = world.sigma if isinstance(world.sigma, float) else world.sigma[0]
        options["scale"] = sigma * math.sqrt(4.0 * (1.0 + 1.0 / level_of(world)) / tau)
    steps = many(settings_of(options), world, RUNS, seed=1, limit=LIMIT).steps
    return float(steps.mean()), float(steps.std() / math.sqrt(RUNS))


def main() -> None:
    """Race, and write results/priors.csv and .md."""
    rows = []
    with progress(len(worlds()) * (len(FIXED) + 1)) as (bar, task):
        for world, method in worlds():
            found = {}
            for tau in [None, *FIXED]:
                bar.update(task, description=f"{world.name}, {method}: {tau or 'default'}")
                found[tau] = race(world, method, tau)
                bar.advance(task)
            best = min(found[tau][0] for tau in FIXED)
            for tau, (steps, se) in found.items():
                name = "default" if tau is None else f"{tau:g}"
                rows.append([world.name, method, name, f"{steps:.5g}", f"{se:.2g}", f"{steps / best:.3f}"])
    write_rows("priors.csv", HEADS, rows)
    put(HERE / "priors.md", page(rows))
    Console().print(page(rows), markup=False, highlight=False, soft_wrap=True)


def page(rows: list[list[str]]) -> str:
    """The table for people: each world with its best fixed prior, τ = 1/σ², and the default."""
    lines = [
        "# What not knowing the gap costs",
        "",
        f"Made by `make priors`: mean steps to a decision, {RUNS} races each, δ = 5 %, one slot. *full*: a pull is one",
        "step and says only its full feedback. *cutting*: with the paper's readings, `setup=0`. τ in 1/σ².",
        "",
        "| world | raced | best fixed τ | its steps | τ = 1 | default |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for world, method in dict.fromkeys((row[0], row[1]) for row in rows):
        here = {row[2]: row for row in rows if row[:2] == [world, method]}
        best = min((row for name, row in here.items() if name != "default"), key=lambda row: float(row[3]))
        ratios = f"{float(here['1'][5]):.2f} | {float(here['default'][5]):.2f}"
        lines.append(f"| {world} | {method} | {best[2]} | {best[3]} | {ratios} |")
    worst = max(float(row[5]) for row in rows if row[2] == "default")
    lines += ["", f"The default is at most {100 * (worst - 1):.0f} % slower than the best fixed prior of the ten."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
