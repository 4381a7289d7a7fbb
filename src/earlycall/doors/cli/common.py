"""What all verbs on a race in a journal share: which race, how they answer, and their exit codes."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlycall.errors import CallerError, GuaranteeWarning

if TYPE_CHECKING:
    from earlycall.core.status import Status
    from earlycall.run.handle import Race

URL, NAME = "sqlite:///race.db", "race"
DONE, NOT_BETTER, REFUSED, NOT_YET, BROKEN, INTERRUPTED = 0, 1, 2, 3, 4, 130  # exit codes
ESTABLISHED = ("exact", "epsilon")  # outcomes; a race that was closed, or ran out of time, has established nothing
NUMBERS = {"ignore_unknown_options": True}  # or −1.5 would be an option

JournalAt = Annotated[str, typer.Option("--journal", envvar="EARLYCALL_JOURNAL", help="The file that has the race.")]
Named = Annotated[str, typer.Option("--name", envvar="EARLYCALL_RACE", help="Which race of that file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
PullNumber = Annotated[int, typer.Argument(metavar="PULL", help="The number that `ask` gave.")]
Arm = Annotated[str, typer.Argument(metavar="ARM", help="The label of an arm.")]
Reason = Annotated[str, typer.Option(help="A few words for the journal.")]


@contextmanager
def taken_up(url: str, name: str) -> "Iterator[Race]":
    """The race of this name, which has to be there."""
    from earlycall.journal.archive import names
    from earlycall.run.opening import open_journal

    known = names(url)
    if name not in known:
        has = ", ".join(map(repr, known)) or "none"
        raise CallerError(
            f"name={name!r}: {url} has {has}: expected the name of a race that is there. Say which with --name, or"
            " open a new one with `earlycall init CAMPAIGN.toml`."
        )
    with heard(), open_journal(url, name, None, {}) as race:
        yield race


@contextmanager
def heard() -> Iterator[None]:
    """What a race warns of is a line on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", GuaranteeWarning)
        warnings.showwarning = lambda message, *_, **__: typer.echo(f"earlycall: {message}", err=True)
        yield


def say(as_json: bool, plain: dict[str, Any], words: str) -> None:
    """Answer: an object for programs, or words for people. Labels and reasons are text, and never markup."""
    typer.echo(json.dumps(plain, allow_nan=False) if as_json else words)


def say_done(as_json: bool, race: "Race", words: str) -> None:
    """Answer to a verb that was accepted, and say where the race stands now."""
    from earlycall.show.report import answer

    now = race.status()
    plain = {"decided": now.decided, "outcome": now.outcome, "top": now.top, "confidence": now.confidence}
    say(as_json, plain, f"{words}\n{answer(now, False)}" if now.decided else words)


def end_code(status: "Status") -> int:
    """The exit code of a race as it stands: whether its answer is established."""
    return DONE if status.outcome in ESTABLISHED else NOT_YET
