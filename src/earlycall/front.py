"""From an objective to an answer in one call: the only room that sees all others, and none before it needs it."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Unpack

from earlycall.core.checks import choice, real, refusal
from earlycall.core.remedies import Suspicion
from earlycall.core.settings import Options, at_least_zero
from earlycall.core.status import Explanation, Status
from earlycall.errors import SettingError
from earlycall.run.arms import name_arms
from earlycall.run.handle import Race

if TYPE_CHECKING:
    from earlycall.run.loop import Event, Watcher
    from earlycall.run.objective import Objective
    from earlycall.run.workers import Workers

KINDS = ["inline", "threads", "processes", "commands"]
SECONDS = "a number of seconds above 0"


@dataclass(frozen=True, slots=True)
class Result:
    """What a race came to; print it."""

    race: Race
    interrupted: bool = False

    @property
    def top(self) -> list[str]:
        """The labels of the best k, as far as they are known, in the order the arms were given."""
        return self.race.top

    @property
    def confidence(self) -> float | None:
        """How sure the answer is."""
        return self.race.confidence

    @property
    def outcome(self) -> str | None:
        """How it ended: "exact", "epsilon", "deadline" or "stopped"; None where it has not."""
        return self.race.outcome

    @property
    def decided(self) -> bool:
        """Whether the race is over."""
        return self.race.decided

    @property
    def status(self) -> Status:
        """Everything there is to show, in plain rows."""
        return self.race.status()

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Each arm's interval; all hold together, at all times, with probability ≥ 1 − δ."""
        return self.race.intervals()

    @property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """What the reports speak against, of all that was declared."""
        return self.status.suspicions

    def explain(self, arm: str) -> Explanation:
        """Why an arm stands where it stands; print it."""
        return self.race.explain(arm)

    def table(self) -> str:
        """The arms as plain text, the best first."""
        from earlycall.show.report import text_table

        return text_table(self.status)

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {**asdict(self.status), "interrupted": self.interrupted}

    def __str__(self) -> str:
        from earlycall.show.report import sentences

        return "\n".join(sentences(self.status, self.interrupted))


def identify(
    objective: "Objective | None",
    arms: object,
    *,
    workers: "str | Workers" = "inline",
    timeout: float | None = None,
    deadline: float | datetime | None = None,
    grace: float = 5.0,
    show: bool | None = None,
    callbacks: "Callable[[Event], object] | None" = None,
    journal: str | None = None,
    name: str | None = None,
    **options: Unpack[Options],
) -> Result:
    """Race the arms with `objective(value, pull)` until the best k are known.

    `workers`: "inline", "threads", "processes", or "commands", where each arm is a command line and there is no
    objective. `timeout`: seconds a pull may take before it has failed. `deadline`: seconds, or a datetime, until the
    race ends with the answer of the moment. `grace`: seconds a cancelled pull has to stop. `show`: the race while it
    runs (None: on a terminal). `callbacks`: is called with every event. `journal`, `name`: keep the race in a file, and
    call again to take it up where it was (`open_race`). The rest: docs/options.md.

    >>> result = identify(lambda value, pull: value, {"A": 1.0, "B": 9.0}, k=1, delta=0.05, feedback=Full(sigma=1.0))
    >>> result.top, result.outcome
    (['B'], 'exact')
    """
    ends = ending(deadline)
    waits = None if timeout is None else seconds("timeout", timeout)
    patience = at_least_zero("grace", grace, "Seconds that a cancelled pull has to stop.")
    values = name_arms(arms)
    race = opened_race(values, journal, name, options)
    crew = hired(workers, objective, values, race.settings.parallel, waits, patience)
    return driven(race, crew, ends, show, callbacks, kept=journal is not None)


def opened_race(values: dict[str, object], journal: str | None, name: str | None, options: Mapping[str, Any]) -> Race:
    """The one place where a race is opened: in memory, or in a journal, where it may be taken up again."""
    if journal is None:
        if name is not None:
            raise SettingError(refusal("name", name, "a journal beside it", 'Say journal="sqlite:///races.db".'))
        return Race(values, **options)
    return open_race(journal, "race" if name is None else name, values, **options)


def hired(
    workers: "str | Workers",
    objective: "Objective | None",
    values: Mapping[str, object],
    slots: int,
    timeout: float | None,
    grace: float,
) -> "Workers":
    """The workers, after a look at whether they can run this."""
    if not isinstance(workers, str):
        if not all(callable(getattr(workers, verb, None)) for verb in ("start", "cancel", "news", "close")):
            raise SettingError(refusal("workers", workers, f"{' or '.join(map(repr, KINDS))}, or workers of your own"))
        return workers
    kind = choice("workers", workers, KINDS, SettingError)
    if kind == "commands":
        from earlycall.run.workers.commands import Commands, check_commands

        if objective is not None:
            remedy = "The arms are the command lines: identify(None, {label: command}, …)."
            raise SettingError(refusal("objective", objective, "None with workers='commands'", remedy))
        check_commands(values)
        return Commands(slots, timeout, grace, frozenset(values))
    if objective is None or not callable(objective):
        raise SettingError(refusal("objective", objective, "a function f(value, pull)"))
    if kind == "inline":
        from earlycall.run.workers.inline import Inline

        return Inline(objective, slots, timeout)
    if kind == "threads":
        from earlycall.run.workers.threads import Threads

        return Threads(objective, slots, timeout, grace)
    from earlycall.run.workers.processes import Processes, check_sendable

    check_sendable(objective, values)
    return Processes(objective, slots, timeout, grace)


def driven(
    race: Race,
    workers: "Workers",
    deadline: float,
    show: bool | None,
    callbacks: "Callable[[Event], object] | None",
    kept: bool,
) -> Result:
    """Run the race to its end, with somebody watching where that is wanted; `kept`: in a journal, as this process."""
    from earlycall.run.loop import Loop
    from earlycall.run.owners import left_over, me
    from earlycall.show.live import watching

    with watching(race, show) as view:
        watchers: list[Watcher] = [*view] if callbacks is None else [callbacks, *view]
        loop = Loop(race, workers, deadline, watchers, owner=me() if kept else None)
        finished = loop.run(left_over(race) if kept else [])
    return Result(race, interrupted=not finished)


def seconds(name: str, seen: object, remedy: str = "") -> float:
    """A time span."""
    number = real(name, seen, SECONDS, SettingError, remedy)
    if number <= 0.0:
        raise SettingError(refusal(name, seen, SECONDS, remedy))
    return number


def ending(deadline: object) -> float:
    """The deadline on the clock of `time.monotonic`."""
    if deadline is None:
        return math.inf
    if isinstance(deadline, datetime):
        if deadline.tzinfo is None:
            remedy = "For example datetime(2027, 1, 31, 18, tzinfo=UTC)."
            raise SettingError(refusal("deadline", deadline, "a datetime with its time zone", remedy))
        return time.monotonic() + (deadline - datetime.now(UTC)).total_seconds()
    return time.monotonic() + seconds("deadline", deadline, "Or a datetime with its time zone.")


def open_race(url: str, name: str, arms: object = None, **options: Any) -> Race:
    """The race of this name in a journal, new or taken up again where it was; the same verbs as `Race`.

    `url`: "sqlite:///charging.db" is a file beside you, "sqlite:////data/charging.db" one anywhere. Without arms and
    options a race that is there goes on; with them they have to be those it was opened with. Several processes may open
    the same race.

    >>> import tempfile
    >>> url = f"sqlite:///{tempfile.mkdtemp()}/charging.db"
    >>> with open_race(url, "spring", ["A", "B"], k=1, delta=0.05, feedback=Full(sigma=1.0)) as race:
    ...     pulls = race.ask()
    >>> with open_race(url, "spring") as race:
    ...     race.running == pulls
    True
    """
    from earlycall.run.opening import open_journal

    return open_journal(url, name, arms, options, depth=6)
