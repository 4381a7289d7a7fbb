"""A race as JSON lines or CSV, for people who want it in another program; and back, nothing lost.

JSON lines: one object per fact, in order, with `seq`, `at`, `kind` and the fields of its kind; the first, the opening,
has the race's `name`, `schema`, `labels` and `settings`. Text is UTF-8; a number is read again as the same number.

CSV: a row of headings, one row per fact, empty where there is nothing; settings and labels of the opening are JSON. A
spreadsheet takes text that begins with = + - @ for a formula and may run it: such text gets a ' before it (and so does
text that begins with one), which is taken away on the way back. Numbers are left alone.

What comes back is checked fact by fact, as news is: it makes a race that could have happened, or it is refused.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import IO, Any, get_args, get_type_hints

from earlycall.core.checks import quoted, text
from earlycall.core.facts import Opened
from earlycall.core.settings import Settings
from earlycall.errors import CallerError, EarlycallError
from earlycall.journal.replay import state_at
from earlycall.journal.rows import (
    COLUMNS,
    KINDS,
    Entry,
    column_of,
    fact_of,
    row_of,
    settings_made,
    settings_text,
)
from earlycall.journal.schema import SCHEMA

FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
OPENING = ("name", "schema", "labels", "settings")
HEADINGS = (*COLUMNS, *OPENING)
Cells = dict[str, Any]

TYPES: dict[str, dict[str, Any]] = {  # of each kind: the type of each of its columns
    kind: {column_of(name): hint for name, hint in get_type_hints(cls).items()} for kind, cls in KINDS.items()
}


# Out ------------------------------------------------------------------------------------------------------------------


def to_json_lines(name: str, entries: Iterable[Entry], out: IO[str]) -> None:
    """Write a race as JSON lines."""
    for cells in told(name, entries):
        if cells["kind"] == "opened":
            cells["settings"] = json.loads(cells["settings"])
            cells["labels"] = json.loads(cells["labels"])
        if "top" in cells:
            cells["top"] = json.loads(cells["top"])
        out.write(json.dumps(cells, ensure_ascii=False, allow_nan=False) + "\n")


def to_csv(name: str, entries: Iterable[Entry], out: IO[str]) -> None:
    """Write a race as CSV; open the file with newline=""."""
    writer = csv.DictWriter(out, HEADINGS)
    writer.writeheader()
    for cells in told(name, entries):
        writer.writerow({name: guarded(cell) for name, cell in cells.items()})


def told(name: str, entries: Iterable[Entry]) -> Iterator[Cells]:
    """Each fact as {column: cell}, without those that say nothing."""
    for entry in entries:
        cells = {column: cell for column, cell in zip(COLUMNS, row_of(entry), strict=True) if cell is not None}
        if isinstance(entry.fact, Opened):
            cells |= {"name": name, "schema": SCHEMA, "labels": json.dumps(entry.fact.labels, ensure_ascii=False)}
            cells["settings"] = settings_text(entry.fact.settings)
        yield cells


def guarded(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers as they are read again."""
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(FORMULA) else cell
    return repr(cell)


# And back -------------------------------------------------------------------------------------------------------------


def from_json_lines(lines: Iterable[str]) -> tuple[str, list[Entry]]:
    """(the name of a race, its facts) from JSON lines."""
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            cells = dict(json.loads(line))
            for column in ("settings", "labels", "top"):
                if column in cells:
                    cells[column] = json.dumps(cells[column], ensure_ascii=False)
        except (TypeError, ValueError) as problem:
            raise CallerError(f"line {number}: expected a JSON object, not {quoted(line)} ({problem}).") from problem
        found.append(cells)
    return race_of(found)


def from_csv(lines: Iterable[str]) -> tuple[str, list[Entry]]:
    """(the name of a race, its facts) from CSV."""
    reader = csv.DictReader(lines)
    if tuple(reader.fieldnames or ()) != HEADINGS:
        raise CallerError(f"the headings are {reader.fieldnames}: expected {', '.join(HEADINGS)}.")
    return race_of([{name: plain(cell) for name, cell in row.items()} for row in reader])


def plain(cell: Any) -> Any:
    """A cell without its guard."""
    return cell.removeprefix("'") if isinstance(cell, str) else cell


def race_of(found: list[Cells]) -> tuple[str, list[Entry]]:
    """(the name, the facts) of a race, if it could have happened."""
    first = found[0] if found else {}
    missing = [name for name in OPENING if not first.get(name)]
    if first.get("kind") != "opened" or missing:
        raise CallerError(f"the first fact is {quoted(first)}: expected the opening of a race, with {OPENING}.")
    if whole(first, "schema") > SCHEMA:
        raise CallerError(
            f"schema={first['schema']}: expected {SCHEMA} at most. Upgrade with `pip install -U earlycall`."
        )
    labels = tuple(text("label", label, 1, CallerError) for label in json.loads(first["labels"]))
    entries = [Entry(1, number(first, "at"), Opened(labels, settings_from(first["settings"])))]
    for cells in found[1:]:
        entries.append(Entry(whole(cells, "seq"), number(cells, "at"), fact_of(row_from(cells))))
    try:
        state_at(entries)
    except EarlycallError as problem:
        raise CallerError(f"this is no race that could have happened: {problem}") from problem
    return text("name", str(first["name"]), 1, CallerError), entries


def settings_from(said: str) -> Settings:
    """The settings of a race that comes back."""
    try:
        return settings_made(said)
    except EarlycallError as problem:
        raise CallerError(str(problem)) from problem


def row_from(cells: Cells) -> tuple[Any, ...]:
    """The row of a fact, each cell checked and of its type."""
    kind = cells.get("kind")
    if kind not in TYPES:
        raise CallerError(f"fact {cells.get('seq')}: kind={kind!r}: expected one of {', '.join(TYPES)}.")
    values = {"kind": kind} | {column: typed(cells, column, hint) for column, hint in TYPES[kind].items()}
    return tuple(values.get(column) for column in COLUMNS)


def typed(cells: Cells, column: str, hint: Any) -> Any:
    """A cell of the type its column has in a fact of this kind."""
    cell = cells.get(column)
    if isinstance(hint, UnionType):
        if cell in (None, ""):
            return None
        hint = get_args(hint)[0]
    if hint is float:
        return number(cells, column)
    return whole(cells, column) if hint is int else text(column, cell or "", 0, CallerError)


def number(cells: Cells, column: str) -> float:
    """A cell that is a finite number."""
    try:
        found = float(cells[column])
    except (KeyError, TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise CallerError(f"fact {cells.get('seq')}: {column}={quoted(cells.get(column))}: expected a number.")
    return found


def whole(cells: Cells, column: str) -> int:
    """A cell that is a whole number; a seed has more digits than a float."""
    cell = cells.get(column)
    try:
        if isinstance(cell, int | str):
            return int(cell)
    except ValueError:
        pass
    raise CallerError(f"fact {cells.get('seq')}: {column}={quoted(cell)}: expected a whole number.")
