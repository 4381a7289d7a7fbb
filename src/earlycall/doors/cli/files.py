"""The verbs between files and a journal: `earlycall init`, `export`, `import`."""

from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlycall.doors.cli.common import NAME, URL, AsJson, JournalAt, Named, heard, say
from earlycall.errors import CallerError, WorldError

if TYPE_CHECKING:
    from earlycall.doors.campaign import Campaign

ENDINGS = (".csv", ".jsonl")
CampaignFile = Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="A campaign file (TOML).")]


def init(campaign: CampaignFile, journal: JournalAt = URL, name: Named = NAME, as_json: AsJson = False) -> None:
    """Open the race of a campaign file; where it is open already, nothing changes."""
    from earlycall.doors.campaign import read_campaign
    from earlycall.run.opening import open_journal

    given = read_campaign(campaign)
    with heard(), open_journal(journal, name, given.arms, options_of(given)) as race:
        arms = [arm.arm for arm in race.status().arms]
    plain = {"journal": journal, "name": name, "arms": arms}
    say(as_json, plain, f"The race {name!r} of {len(arms)} arms is open in {journal}.")


def options_of(campaign: "Campaign") -> dict[str, Any]:
    """The options of a campaign's race."""
    settings = campaign.settings()
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="FILE.csv, FILE.jsonl, or - for JSON lines here.")],
    journal: JournalAt = URL,
    name: Named = NAME,
    as_json: AsJson = False,
) -> None:
    """Write all that happened into a file."""
    from earlycall.journal.archive import read
    from earlycall.journal.export import to_csv, to_json_lines

    path = None if file == "-" else known_kind(file)
    entries = read(journal, name)
    out = StringIO(newline="")
    (to_csv if path is not None and path.suffix == ".csv" else to_json_lines)(name, entries, out)
    if path is None:
        typer.echo(out.getvalue(), nl=False)
        return
    try:
        path.write_bytes(out.getvalue().encode("utf-8"))
    except OSError as problem:
        raise WorldError(f"{file}: {problem.strerror}. Name a file in a folder that you may write to.") from problem
    say(as_json, {"file": file, "facts": len(entries)}, f"{len(entries)} facts are in {file}.")


def bring_in(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A FILE.csv or FILE.jsonl that `export` wrote.")],
    journal: JournalAt = URL,
    name: Annotated[
        str | None,
        typer.Option("--name", envvar="EARLYCALL_RACE", help="Its name here (left out: the one it has in the file)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring an exported race into a journal, under a name that is new there."""
    from earlycall.journal import archive
    from earlycall.journal.export import from_csv, from_json_lines

    path = known_kind(file)
    try:
        lines = StringIO(path.read_bytes().decode("utf-8"), newline="")
    except OSError as problem:
        raise CallerError(f"{file}: {problem.strerror}. Give a file that `earlycall export` wrote.") from problem
    except UnicodeDecodeError as problem:
        raise CallerError(f"{file}: not text in UTF-8. Give a file that `earlycall export` wrote.") from problem
    try:
        called, entries = (from_csv if path.suffix == ".csv" else from_json_lines)(lines)
    except CallerError as problem:
        raise CallerError(f"{file}: {problem}") from problem
    archive.bring_in(journal, name or called, entries)
    plain = {"journal": journal, "name": name or called, "facts": len(entries)}
    say(as_json, plain, f"The race {name or called!r} is in {journal}, with {len(entries)} facts.")


def known_kind(file: str) -> Path:
    """A file whose name says what is in it."""
    if Path(file).suffix not in ENDINGS:
        raise CallerError(f"file={file!r}: expected a name that ends in {' or '.join(ENDINGS)}.")
    return Path(file)
