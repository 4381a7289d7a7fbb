"""Figure 1, drawn from results/figure1.csv."""

from typing import Any

import matplotlib

from paper.results import HERE, read_rows

PANELS = {"bounded": "arms, bounded means", "free": "arms, free means", "delay": "delay, 100 arms"}
LINES = {  # colour, style
    "paper, full": ("0.2", "-"),
    "paper, partial": ("tab:blue", "-"),
    "as printed, partial": ("tab:blue", ":"),
    "evidence, full": ("tab:orange", "--"),
    "evidence": ("tab:orange", "-"),
    "evidence, cutting": ("tab:red", "-"),
}


def draw() -> None:
    """Two pictures, unbiased and biased, as SVG and PNG."""
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "earlycall"  # the same data, the same file
    rows = read_rows("figure1.csv")
    for feedback in ("unbiased", "biased"):
        picture([row for row in rows if row["feedback"] == feedback], f"figure1-{feedback}", feedback)


def picture(rows: list[dict[str, str]], name: str, feedback: str) -> None:
    """Two rows (sequential, parallel) of three panels."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(13, 7.6), layout="constrained", sharey=True)
    for down, shape in enumerate(("sequential", "parallel")):
        for across, panel in enumerate(PANELS):
            axis = axes[down][across]
            fill(axis, [row for row in rows if row["panel"] == panel and row["shape"] == shape])
            axis.set_title(f"{shape}: {PANELS[panel]}", fontsize=10)
            axis.set_xlabel("delay D (steps)" if panel == "delay" else "number of arms n")
        axes[down][0].set_ylabel("time / time of full-feedback racing")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(
        f"Time to the top 20 % of the arms with {feedback} readings, δ = 0.05 (100 runs, ± 2 se; lower is better)\n"
        "red figures: time / time of the paper's partial-feedback algorithm in the same run",
        fontsize=11,
    )
    for ending, details in (("svg", {"Date": None}), ("png", None)):
        figure.savefig(HERE / f"{name}.{ending}", metadata=details, dpi=110)
    pyplot.close(figure)


def fill(axis: Any, rows: list[dict[str, str]]) -> None:
    """The lines of one panel."""
    base = {row["x"]: float(row["steps"]) for row in rows if row["method"] == "paper, full"}
    for method, (colour, style) in LINES.items():
        mine = [row for row in rows if row["method"] == method]
        xs, ratios = [int(row["x"]) for row in mine], [float(row["ratio_to_full"]) for row in mine]
        errors = [2.0 * float(row["ratio_to_full_se"]) for row in mine]
        axis.errorbar(xs, ratios, errors, color=colour, linestyle=style, marker=".", capsize=2, label=method)
        if method == "evidence, cutting":
            for x, ratio, row in zip(xs, ratios, mine, strict=True):
                text = f"{float(row['ratio_to_paper']):.2g}"
                axis.annotate(
                    text, (x, ratio), (0, 5), textcoords="offset points", ha="center", fontsize=7, color=colour
                )
    for method, style, label in (
        ("evidence, full", "0.6", "floor, full feedback"),
        ("evidence", "0.8", "floor, with readings"),
    ):
        mine = [row for row in rows if row["method"] == method]
        xs, floors = [int(row["x"]) for row in mine], [float(row["floor"]) / base[row["x"]] for row in mine]
        axis.plot(xs, floors, color=style, linestyle="-.", label=label)
    axis.set_xscale("log")
    axis.set_yscale("log")
    ticks = sorted({int(row["x"]) for row in rows})
    axis.set_xticks(ticks, [str(tick) for tick in ticks])
    axis.minorticks_off()
    axis.grid(alpha=0.25)
