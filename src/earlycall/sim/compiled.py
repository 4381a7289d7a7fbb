"""Thousands of races at once: the core's own kernel compiled from outside, raced in the worlds of worlds.py.

There is no second implementation. `register_jitable` makes every kernel function callable from compiled code as it
stands; `race_on` is what runs compiled, and it calls what the live race calls, one time step a turn.

Replications are independent: each has a Generator of its own, spawned from one seed by its number, and tables of its
own, so results do not depend on the number of threads. Compiled code lets go of the interpreter's lock: threads help.

Three things make it fast, and none of them touches the kernel. Kernel functions are forced inline: a call would pass
seven tables by value, member by member. Tables are borrowed: a row taken from a counted array costs two atomic
instructions. And machine code is cached, in a folder named after a hash of all the source that went into it, because
numba looks only at the file of the function it compiles.
"""

import earlycall.sim.extra  # noqa: F401

# isort: split
import hashlib
import importlib
import inspect
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.types.misc import MemInfoPointer
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import make_array

from earlycall.core import KERNEL
from earlycall.core.confidence import close_enough, misses
from earlycall.core.feedback import declared_precision
from earlycall.core.rules import DECLARED, rules_of
from earlycall.core.schedule import next_arm, used_up
from earlycall.core.settings import Settings
from earlycall.core.tables import (
    ABSENT,
    ARM,
    ARM_FLOATS,
    ARM_INTS,
    BLOCKED,
    BUSY,
    CUT,
    FREE,
    JUDGED,
    LENGTH,
    MEET_FLOATS,
    MEET_INTS,
    OPENED,
    PULL_FLOATS,
    PULL_INTS,
    RACE_FLOATS,
    RACE_INTS,
    RUNNING,
    STARTED,
    STATE,
    STATUS,
    STEP,
    SURVIVORS,
    WALK_FLOATS,
    WALK_INTS,
    WALKED,
    Rules,
    Tables,
)
from earlycall.core.turn import act, clear, finish, open_race, read, settle, start
from earlycall.sim import roster, worlds
from earlycall.sim.roster import CLOCK, HELD, MISSES, TIME, come_and_go, mistaken, newcomers
from earlycall.sim.worlds import AGE, DELAY, ENDED, GAINED, HIDDEN, READING, Law, World, begin, law_of, unfold

UNDECIDED, EXACT, EPSILON, DEADLINE, NO_ROOM = 0, 1, 2, 3, 4
OUTCOMES = ("undecided", "exact", "epsilon", "deadline")  # by their codes

NEVER = 2**62  # as a limit
KEPT = 4  # compiled versions that stay in the cache

# What runs compiled -------------------------------------------------------------------------------------------------


def race_on(
    rules: Rules, law: Law, t: Tables, hidden: Any, slots: Any, clock: Any, rng: Any, limit: int, most: int
) -> int:
    """Race on until the end, `limit` time steps, or until no row for another pull is left (NO_ROOM: call again).

    `slots` lists the running pulls in start order; `most` pulls may be started in all.
    """
    if t.race[OPENED] == 0:
        open_race(rules, t)
    while True:
        while t.race[OPENED] < most:
            arm = next_arm(rules, t)
            if arm < 0:
                break
            pull = t.race[OPENED]
            if pull == len(t.pulls) or no_room(rules, t, clock[HELD] + 1):
                return NO_ROOM
            begin(law, rng, hidden[pull], arm, t.arms[arm][STARTED] + 1)
            start(rules, t, arm, float(rules.steps))
            slots[clock[HELD]] = pull
            clock[HELD] += 1
        if clock[TIME] == limit:
            return UNDECIDED
        if no_room(rules, t, clock[HELD]):
            return NO_ROOM
        clock[TIME] += 1
        for p in range(clock[HELD]):
            advance(rules, law, t, hidden, slots[p], rng)
        come_and_go(rules, law, t, clock)
        act(rules, t, settle(rules, t))
        clear(t)
        if t.race[SURVIVORS] == 0:
            return EXACT
        if close_enough(rules, t):
            return EPSILON
        if t.race[BUSY] < clock[HELD]:
            forget_idle(t, slots, clock)
            if t.race[BUSY] == 0 and (t.race[OPENED] == most or used_up(rules, t)):
                return DEADLINE


def no_room(rules: Rules, t: Tables, held: int) -> bool:
    """Whether the walk could run out of rows in this step: every running pull may bring an observation."""
    return rules.order != FREE and (len(t.walk) < t.race[OPENED] + 1 or len(t.walk) < t.race[WALKED] + held)


def watch_on(
    rules: Rules, law: Law, t: Tables, hidden: Any, slots: Any, clock: Any, rng: Any, limit: int, most: int
) -> int:
    """The same, and count in the clock the steps at which some interval does not hold its mean."""
    while True:
        code = race_on(rules, law, t, hidden, slots, clock, rng, clock[TIME] + 1, most)
        if code == NO_ROOM:
            return code
        for arm in range(rules.arms):
            if misses(rules, t, arm, law.means[arm]):
                clock[MISSES] += 1
                break
        if code != UNDECIDED or clock[TIME] == limit:
            return code


def advance(rules: Rules, law: Law, t: Tables, hidden: Any, pull: int, rng: Any) -> None:
    """A running pull takes one step."""
    row = hidden[pull]
    kind, value = unfold(law, rng, row, t.pulls[pull][ARM])
    step = int(row[AGE])
    if kind == READING:
        if law.noise == GAINED:  # an increment says how long its pull is (`of=`)
            t.pullf[pull][LENGTH] = row[DELAY]
        read(rules, t, pull, step, value, declared_precision(t.curve, step))
    elif kind == ENDED:
        t.pulls[pull][STEP] = step
        finish(rules, t, pull, value)


def forget_idle(t: Tables, slots: Any, clock: Any) -> None:
    """Keep the pulls that hold a slot, in order."""
    held = 0
    for p in range(clock[HELD]):
        if t.pulls[slots[p]][STATE] == RUNNING:
            slots[held] = slots[p]
            held += 1
    clock[HELD] = held


def kernel_functions() -> list[Callable[..., Any]]:
    """Every function of the kernel."""
    modules = [importlib.import_module(f"earlycall.core.{name}") for name in KERNEL]
    return [f for m in modules for _, f in inspect.getmembers(m, inspect.isfunction) if f.__module__ == m.__name__]


OURS = (advance, forget_idle, no_room, race_on, watch_on)
for function in (*kernel_functions(), *worlds.FUNCTIONS, *roster.FUNCTIONS, *OURS):
    register_jitable(forceinline=True)(function)


@intrinsic
def borrowed(_: Any, array: Any) -> Any:
    """An array as it is, without its reference count; the caller's own outlives the call, so nothing is freed."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = make_array(signature.args[0])(context, builder, value=arguments[0])
        view.meminfo = context.get_constant_null(MemInfoPointer(types.voidptr))
        view.parent = context.get_constant_null(types.pyobject)
        return view._getvalue()

    return array(array), make


@register_jitable(forceinline=True)
def bare_tables(t: Tables) -> Tables:
    """The tables, borrowed."""
    return Tables(
        borrowed(t.arms),
        borrowed(t.armf),
        borrowed(t.pulls),
        borrowed(t.pullf),
        borrowed(t.race),
        borrowed(t.racef),
        borrowed(t.curve),
        borrowed(t.walk),
        borrowed(t.walkf),
        borrowed(t.duels),
        borrowed(t.meets),
        borrowed(t.meetf),
        borrowed(t.spare),
    )


@register_jitable(forceinline=True)
def bare_law(law: Law) -> Law:
    """The law, borrowed."""
    return Law(
        borrowed(law.means),
        borrowed(law.biases),
        borrowed(law.sigmas),
        law.noise,
        borrowed(law.sds),
        law.common,
        law.slope,
        law.block_sd,
        law.shortest,
        law.steps,
        law.worst,
        law.per_step,
        law.setup,
        borrowed(law.changes),
    )


def race_borrowed(
    rules: Rules, law: Law, t: Tables, hidden: Any, slots: Any, clock: Any, rng: Any, limit: int, most: int
) -> int:
    """`race_on`, on borrowed tables."""
    nature, held, time = borrowed(hidden), borrowed(slots), borrowed(clock)
    return race_on(rules, bare_law(law), bare_tables(t), nature, held, time, rng, limit, most)


def watch_borrowed(
    rules: Rules, law: Law, t: Tables, hidden: Any, slots: Any, clock: Any, rng: Any, limit: int, most: int
) -> int:
    """`watch_on`, on borrowed tables."""
    nature, held, time = borrowed(hidden), borrowed(slots), borrowed(clock)
    return watch_on(rules, bare_law(law), bare_tables(t), nature, held, time, rng, limit, most)


# The cache ----------------------------------------------------------------------------------------------------------


def cache_folder() -> Path:
    """Where compiled code is kept: named after the hash of its source, its compiler and its Python."""
    modules = [importlib.import_module(f"earlycall.core.{name}") for name in KERNEL]  # tables, too: its numbers go in
    files = [
        *(inspect.getfile(module) for module in modules),
        inspect.getfile(worlds),
        inspect.getfile(roster),
        __file__,
    ]
    source = b"\0".join(Path(file).read_bytes() for file in files)
    made_of = source + f"{numba.__version__} {numba.config.BOUNDSCHECK} {sys.version}".encode()
    home = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home) / "earlycall" / hashlib.blake2b(made_of, digest_size=12).hexdigest()


def cached(function: Callable[..., Any]) -> Any:
    """The function, compiled when it is first called; its machine code is kept for the next program."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # used just now
        ours = [path for path in folder.parent.iterdir() if len(path.name) == len(folder.name)]
        for old in sorted(ours, key=lambda path: path.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:  # a home that cannot be written to costs a compilation, nothing else
        folder = Path(tempfile.mkdtemp(prefix="earlycall-"))
    theirs = numba.config.CACHE_DIR  # numba has one setting for everybody: borrow it, and give it back
    numba.config.CACHE_DIR = str(folder)
    try:
        return numba.njit(cache=True, nogil=True)(function)
    finally:
        numba.config.CACHE_DIR = theirs


race_compiled = cached(race_borrowed)
watch_compiled = cached(watch_borrowed)

# One race -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Track:
    """All that one race in a world needs, as arrays."""

    rules: Rules
    law: Law
    tables: Any  # Tables of arrays: the kernel reads them as it reads lists
    hidden: Any  # one row per pull (worlds.py)
    slots: Any
    clock: Any
    most: int


def track_of(settings: Settings, world: World, pulls: int = 1000) -> Track:
    """A race about to begin, with rows for so many pulls."""
    law = law_of(world, settings)
    rules, numbers, curve = rules_of(world.starters, settings)
    in_order = rules.order != FREE
    pairs = rules.arms**2 if rules.order == BLOCKED else 0
    arrays: dict[str, Any] = {
        "arms": np.zeros((rules.arms, ARM_INTS), dtype=np.int64),
        "armf": np.zeros((rules.arms, ARM_FLOATS)),
        "pulls": np.zeros((pulls, PULL_INTS), dtype=np.int64),
        "pullf": np.zeros((pulls, PULL_FLOATS)),
        "race": np.zeros(RACE_INTS, dtype=np.int64),
        "racef": np.zeros(RACE_FLOATS),
        "curve": np.array(curve, dtype=float).reshape(-1, 2),
        "walk": np.zeros((pulls if in_order else 1, WALK_INTS), dtype=np.int64),
        "walkf": np.zeros((pulls if in_order else 1, WALK_FLOATS)),
        "duels": np.zeros((rules.arms if in_order else 0, rules.arms), dtype=np.int64),
        "meets": np.zeros((pairs, MEET_INTS), dtype=np.int64),
        "meetf": np.zeros((pairs, MEET_FLOATS)),
        "spare": np.zeros((2, ARM_FLOATS)),
    }
    late = newcomers(world, settings, rules.level)  # their numbers wait for them in their rows
    for column, here, to_come in zip(DECLARED, numbers, late, strict=True):
        arrays["armf"][: len(world.means), column] = [*here, *to_come]
    absent = arrays["arms"][len(world.starters) :]
    absent[:, STATUS] = absent[:, JUDGED] = ABSENT
    return Track(
        rules=rules,
        law=law,
        tables=Tables(**arrays),
        hidden=np.zeros((pulls, HIDDEN)),
        slots=np.zeros(rules.slots, dtype=np.int64),
        clock=np.zeros(CLOCK, dtype=np.int64),
        most=NEVER if settings.max_pulls is None else settings.max_pulls,
    )


def run(track: Track, rng: np.random.Generator, limit: int = NEVER, watched: bool = False) -> int:
    """Race to the end, or to `limit` time steps; the code of the outcome (OUTCOMES)."""
    go = watch_compiled if watched else race_compiled
    while True:
        t = track.tables
        code = go(track.rules, track.law, t, track.hidden, track.slots, track.clock, rng, limit, track.most)
        if code != NO_ROOM:
            return int(code)
        more = {"pulls": doubled(t.pulls), "pullf": doubled(t.pullf), "walk": doubled(t.walk)}
        track.tables = t._replace(walkf=doubled(t.walkf), **more)
        track.hidden = doubled(track.hidden)


def doubled(table: Any) -> Any:
    """The same rows, and as many empty ones."""
    return np.concatenate([table, np.zeros_like(table)])


# Many races ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Races:
    """What came of many races, one entry each."""

    outcome: Any  # codes of OUTCOMES
    steps: Any  # time steps
    pulls: Any  # pulls started
    cuts: Any  # pulls cut short
    wrong: Any  # whether it said something that is not so
    missed: Any  # whether some interval ever missed its mean, if it was watched

    def __len__(self) -> int:
        return len(self.steps)


def many(
    settings: Settings,
    world: World,
    count: int,
    seed: int,
    limit: int = NEVER,
    watched: bool = False,
    threads: int | None = None,
    told: Callable[[int], object] = lambda done: None,
) -> Races:
    """Race `count` times; `told` hears how many more are done. The threads (None: one a core) change no result."""
    results = np.zeros((6, count), dtype=np.int64)
    seeds = np.random.SeedSequence(seed).spawn(count)

    def some(first: int, last: int) -> int:
        for number in range(first, last):
            track = track_of(settings, world)
            code = run(track, np.random.Generator(np.random.PCG64(seeds[number])), limit, watched)
            t = track.tables
            cut = np.count_nonzero(t.pulls[: t.race[OPENED], STATE] == CUT)
            wrong = mistaken(track.rules, track.law, t, track.clock, code == EPSILON)
            missed = track.clock[MISSES] > 0
            results[:, number] = code, track.clock[TIME], t.race[OPENED], cut, wrong, missed
        return last - first

    workers = threads or os.cpu_count() or 1
    size = max(1, min(100, count // (4 * workers)))
    told(some(0, min(1, count)))  # the first one compiles
    pool = ThreadPoolExecutor(workers)
    try:
        waiting = [pool.submit(some, first, min(first + size, count)) for first in range(1, count, size)]
        for chunk in as_completed(waiting):
            told(chunk.result())
    finally:  # on Ctrl-C nothing more is begun, and what runs is waited for
        pool.shutdown(cancel_futures=True)
    return Races(*results)
