"""The cell model: is it near the public figures it is made after, and does it obey the physics it claims?"""

import subprocess
import sys
from itertools import islice, pairwise
from statistics import fmean, stdev

import pytest

from earlycall.run.handle import Pull
from earlycall.run.objective import Reading
from earlycall.sim.cell import (
    BIAS,
    END,
    FORECAST_AT,
    FORECAST_SD,
    LEAST_LIFE,
    LIFE_SD,
    Cell,
    Policy,
    bias_of,
    cycled,
    fades,
    policies,
    typical_life,
)

MIDDLING = policies()[22]
CELLS = 100


def test_lives_are_like_those_of_real_policies() -> None:
    """The public simulation of 224 policies has lives of 573 to 1208 cycles, mean 888, sd 158."""
    lives = [typical_life(policy) for policy in policies()]
    assert len(set(policies())) == 40
    assert 540 <= min(lives) <= 620
    assert 1170 <= max(lives) <= 1250
    assert fmean(lives) == pytest.approx(888, abs=60)
    assert stdev(lives) == pytest.approx(158, abs=30)
    first, second = sorted(lives)[-1:-3:-1]
    assert first - second > 30  # so there is something to find


def test_cells_and_forecasts_scatter_as_those_of_real_policies() -> None:
    """Cells differ by an sd of 110 to 126, forecasts err by 105. 100 cells tell an sd to ±7 %; 20 % are allowed."""
    made = [Cell(MIDDLING, seed) for seed in range(CELLS)]
    lives = [sum(1 for _ in cell.cycles()) for cell in made]
    errors = [cell.forecast() - life for cell, life in zip(made, lives, strict=True)]
    assert fmean(lives) == pytest.approx(typical_life(MIDDLING), abs=4.0 * LIFE_SD / CELLS**0.5)
    assert stdev(lives) == pytest.approx(LIFE_SD, rel=0.2)
    assert stdev(errors) == pytest.approx(FORECAST_SD, rel=0.2)
    assert fmean(errors) == pytest.approx(bias_of(MIDDLING), abs=4.0 * FORECAST_SD / CELLS**0.5)


def test_the_bias_of_forecasts_differs_from_policy_to_policy() -> None:
    """Between +80 and +255."""
    biases = [bias_of(policy) for policy in policies()]
    assert len(set(biases)) == 40
    assert BIAS[0] <= min(biases) < 120 < 215 < max(biases) <= BIAS[1]


def test_the_same_seed_is_the_same_cell() -> None:
    """Another one is another cell."""
    first, again, other = Cell(MIDDLING, 3), Cell(MIDDLING, 3), Cell(MIDDLING, 4)
    assert list(first.cycles()) == list(again.cycles())
    assert first.forecast() == again.forecast()
    assert first.pace != other.pace
    assert first.forecast() != other.forecast()


def test_harsher_is_shorter() -> None:
    """A higher second step plates more; a higher first one, all else as before, is hotter."""
    seconds = [typical_life(Policy(6.0, 0.4, second)) for second in (3.0, 3.5, 4.0, 4.5, 5.0)]
    assert all(life > harsher for life, harsher in pairwise(seconds))
    firsts = [typical_life(Policy(first, 0.4, 3.5)) for first in (5.0, 6.0, 7.0, 8.0)]
    assert all(life > harsher for life, harsher in pairwise(firsts))


def test_every_policy_charges_in_ten_minutes() -> None:
    """Of an hour, to 80 %."""
    for first, until, second in policies():
        assert until / first + (0.8 - until) / second == pytest.approx(1 / 6, rel=0.005)


def test_a_cell_fades_to_the_end_and_has_a_knee() -> None:
    """Capacity only falls; it falls slowly at first and fastest in the end, and a faster pace only shortens that."""
    curve = list(Cell(MIDDLING, 1).cycles())
    assert all(before > after for before, after in pairwise(curve))
    assert curve[-1] <= END < curve[-2]
    middle = len(curve) // 2
    assert curve[-51] - curve[-1] > 1.5 * (curve[middle] - curve[middle + 50])
    assert curve[-51] - curve[-1] > 1.5 * (curve[middle + 150] - curve[middle + 200])
    slow, fast = list(islice(fades(MIDDLING), 400)), list(islice(fades(MIDDLING, 2.0), 200))
    assert slow[-1] == pytest.approx(fast[-1], abs=0.002)


@pytest.mark.parametrize("policy", [policies()[0], MIDDLING, policies()[-1]], ids=str)
def test_a_pull_forecasts_once_and_ends_with_its_life(policy: Policy) -> None:
    """The reading comes at cycle 100, and no cell has ended by then."""
    forecast, final = list(cycled(policy, Pull(1, str(policy), policy, 11)))
    assert forecast == Reading(Cell(policy, 11).forecast(), step=FORECAST_AT)
    assert final.final
    assert final.value == final.step
    assert final.value >= LEAST_LIFE - 1 > FORECAST_AT


def test_it_needs_nothing_but_the_base_install() -> None:
    """No NumPy, though its neighbours use it."""
    code = "import sys; sys.modules['numpy'] = sys.modules['numba'] = None; import earlycall.sim.cell"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
