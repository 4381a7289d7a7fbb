"""A race while it runs: a table on a terminal, lines of text elsewhere. It watches, and the race never looks at it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from earlycall.core.status import Status
from earlycall.run.handle import Race
from earlycall.run.loop import Event
from earlycall.show.report import HEADINGS, Pace, headline, rows

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

OFTEN, SELDOM = 0.25, 10.0  # seconds between two tables, and between two lines
SHARE = 20.0  # looking at the race takes one part in so many of the time
MOST = 20  # arms that are shown
STYLES = {"accepted": "green", "rejected": "dim", "withdrawn": "dim"}


@contextmanager
def watching(race: Race, show: bool | None) -> Iterator[list[Callable[[Event], None]]]:
    """Somebody who watches this race: the table, the lines or nobody. `show=None`: a table, on a terminal only."""
    if show is False or (show is None and not sys.stderr.isatty()):
        yield []
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        view = View(race, SELDOM, lambda status, left: say(headline(status, left)))
        yield [view.event]
        view.draw()
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False, transient=False) as live:
        view = View(race, OFTEN, lambda status, left: live.update(picture(status, left, console), refresh=True))
        yield [view.event]
        view.draw()


def say(line: str) -> None:
    """A line for a log."""
    print(f"earlycall: {line}", file=sys.stderr, flush=True)  # noqa: T201


class View:
    """Looks at a race now and then, and keeps the time of its pulls."""

    def __init__(self, race: Race, every: float, show: Callable[[Status, float | None], Any]) -> None:
        self.race = race
        self.every = every
        self.show = show
        self.next = 0.0
        self.began: dict[int, float] = {}
        self.pace = Pace()

    def event(self, event: Event) -> None:
        """Something happened."""
        now = monotonic()
        if event.kind == "began" and event.pull is not None:
            self.began[event.pull] = now
        elif event.kind in ("finished", "failed", "lost", "stopped") and event.pull is not None:
            began = self.began.pop(event.pull, None)
            if event.kind in ("finished", "failed") and began is not None:
                self.pace.ended += 1
                self.pace.busy += now - began
        elif event.kind == "tick" and now >= self.next:
            self.draw()
            self.next = now + max(self.every, SHARE * (monotonic() - now))

    def draw(self) -> None:
        """Look, and show."""
        now = monotonic()
        status = self.race.status()
        self.show(status, self.pace.seconds_left(status, [now - began for began in self.began.values()]))


def picture(status: Status, left: float | None, console: "Console") -> "RenderableType":
    """The table and the line below it. Labels are Text, so nothing in them is markup."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, no_wrap=True, justify="left" if heading in ("arm", "verdict") else "right")
    most = max(3, min(MOST, console.height - 8))
    lines = rows(status)
    for line in lines[:most]:
        style = STYLES.get(line.verdict, "")
        table.add_row(*(Text(cell, style=style, overflow="ellipsis") for cell in line))
    below = [Text(f"… and {len(lines) - most} more")] if len(lines) > most else []
    doubts = [Text(f"But: {suspicion}", style="yellow") for suspicion in status.suspicions]
    return Group(table, *below, Text(headline(status, left)), *doubts)
