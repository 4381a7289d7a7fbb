"""`earlycall plan`: before the first pull, how long it will take and what would make it shorter."""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from earlycall.core.models import Biased, Correlated, Full, Incremental
from earlycall.core.rules import rules_of
from earlycall.core.settings import Settings, settings_of
from earlycall.errors import SettingError
from earlycall.run.arms import name_arms
from earlycall.run.handle import doubts

if TYPE_CHECKING:
    from earlycall.doors.campaign import Campaign
    from earlycall.sim.plan import Forecast
    from earlycall.sim.worlds import World

SPACING = 0.5  # of σ: how far apart arms are taken to be when nobody says


def plan(
    campaign: Annotated[Path | None, typer.Argument(help="A campaign file (TOML).")] = None,
    world: Annotated[str, typer.Option(help="Instead of a file: bounded or free (the paper's), or another name.")] = "",
    arms: Annotated[int, typer.Option(min=5, max=10_000, help="With --world: how many arms.")] = 20,
    races: Annotated[int, typer.Option(min=10, max=100_000, help="How many races are simulated for each line.")] = 400,
    seed: Annotated[int, typer.Option(min=0, help="The same seed, the same forecast.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Also draw the times (.png, .svg or .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    example: Annotated[bool, typer.Option("--example", help="Print a campaign file to begin with.")] = False,
) -> None:
    """Simulate the race you have in mind: time to the decision, pulls, cuts, and what would make it shorter.

    earlycall plan --example > campaign.toml, then earlycall plan campaign.toml
    """
    from earlycall.doors import campaign as files

    if example:
        typer.echo(files.EXAMPLE, nl=False)
        return
    if plot is not None:
        check_picture(plot)
    if campaign is not None and world:
        raise SettingError(f"world={world!r}: expected a campaign file or --world, not both.")
    if campaign is not None:
        given = files.read_campaign(campaign)
        settings, there = expected(given)
        title = campaign.name
    else:
        settings, there = known_world(world, arms)
        title = there.name
    for doubt in doubts(settings):
        typer.echo(f"earlycall: {doubt}", err=True)
    rows = with_progress(settings, there, races, seed)
    if plot is not None:
        from earlycall.show.plots import times_plot

        times_plot(plot, title, [(row.name, row.races, row.all_steps) for row in rows])
    if as_json:
        plain = [{key: plain_value(value) for key, value in asdict(row).items() if key != "all_steps"} for row in rows]
        typer.echo(json.dumps({"world": title, "delta": settings.delta, "forecasts": plain}, allow_nan=False))
        return
    print_table(title, settings, there, rows)


def known_world(name: str, arms: int) -> "tuple[Settings, World]":
    """One of the paper's worlds, raced with one slot."""
    from earlycall.sim import worlds

    if name not in worlds.NAMED:
        known = ", ".join(worlds.NAMED)
        raise SettingError(f"world={name!r}: expected a campaign file, or --world and one of {known}.")
    there = worlds.NAMED[name](arms)
    ends = {"epsilon": 0.5} if name == "tied" else {}
    return settings_of({"k": there.k, "delta": 0.05, "feedback": there.feedback(), **ends}), there


def check_picture(path: Path) -> None:
    """Find out before the races, not after them, that a picture cannot be drawn."""
    from earlycall.show import plots

    if path.suffix not in plots.ENDINGS:
        raise SettingError(f"plot={str(path)!r}: expected a name that ends in {', '.join(plots.ENDINGS)}.")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise SettingError(f"plot={str(path)!r}: expected a file in a folder that exists.")
    plots.needs_matplotlib()


def expected(campaign: "Campaign") -> "tuple[Settings, World]":
    """The race of a campaign in the world that its [plan] expects: arms by number, better ones with larger means."""
    from earlycall.sim.worlds import World

    labels = tuple(name_arms(campaign.arms))
    settings, said = campaign.settings(), campaign.plan
    rules_of(labels, settings)  # what is wrong with the race is said in the words of its file
    feedback, sigma = settings.feedback, expected_sigma(settings, said.sigma)
    steps = said.steps or getattr(feedback, "steps", None)
    if said.steps and said.steps != (getattr(feedback, "steps", None) or said.steps):
        raise SettingError(f"plan.steps={said.steps}: expected {feedback.steps}, as in [feedback]; say it once.")  # type: ignore[union-attr]
    if steps is None:
        raise SettingError("plan.steps: expected the length of a pull in steps, here or as steps in [feedback].")
    if said.shortest is not None and said.shortest > steps:
        raise SettingError(f"plan.shortest={said.shortest}: expected at most the length of a pull, {steps}.")
    sign = -1.0 if settings.direction == "minimize" else 1.0
    noise = {Full: "none", Incremental: "increments", Correlated: "surrogate"}.get(type(feedback), "")
    if said.bias and not isinstance(feedback, Biased):
        raise SettingError(f"plan.bias={said.bias:g}: expected only with feedback of kind 'biased'.")
    reading_sd, slope = getattr(feedback, "reading_sd", 1.0), 1.0
    if isinstance(feedback, Correlated):
        if not isinstance(sigma, float):
            raise SettingError("feedback.sigma: expected one number for all arms, to plan with a surrogate.")
        reading_sd, slope = feedback.residual_sd, feedback.correlation * feedback.surrogate_sd / sigma
    there = World(
        name="campaign",
        means=tuple(sign * mean for mean in expected_means(campaign, labels, sign)),
        k=settings.k,
        sigma=sigma if isinstance(sigma, float) else tuple(sigma[label] for label in labels),
        steps=steps,
        noise=noise or getattr(feedback, "pooling", "independent"),
        reading_sd=reading_sd,
        slope=slope,
        bias=sign * said.bias,
        shortest=said.shortest,
    )
    if isinstance(feedback.sigma, dict) and isinstance(there.sigma, tuple):
        feedback = replace(feedback, sigma=dict(zip(there.labels, there.sigma, strict=True)))
    return replace(settings, feedback=feedback), there


def expected_sigma(settings: Settings, said: float | None) -> float | Mapping[str, float]:
    """The sd of a pull: as declared, or as one expects it where it is not known."""
    declared = settings.feedback.sigma
    if isinstance(declared, float | Mapping):
        if said is not None:
            raise SettingError(f"plan.sigma={said:g}: expected only where [feedback] does not say sigma.")
        return declared
    if said is None:
        raise SettingError("plan.sigma: expected the sd of a pull that you expect, as [feedback] does not say it.")
    return said


def expected_means(campaign: "Campaign", labels: tuple[str, ...], sign: float) -> list[float]:
    """The means one expects, in the order of the arms."""
    said = campaign.plan
    if isinstance(said.means, dict):
        wrong = sorted(set(labels) ^ set(said.means))
        if wrong:
            raise SettingError(f"plan.means: expected one mean for every arm and no other; look at {wrong[0]!r}.")
        return [said.means[label] for label in labels]
    if said.means is not None:
        if len(said.means) != len(labels):
            raise SettingError(f"plan.means: expected {len(labels)} numbers, one for each arm, not {len(said.means)}.")
        return list(said.means)
    sigma = expected_sigma(campaign.settings(), said.sigma)
    widest = sigma if isinstance(sigma, float) else max(sigma.values())
    spacing = said.spacing if said.spacing is not None else SPACING * widest
    return [-sign * spacing * place for place in range(len(labels))]


def with_progress(settings: Settings, there: "World", races: int, seed: int) -> "list[Forecast]":
    """Simulate, with a bar on standard error where that is a terminal."""
    from earlycall.sim.plan import choices, plan

    lines = len(choices(settings, there))
    columns = (TextColumn("{task.description:24}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("compiling, once …", total=lines * races)
        return plan(settings, there, races, seed, lambda name, done: bar.update(task, advance=done, description=name))


def print_table(title: str, settings: Settings, there: "World", rows: "list[Forecast]") -> None:
    """The forecasts as a table, and what they mean."""
    console = Console(highlight=False, soft_wrap=True)
    columns: dict[str, list[str]] = {
        "": [row.name for row in rows],
        "steps": [spread(row.steps) for row in rows],
        "pulls": [f"{row.pulls[1]:,.0f}" for row in rows],
        "cut short": [f"{row.cuts[1]:,.0f}" if row.cuts[2] else "" for row in rows],
        "wrong": [share(row.wrong, row.races) for row in rows],
        "undecided": [share(row.undecided, row.races) for row in rows],
        "floor": ["" if row.floor is None else whole_or_short(row.floor) for row in rows],
    }
    heading = f"{title}: {len(there.means)} arms, best {settings.k}, δ = {settings.delta:g}"
    table = Table(title=heading, box=SIMPLE_HEAD, pad_edge=False)
    shown = {heading: cells for heading, cells in columns.items() if any(cells)}
    for heading in shown:
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for cells in zip(*shown.values(), strict=True):
        table.add_row(*cells)
    console.print(table)
    worst = max(row.doubt for row in rows)
    about = (
        f"medians are good to about ±{worst:.0%}" if worst < 1.0 else "too many races were undecided to tell medians"
    )
    console.print(
        f"steps: 10 % · 50 % · 90 % of {rows[0].races} races are decided by then; pulls: medians; {about} (--races)."
    )
    if "floor" in shown:
        console.print("floor: no method, however clever, has a smaller mean time.")


def plain_value(value: object) -> object:
    """A value for JSON: what is not known is null."""
    return None if value == math.inf else value


def share(count: int, races: int) -> str:
    """A share of all races, nothing where there is none."""
    return f"{count / races:.1%}" if count else ""


def whole_or_short(number: float) -> str:
    """A number in as many digits as matter."""
    return f"{number:,.0f}" if number >= 100.0 else f"{number:.3g}"


def spread(numbers: tuple[float | None, float | None, float | None]) -> str:
    """Three quantiles."""
    return " · ".join("∞" if number is None else f"{number:,.0f}" for number in numbers)
