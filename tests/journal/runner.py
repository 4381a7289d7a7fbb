"""A process that runs a race in a journal and says what it has done, verb by verb: `python -m tests.journal.runner`.

What it does next follows from the state of the race alone, so however often it is killed and started again the facts
are those of one run that nobody disturbed.
"""

import os
import random
import sys
import warnings
from typing import Any

import earlycall as ec
from earlycall.run.owners import me

LENGTH = 4  # of a pull, in steps
ARMS = {"a": 0.0, "b": 0.3, "c": 1.5, "d": 2.0}
OPTIONS: dict[str, Any] = {
    "k": 2,
    "delta": 0.01,
    "feedback": ec.Unbiased(1.0, 0.7, steps=LENGTH),
    "delays": "independent",
    "setup": 1.0,
    "parallel": 3,
}


def act(race: ec.Race, mine: str | None = None) -> str:
    """One verb, and what it was; "" when the race is over. `mine`: only pulls of this owner, beside those started."""
    if race.decided:
        return ""
    for pull in race.ask(limit=1, owner=mine):
        return f"started {pull.id} {pull.arm}"
    running = [pull for pull in race.running if mine is None or race.owners().get(pull.id) == mine]
    if not running:
        return "waited"
    stories = race._state.stories
    pull = min(running, key=lambda pull: (len(stories[pull.id - 1].readings), pull.id))
    step = len(stories[pull.id - 1].readings) + 1
    chance = random.Random(pull.seed)
    final = chance.gauss(ARMS[pull.arm], 1.0)
    readings = [chance.gauss(final, 0.7) for _ in range(LENGTH)]
    try:
        if step == LENGTH:
            race.tell(pull.id, final)
            return f"told {pull.id}"
        race.report(pull.id, readings[step], step)
        return f"read {pull.id} {step}"
    except ec.NewsError:  # another process was quicker
        return "waited"


def main(url: str, name: str, shared: str) -> None:
    """Run the race until it is over."""
    warnings.simplefilter("ignore", ec.GuaranteeWarning)
    with ec.open_race(url, name, list(ARMS), **OPTIONS) as race:
        while done := act(race, me() if shared == "shared" else None):
            os.write(1, (done + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
