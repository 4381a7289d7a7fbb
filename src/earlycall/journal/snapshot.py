"""The tables of a race at one fact, kept so that nobody has to apply all facts again. A cache: it may be deleted.

What is kept is the tables, number by number, and what stands beside them of arms and keys. What the pulls said is not:
it stands in the facts, and is read from there for the pulls that somebody asks about. So to take up a race of a million
facts is to read two arrays.

`outline` is JSON; `numbers` are the tables one after the other, eight bytes a number, as this machine has them. A
snapshot is only used by the very core that made it (`core`): its columns may mean another thing in the next.
"""

import hashlib
import json
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, get_type_hints

import earlycall.core as rooms
from earlycall.core.facts import (
    Accepted,
    ArmAdded,
    ArmWithdrawn,
    Closed,
    Decided,
    Fact,
    Failed,
    Lost,
    Opened,
    Read,
    Rejected,
    Started,
    Told,
)
from earlycall.core.state import State, Story, opened
from earlycall.core.tables import Tables

FLAT: dict[Any, Any] = {list[int]: "q", list[float]: "d"}  # tables of one row, …
NESTED: dict[Any, Any] = {list[list[int]]: "q", list[list[float]]: "d"}  # … and of many
AT_ONCE = 32  # pulls whose stories are read together
READ = Callable[[int, int], list[Story]]  # the stories of the pulls from … to …
GIVEN: dict[str, Any] = {cls.__name__: cls for cls in (Accepted, Rejected, ArmAdded, ArmWithdrawn, Closed, Decided)}


@cache
def core() -> str:
    """What the meaning of a snapshot's numbers depends on: the core's source, and the order of a number's bytes."""
    digest = hashlib.blake2b(sys.byteorder.encode(), digest_size=16)
    for file in sorted(Path(rooms.__path__[0]).glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


class Stories(list[Story]):
    """The stories of all pulls; of those before a snapshot, a story is read when it is first asked for."""

    def __init__(self, count: int, read: READ) -> None:
        super().__init__([None] * count)  # type: ignore[list-item]  # not read yet
        self._read = read

    def __getitem__(self, row: Any) -> Any:
        """The story of a pull."""
        found = super().__getitem__(row)
        if found is None:
            first = row - row % AT_ONCE
            last = min(first + AT_ONCE, len(self))
            for place, story in enumerate(self._read(first + 1, last), start=first):
                if super().__getitem__(place) is None:
                    self[place] = story
            found = super().__getitem__(row)
        return found

    def __iter__(self) -> Iterator[Story]:
        return (self[row] for row in range(len(self)))


def stories_of(facts: Iterable[Fact]) -> list[Story]:
    """The stories that some pulls' facts tell; they come in order."""
    stories: dict[int, Story] = {}
    for fact in facts:
        if isinstance(fact, Started):
            stories[fact.pull] = Story(fact)
        elif isinstance(fact, Read):
            stories[fact.pull].readings[fact.step] = fact
        elif isinstance(fact, Told):
            stories[fact.pull].told = fact
        elif isinstance(fact, Lost | Failed):
            stories[fact.pull].left = fact
    return list(stories.values())


def pack(state: State) -> tuple[str, bytes]:
    """(outline, numbers) of a state between two turns."""
    shapes, numbers = {}, []
    for name, kind in get_type_hints(Tables).items():
        table = getattr(state.tables, name)
        nested = kind in NESTED
        shapes[name] = [len(table), len(table[0]) if nested and table else 0]
        numbers.append(array((NESTED | FLAT)[kind], chain.from_iterable(table) if nested else table).tobytes())
    outline = {
        "shapes": shapes,
        "labels": state.labels,
        "pulls": len(state.stories),
        "keys": state.keys,
        "verdicts": {index: given(fact) for index, fact in state.verdicts.items()},
        "added": {index: given(fact) for index, fact in state.added.items()},
        "withdrawn": {index: given(fact) for index, fact in state.withdrawn.items()},
        "closed": given(state.closed),
        "decided": given(state.decided),
    }
    return json.dumps(outline, ensure_ascii=False), b"".join(numbers)


def unpack(fact: Opened, outline: str, numbers: bytes, read: READ) -> State:
    """The state that was packed; `fact`: what the race was opened with."""
    said = json.loads(outline)
    state = opened(fact)
    state.tables = tables_of(said["shapes"], memoryview(numbers))
    state.labels = tuple(said["labels"])
    state.index = {label: index for index, label in enumerate(state.labels)}
    state.stories = Stories(said["pulls"], read)
    state.keys = said["keys"]
    state.verdicts = {int(index): taken(fact) for index, fact in said["verdicts"].items()}
    state.added = {int(index): taken(fact) for index, fact in said["added"].items()}
    state.withdrawn = {int(index): taken(fact) for index, fact in said["withdrawn"].items()}
    state.closed = taken(said["closed"])
    state.decided = taken(said["decided"])
    return state


def tables_of(shapes: dict[str, list[int]], numbers: memoryview) -> Tables:
    """The tables in a row of bytes."""
    tables: dict[str, Any] = {}
    at = 0
    for name, kind in get_type_hints(Tables).items():
        rows, width = shapes[name]
        nested = kind in NESTED
        end = at + 8 * rows * (width if nested else 1)
        table: list[Any] = numbers[at:end].cast((NESTED | FLAT)[kind]).tolist()
        at = end
        if nested:
            table = [table[row * width : (row + 1) * width] for row in range(rows)]
        tables[name] = table
    return Tables(**tables)


def given(fact: Any) -> Any:
    """A fact as JSON can hold it."""
    return None if fact is None else {"kind": type(fact).__name__} | asdict(fact)


def taken(said: dict[str, Any] | None) -> Any:
    """What `given` was given."""
    if said is None:
        return None
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
    kind = fields.pop("kind")
    return GIVEN[kind](**fields)
