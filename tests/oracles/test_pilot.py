"""The pilot against an independent library, and against its own definition."""

import math
import random

import mpmath
import pytest
from scipy.stats import chi2

import earlycall as ec
from earlycall.core.pilot import chi_square_point
from earlycall.core.tables import PILOTING, SIGMA
from tests.counting import at_most


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 40, 399, 10_000])
@pytest.mark.parametrize("probability", [1e-12, 0.005, 0.02, 0.1])
def test_the_point_of_chi_square(freedom: int, probability: float) -> None:
    """The probability below it, in 30 digits, is the one asked for; and SciPy finds the same point."""
    point = chi_square_point(freedom, probability)
    with mpmath.workdps(40):
        below = mpmath.gammainc(mpmath.mpf(freedom) / 2, 0, mpmath.mpf(point) / 2, regularized=True)
        assert float(mpmath.log(below)) == pytest.approx(math.log(probability), rel=1e-9, abs=1e-9)
    assert point == pytest.approx(chi2.ppf(probability, freedom), rel=1e-7)


def pilot_race(chance: random.Random, sds: dict[str, float]) -> ec.Race:
    """A race of two arms that has just finished its pilot of four pulls each."""
    race = ec.Race(list(sds), k=1, delta=0.5, feedback=ec.Full(ec.Pilot(4)), parallel=4, delays="independent")
    while race._state.tables.race[PILOTING] == 1:
        for pull in race.ask():
            race.tell(pull.id, chance.gauss(0.0, sds[pull.arm]))
    return race


def test_what_a_pilot_finds() -> None:
    """σ ≤ the bound in all but δ/10 = 5 % of 2000 pilots. Size 0.001; a rate of 7.5 % is seen with power 0.98."""
    chance = random.Random(5)
    missed = sum(pilot_race(chance, {"a": 1.0, "b": 1.0})._state.tables.armf[0][SIGMA] < 1.0 for _ in range(2000))
    assert at_most(missed, 2000, 0.05), missed
    assert missed > 60  # and it is no wider than it must be


def test_nothing_is_said_before_the_pilot_is_over() -> None:
    """No interval, no confidence, no verdict, and a sentence that says why; the values count from its end on."""
    race = ec.Race(["a", "b"], k=1, delta=0.05, feedback=ec.Full(ec.Pilot(3)))
    for number in range(6):
        assert race.confidence == 0.0
        assert race.intervals()["a"] == (-math.inf, math.inf)
        assert "pilot" in race.explain("b").reason
        assert race.status().arms[0].sd is None
        (pull,) = race.ask()
        race.tell(pull.id, 10.0 * (pull.arm == "b") + number % 3)
    sd = race.status().arms[0].sd
    assert sd is not None
    assert sd > 1.0
    assert "pilot" not in race.explain("b").reason
    low, high = race.intervals()["b"]
    assert low < 11.0 < high


def test_a_pilot_of_equal_values_goes_on() -> None:
    """Where nothing scatters there is no bound: nothing is decided."""
    race = ec.Race(["a", "b"], k=1, delta=0.05, feedback=ec.Full(ec.Pilot(2)), max_pulls=20)
    while not race.decided:
        for pull in race.ask():
            race.tell(pull.id, 1.0 if pull.arm == "b" else 0.0)
    assert (race.outcome, race.confidence) == ("deadline", 0.0)
