"""method="evidence" against the same race written down a second time (evidence.py)."""

from typing import Any

import pytest

import earlycall as ec
from tests.oracles import evidence
from tests.oracles.test_paper import READING_SD, SIGMA, by_race, random_world

MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "full": (ec.Full(SIGMA), {}),
    "unbiased": (ec.Unbiased(SIGMA, READING_SD), {"reading_sd": READING_SD}),
    "refining": (ec.Unbiased(SIGMA, READING_SD, "refining"), {"reading_sd": READING_SD, "refining": True}),
    "biased": (ec.Biased(SIGMA, READING_SD, bias_scale=2.0), {"reading_sd": READING_SD, "bias_scale": 2.0}),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("b", "r"), [(1, 1), (1, 3), (4, 1), (4, 2), (5, 5)])
@pytest.mark.parametrize(("n", "k", "steps"), [(4, 1, 3), (5, 2, 1), (3, 2, 4)])
def test_an_evidence_race_is_what_the_formulas_say(name: str, b: int, r: int, n: int, k: int, steps: int) -> None:
    """Same arms pulled in the same order, same verdicts in the same step, however many slots there are."""
    feedback, declared = MODELS[name]
    kind = "biased" if name == "biased" else "unbiased"
    world = random_world(10 * b + r, n, steps, kind, gap=1.0)
    expected = evidence.race(evidence.Model(n, k, 0.1, **declared), world, b, r)
    options: dict[str, Any] = {"k": k, "delta": 0.1, "parallel": b, "per_arm": r, "delays": "independent"}
    seen = by_race(world, feedback, n=n, method="evidence", **options)
    assert expected is not None
    assert seen is not None
    assert seen.time == expected.time >= steps * n // b
    assert seen.pulls == expected.pulls
    assert sorted(seen.verdicts) == sorted(expected.verdicts)
    assert seen.accepted == expected.accepted
