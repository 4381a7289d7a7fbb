"""The verbs that drive a race in a journal by hand, one call each: `earlycall ask`, `report`, `tell` …"""

from dataclasses import asdict
from typing import Annotated

import typer

from earlycall.doors.cli.common import (
    NAME,
    URL,
    Arm,
    AsJson,
    JournalAt,
    Named,
    PullNumber,
    Reason,
    say,
    say_done,
    taken_up,
)

Value = Annotated[float, typer.Argument(metavar="VALUE", help="A number.")]


def ask(
    limit: Annotated[int | None, typer.Option(help="At most so many.")] = None,
    key: Annotated[str | None, typer.Option(help="Asking again with the same key gives the same pulls.")] = None,
    journal: JournalAt = URL,
    name: Named = NAME,
    as_json: AsJson = False,
) -> None:
    """Which pulls to start now, each with its arm and its seed."""
    from earlycall.show.report import columns

    with taken_up(journal, name) as race:
        pulls = race.ask(limit, key)
        over = race.decided
    block = any(pull.block is not None for pull in pulls)
    lines = [("pull", "arm", "seed", *(["block"] if block else []))]
    lines += [(str(pull.id), pull.arm, str(pull.seed), *([str(pull.block)] if block else [])) for pull in pulls]
    none = "Nothing to start: the race is over." if over else "Nothing to start now."
    say(as_json, {"pulls": [asdict(pull) for pull in pulls]}, columns(lines) if pulls else none)


def report(
    pull: PullNumber,
    value: Value,
    step: Annotated[int, typer.Option(help="How far the pull is, in your own count; it grows.")],
    sd: Annotated[float | None, typer.Option(help="The sd of this reading, where it is not the declared one.")] = None,
    of: Annotated[int | None, typer.Option(help="How many steps this pull has in all (incremental feedback).")] = None,
    journal: JournalAt = URL,
    name: Named = NAME,
    as_json: AsJson = False,
) -> None:
    """A running pull shows a reading; the answer is whether to stop it."""
    with taken_up(journal, name) as race:
        stop = race.report(pull, value, step, sd, of)
    say(as_json, {"stop": stop}, stop_or_not(stop))


def tell(
    pull: PullNumber,
    value: Value,
    step: Annotated[int | None, typer.Option(help="How far it came, in your own count.")] = None,
    journal: JournalAt = URL,
    name: Named = NAME,
    as_json: AsJson = False,
) -> None:
    """A pull ended, with its full feedback."""
    with taken_up(journal, name) as race:
        race.tell(pull, value, step)
        say_done(as_json, race, f"Pull {pull} is finished.")


def lose(
    pull: PullNumber, reason: Reason = "", journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False
) -> None:
    """A pull was lost, for a reason that has nothing to do with how good its arm is."""
    with taken_up(journal, name) as race:
        race.lose(pull, reason)
        say_done(as_json, race, f"Pull {pull} is lost.")


def fail(
    pull: PullNumber, reason: Reason = "", journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False
) -> None:
    """A pull broke, or took too long."""
    with taken_up(journal, name) as race:
        race.fail(pull, reason)
        say_done(as_json, race, f"Pull {pull} has failed.")


def should_stop(pull: PullNumber, journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False) -> None:
    """Whether a pull should stop: what it says is not needed any more."""
    with taken_up(journal, name) as race:
        stop = race.should_stop(pull)
    say(as_json, {"stop": stop}, stop_or_not(stop))


def stop_or_not(stop: bool) -> str:
    """The answer in a word or two."""
    return "stop" if stop else "go on"


def add_arm(
    label: Arm,
    sigma: Annotated[float | None, typer.Option(help="Its sd, where each arm was given one.")] = None,
    journal: JournalAt = URL,
    name: Named = NAME,
    as_json: AsJson = False,
) -> None:
    """An arm joins the race, if it was opened with `reserve`."""
    with taken_up(journal, name) as race:
        race.add_arm(label, sigma=sigma)
        say_done(as_json, race, f"{label} is in the race.")


def withdraw(
    label: Arm, reason: Reason = "", journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False
) -> None:
    """An arm leaves the race for good."""
    with taken_up(journal, name) as race:
        race.withdraw(label, reason)
        say_done(as_json, race, f"{label} is withdrawn.")


def close(
    reason: Reason = "closed by hand", journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False
) -> None:
    """End the race with the answer of the moment."""
    with taken_up(journal, name) as race:
        race.close(reason)
        say_done(as_json, race, "The race is over.")
