"""What the tests race: functions of a module, so that every kind of worker can run them."""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import earlycall as ec
from earlycall.run.handle import Pull

STEPS = 3


def noisy(mean: float, pull: Pull) -> float:
    return random.Random(pull.seed).gauss(mean, 1.0)


def talking(mean: float, pull: Pull) -> Generator[ec.Reading | float, None, float]:
    chance = random.Random(pull.seed)
    life = chance.gauss(mean, 1.0)
    yield chance.gauss(life, 2.0)
    for step in range(2, STEPS + 1):
        yield ec.Reading(chance.gauss(life, 1.5), step=step, sd=1.5)
    return life


def adding_up(mean: float, pull: Pull) -> Generator[float, None, float]:
    chance = random.Random(pull.seed)
    gains = [chance.gauss(mean / STEPS, STEPS**-0.5) for _ in range(STEPS)]
    yield from gains
    return sum(gains)


def showing_early(mean: float, pull: Pull) -> Generator[float, None, float]:
    chance = random.Random(pull.seed)
    life = chance.gauss(mean, 1.0)
    yield 0.9 * (life - mean) + mean + chance.gauss(0.0, 1.2)
    return life


async def awaiting(mean: float, pull: Pull) -> float:
    await asyncio.sleep(0)
    return noisy(mean, pull)


async def streaming(mean: float, pull: Pull) -> AsyncIterator[ec.Reading]:
    for said in talking(mean, pull):
        await asyncio.sleep(0)
        yield said if isinstance(said, ec.Reading) else ec.Reading(said)
    yield ec.Reading(noisy(mean, pull), final=True)


def what_it_got(_value: object, pull: Pull) -> float:
    return float(pull.seed % 1000)


def raising(_value: object, _pull: Pull) -> float:
    raise ValueError("[red]no[/red]\nsuch cell")


def raising_later(_value: object, _pull: Pull) -> Iterator[float]:
    yield 1.0
    raise ZeroDivisionError


def losing(_value: object, _pull: Pull) -> float:
    raise ec.Lost("channel 7 tripped")


def saying(value: Any, _pull: Pull) -> object:
    return value


def showing(value: Any, _pull: Pull) -> Generator[Any, None, float]:
    yield value
    return 0.0


def leaving(_value: object, _pull: Pull) -> float:
    sys.exit(3)


def dying(number: int, _pull: Pull) -> float:
    os.kill(os.getpid(), number)
    time.sleep(60)
    return 0.0


def exiting(code: int, _pull: Pull) -> float:
    os._exit(code)


def sleeping(seconds: float, _pull: Pull) -> float:
    time.sleep(seconds)
    return 0.0


def endless(folder: str | None, pull: Pull) -> Iterator[float]:
    """Yields for ever; writes down that it began, and that it was closed."""
    try:
        while True:
            if folder:
                Path(folder, f"{pull.id}.began").touch()
            time.sleep(0.002)
            yield 0.0
    finally:
        if folder:
            Path(folder, f"{pull.id}.closed").touch()


def chatty(readings: int, _pull: Pull) -> Generator[float, None, float]:
    yield from (1.0 for _ in range(readings))
    return 0.0


def stubborn(_value: object, _pull: Pull) -> Iterator[float]:
    while True:
        try:
            yield 0.0
        except GeneratorExit:
            yield 0.0


def process_id(_value: object, _pull: Pull) -> float:
    return float(os.getpid())


def killed_once(folder: str, pull: Pull) -> float:
    """Its first pull in this folder is killed from outside, as an operator would."""
    marker = Path(folder, "killed")
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 9.0 if pull.arm == "B" else 1.0


def with_a_child(folder: str, pull: Pull) -> Iterator[float]:
    """Starts a program of its own, as solvers do, and writes down both numbers."""
    import subprocess

    program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(folder, f"{pull.id}.tmp").write_text(f"{os.getpid()} {program.pid}", encoding="utf-8")
    Path(folder, f"{pull.id}.tmp").rename(Path(folder, f"{pull.id}.pids"))
    while True:
        time.sleep(0.01)
        yield 0.0
