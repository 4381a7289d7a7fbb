"""Evidence about a mean when σ is not known: the t-statistic's mixture, and two arms side by side.

F observations x of one arm with weights g (1 for a full feedback: variance σ²/g), W = Σg, mean x̄, Q = Σg(x − x̄)². The
mixture over means N(m, σ²/c²) and over all scales σ is, at a mean m with d = x̄ − m,

    ln G(m) = (F/2)·ln((Q + W·d²)/(Q + W·d²·c²/(W + c²))) − ½·ln(1 + W/c²),

a martingale from G = 1 in F for normal observations (it depends on ratios of x − m alone, so σ cancels). It grows with
|d| and stays bounded.

*Two arms* on equal counts of observations in start order: ln G_i(m) + ln G_j(m), of which the least over a common m
counts; it lies between the means. The sum has up to two minima, so no search is to be trusted. But between the means
G_i falls and G_j grows: over a cell [a, b] nothing is below ln G_i(b) + ln G_j(a). `certified` walks from the lower
mean upwards in cells that reach just as far as this bound stays at the level; where it comes through, no m is below.

An arm whose observations are all the same has Q = 0 and G = ∞: that is no evidence but a broken assumption, and such an
arm neither beats nor is beaten.
"""

import math

PRIOR = 1.0  # c²: a mean one σ away is what is looked for
MOST_CELLS = 200
LEAST_SQUARES = 1e-200  # below it products of two come to 0


def log_g(count: int, weight: float, squares: float, gap: float) -> float:
    """ln G at distance `gap` from the mean of what was seen.

    >>> round(log_g(2, 2.0, 2.0, 0.0), 4)
    -0.5493
    """
    far = weight * gap * gap
    shrunk = far * (PRIOR / (weight + PRIOR))
    return 0.5 * count * math.log((squares + far) / (squares + shrunk)) - 0.5 * math.log1p(weight / PRIOR)


def reach_of(count: int, weight: float, squares: float, target: float) -> float:
    """The distance from the mean at which ln G comes to `target`; 0: it is above it everywhere, inf: nowhere."""
    needed = 2.0 * (target + 0.5 * math.log1p(weight / PRIOR)) / count
    if needed <= 0.0:
        return 0.0
    most = (weight + PRIOR) / PRIOR  # the ratio is below this at any distance
    if needed >= math.log(most):
        return math.inf
    ratio = math.exp(needed)
    return math.sqrt(squares * (ratio - 1.0) / (weight * (1.0 - ratio / most)))


def varies(weight: float, mean: float, squares: float) -> bool:
    """Whether observations differ by more than rounding."""
    return squares > 1e-18 * weight * mean * mean and squares > LEAST_SQUARES


def least_of_three(
    count: int, weight: float, squares: float, other_weight: float, other_squares: float, gap: float
) -> float:
    """The pair's sum at both means and between them, the smallest: never below the least over all m.

    `gap` is the distance of the means; both arms have `count` observations.
    """
    at_other = log_g(count, weight, squares, gap) + log_g(count, other_weight, other_squares, 0.0)
    at_own = log_g(count, weight, squares, 0.0) + log_g(count, other_weight, other_squares, gap)
    part = squares * other_weight / (squares * other_weight + other_squares * weight)
    between = log_g(count, weight, squares, part * gap) + log_g(count, other_weight, other_squares, gap - part * gap)
    least = at_other if at_other < at_own else at_own
    return between if between < least else least


def certified(
    count: int, weight: float, squares: float, other_weight: float, other_squares: float, gap: float, level: float
) -> bool:
    """Whether the pair's sum is above `level` at every m between the means, `gap` apart."""
    above = 0.0  # how far the cell's lower end lies above the lower mean
    for _ in range(MOST_CELLS):
        needed = level - log_g(count, other_weight, other_squares, above)
        reach = reach_of(count, weight, squares, needed)
        if reach <= 0.0:
            return True
        if gap - reach <= above + 1e-9 * gap:
            return False
        above = gap - reach
    return False
