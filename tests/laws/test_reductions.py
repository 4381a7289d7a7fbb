"""Special cases come out as the simpler methods they are."""

import math
from typing import Any

import pytest

import earlycall as ec
from tests.oracles import paper
from tests.oracles.test_paper import by_race, random_world

SHAPES = [(1, 1), (4, 2)]
METHODS: dict[str, dict[str, Any]] = {
    "evidence": {"method": "evidence", "delays": "independent"},
    "paper as printed": {"ledger": "as-printed", "radius": "as-printed", "delays": "independent"},
    "paper": {"delays": "independent"},
}
SILENT: dict[str, Any] = {
    "unbiased": ec.Unbiased(1.0, 0.5),
    "refining": ec.Unbiased(1.0, 0.5, "refining"),
    "biased": ec.Biased(1.0, 0.5),
    "incremental": ec.Incremental(1.0, 1),
}


def silent_world(seed: int, steps: int) -> paper.World:
    """Pulls of so many steps that show the same finals, whatever is declared; their readings are not reported."""
    world = random_world(seed, 4, 1, "full", gap=1.2)
    return lambda arm, ordinal: [math.nan] * (steps - 1) + list(world(arm, ordinal))


# (The paper averages readings, and its bound on single increments is another one: C(σ√D, increments, ·).)
@pytest.mark.parametrize(
    ("feedback", "method"),
    [(f, m) for f in SILENT for m in METHODS if m == "evidence" or f in ("unbiased", "biased")],
)
@pytest.mark.parametrize(("b", "r"), SHAPES)
def test_without_partial_information_it_is_full_feedback_racing(feedback: str, method: str, b: int, r: int) -> None:
    """Pulls that say nothing before they end: same pulls, same verdicts, same steps as `Full`.

    The simultaneous ledger has set shares aside for readings; what is left for the full bound is 0.95 or 0.92 of δ.
    """
    delta = 0.1
    share = {"unbiased": 0.95, "biased": 0.92}[feedback] if method == "paper" else 1.0
    options = {"n": 4, "k": 2, "parallel": b, "per_arm": r, **METHODS[method]}
    noisy = by_race(silent_world(5, 3), SILENT[feedback], delta=delta, silent=True, **options)
    full = by_race(silent_world(5, 3), ec.Full(1.0), delta=share * delta, silent=True, **options)
    assert noisy is not None
    assert noisy == full
    assert len(noisy.verdicts) == 4


def classic(n: int, k: int, delta: float, world: paper.World) -> paper.Outcome:
    """Racing without delays (Maron and Moore), by the corrected bound: sample the least sampled, judge, repeat."""
    terms = paper.Terms(n, k, delta, 1.0, shares=(1.0, 0.0, 0.0))
    out, alive = paper.Outcome(set(), 0, [], []), set(range(n))
    seen: list[list[float]] = [[] for _ in range(n)]
    while alive:
        arm = min(alive, key=lambda i: (len(seen[i]), i))
        seen[arm].append(world(arm, len(seen[arm]) + 1)[0])
        out.pulls.append(arm)
        out.time += 1
        mean = {i: sum(seen[i]) / max(1, len(seen[i])) for i in alive}
        width = {i: terms.c(1.0, len(seen[i]), 1.0) for i in alive}
        places = k - len(out.accepted)

        def above(i: int, j: int, mean: Any = mean, width: Any = width) -> bool:
            return bool(mean[i] - width[i] > mean[j] + width[j])

        good = {i for i in alive if sum(above(i, j) for j in alive) >= len(alive) - places}
        bad = {i for i in alive if sum(above(j, i) for j in alive) >= places}
        out.accepted |= good
        out.verdicts += [(out.time, "accept", i) for i in sorted(good)] + [(out.time, "reject", i) for i in sorted(bad)]
        alive -= good | bad
        if len(out.accepted) == k or len(alive) == k - len(out.accepted):
            word = "reject" if len(out.accepted) == k else "accept"
            out.verdicts += [(out.time, word, i) for i in sorted(alive)]
            out.accepted |= alive if word == "accept" else set()
            alive = set()
    return out


@pytest.mark.parametrize("feedback", ["full", "unbiased"])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_delay_one_is_classic_racing(feedback: str, k: int, seed: int) -> None:
    """Pulls of one step, one slot: a racing procedure for feedback without delay, written without any of ours."""
    world = random_world(seed, 4, 1, "full", gap=1.5)
    declared, share = (ec.Full(1.0), 1.0) if feedback == "full" else (ec.Unbiased(1.0, 0.5), 0.95)
    seen = by_race(world, declared, n=4, k=k, delta=0.1)
    assert seen == classic(4, k, share * 0.1, world)


@pytest.mark.parametrize("feedback", ["full", "unbiased", "biased"])
@pytest.mark.parametrize("method", METHODS)
def test_one_slot_is_sequential_whatever_r_is(feedback: str, method: str) -> None:
    """With b = 1 the limit r has nothing to limit, and delays have nobody to overtake: no option changes the race."""
    declared = {"full": ec.Full(1.0), "unbiased": ec.Unbiased(1.0, 0.3), "biased": ec.Biased(1.0, 0.3)}[feedback]
    options: dict[str, Any] = {"n": 4, "k": 1, "delta": 0.1, **METHODS[method]}
    runs = []
    shapes: list[dict[str, Any]] = [{}, {"parallel": 1, "per_arm": 1}, {"parallel": 1, "per_arm": 7}]
    for shape in shapes:
        kind = "biased" if feedback == "biased" else "unbiased"
        world = random_world(3, 4, 3, kind, gap=1.5)
        runs.append(by_race(world, declared, **options, **shape))
    assert runs[0] is not None
    assert runs[0] == runs[1] == runs[2]
    assert runs[0].verdicts
