"""The tables of a journal, versioned, and how old versions move up.

A journal is an SQLite file (WAL). `races` and `labels` hold what a race was opened with; `facts` all that happened and
was decided since, one row each, in order. Triggers forbid to change or delete any of it. The views `pulls`, `readings`,
`arms` and `verdicts` say the same in the shape that people ask for: docs/journal.md has examples.

A fact is *news* (opened, started, read, told, lost, failed, arm_added, arm_withdrawn, closed) or a *decision* that
followed from the news before it (reopened, accepted, rejected, cancelled, cut, decided). Each kind fills the columns
that are its own (journal/rows.py) and leaves the others NULL. `seq` counts from 1 within a race, without gaps.

`suspicions` are checks of the model that failed, when they were first seen. `snapshots` is a cache, and may be deleted
at any time (journal/snapshot.py).

The version stands in the file's own header: `application_id` says that it is ours, `user_version` which step below was
the last. To open a file is to take the steps that it has not taken; a new file has taken none.
"""

import sqlite3

APPLICATION = 0x6561726C  # "earl"

FIRST = """
CREATE TABLE races (
    race INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL,              -- JSON: {option: value}, every option with its value
    version TEXT NOT NULL,               -- of the earlycall that opened it
    durable INTEGER NOT NULL DEFAULT 1   -- facts up to here were written to the disk itself by their own transaction
);
CREATE TABLE labels (
    race INTEGER NOT NULL REFERENCES races,
    place INTEGER NOT NULL,              -- 0, 1, … in the order in which the arms were given
    arm TEXT NOT NULL,
    PRIMARY KEY (race, place)
) WITHOUT ROWID;
CREATE TABLE facts (
    race INTEGER NOT NULL REFERENCES races,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,                    -- seconds, UTC; no decision reads it
    kind TEXT NOT NULL,
    pull INTEGER,
    arm TEXT,
    step INTEGER,
    value REAL,
    sd REAL,
    of INTEGER,                          -- the steps of this pull in all (Incremental)
    seed INTEGER,
    key TEXT,                            -- of the `ask` that started the pull
    owner TEXT,                          -- the process that runs the pull: host/pid/since
    reason TEXT,
    sigma REAL,                          -- of an arm that was added
    mean REAL,
    rival TEXT,
    rival_mean REAL,
    top TEXT,                            -- JSON: the labels of the best k
    outcome TEXT,
    confidence REAL,
    epsilon REAL,
    PRIMARY KEY (race, seq)
) WITHOUT ROWID;
CREATE INDEX facts_of_pull ON facts (race, pull) WHERE pull IS NOT NULL;
CREATE TABLE suspicions (
    race INTEGER NOT NULL REFERENCES races,
    seq INTEGER NOT NULL,                -- the last fact when it was first seen
    suspected TEXT NOT NULL,             -- bias, sigma, …
    says TEXT NOT NULL,
    odds REAL NOT NULL,
    arms TEXT NOT NULL,                  -- JSON: the arms that show it by themselves
    costs TEXT NOT NULL,
    PRIMARY KEY (race, suspected)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    race INTEGER PRIMARY KEY REFERENCES races,
    seq INTEGER NOT NULL,                -- the last fact that is in it
    core TEXT NOT NULL,                  -- the core whose tables these are
    outline TEXT NOT NULL,
    numbers BLOB NOT NULL
);

CREATE TRIGGER facts_are_not_changed BEFORE UPDATE ON facts
BEGIN SELECT raise(ABORT, 'what happened is never changed'); END;
CREATE TRIGGER facts_are_not_deleted BEFORE DELETE ON facts
BEGIN SELECT raise(ABORT, 'what happened is never deleted'); END;
CREATE TRIGGER labels_are_not_changed BEFORE UPDATE ON labels
BEGIN SELECT raise(ABORT, 'what happened is never changed'); END;
CREATE TRIGGER labels_are_not_deleted BEFORE DELETE ON labels
BEGIN SELECT raise(ABORT, 'what happened is never deleted'); END;
CREATE TRIGGER races_are_not_changed BEFORE UPDATE OF race, name, settings, version ON races
BEGIN SELECT raise(ABORT, 'what happened is never changed'); END;
CREATE TRIGGER races_are_not_deleted BEFORE DELETE ON races
BEGIN SELECT raise(ABORT, 'what happened is never deleted'); END;

CREATE VIEW readings AS
SELECT name AS race, pull, (SELECT arm FROM facts AS s WHERE s.race = f.race AND s.pull = f.pull AND s.kind = 'started')
    AS arm, step, value, sd, of, strftime('%Y-%m-%dT%H:%M:%fZ', at, 'unixepoch') AS at
FROM facts AS f JOIN races USING (race) WHERE kind = 'read';

CREATE VIEW pulls AS
SELECT name AS race, s.pull, s.arm,
    CASE WHEN t.seq IS NOT NULL THEN 'finished' WHEN e.seq IS NOT NULL THEN e.kind ELSE 'running' END AS state,
    t.value,
    (SELECT count(*) FROM facts AS r WHERE r.race = s.race AND r.pull = s.pull AND r.kind = 'read') AS readings,
    (SELECT max(step) FROM facts AS r WHERE r.race = s.race AND r.pull = s.pull AND r.kind IN ('read', 'told')) AS step,
    strftime('%Y-%m-%dT%H:%M:%fZ', s.at, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(t.at, e.at), 'unixepoch') AS ended,
    coalesce(t.at, e.at) - s.at AS seconds,
    e.reason, s.seed, s.key, s.owner
FROM facts AS s JOIN races USING (race)
LEFT JOIN facts AS t ON t.race = s.race AND t.pull = s.pull AND t.kind = 'told'
LEFT JOIN facts AS e ON e.race = s.race AND e.pull = s.pull AND e.kind IN ('lost', 'failed', 'cancelled', 'cut')
WHERE s.kind = 'started';

CREATE VIEW verdicts AS
SELECT name AS race, seq, arm, kind AS verdict, mean, rival, rival_mean,
    strftime('%Y-%m-%dT%H:%M:%fZ', at, 'unixepoch') AS at
FROM facts JOIN races USING (race) WHERE kind IN ('accepted', 'rejected', 'reopened', 'arm_withdrawn');

CREATE VIEW arms AS
SELECT name AS race, a.arm,
    coalesce((SELECT CASE kind WHEN 'reopened' THEN 'surviving' WHEN 'arm_withdrawn' THEN 'withdrawn' ELSE kind END
        FROM facts AS f WHERE f.race = a.race AND f.arm = a.arm
        AND kind IN ('accepted', 'rejected', 'reopened', 'arm_withdrawn') ORDER BY seq DESC LIMIT 1),
        'surviving') AS verdict,
    count(p.pull) AS pulls,
    count(t.value) AS finished,
    avg(t.value) AS mean_of_finished
FROM (SELECT race, arm, place FROM labels UNION ALL SELECT race, arm, 1000000000 + seq FROM facts
    WHERE kind = 'arm_added') AS a
JOIN races USING (race)
LEFT JOIN facts AS p ON p.race = a.race AND p.arm = a.arm AND p.kind = 'started'
LEFT JOIN facts AS t ON t.race = p.race AND t.pull = p.pull AND t.kind = 'told'
GROUP BY a.race, a.place, a.arm;
"""

STEPS = (FIRST,)  # step v makes version v of version v − 1; released steps are never changed
SCHEMA = len(STEPS)


def version_of(file: sqlite3.Connection) -> int:
    """The version a file has: 0 for a new one, −1 for a database that is none of ours."""
    (application,) = file.execute("PRAGMA application_id").fetchone()
    (version,) = file.execute("PRAGMA user_version").fetchone()
    (tables,) = file.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == APPLICATION:
        return int(version)
    return 0 if application == 0 and version == 0 and tables == 0 else -1


def move_up(file: sqlite3.Connection, version: int) -> None:
    """Take the steps that a file of this version has not taken, in the transaction that is open."""
    for number in range(version, SCHEMA):
        for statement in statements(STEPS[number]):
            file.execute(statement)
    file.execute(f"PRAGMA application_id = {APPLICATION}")
    file.execute(f"PRAGMA user_version = {SCHEMA}")


def statements(script: str) -> list[str]:
    """The statements of a script, one by one (`executescript` would commit before it begins)."""
    found, said = [], ""
    for line in script.splitlines():
        said += line + "\n"
        if sqlite3.complete_statement(said):
            found.append(said)
            said = ""
    return found
