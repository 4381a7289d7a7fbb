"""The verbs that look at a race in a journal: `earlycall status`, `explain`, `gate`, `replay`. Looking costs no δ."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from earlycall.doors.cli.common import (
    DONE,
    NAME,
    NOT_BETTER,
    NOT_YET,
    URL,
    Arm,
    AsJson,
    JournalAt,
    Named,
    end_code,
    say,
    taken_up,
)
from earlycall.errors import WorldError

if TYPE_CHECKING:
    from earlycall.core.status import Status

GATES = {"accepted": (DONE, "better"), "rejected": (NOT_BETTER, "not better")}


def status(journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False) -> None:
    """Where the race stands. Exit code 0: its answer is established; 3: not yet."""
    with taken_up(journal, name) as race:
        now = race.status()
    say(as_json, asdict(now), in_words(now))
    raise typer.Exit(end_code(now))


def in_words(now: "Status") -> str:
    """The answer, and a table of the arms."""
    from earlycall.show.report import sentences, text_table

    return "\n".join([*sentences(now), "", text_table(now)])


def explain(arm: Arm, journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False) -> None:
    """Why an arm stands where it stands."""
    with taken_up(journal, name) as race:
        found = race.explain(arm)
    say(as_json, asdict(found), str(found))


def gate(arm: Arm, journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False) -> None:
    """Exit code 0 where an arm is established as one of the best k, 1 as none of them, 3 where neither is."""
    with taken_up(journal, name) as race:
        found = race.explain(arm)
    code, word = GATES.get(found.arm.verdict, (NOT_YET, "not yet"))
    lines = [f"{arm}: {word}. {found.reason}", *(f"But: {suspicion}" for suspicion in found.suspicions)]
    plain = {"arm": arm, "gate": word, "verdict": found.arm.verdict, "reason": found.reason}
    say(as_json, plain | {"suspicions": [asdict(suspicion) for suspicion in found.suspicions]}, "\n".join(lines))
    raise typer.Exit(code)


def replay(
    seq: Annotated[int | None, typer.Option(help="Show the race as it was after this fact.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Derive every decision again, and compare.")] = False,
    journal: JournalAt = URL,
    name: Named = NAME,
    as_json: AsJson = False,
) -> None:
    """The race as its facts make it, at any moment; with --verify, exit code 4 where a decision does not follow."""
    from earlycall.core import status as rows
    from earlycall.journal import replay as facts
    from earlycall.journal.archive import read

    entries = read(journal, name)
    if verify:
        difference = facts.verify(entries)
        if difference is not None:
            raise WorldError(str(difference))
        say(as_json, {"facts": len(entries), "difference": None}, f"{len(entries)} facts: every decision follows.")
        return
    then = rows.status(facts.state_at(entries, seq))
    say(as_json, asdict(then), in_words(then))
