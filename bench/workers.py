"""How busy slots are kept, and how soon a worker takes the next pull when its own is decided."""

import random
import time
import warnings
from collections.abc import Iterator
from typing import Any

import earlycall as ec
from bench.rows import Row, row
from earlycall.run.handle import Pull
from earlycall.run.workers.news import Began, Showed
from earlycall.run.workers.pool import Pool
from earlycall.run.workers.processes import Processes
from earlycall.run.workers.threads import Threads

SLOTS = 16
SLEEP = 0.1  # seconds a pull takes
PULLS = 400
RACES = 3
EVERY = 0.01  # seconds between two readings of a chatty pull
GRACE = 0.5
KINDS = {"threads": Threads, "processes": Processes}


def sleep(value: float, pull: Pull) -> float:
    """A pull that waits."""
    time.sleep(value)
    return random.Random(pull.seed).gauss(0.0, 1.0)


def talk(value: float, pull: Pull) -> Iterator[float]:
    """A pull that never ends, and says so every now and then."""
    while True:
        time.sleep(value)
        yield 0.0


def rows() -> Iterator[Row]:
    """Each kind of workers."""
    for name, kind in KINDS.items():
        idle = [1.0 - share for share in busy(name)]
        yield row(f"time that {SLOTS} slots stand idle, of 1 s: {name}", idle, 0.02, "a pull that sleeps", [SLEEP])
        known = [EVERY]
        yield row(f"until the next pull, yielding every 10 ms: {name}", takeover(kind, EVERY), 0.1, "the sleep", known)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a thread cannot be killed, and says so
            late = [seconds - GRACE for seconds in takeover(kind, 60.0)]
        yield row(f"until the next pull, past the grace: {name}", late, 0.1, "the sleep", known)


def busy(workers: str) -> list[float]:
    """The shares of the slots' time that pulls sleep in, in races of some hundred pulls."""
    shares = []
    for _ in range(RACES):
        spans: list[float] = []  # when pulls finished

        def note(event: object, spans: list[float] = spans) -> None:
            if getattr(event, "kind", "") == "finished":
                spans.append(time.monotonic())

        ec.identify(
            sleep,
            dict.fromkeys("ABCD", SLEEP),
            k=1,
            delta=0.05,
            feedback=ec.Full(1.0),
            delays="independent",
            parallel=SLOTS,
            max_pulls=PULLS + 6 * SLOTS,
            workers=workers,
            callbacks=note,
        )
        shares.append(SLEEP * PULLS / SLOTS / (spans[4 * SLOTS + PULLS] - spans[4 * SLOTS]))  # all have begun by then
    return shares


def takeover(kind: Any, every: float) -> list[float]:
    """How long a cancelled pull keeps its worker from the next."""
    times = []
    workers: Pool = kind(talk, 1, None, GRACE)
    pull = 0
    for _ in range(5 if every > 1.0 else 30):
        pull += 1
        workers.start(Pull(pull, "A", every, 0))
        while not any(isinstance(news, Began if every > 1.0 else Showed) for news in workers.news(1.0)):
            pass
        workers.news(0.0)  # it goes on
        time.sleep(0.0013 * (pull % 14))  # and is cancelled at any moment between two readings
        pull += 1
        workers.start(Pull(pull, "A", EVERY, 0))
        began = time.monotonic()
        workers.cancel(pull - 1)
        while not any(isinstance(news, Began) and news.pull == pull for news in workers.news(1.0)):
            pass
        times.append(time.monotonic() - began)
        workers.cancel(pull)
        while any(slot.pull for slot in workers.slots):
            workers.news(0.1)
    workers.close()
    return times
