"""The settings of a race turned into the numbers the kernel works with."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from earlycall.core.checks import COARSE, refusal, too_coarse
from earlycall.core.models import Biased, Correlated, Full, Incremental, Unbiased
from earlycall.core.radius import ZETA
from earlycall.core.settings import Settings
from earlycall.core.tables import (
    AS_PRINTED,
    BIASED,
    CORRELATED,
    EVIDENCE,
    FULL,
    INCREMENTAL,
    INDEPENDENT,
    PAPER,
    REFINING,
    SIMULTANEOUS,
    UNBIASED,
    Floats,
    Rules,
)
from earlycall.errors import SettingError

FEEDBACK = {Full: FULL, Incremental: INCREMENTAL, Unbiased: UNBIASED, Biased: BIASED, Correlated: CORRELATED}

# The simultaneous ledger's shares of δ/n: full, partial, bias (THEORY §1.2).
SHARES = {FULL: (1.0, 0.0, 0.0), INCREMENTAL: (1.0, 0.0, 0.0), UNBIASED: (0.95, 0.05, 0.0), BIASED: (0.92, 0.04, 0.04)}
NO_SHARES = (0.0, 0.0, 0.0)  # the paper knows no other feedback


class ArmNumbers(NamedTuple):
    """What is declared about each arm, in order: its sd, the prior precisions of its mean and offset, its slope."""

    sigma: Floats
    tau: Floats
    tau_bias: Floats
    slope: Floats


def rules_of(labels: tuple[str, ...], settings: Settings) -> tuple[Rules, ArmNumbers, list[Floats]]:
    """The rules, the arms' numbers and the curve of a race; refuses settings that do not fit the arms."""
    n = len(labels)
    if settings.k >= n:
        raise SettingError(refusal("k", settings.k, f"fewer than the {n} arms there are"))
    code = FEEDBACK[type(settings.feedback)]
    curve = curve_rows(settings)
    full, partial, bias = SHARES.get(code, NO_SHARES)
    if settings.ledger == "as-printed":  # its split is made anew at every step (ledger.py)
        full = 1.0
    level = level_of(n, settings)
    places = n + (settings.reserve or 0)
    rules = Rules(
        arms=places,
        k=settings.k,
        slots=settings.parallel,
        per_arm=settings.parallel if settings.per_arm is None else settings.per_arm,
        method=PAPER if settings.method == "paper" else EVIDENCE,
        feedback=code,
        pooling=REFINING if getattr(settings.feedback, "pooling", "") == "refining" else INDEPENDENT,
        ledger=AS_PRINTED if settings.ledger == "as-printed" else SIMULTANEOUS,
        steps=getattr(settings.feedback, "steps", None) or 0,
        min_readings=settings.min_delay or 1,
        epsilon=float(settings.epsilon),
        setup=-1.0 if settings.setup is None else float(settings.setup),
        delta=float(settings.delta),
        level=level,
        widen=1.0 if settings.radius == "as-printed" else 2.0,
        log_budget=math.log(2.0 * ZETA * places) - math.log(settings.delta),
        share_full=full,
        share_partial=partial,
        share_bias=bias,
        reading_sd=1.0 / math.sqrt(min(row[1] for row in curve)) if curve else 0.0,
    )
    return rules, arm_numbers(sigmas(labels, settings.feedback.sigma), settings, level), curve


def level_of(n: int, settings: Settings) -> float:
    """L = ln(pairs/δ): the pairs of one of the best k and another; all there can ever be where arms come and go.

    Who comes and who leaves may depend on what was seen, and with it which k are the best.
    """
    if settings.reserve is None:
        return math.log(settings.k) + math.log(n - settings.k) - math.log(settings.delta)
    most = n + settings.reserve
    return math.log(most) + math.log(most - 1) - math.log(2.0) - math.log(settings.delta)


def arm_numbers(sigma: Floats, settings: Settings, level: float) -> ArmNumbers:
    """τ = 1/σ², or from the gap one cares about: 4(1+1/x)/g², x = L + ln(1+L) (THEORY §2, "τ")."""
    if not isinstance(settings.failure, str) and abs(settings.failure) > COARSE * min(sigma, default=math.inf):
        raise SettingError(too_coarse("failure", settings.failure, min(sigma)))
    tau = [1.0 / (sd * sd) for sd in sigma]
    bias_scale = getattr(settings.feedback, "bias_scale", None)
    tau_bias = [1.0 / bias_scale**2] * len(sigma) if bias_scale is not None else list(tau)
    slope = [1.0] * len(sigma)
    if isinstance(settings.feedback, Correlated):
        slope = [settings.feedback.correlation * settings.feedback.surrogate_sd / sd for sd in sigma]
        tau_bias = [settings.feedback.surrogate_sd**-2.0] * len(sigma)
    if settings.scale is not None:
        x = level + math.log1p(level)
        tau = [4.0 * (1.0 + 1.0 / x) / settings.scale**2] * len(sigma)
    return ArmNumbers(sigma, tau, tau_bias, slope)


def sigmas(labels: tuple[str, ...], declared: float | Mapping[str, float]) -> Floats:
    """The sd of each arm, in order; refuses a table that does not name exactly the arms."""
    if not isinstance(declared, Mapping):
        return [declared] * len(labels)
    known = set(labels)
    missing = [label for label in labels if label not in declared]
    unknown = [label for label in declared if label not in known]
    if missing or unknown:
        wrong = [
            f"{what}: {', '.join(map(repr, names[:5]))}{' …' if len(names) > 5 else ''}."
            for what, names in (("Missing", missing), ("No such arm", unknown))
            if names
        ]
        raise SettingError(refusal("sigma", declared, "one sd for every arm and no other", " ".join(wrong)))
    return [declared[label] for label in labels]


def curve_rows(settings: Settings) -> list[Floats]:
    """Rows [from_step, 1/sd²] in order of steps; of a surrogate: the sd of what X does not explain."""
    if isinstance(settings.feedback, Correlated):
        return [[float(settings.feedback.from_step), settings.feedback.residual_sd**-2.0]]
    declared = getattr(settings.feedback, "reading_sd", None)
    if declared is None:
        return []
    by_step = declared if isinstance(declared, Mapping) else {1: declared}
    return [[float(step), 1.0 / by_step[step] ** 2] for step in sorted(by_step)]
