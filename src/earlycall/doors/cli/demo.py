"""A race to watch: 40 charging policies on 40 channels, in virtual time.

A cell is cycled 1000 times, a test of 20 weeks, and counts with the capacity it has left. Every 50 cycles a forecast
of that number gets better. The cells are simulated, and nothing in the race knows their truth.
"""

import random
from collections.abc import Callable

import typer
from rich.console import Console

from earlycall.core.facts import Accepted, Cut, Rejected
from earlycall.core.models import Full, Unbiased
from earlycall.run.handle import Pull, Race

Say = Callable[[str], None]

STEPS = 20  # one step is 50 cycles, or a week
SIGMA = 2.0  # cells of one policy differ by this sd, in % of capacity
FORECAST_SD = {1: 8.0, 3: 4.0, 6: 2.0, 10: 1.0}  # of the forecast from step … on


def demo(
    seed: int = typer.Option(7, help="Another seed is another set of policies and cells."),
    policies: int = typer.Option(40, min=2, help="How many policies are compared."),
    channels: int = typer.Option(40, min=1, help="How many cells are cycled at once."),
) -> None:
    """Watch a simulated race from the first cell to the verdict."""
    say = Console(highlight=False, soft_wrap=True).print
    truth = capacities(seed, policies)
    say(f"[b]Which of {policies} charging policies leaves the most capacity after 1000 cycles?[/b]")
    say(f"{channels} channels, tests of {STEPS} weeks, cells of one policy differ by ±{SIGMA:g} %, 95 % confidence.\n")
    slow, race = drive(truth, seed, channels, Full(SIGMA), None)
    say(f"Waiting for every test to end: {slow} weeks, {race.status().pulls['finished']} tests.")
    say("With the forecasts, stopping what is settled or no longer worth its channel:\n")
    quick, race = drive(truth, seed, channels, Unbiased(SIGMA, FORECAST_SD, "refining", STEPS), say)
    say(f"\n[b]{race.top[0]} it is[/b], with {race.confidence:.0%} confidence, after {quick} weeks instead of {slow}.")
    best = max(truth, key=lambda label: truth[label])
    say(f"The simulation knows the truth: {best}, at {truth[best]:.1f} % capacity.")


def capacities(seed: int, policies: int) -> dict[str, float]:
    """The true mean capacity left, in %, of each policy."""
    chance = random.Random(seed)
    return {f"policy-{number:02d}": round(chance.gauss(80.0, 4.0), 2) for number in range(1, policies + 1)}


def drive(
    truth: dict[str, float], seed: int, channels: int, feedback: Full | Unbiased, say: Say | None
) -> tuple[int, Race]:
    """Run one race in virtual weeks; `say` hears its story."""
    race = Race(list(truth), k=1, delta=0.05, feedback=feedback, parallel=channels, delays="independent", setup=1)
    cells: dict[int, Cell] = {}
    week = told = 0
    while not race.decided:
        for pull in race.ask():
            cells[pull.id] = Cell(pull, truth[pull.arm], seed)
        week += 1
        for cell in [cells[pull.id] for pull in race.running]:
            cell.cycle(race)
        news = race.facts[told:]
        told += len(news)
        if say:
            tell_story(say, week, news, race)
    return week, race


class Cell:
    """A cell on a channel: it knows what capacity it will end with, and forecasts it ever better."""

    def __init__(self, pull: Pull, mean: float, seed: int) -> None:
        self.chance = random.Random(f"{seed}/{pull.seed}")
        self.id = pull.id
        self.step = 0
        self.left = self.chance.gauss(mean, SIGMA)

    def cycle(self, race: Race) -> None:
        """One more week."""
        self.step += 1
        if race.should_stop(self.id):
            return
        if self.step == STEPS:
            race.tell(self.id, self.left)
        else:
            sd = FORECAST_SD[max(step for step in FORECAST_SD if step <= self.step)]
            race.report(self.id, self.chance.gauss(self.left, sd), step=self.step)


def tell_story(say: Say, week: int, news: tuple[object, ...], race: Race) -> None:
    """Print what one week decided."""
    accepted = [fact.arm for fact in news if isinstance(fact, Accepted)]
    rejected = [fact.arm for fact in news if isinstance(fact, Rejected)]
    cut = sum(isinstance(fact, Cut) for fact in news)
    if not (accepted or rejected or week % 10 == 0):
        return
    left = sum(arm.verdict == "surviving" for arm in race.status().arms)
    line = f"week {week:3d}  {left:2d} left, {race.top[0]} leads"
    if rejected:
        more = f" and {len(rejected) - 2} more" if len(rejected) > 2 else ""
        line += f"  [red]out[/red] {', '.join(rejected[:2])}{more}"
    if cut:
        line += f"  ({cut} test{'s' if cut > 1 else ''} cut short)"
    say(line)
