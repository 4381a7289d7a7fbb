"""A broken world: a disk that is full, a file that is cut short, is something else, or is held by somebody.

Each gets a sentence (what was seen, what was expected, what to do), and nothing has changed.
"""

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import earlycall as ec
from earlycall.core.facts import Fact
from earlycall.journal import schema, sqlite
from earlycall.journal.places import file_system, trusted
from earlycall.run import kept
from earlycall.run.kept import Kept
from tests.journal.kept import BASIC, difference, entries, race_in
from tests.journal.runner import ARMS, OPTIONS, act

pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "races.db"


@pytest.fixture
def race(file: Path) -> Iterator[ec.Race]:
    """A race that has begun."""
    with race_in(file, list(ARMS), **OPTIONS) as race:
        for _ in range(30):
            act(race)
        yield race


def connection(race: ec.Race) -> sqlite3.Connection:
    assert isinstance(race._book, Kept)
    return race._book._journal._db


def undisturbed() -> tuple[Fact, ...]:
    race = ec.Race(list(ARMS), **OPTIONS)
    while act(race):
        pass
    return race.facts


def goes_on(race: ec.Race, file: Path) -> None:
    """The race ends as if nothing had been."""
    while act(race):
        pass
    assert race.facts == undisturbed()
    assert difference(file) is None


def test_a_disk_that_is_full_stops_the_race_until_there_is_room(race: ec.Race, file: Path) -> None:
    """The verb that found no room has not happened, here or in the file; with room it happens."""
    db = connection(race)
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}")
    before: tuple[Fact, ...] = ()
    with pytest.raises(ec.WorldError, match=r"disk is full\. Make room"):  # noqa: PT012
        while True:
            before = race.facts
            act(race)
    assert race.facts == before == tuple(entry.fact for entry in entries(file))
    with pytest.raises(ec.WorldError, match="disk is full"):
        act(race)
    db.execute("PRAGMA max_page_count = 1000000")
    goes_on(race, file)


def test_a_file_that_may_not_be_written_to_is_left_alone(race: ec.Race, file: Path) -> None:
    """Answers go on; verbs do not."""
    before, running = race.facts, race.running
    connection(race).execute("PRAGMA query_only = ON")
    with pytest.raises(ec.WorldError, match="may not be written to"):
        act(race)
    assert race.facts == before
    assert race.running == running
    connection(race).execute("PRAGMA query_only = OFF")
    goes_on(race, file)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_new_race_is_refused_where_nothing_may_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ec.WorldError, match="cannot be opened"):
        race_in(tmp_path / "races.db", list(ARMS), **OPTIONS)
    tmp_path.chmod(0o700)


def test_a_commit_that_fails_has_not_happened(race: ec.Race, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state that the failed verb had changed is dropped and read again."""
    before = race.facts

    def broken(self: sqlite.Journal) -> None:
        raise ec.WorldError("the disk does not do what it is told")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite.Journal, "commit", broken)
        with pytest.raises(ec.WorldError, match="does not do"):
            act(race)
    assert race.facts == before
    goes_on(race, file)


def test_a_verb_that_is_interrupted_has_not_happened(
    race: ec.Race, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever Ctrl-C falls between the lock and the commit."""
    for place in ("append", "commit"):
        before = race.facts

        def interrupted(*arguments: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(sqlite.Journal, place, interrupted)
            with pytest.raises(KeyboardInterrupt):
                act(race)
        assert race.facts == before
        act(race)
    goes_on(race, file)


def test_a_reading_that_decides_waits_for_the_disk(file: Path) -> None:
    """Other readings do not; its decisions are on the disk before anybody is told to act on them."""
    options = BASIC | {"feedback": ec.Unbiased(1.0, 0.1), "parallel": 2, "delays": "independent"}
    with race_in(file, ["a", "b"], **options) as race:
        race.ask()
        (durable,) = connection(race).execute("SELECT durable FROM races").fetchone()
        assert not race.report(1, 0.0, 1)
        assert connection(race).execute("SELECT durable FROM races").fetchone() == (durable,)
        assert race.report(2, 50.0, 1)
        assert race.decided
        assert connection(race).execute("SELECT durable FROM races").fetchone() == (len(race.facts),)


def test_a_log_that_is_cut_short_leaves_a_race_that_goes_on(race: ec.Race, file: Path, tmp_path: Path) -> None:
    """After a power cut the last part of the write-ahead log may be missing: the facts before it are whole."""
    log = file.with_name("races.db-wal")
    lengths = [round(log.stat().st_size * part / 10) for part in range(1, 11)]
    seen = set()
    for number, length in enumerate(lengths):
        copy = tmp_path / str(number) / "races.db"
        copy.parent.mkdir()
        shutil.copy(file, copy)
        copy.with_name("races.db-wal").write_bytes(log.read_bytes()[:length])
        try:
            held = tuple(entry.fact for entry in entries(copy))
        except (ec.EarlycallError, AssertionError):  # cut before there was a race
            continue
        assert held == race.facts[: len(held)]
        seen.add(len(held))
        with race_in(copy) as again:
            goes_on(again, copy)
    assert len(seen) > 3


def test_a_handle_sees_that_its_journal_was_cut_or_replaced(race: ec.Race, file: Path) -> None:
    """What it has acted on is there no more: it says so, and goes on saying so."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("DROP TRIGGER facts_are_not_deleted")
        db.execute("DELETE FROM facts WHERE seq = (SELECT max(seq) FROM facts)")
        db.commit()
    for _ in range(2):
        with pytest.raises(ec.WorldError, match="cut short or replaced"):
            act(race)
        with pytest.raises(ec.WorldError, match="cut short or replaced"):
            race.status()


def test_what_happened_cannot_be_changed(race: ec.Race, file: Path) -> None:
    """Not by mistake: the tables themselves refuse it."""
    with closing(sqlite3.connect(file)) as db:
        for change in (
            "UPDATE facts SET value = 9.0",
            "DELETE FROM facts",
            "UPDATE labels SET arm = 'x'",
            "DELETE FROM races",
            "UPDATE races SET settings = '{}'",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="what happened is never"):
                db.execute(change)


@pytest.mark.parametrize("seen", ["DELETE FROM facts WHERE seq = 7", "UPDATE facts SET pull = 99 WHERE seq = 7"])
def test_a_journal_with_a_hole_is_refused(seen: str, file: Path) -> None:
    """Facts that do not follow from those before them, or are missing, stop the race loudly."""
    with race_in(file, list(ARMS), **OPTIONS) as race:
        for _ in range(30):
            act(race)
    with closing(sqlite3.connect(file)) as db:
        db.execute("DROP TRIGGER facts_are_not_deleted")
        db.execute("DROP TRIGGER facts_are_not_changed")
        db.execute(seen)
        db.commit()
    with pytest.raises(ec.WorldError, match="journal"):
        race_in(file)


def test_a_snapshot_of_what_is_not_there_is_not_used(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one that another core has written, nor one that was deleted: the facts are the truth."""
    monkeypatch.setattr(kept, "GAP", 1)
    with race_in(file, list(ARMS), **OPTIONS) as race:
        for _ in range(30):
            act(race)
    for damage in (
        "DELETE FROM facts WHERE seq > (SELECT max(seq) FROM facts WHERE kind = 'started')",
        "UPDATE snapshots SET core = 'of another time', numbers = x'00'",
        "DELETE FROM snapshots",
    ):
        with closing(sqlite3.connect(file)) as db:
            db.execute("DROP TRIGGER IF EXISTS facts_are_not_deleted")
            assert db.execute(damage).rowcount > 0
            db.commit()
        with race_in(file) as race:
            assert race.facts == undisturbed()[: len(race.facts)]
            act(race)
    with race_in(file) as race:
        goes_on(race, file)


def test_a_lock_that_is_held_too_long_is_named(race: ec.Race, file: Path) -> None:
    """After some patience; the verb has not happened."""
    before = race.facts
    connection(race).execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ec.WorldError, match="another process has held its lock"):
            act(race)
        other.execute("ROLLBACK")
    assert race.facts == before
    goes_on(race, file)


# Files that are no journals ------------------------------------------------------------------------------------------


def refused(file: Path, match: str) -> None:
    """Opening the file is refused and leaves every byte as it was."""
    before = file.read_bytes()
    with pytest.raises(ec.WorldError, match=match):
        race_in(file, ["a", "b"], **BASIC)
    assert file.read_bytes() == before


def test_something_else_is_refused(file: Path) -> None:
    file.write_bytes(b"what I did in my holidays\n" * 200)
    refused(file, "no SQLite database")


def test_another_database_is_refused(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE accounts (owner TEXT, balance REAL)")
    refused(file, "no journal of earlycall")


def test_a_journal_of_a_newer_version_is_refused(file: Path) -> None:
    with race_in(file, ["a", "b"], **BASIC):
        pass
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA user_version = {schema.SCHEMA + 1}")
    refused(file, "upgrade")


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(ec.WorldError, match="cannot be opened"):
        race_in(tmp_path, ["a", "b"], **BASIC)
    with pytest.raises(ec.WorldError, match="no folder"):
        race_in(tmp_path / "nowhere" / "races.db", ["a", "b"], **BASIC)


def test_an_older_version_moves_up(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps that a file has not taken are taken when it is opened, once, and its races go on."""
    with race_in(file, list(ARMS), **OPTIONS) as race:
        for _ in range(30):
            act(race)
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, "CREATE TABLE notes (race INTEGER, words TEXT);"))
    monkeypatch.setattr(schema, "SCHEMA", schema.SCHEMA + 1)
    monkeypatch.setattr(sqlite, "SCHEMA", schema.SCHEMA)
    for _ in range(2):
        with race_in(file) as race:
            assert connection(race).execute("SELECT count(*) FROM notes").fetchone() == (0,)
            assert connection(race).execute("PRAGMA user_version").fetchone() == (schema.SCHEMA,)
    with race_in(file) as race:
        goes_on(race, file)


def test_a_network_file_system_is_refused(tmp_path: Path) -> None:
    """By the kind of the mount that the folder is on; where nothing is known of mounts, it is trusted."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {tmp_path.resolve()} nfs4 rw 0 0\n")
    with pytest.raises(ec.WorldError, match=r"network file system \(nfs4\)"):
        trusted(tmp_path / "races.db", mounts)
    mounts.write_text(f"server:/x / nfs4 rw 0 0\n/dev/sda {tmp_path.resolve()} ext4 rw 0 0\n")
    trusted(tmp_path / "races.db", mounts)
    trusted(tmp_path / "races.db", tmp_path / "none")
    lines = ["/dev/sda / ext4 rw", "a:/b /data/my\\040disk cifs rw", "/dev/sdb /dat xfs rw"]
    assert file_system(Path("/data/my disk/races"), lines) == "cifs"
    assert file_system(Path("/data"), lines) == "ext4"


def test_threads_share_a_handle(file: Path) -> None:
    """Each verb of each thread is whole."""
    with race_in(file, list(ARMS), **OPTIONS | {"parallel": 8}) as race:

        def work() -> None:
            while not race.decided:
                for pull in race.ask(limit=1):
                    race.tell(pull.id, ARMS[pull.arm])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert race.top == ["c", "d"]
    assert difference(file) is None


def test_a_handle_that_was_given_back_says_so(file: Path) -> None:
    with race_in(file, ["a", "b"], **BASIC) as race:
        pass
    with pytest.raises(ec.WorldError, match="open the race anew"):
        race.ask()
