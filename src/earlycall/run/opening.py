"""A race in a journal: opened, or taken up again, and refused where what is said contradicts what is written."""

import time
from collections.abc import Mapping
from dataclasses import fields

from earlycall.core.checks import quoted, text
from earlycall.core.facts import Opened
from earlycall.core.settings import Settings, settings_of
from earlycall.core.state import opened
from earlycall.errors import SettingError
from earlycall.journal.places import file_of
from earlycall.journal.sqlite import Journal
from earlycall.run.arms import name_arms
from earlycall.run.handle import Race
from earlycall.run.kept import Kept

REMEDY = "Say what the journal says, leave arms and options out to go on with it, or give the race another name."


def open_journal(url: object, name: object, arms: object, options: Mapping[str, object], depth: int = 5) -> Race:
    """The race of this name in a journal; `depth`: how many calls away is who is to be warned."""
    file = file_of(url)
    named = text("name", name, 1, SettingError)
    values = {} if arms is None else name_arms(arms)
    settings = settings_of(options) if options else None
    fact = None
    if arms is not None and settings is not None:
        fact = Opened(tuple(values), settings)
        opened(fact)  # refuses what does not go together, before there is a file
    elif not file.exists():
        raise SettingError(nothing_there(named, f"there is no file {file}"))
    journal = Journal(file)
    try:
        if not journal.resume(named):
            create(journal, named, fact)
        agree(journal.opened(), values, settings, journal.added() if values else [])
        return Race.kept_in(Kept(journal), values, depth)
    except BaseException:
        journal.close()
        raise


def create(journal: Journal, name: str, fact: Opened | None) -> None:
    """Write a new race down, unless somebody has done so just now."""
    if fact is None:
        there = ", ".join(map(repr, journal.names())) or "none"
        raise SettingError(nothing_there(name, f"{journal.file} has {there}"))
    journal.lock()
    try:
        if journal.resume(name):
            journal.rollback()
        else:
            journal.create(name, time.time(), fact)
            journal.commit()
    except BaseException:
        journal.rollback()
        raise


def nothing_there(name: str, seen: str) -> str:
    """The sentence for a race that is not there, and cannot be opened for want of arms or options."""
    return (
        f"name={name!r}: {seen}: expected the name of a race that is there. To open a new one, give its arms and"
        " options: open_race(url, name, arms, k=…, delta=…, feedback=…)."
    )


def agree(theirs: Opened, values: Mapping[str, object], settings: Settings | None, added: list[str]) -> None:
    """Refuse settings and arms that contradict the journal; whatever is not said agrees."""
    found = []
    if settings is not None:
        for field in fields(Settings):
            held, said = getattr(theirs.settings, field.name), getattr(settings, field.name)
            if held != said:
                found.append(f"{field.name} is {quoted(held)} in the journal, and you say {quoted(said)}")
    if values:
        missing = [label for label in theirs.labels if label not in values]
        strange = [label for label in values if label not in theirs.labels and label not in added]
        if missing:
            found.append(f"the journal has arms that you do not name: {some(missing)}")
        if strange:
            found.append(f"you name arms that the journal does not have: {some(strange)}")
    if found:
        raise SettingError(f"This is another race than the one in the journal: {'; '.join(found)}. {REMEDY}")


def some(labels: list[str]) -> str:
    """A few labels."""
    return ", ".join(map(repr, labels[:5])) + (", …" if len(labels) > 5 else "")
