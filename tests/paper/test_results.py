"""What is committed of the long studies is what their programs make of their own numbers."""

import tomllib

import pytest

from paper import claims, coverage, growth, summary, synthetic
from paper.results import HERE, read_rows


def test_the_claims_follow_from_the_numbers() -> None:
    """paper/claims.toml is made of results/figure1.csv, and lists every claim with a value and a verdict."""
    text = (HERE.parent / "claims.toml").read_text(encoding="utf-8")
    assert text == claims.toml()
    listed = tomllib.loads(text)["claim"]
    assert len(listed) == len(claims.CLAIMS)
    for claim in listed:
        for variant in claims.VARIANTS:
            assert claim[variant]
            assert claim[f"holds_{variant}"] in (True, False)
        assert claim["holds_corrected"] or claim["why_not"]


def test_the_figure_is_whole() -> None:
    """Every point of every line was raced, no corrected method was wrong too often or beat the floor."""
    rows = read_rows("figure1.csv")
    cells = [(c.panel, c.shape, c.feedback, str(c.x), c.method.name) for c in synthetic.cells()]
    assert [(row["panel"], row["shape"], row["feedback"], row["x"], row["method"]) for row in rows] == cells
    for row in rows:
        if "print" not in row["method"]:
            assert int(row["wrong"]) <= 14  # of 100 at δ = 0.05: more has probability 2e-4
            assert float(row["steps"]) + 4.0 * float(row["steps_se"]) >= float(row["floor"])


def test_the_readme_quotes_what_was_measured() -> None:
    """Every number that it takes from these results stands in them."""
    readme = " ".join((HERE.parents[1] / "README.md").read_text(encoding="utf-8").split())
    assert (HERE / "figure1.md").read_text(encoding="utf-8") == summary.page()
    rows = read_rows("figure1.csv")
    for feedback in ("unbiased", "biased"):
        mine = [
            r for r in rows if (r["feedback"], r["shape"], r["method"]) == (feedback, "sequential", "evidence, cutting")
        ]
        assert summary.times([float(row["ratio_to_paper"]) for row in mine]).replace("…", "to") in readme
        over = summary.over_the_floor(mine)
        assert f"{min(over):.1f} to {max(over):.1f}" in readme
    for claim in claims.CLAIMS[:4]:
        assert f"| {claim.published} | {claim.ours(rows, 'corrected').split()[0]} |" in readme
    counted = read_rows("coverage.csv")
    sure = [row for row in counted if row["guarantee"] == "yes"]
    total = f"{sum(int(row['races']) for row in sure):,}".replace(",", " ")
    assert (
        f"{total} races in which a guarantee is claimed, {sum(int(row['wrong']) for row in sure)} had a wrong" in readme
    )


@pytest.mark.parametrize("name", ["figure1-unbiased", "figure1-biased"])
def test_the_pictures_are_there(name: str) -> None:
    """As SVG and as PNG."""
    assert (HERE / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert (HERE / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_what_is_guaranteed_was_never_seen_to_fail() -> None:
    """In results/coverage.csv no guaranteed count is above what δ allows, and what has no guarantee is seen failing."""
    rows = read_rows("coverage.csv")
    assert len(rows) == len(coverage.lines())
    for row in rows:
        if row["guarantee"] == "yes":
            allowed = coverage.allowed(int(row["races"]))
            assert int(row["wrong"]) <= allowed, row
            assert int(row["missed"]) <= allowed, row
    broken = [row for row in rows if row["guarantee"] != "yes"]
    assert sum(int(row["missed"]) > 0.2 * int(row["races"]) for row in broken) > 10


def test_the_growth_is_whole() -> None:
    """Every world, δ and allocation was raced; the page follows from the numbers; no race beat the floor."""
    rows = read_rows("growth.csv")
    cells = [(c.world.name, f"{d:g}", how) for c in growth.cases() for d in growth.RACES for how in growth.ALLOCATIONS]
    assert [(row["world"], row["delta"], row["allocation"]) for row in rows] == cells
    assert (HERE / "growth.md").read_text(encoding="utf-8") == growth.page()
    for row in rows:
        assert float(row["ratio"]) + 4.0 * float(row["ratio_se"]) >= 1.0
        assert int(row["wrong"]) <= coverage.allowed(int(row["races"]))


def test_contenders_come_nearer_the_floor_as_delta_falls() -> None:
    """At δ = 1e-100 they are nearer it than at any larger δ, and than arms started evenly."""
    rows = read_rows("growth.csv")
    for mine in growth.by_world(rows).values():
        ratio = {(row["allocation"], row["delta"]): float(row["ratio"]) for row in mine}
        assert ratio["contenders", "1e-100"] < ratio["contenders", "1e-10"] < ratio["contenders", "1e-05"]
        assert ratio["contenders", "1e-100"] < 1.15
        assert ratio["contenders", "1e-100"] < ratio["even", "1e-100"]
