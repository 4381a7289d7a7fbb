"""`make growth`: how near the floor races come as δ falls, with arms started evenly and with contenders first.

No method that is right with probability 1 − δ takes fewer than kl(δ, 1−δ)·T*/b steps on average (sim/limit.py). Here
the mean time of races is divided by that floor, from δ = 0.05 down to 1e-100. What is lost at every δ is the threshold:
ln(k(n−k)/δ) and the penalties take the place of kl(δ, 1−δ), and that ratio falls to 1 with δ. What is lost for ever is
the allocation: with arms started evenly the ratio falls to Σ 4/(ρ_i·gap_i²)/T* (as each arm is judged when it and its
neighbour across the line are known well enough), with the best shares to 1.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib
from rich.console import Console

from earlycall.core.settings import Settings, settings_of
from earlycall.sim.compiled import OUTCOMES, many
from earlycall.sim.limit import floor, kl, rate
from earlycall.sim.worlds import World, bounded, free
from paper.results import HERE, progress, put, read_rows, write_rows

ALLOCATIONS = ("even", "contenders")
RACES = {0.05: 1000, 1e-2: 1000, 1e-5: 1000, 1e-10: 1000, 1e-30: 200, 1e-100: 50}  # by δ; times vary less as δ falls
PATIENCE = 100  # times the floor: a wrong verdict may leave equal arms, which nobody can tell apart
HEADS = "world slots delta allocation races steps steps_se floor ratio ratio_se at_zero wrong undecided".split()


@dataclass(frozen=True)
class Case:
    """A world, and what is special about racing in it."""

    world: World
    options: dict[str, Any]


def steps_apart(k: int) -> World:
    """Six arms, each 0.3σ above the next; a pull takes one step and says nothing before it ends."""
    return World(f"six arms 0.3σ apart, k = {k}", tuple(-0.3 * i for i in range(6)), k, 1.0, 1, noise="none")


def one_good(n: int) -> World:
    """One arm 1σ above all others, which are equal."""
    return World(f"one good, {n - 1} equal", (1.0, *[0.0] * (n - 1)), 1, 1.0, 1, noise="none")


def cases() -> Iterator[Case]:
    """The paper's worlds with pulls cut where it pays; a hard one; one in which evenly is far from the best."""
    for make in (bounded, free):
        for n in (10, 20):
            yield Case(make(n), {"setup": 0})
    yield Case(steps_apart(1), {})
    yield Case(steps_apart(2), {})
    yield Case(steps_apart(2), {"parallel": 4})
    yield Case(one_good(50), {})


def settings_for(case: Case, delta: float, allocation: str) -> Settings:
    """The settings of a race."""
    declared = {"k": case.world.k, "delta": delta, "feedback": case.world.feedback(), "delays": "independent"}
    return settings_of({**declared, **case.options, "allocation": allocation})


def at_zero(case: Case, allocation: str) -> float:
    """What the ratio falls to as δ does: for arms started evenly, Σ 4/(ρ·gap_i²)/T*, every σ being the same.

    An arm is judged when its pair with the first arm across the line passes, both being equally well known then:
    ½·gap²/(2/I) = ln(1/δ).
    """
    if allocation != "even":
        return 1.0
    settings = settings_for(case, 0.05, "even")
    means, k = sorted(case.world.means, reverse=True), case.world.k
    gaps = [mean - means[k] for mean in means[:k]] + [means[k - 1] - mean for mean in means[k:]]
    least = floor(settings, case.world).pairs / kl(0.05)  # T*/b
    return sum(4.0 / gap**2 for gap in gaps) / (best_rate(settings, case.world) * settings.parallel * least)


def best_rate(settings: Settings, world: World) -> float:
    """ρ: the most information that a step can bring, on any arm."""
    return rate(settings.feedback, world.sigmas[0], world, settings.setup or 0.0)


def measure(part: float = 1.0) -> None:
    """Race, and write results/growth.csv; `part`: of the races, to try the program out."""
    todo = [(case, delta, how) for case in cases() for delta in RACES for how in ALLOCATIONS]
    rows = []
    with progress(sum(count(delta, part) for _, delta, _ in todo)) as (bar, task):
        for case, delta, how in todo:
            bar.update(task, description=f"{case.world.name}, δ = {delta:g}: {how}")
            rows.append(row(case, delta, how, count(delta, part), lambda more: bar.advance(task, more)))
    write_rows("growth.csv", HEADS, rows)


def count(delta: float, part: float) -> int:
    """How many races are run."""
    return max(2, round(part * RACES[delta]))


def row(case: Case, delta: float, how: str, races: int, told: Any) -> list[Any]:
    """A line of the table."""
    settings = settings_for(case, delta, how)
    least = floor(settings, case.world).steps
    found = many(settings, case.world, races, seed=2018, limit=math.ceil(PATIENCE * least), told=told)
    steps, se = float(found.steps.mean()), float(found.steps.std(ddof=1)) / math.sqrt(races)
    numbers = [f"{steps:.6g}", f"{se:.3g}", f"{least:.6g}", f"{steps / least:.4g}", f"{se / least:.2g}"]
    undecided = int((found.outcome == OUTCOMES.index("undecided")).sum())
    ends = [f"{at_zero(case, how):.4g}", int(found.wrong.sum()), undecided]
    return [case.world.name, settings.parallel, f"{delta:g}", how, races, *numbers, *ends]


# The page and the picture -------------------------------------------------------------------------------------------


def by_world(rows: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    """The lines of each world and number of slots."""
    found: dict[str, list[dict[str, str]]] = {}
    for line in rows:
        slots = "" if line["slots"] == "1" else f", {line['slots']} slots"
        found.setdefault(line["world"] + slots, []).append(line)
    return found


def page() -> str:
    """results/growth.csv for people."""
    rows = read_rows("growth.csv")
    deltas = list(dict.fromkeys(line["delta"] for line in rows))
    lines = [
        "# Nearer the floor as δ falls",
        "",
        "Made by `make growth`. Mean steps of races, divided by the least mean steps of any method that is right with",
        "probability 1 − δ (± one standard error). δ → 0: what the ratio falls to, by calculation. *saved*: the steps",
        "that contenders save over even. [As a picture](growth.svg); [all numbers](growth.csv).",
        "",
        f"| world | allocation | {' | '.join(f'δ = {delta}' for delta in deltas)} | δ → 0 |",
        f"|---|---|{'---:|' * (len(deltas) + 1)}",
    ]
    for world, mine in by_world(rows).items():
        for how in ALLOCATIONS:
            these = [line for line in mine if line["allocation"] == how]
            ratios = " | ".join(f"{float(line['ratio']):.2f} ± {float(line['ratio_se']):.2f}" for line in these)
            lines.append(f"| {world} | {how} | {ratios} | {float(these[0]['at_zero']):.2f} |")
        lines.append(f"| | *saved* | {' | '.join(saved(mine, delta) for delta in deltas)} | {saved_at_zero(mine)} |")
    wrong = sum(int(line["wrong"]) for line in rows)
    undecided = sum(int(line["undecided"]) for line in rows)
    races = sum(int(line["races"]) for line in rows)
    lines += ["", f"Of {races} races {wrong} gave a wrong verdict, and {undecided} were given up as undecided."]
    return "\n".join(lines) + "\n"


def saved(rows: list[dict[str, str]], delta: str) -> str:
    """How many steps contenders save over even at one δ, in percent."""
    steps = {line["allocation"]: float(line["steps"]) for line in rows if line["delta"] == delta}
    return f"{100.0 * (1.0 - steps['contenders'] / steps['even']):.0f} %"


def saved_at_zero(rows: list[dict[str, str]]) -> str:
    """The same as δ falls to 0."""
    ends = {line["allocation"]: float(line["at_zero"]) for line in rows}
    return f"{100.0 * (1.0 - ends['contenders'] / ends['even']):.0f} %"


def draw() -> None:
    """One panel for each world: the ratio against ln(1/δ)."""
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "earlycall"  # the same data, the same file
    from matplotlib import pyplot

    worlds = by_world(read_rows("growth.csv"))
    figure, axes = pyplot.subplots(2, 4, figsize=(13, 6.4), layout="constrained", sharex=True)
    for axis, (world, mine) in zip(axes.flat, worlds.items(), strict=True):
        for how, colour in zip(ALLOCATIONS, ("tab:orange", "tab:blue"), strict=True):
            these = [line for line in mine if line["allocation"] == how]
            xs = [-math.log10(float(line["delta"])) for line in these]
            ratios, errors = ([float(line[name]) for line in these] for name in ("ratio", "ratio_se"))
            axis.errorbar(xs, ratios, [2.0 * error for error in errors], color=colour, marker=".", label=how)
            axis.axhline(float(these[0]["at_zero"]), color=colour, linestyle=":", linewidth=1)
        axis.set_xscale("log")
        axis.set_title(world, fontsize=9)
        axis.set_ylim(bottom=0.9)
        axis.grid(alpha=0.25)
    for axis in axes[1]:
        axis.set_xlabel("−log₁₀ δ")
    for axis in axes[:, 0]:
        axis.set_ylabel("mean steps / floor")
    axes[0][0].legend(frameon=False)
    figure.suptitle("Time over the least any method needs, as δ falls (± 2 se; dotted: where it ends)", fontsize=11)
    for ending, details in (("svg", {"Date": None}), ("png", None)):
        figure.savefig(HERE / f"growth.{ending}", metadata=details, dpi=110)
    pyplot.close(figure)


def main() -> int:
    """Race, draw and tabulate; with `--draw` only what follows from the numbers that are there."""
    if "--draw" not in sys.argv[1:]:
        measure()
    put(HERE / "growth.md", page())
    draw()
    Console().print(page(), markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
