"""How long ask, report and tell take in memory, beside sorting n numbers (what one step costs without a screen)."""

import random
import time
import warnings
from collections.abc import Iterator
from typing import Any

import earlycall as ec
from bench.rows import Row, row

STEPS = 4  # of a pull
KINDS: dict[str, dict[str, Any]] = {
    "evidence, full": {"feedback": ec.Full(1.0)},
    "evidence, full, contenders": {"feedback": ec.Full(1.0), "allocation": "contenders"},
    "evidence, unbiased": {"feedback": ec.Unbiased(1.0, 0.8, steps=STEPS)},
    "evidence, biased, cutting": {"feedback": ec.Biased(1.0, 0.8, steps=STEPS), "setup": 1.0},
    "paper, unbiased": {"feedback": ec.Unbiased(1.0, 0.8), "method": "paper"},
    "paper, biased": {"feedback": ec.Biased(1.0, 0.8), "method": "paper"},
}
PULLS = {100: 4000, 10_000: 15_000}  # so many that verdicts fall and late in the race still counts
TARGET = {100: 50e-6, 10_000: 2e-3}
ALL_PAIRS = 1e-3  # the target of `ask` where it looks at every pair: at n = 10 000 there are too many, and it does not


def rows() -> Iterator[Row]:
    """Every verb of every kind of race, at n = 100 and n = 10 000."""
    for n in PULLS:
        chance = random.Random(n)
        numbers = [chance.gauss(0.0, 1.0) for _ in range(n)]
        known = [timed(sorted, numbers) for _ in range(200)]
        for kind, options in KINDS.items():
            verbs = play(n, options)
            for verb, times in verbs.items():
                if times:
                    target = ALL_PAIRS if (n, verb) == (100, "ask") and "contenders" in kind else TARGET[n]
                    yield row(f"{verb}, n = {n}: {kind}", times, target, "sorting n floats", known)


def timed(call: Any, *arguments: Any) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - began


def play(n: int, options: dict[str, Any]) -> dict[str, list[float]]:
    """The times of each verb over a race of 100 slots between arms whose means are spread over two σ."""
    chance = random.Random(n)
    means = [chance.uniform(0.0, 2.0) for _ in range(n)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ec.GuaranteeWarning)
        race = ec.Race(
            range(n), k=n // 5, delta=0.05, parallel=100, delays="independent", max_pulls=PULLS[n], **options
        )
    verbs: dict[str, list[float]] = {"ask": [], "report": [], "tell": []}
    slots: list[tuple[int, float, int]] = []  # (pull, its final, its step)
    while not race.decided:
        while True:
            began = time.perf_counter()
            pulls = race.ask(limit=1)
            verbs["ask"].append(time.perf_counter() - began)
            if not pulls:
                break
            slots.append((pulls[0].id, chance.gauss(means[int(pulls[0].arm)], 1.0), 0))
        still = []
        for pull, final, step in slots:
            if race.should_stop(pull):
                continue
            if step + 1 == STEPS:
                verbs["tell"].append(timed(race.tell, pull, final))
                continue
            if not isinstance(options["feedback"], ec.Full):
                verbs["report"].append(timed(race.report, pull, chance.gauss(final, 0.8), step + 1))
            still.append((pull, final, step + 1))
        slots = still
    return verbs
