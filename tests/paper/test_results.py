"""What is committed of the long studies is what their programs make of their own numbers."""

import tomllib

import pytest

from paper import claims, coverage, synthetic
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


@pytest.mark.parametrize("name", ["figure1-unbiased", "figure1-biased"])
def test_the_pictures_are_there(name: str) -> None:
    """As SVG and as PNG."""
    assert (HERE / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert (HERE / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_what_is_guaranteed_was_never_seen_to_fail() -> None:
    """In results/coverage.csv no guaranteed count is above what δ allows, and what has no guarantee is seen failing."""
    rows = read_rows("coverage.csv")
    assert len(rows) == sum(1 for case in coverage.cases() for _ in coverage.methods_for(case))
    for row in rows:
        if row["guarantee"] == "yes":
            allowed = coverage.allowed(int(row["races"]))
            assert int(row["wrong"]) <= allowed, row
            assert int(row["missed"]) <= allowed, row
    broken = [row for row in rows if row["guarantee"] != "yes"]
    assert sum(int(row["missed"]) > 0.2 * int(row["races"]) for row in broken) > 10
