"""The command line."""

import typer

from earlycall.doors.cli.demo import demo
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


def main() -> None:
    """The program `earlycall`."""
    app()
