"""Makes schema-1.sql anew: `python -m tests.golden.make`. A released golden journal is never made again, only kept."""

import random
import sqlite3
import tempfile
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import earlycall as ec
from earlycall.journal.schema import APPLICATION, SCHEMA

GOLDEN = Path(__file__).with_name("schema-1.sql")
ARMS = ["slow", "steady", "fast"]
RACES: dict[str, dict[str, Any]] = {
    "readings with an offset, cut": {
        "feedback": ec.Biased(1.0, {1: 1.0, 3: 0.5}, bias_scale=2.0, steps=4),
        "delays": "independent",
        "setup": 0.5,
        "parallel": 4,
    },
    "the paper's, a failure counts": {
        "feedback": ec.Unbiased({"slow": 1.0, "steady": 1.5, "fast": 1.0}, 0.7),
        "method": "paper",
        "delays": "independent",
        "parallel": 2,
        "failure": -3.0,
    },
    "newcomers": {"feedback": ec.Full(1.0), "reserve": 1, "delays": "independent", "parallel": 3},
    "sigma unknown, closed": {"feedback": ec.Full(None), "direction": "minimize", "max_pulls": 40},
}


def play(race: ec.Race, name: str) -> None:
    """Ten rounds or so, with everything that can happen."""
    chance = random.Random(name)
    means = {"slow": 0.0, "steady": 3.0, "fast": 5.0, "new": 4.0}
    silent = race._state.settings.feedback
    for turn in range(60):
        if race.decided:
            return
        for pull in race.ask(key=f"turn {turn}"):
            if pull.id % 7 == 5:
                (race.lose if pull.id % 2 else race.fail)(pull.id, "=a 'reason', \"quoted\"")
        for pull in race.running:
            step = len(race._state.stories[pull.id - 1].readings) + 1
            if step == 4 or isinstance(silent, ec.Full):
                race.tell(pull.id, round(chance.gauss(means[pull.arm], 1.0), 3))
            else:
                race.report(pull.id, round(chance.gauss(means[pull.arm], 1.0), 3), step)
        rejected = [arm.arm for arm in race.status().arms if arm.verdict == "rejected"]
        if name == "newcomers" and rejected and not race._state.added and not race.decided:
            race.add_arm("new")
            race.withdraw("fast", "too dear")
        if "closed" in name and turn == 25:
            race.close()


def main() -> None:
    """Race, and write the file down as SQL."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ec.GuaranteeWarning)
        file = Path(folder) / "golden.db"
        for name, options in RACES.items():
            with ec.open_race(f"sqlite:///{file}", name, ARMS, k=1, delta=0.05, **options) as race:
                play(race, name)
        with closing(sqlite3.connect(file)) as db:
            lines = [f"PRAGMA application_id = {APPLICATION};", f"PRAGMA user_version = {SCHEMA};", *db.iterdump()]
    GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
