"""The command line."""

import typer

import earlycall
from earlycall.doors.cli.demo import demo

app = typer.Typer(
    help=earlycall.__doc__,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(earlycall.__version__)
        raise typer.Exit


@app.callback()
def earlycall_(
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Show the version."),
) -> None:
    """Options of the program itself."""


app.command()(demo)


def main() -> None:
    """The program `earlycall`."""
    app()
