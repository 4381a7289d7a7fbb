"""Pictures. Needs the extra `plot`."""

import os
from collections.abc import Sequence
from pathlib import Path

from earlycall.errors import MissingExtraError, WorldError

ENDINGS = (".png", ".svg", ".pdf")


def needs_matplotlib() -> None:
    """Refuse, with the line to install it, where it is missing."""
    try:
        import matplotlib
    except ModuleNotFoundError as missing:
        raise MissingExtraError("drawing needs matplotlib: pip install 'earlycall[plot]'.") from missing
    matplotlib.use("Agg")


def times_plot(path: Path, title: str, lines: Sequence[tuple[str, int, Sequence[int]]]) -> None:
    """Draw for each (name, races, sorted times of the decided) the share of races decided by each time."""
    needs_matplotlib()
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(8, 4.8), layout="constrained")
    for name, races, times in lines:
        shares = [(rank + 1) / races for rank in range(len(times))]
        axis.step([0, *times], [0.0, *shares], where="post", label=name)
    axis.axhline(0.5, color="0.8", zorder=0)
    axis.set_xlim(left=0)
    axis.set_ylim(0, 1)
    axis.set_xlabel("time (steps)")
    axis.set_ylabel("share of races decided by then")
    axis.set_title(title)
    axis.legend(frameon=False)
    part = path.with_name(f".{path.name}.part")
    try:
        figure.savefig(part, dpi=120, format=path.suffix[1:])
        os.replace(part, path)
    except OSError as problem:
        raise WorldError(f"{path}: {problem.strerror}; the picture was not written.") from problem
    finally:
        pyplot.close(figure)
