"""What users write to be raced: `f(value, pull)`, plain or async, that returns its full feedback or yields readings.

Whatever such a function does, what comes out here is news of the pull, in order, and one that ends it.
"""

import inspect
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from earlycall.core.checks import one_line, quoted, real, scale, whole
from earlycall.errors import CallerError, NewsError
from earlycall.run.handle import Pull
from earlycall.run.workers import news
from earlycall.run.workers.news import Ended, News, Showed, shortened

Objective = Callable[[Any, Pull], object]
Run = Generator[News, None, None]
Said = Generator[object, None, None]
NUMBER = "a finite int or float"
RETURNS = "Return the full feedback of the pull (float(…) of it, for an array or a tensor); yield readings."


@dataclass(frozen=True, slots=True)
class Reading:
    """What an objective yields when it knows more than a number: the sd of this reading, or its step.

    `of`: how many steps the pull has in all (Incremental). `final`: this is the full feedback, and the pull ends.

    >>> Reading(1042.0, step=100, sd=60)
    Reading(value=1042.0, step=100, sd=60, of=None, final=False)
    """

    value: float
    step: int | None = None
    sd: float | None = None
    of: int | None = None
    final: bool = False


class Lost(Exception):
    """Raise it in an objective whose pull was lost for a reason that has nothing to do with how good it is."""


def run(objective: Objective, pull: Pull) -> Run:
    """The news of a pull: readings, then one that ends it. Close it to stop the pull; its `finally` blocks run."""
    try:
        yield from spoken(objective, pull)
    except Lost as lost:
        yield news.Lost(pull.id, line_of(lost))
    except (Exception, SystemExit) as problem:
        yield news.Failed(pull.id, line_of(problem))


def stop(running: Run) -> None:
    """Close what `run` returned, whatever the objective makes of it."""
    with suppress(Exception):  # its news is not wanted any more, and nor are its troubles
        running.close()


def line_of(problem: BaseException) -> str:
    """An exception on one line."""
    try:
        said = str(problem)
    except Exception:  # a stranger's exception may do anything
        said = "(it cannot be shown)"
    if isinstance(problem, NewsError | Lost) and said:
        return shortened(one_line("reason", said, NewsError))
    return shortened(one_line("reason", f"{type(problem).__name__}: {said}".removesuffix(": "), NewsError))


def spoken(objective: Objective, pull: Pull) -> Iterator[News]:
    """The news of a pull, as long as nothing goes wrong."""
    found = objective(pull.value, pull)
    if inspect.isgenerator(found):
        yield from until_final(pull, each_of(found))
    elif inspect.iscoroutine(found) or inspect.isasyncgen(found):
        import asyncio

        with asyncio.Runner() as runner:
            if inspect.iscoroutine(found):
                yield ended(pull, runner.run(found))
            else:
                yield from until_final(pull, each_awaited(found, runner))
    else:
        yield ended(pull, found)


def until_final(pull: Pull, said: Said) -> Iterator[News]:
    """The readings up to the one that ends the pull."""
    with closing(said):
        for seen in said:
            one = heard(pull, seen)
            yield one
            if isinstance(one, Ended):
                return


def each_of(generator: Any) -> Said:
    """What a generator yields, and then what it returns."""
    value = yield from generator
    yield Returned(value)


def each_awaited(generator: Any, runner: Any) -> Said:
    """What an async generator yields; it cannot return anything."""
    try:
        while True:
            try:
                seen = runner.run(next_of(generator))
            except StopAsyncIteration:
                remedy = "An async generator cannot return one: let it yield earlycall.Reading(value, final=True)."
                raise NewsError(f"the objective ended without its full feedback. {remedy}") from None
            yield seen
    finally:
        runner.run(generator.aclose())


async def next_of(generator: Any) -> object:
    """The next thing an async generator yields."""
    return await anext(generator)


@dataclass(frozen=True, slots=True)
class Returned:
    """What an objective returned."""

    value: object


def heard(pull: Pull, seen: object) -> Showed | Ended:
    """One thing an objective said, checked."""
    if isinstance(seen, Returned):
        return ended(pull, seen.value)
    if not isinstance(seen, Reading):
        return Showed(pull.id, real("reading", seen, NUMBER, NewsError))
    value = real("reading", seen.value, NUMBER, NewsError)
    step = None if seen.step is None else whole("step", seen.step, 1, NewsError)
    if seen.final:
        return Ended(pull.id, value, step)
    sd = None if seen.sd is None else scale("sd", seen.sd, NewsError)
    return Showed(pull.id, value, step, sd, None if seen.of is None else whole("of", seen.of, 1, NewsError))


def ended(pull: Pull, value: object) -> Ended:
    """The full feedback, checked."""
    if isinstance(value, Reading):
        return Ended(pull.id, real("value", value.value, NUMBER, NewsError), value.step)
    try:
        return Ended(pull.id, real("value", value, NUMBER, NewsError))
    except CallerError:
        raise NewsError(f"the objective returned {quoted(value)}: expected {NUMBER}. {RETURNS}") from None
