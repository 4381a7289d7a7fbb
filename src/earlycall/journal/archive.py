"""The races of a journal as lists of facts: to replay, verify, explain and export them, and to bring them in."""

from pathlib import Path

from earlycall.core.facts import Opened
from earlycall.errors import CallerError
from earlycall.journal.places import file_of
from earlycall.journal.replay import state_at
from earlycall.journal.rows import Entry
from earlycall.journal.sqlite import Journal


def names(url: str) -> list[str]:
    """The names of the races in a journal."""
    journal = Journal(there(url))
    try:
        return journal.names()
    finally:
        journal.close()


def read(url: str, name: str) -> list[Entry]:
    """All that happened and was decided in a race, each fact with its number and its time."""
    journal = Journal(there(url))
    try:
        if not journal.resume(name):
            raise CallerError(f"name={name!r}: expected one of {', '.join(map(repr, journal.names())) or 'none'}.")
        return list(journal.facts())
    finally:
        journal.close()


def bring_in(url: str, name: str, entries: list[Entry]) -> None:
    """Write a race from elsewhere into a journal, under a name that is new there."""
    state_at(entries)  # refuses what could not have happened
    first, *rest = entries
    assert isinstance(first.fact, Opened)  # or `state_at` would have refused
    journal = Journal(file_of(url))
    try:
        journal.lock()
        if journal.resume(name):
            raise CallerError(f"name={name!r}: expected a name that is not taken yet. Give the race another.")
        journal.create(name, first.at, first.fact)
        journal.append(rest)
        journal.commit()
    finally:
        journal.rollback()
        journal.close()


def there(url: str) -> Path:
    """The file of a journal that has to exist."""
    file = file_of(url)
    if not file.exists():
        raise CallerError(f"url={url!r}: expected a journal that is there, and there is no file {file}.")
    return file
