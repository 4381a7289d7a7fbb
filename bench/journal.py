"""What a journal costs: verbs beyond the same race in memory, taking up a million facts, one verb on top of them.

Beside raw SQLite: after each verb one row put into a bare table, in a transaction of its own. (Optuna, whose storage
people know, is not among the development tools, so it is not timed here.)
"""

import contextlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import earlycall as ec
from bench.rows import Row, row

ARMS, STEPS = 100, 20
OPTIONS: dict[str, Any] = {
    "k": 10,
    "delta": 1e-12,
    "feedback": ec.Biased(1.0, 1.0, steps=STEPS),
    "delays": "independent",
    "parallel": 100,
}
PULLS = 150
MILLION = 1_000_000
LEVELS = {"report": "NORMAL", "tell": "FULL", "ask": "FULL"}  # how long a commit waits for the disk
TARGETS = {"report": 1e-4, "tell": 1.5e-3, "ask": 1.5e-3}


class Raw:
    """A bare table, and the times of single inserts into it."""

    def __init__(self, file: Path, level: str) -> None:
        self.times: list[float] = []
        self._db = sqlite3.connect(file, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute(f"PRAGMA synchronous = {level}")
        self._db.execute("CREATE TABLE facts (seq INTEGER PRIMARY KEY, at REAL, pull INTEGER, value REAL)")

    def insert(self) -> None:
        """One row, one transaction."""
        began = time.perf_counter()
        self._db.execute("INSERT INTO facts (at, pull, value) VALUES (?, ?, ?)", (began, 1, 0.5))
        self.times.append(time.perf_counter() - began)

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *problem: object) -> None:
        self._db.close()


def opened(url: str | None) -> ec.Race:
    """The race, in memory or in a journal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ec.GuaranteeWarning)
        return ec.open_race(url, "bench", range(ARMS), **OPTIONS) if url else ec.Race(range(ARMS), **OPTIONS)


def play(race: ec.Race, pulls: int, raw: dict[str, Raw] | None = None) -> dict[str, list[float]]:
    """The times of each verb over some pulls, of arms that cannot be told apart so soon; after each, one in `raw`."""
    chance = random.Random(7)
    times: dict[str, list[float]] = {"ask": [], "report": [], "tell": []}

    def timed(verb: str, *arguments: Any) -> Any:
        began = time.perf_counter()
        answer = getattr(race, verb)(*arguments)
        times[verb].append(time.perf_counter() - began)
        if raw:
            raw[verb].insert()
        return answer

    for _ in range(pulls):
        for pull in timed("ask", 1):
            final = chance.gauss(0.0, 1.0)
            for step in range(1, STEPS):
                timed("report", pull.id, chance.gauss(final, 1.0), step)
            timed("tell", pull.id, final)
    return times


def rows() -> Iterator[Row]:
    """Verbs, then a long race."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ec.GuaranteeWarning)
        yield from verbs(Path(folder))
        yield from long(Path(folder))


def verbs(folder: Path) -> Iterator[Row]:
    """Each verb with a journal, less its median in memory."""
    memory = play(opened(None), PULLS)
    with contextlib.ExitStack() as stack:
        beside = {verb: stack.enter_context(Raw(folder / f"raw {verb}.db", level)) for verb, level in LEVELS.items()}
        kept = play(stack.enter_context(opened(f"sqlite:///{folder}/verbs.db")), PULLS, beside)
    for verb, target in TARGETS.items():
        plain = statistics.median(memory[verb])
        beyond = [seconds - plain for seconds in kept[verb]]
        yield row(f"{verb}, journal: beyond memory", beyond, target, f"raw SQLite, {LEVELS[verb]}", beside[verb].times)


RESUME = """
import sys, time
import earlycall as ec
began = time.perf_counter()
race = ec.open_race(sys.argv[1], 'bench')
"""
ANSWER = """
took = time.perf_counter() - began
print(took, next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))
"""
REPORT = "race.report(race.running[0].id, 0.5)\n"


def long(folder: Path) -> Iterator[Row]:
    """A race of a million facts, taken up by new processes."""
    file = folder / "long.db"
    fill(file)
    bare = seconds([sys.executable, "-c", "pass"])
    url = f"sqlite:///{file}"
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.execute("DELETE FROM snapshots")
        db.commit()
    found = [answered(RESUME + ANSWER, url) for _ in range(3)]
    yield row("resume 1e6 facts, no snapshot", [t for t, _ in found], 10.0, "python -c pass", bare)
    print(f"  memory of that: {max(memory for _, memory in found) / 1e6:.2f} GB (target < 1)", file=sys.stderr)
    answered(RESUME + REPORT + ANSWER, url)  # keeps a snapshot
    found = [answered(RESUME + ANSWER, url) for _ in range(5)]
    yield row("resume 1e6 facts, snapshot", [t for t, _ in found], 10.0, "python -c pass", bare)
    print(f"  memory of that: {max(memory for _, memory in found) / 1e6:.2f} GB", file=sys.stderr)
    command = [sys.executable, "-c", RESUME + REPORT, url]
    yield row("one report, whole process, 1e6 facts", seconds(command), 0.5, "python -c pass", bare)


def fill(file: Path) -> None:
    """A million facts, as a race in memory makes them, written at once."""
    from earlycall.journal.rows import Entry
    from earlycall.journal.sqlite import Journal

    race = opened(None)
    play(race, MILLION // (STEPS + 1))
    race.ask(50)
    facts = race.facts
    journal = Journal(file)
    journal.lock()
    journal.create("bench", 0.0, facts[0])  # type: ignore[arg-type]  # a race begins with its opening
    journal.append([Entry(seq, float(seq), fact) for seq, fact in enumerate(facts[1:], start=2)])
    journal.commit()
    journal.close()


def answered(program: str, url: str) -> tuple[float, float]:
    """(seconds, kilobytes) that a program says it took."""
    said = subprocess.run([sys.executable, "-c", program, url], check=True, capture_output=True, text=True).stdout
    took, most = said.split()
    return float(took), float(most)


def seconds(command: list[str]) -> list[float]:
    """Wall times of a command."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return times
