"""method="paper" against Algorithms 1 to 4 written down a second time (paper.py), and against full enumeration."""

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import earlycall as ec
from earlycall.core.facts import Accepted, Read, Rejected, Told
from earlycall.core.race import apply, decide
from earlycall.core.tables import STEP
from tests.oracles import paper
from tests.play import open_quietly, starts

SIGMA, READING_SD, BIAS = 1.0, 0.1, 0.8  # readings good enough for the partial bound to be the tighter one
LEDGERS: dict[str, Any] = {  # (options, the radius's factor, shares by feedback)
    "simultaneous": (
        {},
        2.0,
        {"full": (1.0, 0.0, 0.0), "unbiased": (0.95, 0.05, 0.0), "biased": (0.92, 0.04, 0.04)},
    ),
    "as printed": (
        {"ledger": "as-printed", "radius": "as-printed"},
        1.0,
        {"full": None, "unbiased": None, "biased": None},
    ),
}
FEEDBACKS = {
    "full": ec.Full(SIGMA),
    "unbiased": ec.Unbiased(SIGMA, READING_SD),
    "biased": ec.Biased(SIGMA, READING_SD),
}


def test_constants() -> None:
    """ζ(2a/c), as the oracle has it."""
    assert float(mpmath.zeta(mpmath.mpf(12) / 11)) == pytest.approx(11.583_794_993_792_158, rel=1e-14)


def terms_of(ledger: str, feedback: str, n: int, k: int, delta: float, readings: int) -> paper.Terms:
    """The oracle's terms for one kind of race. The residual's scale is s/√(D−1), s as printed (THEORY §1.3)."""
    _, widen, shares = LEDGERS[ledger]
    bias_sd = READING_SD if ledger == "as printed" else READING_SD / readings**0.5
    return paper.Terms(
        n,
        k,
        delta,
        SIGMA,
        reading_sd=0.0 if feedback == "full" else READING_SD,
        bias_sd=bias_sd if feedback == "biased" else 0.0,
        shares=shares[feedback],
        widen=widen,
    )


def random_world(seed: int, n: int, steps: int, feedback: str, gap: float) -> paper.World:
    """Arms `gap` apart in a shuffled order, each pull drawn once and remembered."""
    chance = random.Random(seed)
    means = [gap * place for place in range(n)]
    chance.shuffle(means)
    drawn: dict[tuple[int, int], list[float]] = {}

    def world(arm: int, ordinal: int) -> Sequence[float]:
        if (arm, ordinal) not in drawn:
            draw = random.Random(f"{seed}/{arm}/{ordinal}")
            x = draw.gauss(means[arm], SIGMA)
            bias = BIAS if feedback == "biased" else 0.0
            drawn[arm, ordinal] = [draw.gauss(x + bias, READING_SD) for _ in range(steps - 1)] + [x]
        return drawn[arm, ordinal]

    return world


def by_race(
    world: paper.World, feedback: Any, most_steps: int = 10**9, silent: bool = False, **options: Any
) -> paper.Outcome | None:
    """The same run by earlycall: every running pull moves one step, then one turn; `silent`: readings are kept back."""
    n = options.pop("n")
    race = open_quietly([str(arm) for arm in range(n)], feedback=feedback, **{"method": "paper"} | options)
    rest: dict[int, list[float]] = {}
    count = [0] * n
    out = paper.Outcome(set(), 0, [], [])
    while not race.decided:
        for pull in race.ask():
            count[int(pull.arm)] += 1
            rest[pull.id] = list(world(int(pull.arm), count[int(pull.arm)]))
        if out.time == most_steps:
            return None
        out.time += 1
        for pull in race.running:  # one time step of the algorithms is one turn
            value = rest[pull.id].pop(0)
            step = race._state.tables.pulls[pull.id - 1][STEP] + 1
            if not rest[pull.id]:
                apply(race._state, Told(pull.id, value, step))
            elif not silent:
                apply(race._state, Read(pull.id, step, value))
        decisions = decide(race._state)
        out.bounds.append({int(label): bounds for label, bounds in race.intervals().items()})
        for decision in decisions:
            apply(race._state, decision)
            if isinstance(decision, Accepted | Rejected):
                word = "accept" if isinstance(decision, Accepted) else "reject"
                out.verdicts.append((out.time, word, int(decision.arm)))
    out.accepted = {int(arm) for arm in race.top}
    out.pulls = [int(arm) for arm in starts(race.facts)]
    return out


@pytest.mark.parametrize("ledger", LEDGERS)
@pytest.mark.parametrize("feedback", FEEDBACKS)
@pytest.mark.parametrize("seed", range(4))
def test_one_slot_is_algorithm_2_or_4(ledger: str, feedback: str, seed: int) -> None:
    """Same arms pulled in the same order, same verdicts in the same step."""
    steps, n, k = (4, 3, 1) if seed % 2 else (2, 4, 2)
    world = random_world(seed, n, steps, feedback, gap=1.5)
    expected = paper.sequential(terms_of(ledger, feedback, n, k, 0.1, 1), world)
    seen = by_race(world, FEEDBACKS[feedback], n=n, k=k, delta=0.1, **LEDGERS[ledger][0])
    assert seen == expected
    assert seen is not None
    assert expected is not None
    assert seen.time >= 2 * n
    if feedback != "full":
        full = paper.sequential(terms_of(ledger, "full", n, k, 0.1, 1), world)
        assert full is not None
        assert seen.bounds != full.bounds
    for mine, theirs in zip(seen.bounds, expected.bounds, strict=True):
        for arm, bounds in theirs.items():
            assert mine[arm] == pytest.approx(bounds, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("ledger", LEDGERS)
@pytest.mark.parametrize("feedback", FEEDBACKS)
@pytest.mark.parametrize(("b", "r"), [(1, 1), (1, 3), (4, 1), (4, 2), (5, 5)])
def test_many_slots_are_algorithm_3(ledger: str, feedback: str, b: int, r: int) -> None:
    """Same again with b slots, r for one arm; b = 1 is the sequential algorithm itself."""
    steps, n, k = 3, 4, 1
    world = random_world(11, n, steps, feedback, gap=2.5)
    terms = terms_of(ledger, feedback, n, k, 0.1, 1)
    expected = paper.batch(terms, world, b, r)
    if b == 1:
        assert expected == paper.sequential(terms, world)
    options: dict[str, Any] = {"k": k, "delta": 0.1, "parallel": b, "per_arm": r, **LEDGERS[ledger][0]}
    assert by_race(world, FEEDBACKS[feedback], n=n, **options) == expected


def test_min_delay_narrows_the_residual() -> None:
    """With three readings in every finished pull the residual's scale is s/√3."""
    world = random_world(6, 3, 4, "biased", gap=1.0)
    expected = paper.sequential(terms_of("simultaneous", "biased", 3, 1, 0.1, 3), world)
    narrow = by_race(world, FEEDBACKS["biased"], n=3, k=1, delta=0.1, min_delay=3)
    wide = by_race(world, FEEDBACKS["biased"], n=3, k=1, delta=0.1)
    assert narrow == expected
    assert narrow is not None
    assert wide is not None
    assert width(narrow) < width(wide)


def width(outcome: paper.Outcome) -> float:
    """Of the intervals, summed over the steps at which there are any."""
    return sum(high - low for bounds in outcome.bounds for low, high in bounds.values() if high - low < paper.INF)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize("ledger", LEDGERS)
def test_every_outcome_of_a_tiny_race(ledger: str, n: int, k: int) -> None:
    """Algorithm 2 by enumeration: X is μ, μ+½ or μ+1 at even odds, the one reading X ± 0.1; D = 2; 8 steps.

    Every world that can happen is played by both programs; they agree on each, so also on the exact probability of
    every answer, of a wrong one, and on the expected time.
    """
    sigma = 0.05 if ledger == "simultaneous" else 0.08  # small, so that few pulls decide, often wrongly
    terms = paper.Terms(n, k, 0.2, sigma, 0.02, shares=LEDGERS[ledger][2]["unbiased"], widen=LEDGERS[ledger][1])
    options = {"n": n, "k": k, "delta": 0.2, **LEDGERS[ledger][0]}
    outcomes = [[x + y, x] for x, y in itertools.product([0.0, 0.5, 1.0], [-0.1, 0.1])]
    wrong = time = undecided = whole = Fraction(0)
    leaves = 0
    todo: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while todo:
        path, weight = todo.pop()
        used: list[int] = []

        def world(arm: int, ordinal: int, path: tuple[int, ...] = path, used: list[int] = used) -> Sequence[float]:
            used.append(arm)
            if len(used) > len(path):
                raise EndOfPathError
            return [0.4 * arm + y for y in outcomes[path[len(used) - 1]]]

        try:
            expected = paper.sequential(terms, world, most_steps=8)
        except EndOfPathError:
            todo += [((*path, branch), weight / len(outcomes)) for branch in range(len(outcomes))]
            continue
        used.clear()
        assert by_race(world, ec.Unbiased(sigma, 0.02), most_steps=8, **options) == expected
        leaves += 1
        whole += weight
        if expected is None:
            undecided += weight
        else:
            time += weight * expected.time
            wrong += weight * (expected.accepted != set(range(n - k, n)))
    assert whole == 1
    assert leaves >= 400
    assert 0 < wrong < 1
    assert 0 < time < 8
    assert undecided < 1


class EndOfPathError(Exception):
    """The path says nothing about the next pull."""
