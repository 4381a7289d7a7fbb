"""What the readings of one pull say about its arm.

A pull's readings are kept as an estimate Ȳ of its full feedback X with precision q = 1/Var(Ȳ − X), from the declared
sds alone:

* independent errors: Ȳ is the q-weighted mean, q = Σ s⁻²;
* refining (an earlier error is a later one plus independent noise): the last reading says it all, q = s_last⁻²; a
  reading worse than the one before it adds nothing;
* increments: after P of D steps, Ȳ = (D/P)·ΣY.

How far its readings lie apart, Σ s⁻²(y − Ȳ)², is kept for the checks of the model (suspicions.py): for independent
errors, and for increments, where y is the gain per step times D and s its sd.

Its weight is the information Ȳ carries about the mean of the arm: 1/(σ² + 1/q), or P/(D·σ²) for increments.

A surrogate that goes with X (Correlated) is Ȳ = offset + β·X + e with e independent of X: one reading of a pull, the
first with any precision, of which q = 1/Var(e) and the weight is 1/Var(Ȳ) = 1/(β²σ² + 1/q). Biased readings are the
case β = 1.
"""

from earlycall.core.tables import (
    CORRELATED,
    CURVE_PRECISION,
    ESTIMATE,
    FROM_STEP,
    INCREMENTAL,
    LENGTH,
    PRECISION,
    READINGS,
    REFINING,
    SIGMA,
    SLOPE,
    STEP,
    TOTAL,
    WEIGHT,
    WITHIN,
    Floats,
    Ints,
    Rules,
)


def take_reading(
    rules: Rules, armf: Floats, pull: Ints, pullf: Floats, step: int, value: float, precision: float
) -> None:
    """Take in one reading; `precision` is 1/sd² of its error (unused by increments).

    An increment is what was gained since the last reading, however many steps that spans.
    """
    sigma = armf[SIGMA]
    since = step - pull[STEP]
    pull[STEP] = step
    pull[READINGS] += 1
    if rules.feedback == INCREMENTAL:
        share = step / pullf[LENGTH]
        gained = since / pullf[LENGTH]
        apart = (value / gained - pullf[ESTIMATE]) / sigma
        pullf[WITHIN] += gained * ((share - gained) / share) * (apart * apart)
        pullf[TOTAL] += value
        pullf[ESTIMATE] = pullf[TOTAL] / share
        pullf[WEIGHT] = share / (sigma * sigma)
        return
    if rules.feedback == CORRELATED:
        if pullf[PRECISION] <= 0.0:
            pullf[PRECISION] = precision
            pullf[ESTIMATE] = value
    elif rules.pooling == REFINING:
        if precision >= pullf[PRECISION]:
            pullf[PRECISION] = precision
            pullf[ESTIMATE] = value
    else:
        before = pullf[PRECISION]
        apart = value - pullf[ESTIMATE]
        pullf[PRECISION] += precision
        pullf[ESTIMATE] += apart * (precision / pullf[PRECISION])
        pullf[WITHIN] += precision * (before / pullf[PRECISION]) * (apart * apart)
    pullf[WEIGHT] = weight(armf[SLOPE] * sigma, pullf[PRECISION])


def weight(scatter: float, precision: float) -> float:
    """1/Var(Ȳ) = 1/(scatter² + 1/q), where X makes Ȳ scatter by βσ; 0 at q = 0."""
    return precision / (scatter * scatter * precision + 1.0)


def declared_precision(curve: list[Floats], step: int) -> float:
    """The declared precision 1/sd² of a reading at `step`; 0 before the curve begins."""
    precision = 0.0
    for m in range(len(curve)):
        if curve[m][FROM_STEP] <= step:
            precision = curve[m][CURVE_PRECISION]
    return precision
