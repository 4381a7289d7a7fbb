"""What the paper claims of its synthetic experiments, and what a correct program gives: results/ → claims.toml.

A *gain* is 1 − t_partial/t_full, both times by the same ledger and radius, as in the paper.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paper.results import HERE, put, read_rows

VARIANTS = {  # how the paper's own algorithms were run: the name of the methods
    "corrected": "paper",
    "printed_ledger": "printed ledger",
    "as_printed": "as printed",
}
Rows = list[dict[str, str]]


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper that can be true or false."""

    claim: str
    where: str
    published: str
    ours: Callable[[Rows, str], str]  # (rows, variant) → what we found
    holds: Callable[[Rows, str], bool]
    why: str  # why it does not hold where it does not


def ratios(rows: Rows, variant: str, panel: str, shape: str) -> list[tuple[int, float]]:
    """[(x, t_partial/t_full)] of a panel, in order of x."""
    mine = [row for row in rows if (row["panel"], row["shape"], row["feedback"]) == (panel, shape, "unbiased")]
    steps = {(row["method"], int(row["x"])): float(row["steps"]) for row in mine}
    name = VARIANTS[variant]
    xs = sorted({x for _, x in steps})
    return [(x, steps[f"{name}, partial", x] / steps[f"{name}, full", x]) for x in xs]


def lowest(panel: str, shape: str) -> Callable[[Rows, str], str]:
    """Our lowest ratio, and where."""

    def ours(rows: Rows, variant: str) -> str:
        x, ratio = min(ratios(rows, variant, panel, shape), key=lambda pair: pair[1])
        return f"{ratio:.2f} at {'D' if panel == 'delay' else 'n'} = {x}"

    return ours


def reaches(panel: str, shape: str, published: float) -> Callable[[Rows, str], bool]:
    """Whether our lowest ratio is the published one, to two hundredths, or lower."""
    return lambda rows, variant: min(r for _, r in ratios(rows, variant, panel, shape)) <= published + 0.02


def ends(panel: str, shape: str) -> Callable[[Rows, str], str]:
    """Our ratios from the first to the last x."""
    return lambda rows, variant: " → ".join(f"{r:.2f}" for _, r in ratios(rows, variant, panel, shape))


def trend(panel: str, shape: str, better: int) -> Callable[[Rows, str], bool]:
    """Whether the ratio falls (better = 1) or rises (−1) from the first x to the last, by two hundredths at least."""

    def holds(rows: Rows, variant: str) -> bool:
        found = ratios(rows, variant, panel, shape)
        return better * (found[0][1] - found[-1][1]) >= 0.02

    return holds


def flat(panel: str, shape: str) -> Callable[[Rows, str], bool]:
    """Whether the ratios stay within 0.1 of each other."""

    def holds(rows: Rows, variant: str) -> bool:
        found = [r for _, r in ratios(rows, variant, panel, shape)]
        return max(found) - min(found) <= 0.1

    return holds


WIDE = (
    "With the corrected radius a partial bound is twice as wide, and an arm needs more full feedback beside it, so the"
    " readings of one pull weigh less. As printed, where they weigh more than they may, the figure is reached."
)
CLAIMS: Sequence[Claim] = (
    Claim(
        "lowest ratio over delays, sequential: 0.59",
        "Figure 1c, §5.1 Delay",
        "0.59",
        lowest("delay", "sequential"),
        reaches("delay", "sequential", 0.59),
        WIDE,
    ),
    Claim(
        "lowest ratio over delays, parallel: 0.57",
        "Figure 1c, §5.1 Delay",
        "0.57",
        lowest("delay", "parallel"),
        reaches("delay", "parallel", 0.57),
        WIDE,
    ),
    Claim(
        "bounded means: gains of up to 25 %, sequential, when there are few arms",
        "Figure 1a, §5.1 Number of arms",
        "0.75",
        lowest("bounded", "sequential"),
        reaches("bounded", "sequential", 0.75),
        WIDE,
    ),
    Claim(
        "bounded means: gains of up to 40 %, parallel, when there are few arms",
        "Figure 1a, §5.1 Number of arms",
        "0.60",
        lowest("bounded", "parallel"),
        reaches("bounded", "parallel", 0.60),
        WIDE,
    ),
    Claim(
        "bounded means: gains shrink as arms are added, sequential",
        "Figure 1a",
        "ratio rises with n",
        ends("bounded", "sequential"),
        trend("bounded", "sequential", -1),
        "",
    ),
    Claim(
        "bounded means: gains shrink as arms are added, parallel",
        "Figure 1a",
        "ratio rises with n",
        ends("bounded", "parallel"),
        trend("bounded", "parallel", -1),
        "",
    ),
    Claim(
        "free means: gains grow as arms are added, sequential",
        "Figure 1b",
        "ratio falls with n",
        ends("free", "sequential"),
        trend("free", "sequential", 1),
        WIDE,
    ),
    Claim(
        "free means: gains grow as arms are added, parallel",
        "Figure 1b",
        "ratio falls with n",
        ends("free", "parallel"),
        trend("free", "parallel", 1),
        WIDE,
    ),
    Claim(
        "delay: not much variation, sequential",
        "Figure 1c, §5.1 Delay",
        "flat",
        ends("delay", "sequential"),
        flat("delay", "sequential"),
        "The more readings a pull has, the more its partial bound is worth before it ends: with D the ratio moves.",
    ),
    Claim(
        "delay: improvements are better for longer delays, parallel",
        "Figure 1c, §5.1 Delay",
        "ratio falls with D",
        ends("delay", "parallel"),
        trend("delay", "parallel", 1),
        WIDE,
    ),
)


def toml() -> str:
    """All claims, with our values, as TOML."""
    rows = read_rows("figure1.csv")
    parts = [
        "# Made by `make paper`. Ratios are t_partial / t_full, lower is better; 100 runs each (results/figure1.csv).\n"
        "# corrected: radius 2σ, simultaneous ledger · printed_ledger: radius 2σ, the printed ledger ·\n"
        "# as_printed: radius and ledger as printed, without a guarantee.\n"
    ]
    for claim in CLAIMS:
        held = {variant: claim.holds(rows, variant) for variant in VARIANTS}
        parts.append(
            "\n[[claim]]\n"
            + f'claim = "{claim.claim}"\nwhere = "{claim.where}"\ncommand = "make paper"\n'
            + f'published = "{claim.published}"\n'
            + "".join(f'{variant} = "{claim.ours(rows, variant)}"\n' for variant in VARIANTS)
            + "".join(f"holds_{variant} = {str(held[variant]).lower()}\n" for variant in VARIANTS)
            + (f'why_not = "{claim.why}"\n' if claim.why and not held["corrected"] else "")
        )
    return "".join(parts)


def write() -> None:
    """Write claims.toml beside this file."""
    put(HERE.parent / "claims.toml", toml())
