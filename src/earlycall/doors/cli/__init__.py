"""The command line."""

import sys
import traceback

import typer

from earlycall.doors.cli import drive, files, look
from earlycall.doors.cli.common import BROKEN, NUMBERS, REFUSED
from earlycall.doors.cli.demo import demo
from earlycall.doors.cli.plan import plan
from earlycall.doors.cli.run import run
from earlycall.errors import CallerError, WorldError
from earlycall.version import __version__

app = typer.Typer(
    help="Call the winner early: the best of many slow, noisy options, known with the confidence you ask for.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Show the version."),
) -> None:
    """Options of the program itself."""


app.command()(demo)
app.command()(plan)
app.command()(files.init)
app.command()(run)
app.command()(drive.ask)
app.command(context_settings=NUMBERS)(drive.report)
app.command(context_settings=NUMBERS)(drive.tell)
app.command()(drive.lose)
app.command()(drive.fail)
app.command("should-stop")(drive.should_stop)
app.command("add-arm")(drive.add_arm)
app.command()(drive.withdraw)
app.command()(drive.close)
app.command()(look.status)
app.command()(look.explain)
app.command()(look.gate)
app.command()(look.replay)
app.command()(files.export)
app.command("import")(files.bring_in)


def main(arguments: list[str] | None = None) -> None:
    """The program `earlycall`: an error is one line on standard error, and an exit code (130, interrupted, is typer's).

    `arguments`: left out, those it was started with.
    """
    try:
        app(args=arguments)
    except CallerError as error:
        stop(str(error), REFUSED)
    except WorldError as error:
        stop(str(error), BROKEN)
    except Exception:  # a mistake of earlycall's own: Python would end with 1, which `gate` has another meaning for
        stop(f"this should not happen; please report it.\n{traceback.format_exc()}", BROKEN)


def stop(message: str, code: int) -> None:
    """Say why, and stop."""
    typer.echo(f"earlycall: {message}", err=True)
    sys.exit(code)
