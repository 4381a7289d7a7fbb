"""Workers of every kind, and the little it takes to use them without a race."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from earlycall.run.handle import Pull
from earlycall.run.workers import Workers
from earlycall.run.workers.inline import Inline
from earlycall.run.workers.news import Began, Ended, Failed, Lost, News, Stopped
from earlycall.run.workers.processes import Processes
from earlycall.run.workers.threads import Threads

KINDS = ("inline", "threads", "processes")
LAST = (Ended, Failed, Lost, Stopped)


@contextmanager
def crew(
    kind: str, function: Callable[..., object], slots: int = 1, timeout: float | None = None, grace: float = 5.0
) -> Iterator[Workers]:
    """Workers, and the end of them."""
    made: Any = (
        Inline(function, slots, timeout)
        if kind == "inline"
        else {"threads": Threads, "processes": Processes}[kind](function, slots, timeout, grace)
    )
    with closing(made) as workers:
        yield workers


def pull(number: int, value: object = None, seed: int = 0) -> Pull:
    return Pull(number, "A", value, seed)


def heard(workers: Workers, until: Callable[[list[News]], object], patience: float = 20.0) -> list[News]:
    """All news up to some moment."""
    news: list[News] = []
    end = time.monotonic() + patience
    while not until(news):
        assert time.monotonic() < end, news
        news += workers.news(0.1)
    return news


def told(workers: Workers, *pulls: Pull) -> list[News]:
    """Everything these pulls say, to their ends, without the beginnings."""
    for one in pulls:
        workers.start(one)
    news = heard(workers, lambda news: sum(isinstance(one, LAST) for one in news) == len(pulls))
    return [one for one in news if not isinstance(one, Began)]
