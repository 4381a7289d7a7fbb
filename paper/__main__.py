"""`make paper`: race, draw, and set every claim beside what we found."""

import sys

from rich.console import Console

from paper import claims, figure1, summary, synthetic
from paper.results import HERE


def main() -> int:
    """Everything, or with `--draw` only what follows from the numbers that are there."""
    if "--draw" not in sys.argv[1:]:
        synthetic.measure()
    figure1.draw()
    claims.write()
    summary.write()
    Console().print(
        (HERE.parent / "claims.toml").read_text(encoding="utf-8"), markup=False, highlight=False, soft_wrap=True
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
