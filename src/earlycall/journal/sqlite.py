"""One race in an SQLite file: lock, read what others added, append, commit.

Promises. What `commit` returned from is in the file, whatever happens to the process; where `lock` was asked to be
durable it is on the disk. Only who holds the lock writes. After an error nothing of the transaction has happened, or
all of it (`COMMIT` itself failed): whoever sees one reads again.

It knows no clock and no state: `at` comes with each fact, and what facts mean is said in replay.py.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from urllib.parse import quote

from earlycall.core.facts import Opened
from earlycall.core.remedies import Suspicion
from earlycall.core.state import State, Story
from earlycall.errors import WorldError
from earlycall.journal import snapshot
from earlycall.journal.places import trusted
from earlycall.journal.rows import COLUMNS, Entry, fact_of, row_of, settings_made, settings_text
from earlycall.journal.schema import SCHEMA, move_up, version_of
from earlycall.version import __version__

PATIENCE = 60.0  # seconds to wait for a lock; a verb holds it for a thousandth of one
ALL = ", ".join(COLUMNS)
SINCE = f"SELECT {ALL} FROM facts WHERE race = ? AND seq >= ? ORDER BY seq"
OF_PULLS = f"SELECT {ALL} FROM facts WHERE race = ? AND pull BETWEEN ? AND ? AND seq <= ? ORDER BY pull, seq"
INSERT = f"INSERT INTO facts (race, {ALL}) VALUES ({', '.join('?' * (1 + len(COLUMNS)))})"
FULL, NORMAL = "FULL", "NORMAL"

REMEDIES = {  # by SQLite's name of the error, or how that begins
    "SQLITE_FULL": "the disk is full. Make room and do it again.",
    "SQLITE_READONLY": "it may not be written to. Give yourself the right to write to the file and to its folder.",
    "SQLITE_NOTADB": "it is no SQLite database: expected a journal of earlycall, or a new name. Name another file.",
    "SQLITE_CORRUPT": "it is damaged. Save a copy, and recover what it holds with `sqlite3 FILE .recover`.",
    "SQLITE_BUSY": f"another process has held its lock for more than {PATIENCE:g} seconds. End that one first.",
    "SQLITE_CANTOPEN": "it cannot be opened. Look whether it is a file, and whether you may write to its folder.",
    "SQLITE_IOERR": "the disk does not do what it is told. Look at the disk; a copy of the file may be whole.",
}


class Journal:
    """A race in a file; made by `create` or `resume`."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.race = 0
        trusted(file)
        self._process = os.getpid()
        self._level = ""
        with self._said():
            self._db = sqlite3.connect(
                f"file:{quote(str(file))}", uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            with self._said():
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        """Bring the file to the newest version, and into the mode in which readers and writer do not wait."""
        old = self._vet() < SCHEMA
        (mode,) = self._db.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise WorldError(f"{self.file}: its file system has no shared memory for WAL. Keep it on a local disk.")
        if old:
            self.lock()
            move_up(self._db, self._vet())  # asked again, now that nobody else can change it
            self.commit()

    def _vet(self) -> int:
        """The version of the file; refuses a file that is no journal, or of a version to come."""
        version = version_of(self._db)
        if version < 0:
            raise WorldError(f"{self.file} is a database, but no journal of earlycall: name another file.")
        if version > SCHEMA:
            raise WorldError(
                f"{self.file} has version {version} of the journal's tables: expected {SCHEMA} at most. A newer"
                " earlycall wrote it: upgrade with `pip install -U earlycall`."
            )
        return version

    # Races

    def names(self) -> list[str]:
        """The names of the races in the file."""
        with self._said():
            return [name for (name,) in self._db.execute("SELECT name FROM races ORDER BY race")]

    def resume(self, name: str) -> bool:
        """Turn to the race of this name; whether there is one."""
        with self._said():
            found = self._db.execute("SELECT race FROM races WHERE name = ?", (name,)).fetchone()
        self.race = found[0] if found else 0
        return found is not None

    def create(self, name: str, at: float, opened: Opened) -> None:
        """Write down that a race was opened, in the transaction that is open."""
        with self._said():
            row = (name, settings_text(opened.settings), __version__)
            made = self._db.execute("INSERT INTO races (name, settings, version) VALUES (?, ?, ?)", row)
            self.race = made.lastrowid or 0
            labels = [(self.race, place, label) for place, label in enumerate(opened.labels)]
            self._db.executemany("INSERT INTO labels VALUES (?, ?, ?)", labels)
        self.append([Entry(1, at, opened)])

    def opened(self) -> Opened:
        """What the race was opened with."""
        with self._said():
            (text,) = self._db.execute("SELECT settings FROM races WHERE race = ?", (self.race,)).fetchone()
            labels = self._db.execute("SELECT arm FROM labels WHERE race = ? ORDER BY place", (self.race,)).fetchall()
        return Opened(tuple(label for (label,) in labels), settings_made(text))

    # Transactions

    def lock(self, durable: bool = True) -> None:
        """Begin a transaction that may write; nobody else can until it is over."""
        if os.getpid() != self._process:
            raise WorldError(f"{self.file} was opened by another process, before a fork: open it anew in this one.")
        with self._said():
            level = FULL if durable else NORMAL
            if level != self._level:
                self._db.execute(f"PRAGMA synchronous = {level}")
                self._level = level
            self._db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """End the transaction: what was appended has happened."""
        with self._said():
            self._db.execute("COMMIT")

    def rollback(self) -> None:
        """End the transaction: nothing has happened."""
        if self._db.in_transaction:
            with suppress(sqlite3.Error):  # there is a reason already why nothing has happened
                self._db.execute("ROLLBACK")

    def harden(self, seq: int) -> None:
        """Put on the disk what was committed without being durable, up to a fact.

        Whether a reading brings decisions is known too late to change how its transaction commits. A durable one after
        it takes the disk's word for both.
        """
        self.lock()
        with self._said():
            self._db.execute("UPDATE races SET durable = ? WHERE race = ?", (seq, self.race))
        self.commit()

    # Facts

    def append(self, entries: Sequence[Entry]) -> None:
        """Add facts, in the transaction that is open."""
        with self._said():
            self._db.executemany(INSERT, [(self.race, *row_of(entry)) for entry in entries])

    def since(self, seq: int) -> Iterator[Entry]:
        """The facts from number `seq` on."""
        with self._said():
            rows = self._db.execute(SINCE, (self.race, seq))
            if seq <= 1:
                for first in rows.fetchmany(1):
                    yield Entry(first[0], first[1], self.opened())
            for row in rows:
                yield Entry(row[0], row[1], fact_of(row))

    def facts(self) -> Iterator[Entry]:
        """All facts, from the opening on."""
        return self.since(1)

    def added(self) -> list[str]:
        """The labels of the arms that joined the race later."""
        query = "SELECT arm FROM facts WHERE race = ? AND kind = 'arm_added'"
        with self._said():
            return [arm for (arm,) in self._db.execute(query, (self.race,))]

    def stories(self, first: int, last: int, seq: int) -> list[Story]:
        """What happened to the pulls from `first` to `last`, up to a fact."""
        with self._said():
            rows = self._db.execute(OF_PULLS, (self.race, first, last, seq)).fetchall()
        return snapshot.stories_of(fact_of(row) for row in rows)

    # Suspicions

    def suspect(self, seq: int, suspicions: Sequence[Suspicion]) -> None:
        """Keep what is suspected for the first time, in the transaction that is open."""
        rows = [
            (self.race, seq, s["check"], s["says"], s["odds"], json.dumps(s["arms"], ensure_ascii=False), s["costs"])
            for s in map(asdict, suspicions)
        ]
        with self._said():
            self._db.executemany("INSERT OR IGNORE INTO suspicions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def suspicions(self) -> list[Suspicion]:
        """What was suspected so far, in that order."""
        query = "SELECT suspected, says, odds, arms, costs FROM suspicions WHERE race = ? ORDER BY seq, suspected"
        with self._said():
            rows = self._db.execute(query, (self.race,)).fetchall()
        return [Suspicion(check, says, odds, tuple(json.loads(arms)), costs) for check, says, odds, arms, costs in rows]

    # Snapshots

    def keep(self, seq: int, state: State) -> None:
        """Keep a snapshot, in a transaction of its own."""
        outline, numbers = snapshot.pack(state)
        self.lock(durable=False)
        with self._said():
            self._db.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
                (self.race, seq, snapshot.core(), outline, numbers),
            )
        self.commit()

    def kept(self) -> tuple[State, int] | None:
        """(the state of the last snapshot, the number of its last fact), where there is one of this core."""
        query = "SELECT seq, outline, numbers FROM snapshots WHERE race = ? AND core = ?"
        with self._said():
            row = self._db.execute(query, (self.race, snapshot.core())).fetchone()
        if row is None:
            return None
        seq, outline, numbers = row
        return snapshot.unpack(self.opened(), outline, numbers, lambda a, b: self.stories(a, b, seq)), seq

    # The file

    def close(self) -> None:
        """Give the file back."""
        if os.getpid() == self._process:
            self._db.close()

    def __del__(self) -> None:
        if hasattr(self, "_db"):
            self.close()

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Turn what SQLite says into a sentence for people."""
        try:
            yield
        except sqlite3.Error as error:
            raise WorldError(sentence(self.file, error)) from error


def sentence(file: Path, error: sqlite3.Error) -> str:
    """What is wrong with the file, and what to do."""
    name = getattr(error, "sqlite_errorname", None) or ""
    remedy = next((remedy for start, remedy in REMEDIES.items() if name.startswith(start)), "")
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return f"{file} was given back: open the race anew."
    return f"{file}: {remedy or 'it cannot be used.'} (SQLite: {error}.)"
