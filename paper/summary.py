"""results/figure1.csv in a page: each method against the paper's own, and against the floor."""

from paper.methods import METHODS, SHAPES
from paper.results import HERE, put, read_rows


def times(ratios: list[float]) -> str:
    """A range of speed-ups, from the smallest to the largest: how many times fewer steps."""
    return f"{1.0 / max(ratios):.1f} … {1.0 / min(ratios):.1f}"


def over_the_floor(rows: list[dict[str, str]]) -> list[float]:
    """How many times more steps than the least."""
    return [float(row["steps"]) / float(row["floor"]) for row in rows]


def page() -> str:
    """Ranges over all panels and x of Figure 1."""
    rows = read_rows("figure1.csv")
    lines = [
        "# Figure 1 in numbers",
        "",
        "Made by `make paper`: 100 runs for each point of each line, δ = 0.05, the top 20 % of the arms.",
        "*faster*: how many times fewer steps than the paper's own partial-feedback algorithm (corrected) in the same",
        "world, from the least favourable world to the most; below 1: slower. *over the floor*: how many times more",
        "steps than the least any method needs that hears what this one hears. *wrong*: races with a wrong verdict.",
        "",
        "| readings | slots | method | faster | over the floor | wrong |",
        "|---|---|---|---:|---:|---:|",
    ]
    for feedback in ("unbiased", "biased"):
        for shape in SHAPES:
            for method in METHODS:
                mine = [r for r in rows if (r["feedback"], r["shape"], r["method"]) == (feedback, shape, method.name)]
                faster = times([float(row["ratio_to_paper"]) for row in mine])
                over = over_the_floor(mine)
                wrong = sum(int(row["wrong"]) for row in mine)
                lines.append(
                    f"| {feedback} | {shape} | {method.name} | {faster} | {min(over):.1f} … {max(over):.0f} |"
                    f" {wrong} of {100 * len(mine)} |"
                )
    return "\n".join(lines) + "\n"


def write() -> None:
    """Write results/figure1.md."""
    put(HERE / "figure1.md", page())
