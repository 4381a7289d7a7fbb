"""Results on disk: written whole or not at all, and progress on the way there."""

import csv
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

HERE = Path(__file__).parent / "results"


def put(path: Path, text: str) -> None:
    """Put text in a file in one move, so that an interrupted run leaves the old one."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def write_rows(name: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """The same for a table of the results."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    put(HERE / name, text.getvalue())


def read_rows(name: str) -> list[dict[str, str]]:
    """A table, row by row."""
    with (HERE / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@contextmanager
def progress(total: int) -> Iterator[tuple[Progress, Any]]:
    """A bar with what is being done, how far it is, and how long it will take."""
    columns = (
        TextColumn("{task.description:60.60}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as bar:
        yield bar, bar.add_task("compiling, once …", total=total)
