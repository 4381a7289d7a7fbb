"""Facts and settings in the shapes that last: rows of the `facts` table, and plain values that JSON can hold.

Both are made of the dataclasses themselves, field by field, so a new option needs nothing here, and a new kind of fact
nothing but its columns. A field stands in the column of its name; the label of an arm always in `arm`. An option that a
journal does not have was added later, and its default is what races did before.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from operator import itemgetter
from typing import Any, NamedTuple, get_args

from earlycall.core.facts import Decision, Fact, News, Opened
from earlycall.core.models import Feedback, Pilot
from earlycall.core.settings import Settings
from earlycall.errors import EarlycallError, WorldError

Row = tuple[Any, ...]

COLUMNS = (
    "seq at kind pull arm step value sd of seed key owner reason sigma mean rival rival_mean top outcome confidence"
    " epsilon"
).split()
NEWER = "It may be of a newer earlycall: upgrade with `pip install -U earlycall`."


class Entry(NamedTuple):
    """A fact with its place and its time."""

    seq: int
    at: float  # seconds, UTC
    fact: Fact


# Facts and rows -------------------------------------------------------------------------------------------------------


def kind_of(cls: type) -> str:
    """The word for a kind of fact: ArmAdded is "arm_added"."""
    name = cls.__name__
    return name[0].lower() + "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name[1:])


def column_of(name: str) -> str:
    """The column a field stands in."""
    return "arm" if name == "label" else name


KINDS: dict[str, type] = {kind_of(cls): cls for cls in get_args(News) + get_args(Decision)}
DECISIONS = frozenset(kind_of(cls) for cls in get_args(Decision))
PLACES = {  # of each kind: the columns of its fields, in order
    kind: [COLUMNS.index(column_of(field.name)) for field in fields(cls)] for kind, cls in KINDS.items()
}
NAMES = {cls: [field.name for field in fields(cls)] for cls in KINDS.values()}
WORDS = {cls: kind for kind, cls in KINDS.items()}


def row_of(entry: Entry) -> Row:
    """The row of an entry, in the order of COLUMNS."""
    row: list[Any] = [None] * len(COLUMNS)
    row[0], row[1] = entry.seq, entry.at
    if isinstance(entry.fact, Opened):
        row[2] = "opened"
        return tuple(row)
    cls = type(entry.fact)
    row[2] = kind = WORDS[cls]
    for place, name in zip(PLACES[kind], NAMES[cls], strict=True):
        value = getattr(entry.fact, name)
        row[place] = json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value
    return tuple(row)


def maker(kind: str) -> Callable[[Row], Fact]:
    """What makes a fact of a row of this kind, quickly: there may be millions."""
    cls, places = KINDS[kind], PLACES[kind]
    if len(places) == 1:
        return lambda row: cls(row[places[0]])
    take = itemgetter(*places)
    if kind == "decided":
        return lambda row: cls(tuple(json.loads(row[places[0]])), *take(row)[1:])
    return lambda row: cls(*take(row))


MAKERS = {kind: maker(kind) for kind in KINDS}


def fact_of(row: Row) -> Fact:
    """The fact of a row; that of a race's opening is not made of its row alone (`opened_of`)."""
    try:
        make = MAKERS[row[2]]
    except KeyError:
        raise WorldError(f"fact {row[0]} of the journal has the kind {row[2]!r}, which is none. {NEWER}") from None
    return make(row)


# Settings and JSON ----------------------------------------------------------------------------------------------------

DECLARED: dict[str, Any] = {cls.__name__: cls for cls in (*get_args(Feedback), Pilot)}


def plain(value: Any) -> Any:
    """A value of a declaration as JSON can hold it, nothing lost."""
    if is_dataclass(value):
        return {"kind": type(value).__name__} | {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):  # its keys may be numbers
        return {"table": [[key, plain(inner)] for key, inner in value.items()]}
    return value


def made(value: Any) -> Any:
    """What `plain` was given."""
    if not isinstance(value, dict):
        return value
    if "table" in value:
        return {key: made(inner) for key, inner in value["table"]}
    inner = {name: made(inner) for name, inner in value.items() if name != "kind"}
    return DECLARED[value["kind"]](**inner)


def settings_text(settings: Settings) -> str:
    """The settings of a race as JSON: {option: value}."""
    return json.dumps({f.name: plain(getattr(settings, f.name)) for f in fields(settings)}, ensure_ascii=False)


def settings_made(text: str) -> Settings:
    """The settings of a race, checked again; refuses options that this version does not know."""
    try:
        return Settings(**{name: made(value) for name, value in json.loads(text).items()})
    except (EarlycallError, KeyError, TypeError, ValueError) as problem:
        raise WorldError(f"the settings of the journal, {text}, cannot be read here: {problem}. {NEWER}") from problem
