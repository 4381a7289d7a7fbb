"""`earlycall run`: race command lines until the best k are known. They come from here, and never from the journal."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlycall.doors.cli.common import INTERRUPTED, NAME, URL, AsJson, JournalAt, Named, end_code, heard, say
from earlycall.errors import SettingError

if TYPE_CHECKING:
    from earlycall.core.status import Status
    from earlycall.run.handle import Race
    from earlycall.run.workers import Workers

EXAMPLE = "For example --arm 'A=./test.sh --mode a' --arm 'B=./test.sh --mode b'."


def run(
    campaign: Annotated[
        Path | None, typer.Argument(metavar="[CAMPAIGN]", help="A campaign file (TOML) that has [commands].")
    ] = None,
    arm: Annotated[list[str] | None, typer.Option(help="Instead of a file: LABEL=COMMAND, once for each arm.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="With --arm: how many are wanted.")] = None,
    delta: Annotated[float | None, typer.Option(help="With --arm: the chance of a wrong answer you accept.")] = None,
    sigma: Annotated[float | None, typer.Option(help="With --arm: the sd of a pull (left out: not known).")] = None,
    parallel: Annotated[int | None, typer.Option(help="With --arm: how many run at once.")] = None,
    direction: Annotated[str | None, typer.Option(help="With --arm: maximize or minimize.")] = None,
    seed: Annotated[int | None, typer.Option(help="With --arm: the same seed gives every pull the same seed.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds a pull may take before it has failed.")] = None,
    deadline: Annotated[float | None, typer.Option(help="Seconds until the race ends as it stands.")] = None,
    grace: Annotated[float, typer.Option(help="Seconds that a cancelled pull has to stop.")] = 5.0,
    journal: JournalAt = URL,
    name: Named = NAME,
    as_json: AsJson = False,
) -> None:
    """Run the arms' programs until the best k are known; called again, it goes on where it was.

    Exit code 0: the answer is established; 3: not yet; 130: interrupted.
    """
    from earlycall.core.checks import scale
    from earlycall.core.settings import at_least_zero
    from earlycall.run.opening import open_journal
    from earlycall.run.workers.commands import Commands, check_commands

    said = {"k": k, "delta": delta, "sigma": sigma, "parallel": parallel, "direction": direction, "seed": seed}
    given = {option: value for option, value in said.items() if value is not None}
    commands, options = declared(campaign, arm or [], given)
    waits = None if timeout is None else scale("timeout", timeout, SettingError)
    patience = at_least_zero("grace", grace, "Seconds that a cancelled pull has to stop.")
    ends = math.inf if deadline is None else time.monotonic() + scale("deadline", deadline, SettingError)
    check_commands(commands)
    with heard(), open_journal(journal, name, commands, options) as race:
        workers = Commands(race.settings.parallel, waits, patience, frozenset(commands))
        finished = driven(race, workers, ends)
        now = race.status()
    say(as_json, plain(now, finished), words(now, finished))
    raise typer.Exit(end_code(now) if finished else INTERRUPTED)


def declared(campaign: Path | None, arms: list[str], given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the command of each arm, the options of the race): from a file, or from this command line."""
    from earlycall.core.models import Full

    if campaign is None:
        if not arms:
            raise SettingError(f"there are no arms: expected a campaign file, or --arm. {EXAMPLE}")
        feedback = Full(given.pop("sigma", None))
        return commands_of(arms), {**given, "feedback": feedback}
    if arms or given:
        odd = "arm" if arms else next(iter(given))
        raise SettingError(f"{odd}: expected in {campaign}, or else no campaign file: say it in one place.")
    from earlycall.doors.campaign import read_campaign
    from earlycall.doors.cli.files import options_of
    from earlycall.run.arms import name_arms

    read = read_campaign(campaign)
    if read.commands is None:
        raise SettingError(f"{campaign}: commands are missing: expected a table [commands] with one for every arm.")
    return {label: read.commands[label] for label in name_arms(read.arms)}, options_of(read)


def commands_of(arms: list[str]) -> dict[str, str]:
    """{label: command} of LABEL=COMMAND."""
    found: dict[str, str] = {}
    for said in arms:
        label, is_there, command = said.partition("=")
        if not is_there or not label or not command.strip():
            raise SettingError(f"arm={said!r}: expected LABEL=COMMAND. {EXAMPLE}")
        if label in found:
            raise SettingError(f"arm={said!r}: expected a different label for every arm; {label!r} is there twice.")
        found[label] = command
    return found


def driven(race: "Race", workers: "Workers", deadline: float) -> bool:
    """Run the race to its end, with somebody watching on a terminal; False when it was interrupted."""
    from earlycall.run.loop import Loop
    from earlycall.run.owners import left_over, me
    from earlycall.show.live import watching

    with watching(race, None) as view:
        return Loop(race, workers, deadline, [*view], owner=me()).run(left_over(race))


def plain(now: "Status", finished: bool) -> dict[str, Any]:
    """The result for programs, as `Result.to_dict` gives it."""
    from dataclasses import asdict

    return {**asdict(now), "interrupted": not finished}


def words(now: "Status", finished: bool) -> str:
    """The result for people."""
    from earlycall.show.report import sentences, text_table

    return "\n".join([*sentences(now, not finished), "", text_table(now)])
