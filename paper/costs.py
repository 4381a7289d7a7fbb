"""`make costs`: what the harder truths cost, in steps to a decision.

Each line of harder.py that promises something, beside races in the same world with the same slots: by the paper's own
algorithms, by evidence that knows the sds and takes delays for independent, and beside the least mean time of any
method that knows all that (sim/limit.py). Where the world breaks what those rely on they are set in brackets.
"""

import math
from typing import Any

from rich.console import Console

from earlycall.core.settings import Settings
from earlycall.errors import SettingError
from earlycall.sim.compiled import many
from earlycall.sim.limit import floor
from earlycall.sim.worlds import World
from paper.harder import Truth, truths
from paper.methods import METHODS
from paper.results import HERE, progress, put, write_rows

RACES = 1000
LIMIT = 100_000
BESIDE = ("paper, full", "paper, partial", "evidence, full", "evidence, cutting")
HEADS = "world slots raced steps steps_se ratio_to_paper ratio_to_evidence ratio_to_floor relies_on_it".split()


def groups() -> list[list[Truth]]:
    """The lines that promise something, world by world."""
    by_world: dict[tuple[str, int], list[Truth]] = {}
    for truth in truths(RACES, RACES):
        if not truth.breaks:
            by_world.setdefault((truth.world.name, truth.settings.parallel), []).append(truth)
    return list(by_world.values())


def beside(truth: Truth) -> list[tuple[str, Settings]]:
    """The methods that know everything, in the same world with the same slots."""
    shape = {"parallel": truth.settings.parallel, "per_arm": truth.settings.per_arm}
    silent = truth.world.noise in ("none", "increments")
    return [
        (method.name, method.settings(truth.world, shape))
        for method in METHODS
        if method.name in BESIDE and not (silent and method.partial)
    ]


def broken(world: World) -> bool:
    """Whether the world breaks what those methods rely on."""
    return world.delay_is_reward or world.noise == "common" or world.block_sd > 0.0


def timed(world: World, settings: Settings) -> tuple[float, float]:
    """Mean steps, and its standard error."""
    steps = many(settings, world, RACES, seed=1, limit=LIMIT).steps
    return float(steps.mean()), float(steps.std() / math.sqrt(RACES))


def least(world: World, settings: Settings) -> float:
    """The floor for methods that know everything; nan where none is known."""
    try:
        return floor(settings, world).steps
    except SettingError:
        return math.nan


def main() -> None:
    """Race, and write results/costs.csv and .md."""
    rows: list[list[Any]] = []
    with progress(sum(len(group) + len(beside(group[0])) for group in groups())) as (bar, task):
        for group in groups():
            world = group[0].world
            known = beside(group[0])
            floors = {name: least(world, settings) for name, settings in known}
            found: dict[str, tuple[float, float]] = {}
            for name, settings in [*known, *((truth.name, truth.settings) for truth in group)]:
                bar.update(task, description=f"{world.name}: {name}")
                found[name] = timed(world, settings)
                bar.advance(task)
            for name, (steps, se) in found.items():
                partial = any(word in name for word in ("partial", "cutting", "refining"))
                paper = found.get("paper, partial" if partial else "paper, full", found["paper, full"])[0]
                bound = floors.get("evidence, cutting" if partial else "evidence, full", math.nan)
                ratios = [f"{steps / other:.3g}" for other in (paper, found["evidence, full"][0], bound)]
                relies = "broken" if name in floors and broken(world) else "holds"
                rows.append(
                    [world.name, group[0].settings.parallel, name, f"{steps:.5g}", f"{se:.2g}", *ratios, relies]
                )
    write_rows("costs.csv", HEADS, rows)
    put(HERE / "costs.md", page(rows))
    Console().print(page(rows), markup=False, highlight=False, soft_wrap=True)


def page(rows: list[list[Any]]) -> str:
    """The table for people."""
    lines = [
        "# What the harder truths cost",
        "",
        f"Made by `make costs`: mean steps to a decision, {RACES} races each, δ = 5 %. *× paper*: beside the paper's",
        "own algorithm that hears as much (full feedback, or readings too); *× known*: beside evidence that hears",
        "full feedback, knows σ and takes delays for independent; *× floor*: beside the least mean time of any method",
        "that knows all that. In brackets: methods that rely on what is not so in this world.",
        "",
        "| world | slots | raced | steps | × paper | × known | × floor |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    for world, slots, name, steps, se, paper, known, bound, relies in rows:
        shown = f"({name})" if relies == "broken" else name
        ratios = " | ".join("–" if ratio == "nan" else ratio for ratio in (paper, known, bound))
        lines.append(f"| {world} | {slots} | {shown} | {steps} ± {se} | {ratios} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
