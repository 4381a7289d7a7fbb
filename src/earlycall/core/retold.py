"""How far the readings of one pull lie apart, made anew from its story (for audit.py)."""

import math

from earlycall.core.feedback import declared_precision
from earlycall.core.state import State
from earlycall.core.tables import ARM, CORRELATED, INCREMENTAL, LENGTH, PAPER, REFINING, SIGMA


def within(state: State, row: int) -> float:
    """Σ s⁻²(y − Ȳ)² of the readings that are averaged, or of what a pull gained per step; else 0."""
    rules, t = state.rules, state.tables
    readings = list(state.stories[row].readings.values())
    if rules.feedback == INCREMENTAL:
        length, sigma = t.pullf[row][LENGTH], t.armf[t.pulls[row][ARM]][SIGMA]
        since = [now.step - before for now, before in zip(readings, [0, *(r.step for r in readings)], strict=False)]
        rates = [reading.value * length / steps for reading, steps in zip(readings, since, strict=True)]
        return scatter(rates, [steps / (length * sigma**2) for steps in since])
    if rules.feedback == CORRELATED or rules.pooling == REFINING or rules.reading_sd <= 0.0:
        return 0.0
    precisions = [declared_precision(t.curve, r.step) if r.sd is None else r.sd**-2.0 for r in readings]
    if rules.method == PAPER:
        precisions = [rules.reading_sd**-2.0 if precision > 0.0 else 0.0 for precision in precisions]
    return scatter([reading.value for reading in readings], precisions)


def scatter(values: list[float], weights: list[float]) -> float:
    """Σ w(y − ȳ)² around the weighted mean."""
    total = math.fsum(weights)
    if total <= 0.0:
        return 0.0
    mean = math.fsum(w * y for w, y in zip(weights, values, strict=True)) / total
    return math.fsum(w * (y - mean) ** 2 for w, y in zip(weights, values, strict=True))
