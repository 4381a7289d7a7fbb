"""The settings of a race turned into the numbers the kernel works with."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from earlycall.core.checks import COARSE, refusal, too_coarse
from earlycall.core.models import Biased, Correlated, Full, Incremental, Pilot, Sigma, Unbiased
from earlycall.core.radius import ZETA
from earlycall.core.settings import Settings
from earlycall.core.tables import (
    AS_PRINTED,
    BIASED,
    BLOCKED,
    CONTENDERS,
    CORRELATED,
    EVEN,
    EVERY,
    EVIDENCE,
    FREE,
    FULL,
    INCREMENTAL,
    INDEPENDENT,
    NARROW_TAU,
    ONCE,
    ORDERED,
    PAPER,
    REFINING,
    SIGMA,
    SIMULTANEOUS,
    SLOPE,
    TAU,
    TAU_BIAS,
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
    """What is declared about each arm, in order, by the columns of the arms table it belongs in."""

    sigma: Floats
    tau: Floats
    narrow_tau: Floats
    tau_bias: Floats
    slope: Floats


DECLARED = (SIGMA, TAU, NARROW_TAU, TAU_BIAS, SLOPE)  # the columns of ArmNumbers

PILOT_SHARE = 0.1  # of δ, for each sd that a pilot bounds

# The prior precisions of a mean, in 1/σ²: best for gaps of about 3.4σ and 0.4σ (docs/guarantees.md, "Two priors").
WIDE, NARROW = 0.4, 24.0


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
    order = order_of(settings)
    sigma = settings.feedback.sigma
    delta = delta_of(settings)
    rules = Rules(
        arms=places,
        k=settings.k,
        slots=settings.parallel,
        per_arm=settings.parallel if settings.per_arm is None else settings.per_arm,
        method=PAPER if settings.method == "paper" else EVIDENCE,
        allocation=CONTENDERS if settings.allocation == "contenders" else EVEN,
        feedback=code,
        pooling=REFINING if getattr(settings.feedback, "pooling", "") == "refining" else INDEPENDENT,
        ledger=AS_PRINTED if settings.ledger == "as-printed" else SIMULTANEOUS,
        steps=getattr(settings.feedback, "steps", None) or 0,
        min_readings=settings.min_delay or 1,
        epsilon=float(settings.epsilon),
        setup=-1.0 if settings.setup is None else float(settings.setup),
        delta=delta,
        spent=settings.delta - delta,
        level=level,
        widen=1.0 if settings.radius == "as-printed" else 2.0,
        log_budget=math.log(2.0 * ZETA * places) - math.log(settings.delta),
        share_full=full,
        share_partial=partial,
        share_bias=bias,
        reading_sd=1.0 / math.sqrt(min(row[1] for row in curve)) if curve else 0.0,
        pilot=sigma.pulls if isinstance(sigma, Pilot) else 0,
        pilot_readings=1 if reading_sd_measured(settings) else 0,
        pilot_risk=PILOT_SHARE * settings.delta,
        order=order,
        unknown=1 if settings.feedback.sigma is None else 0,
        looks=ONCE if settings.looks == "once" else EVERY,
        min_delay=settings.min_delay or 0 if order == ORDERED else 0,
        blocks=settings.blocks if isinstance(settings.blocks, int) else 0,
        lags=lags_of(settings, bool(curve)) if order == ORDERED else 0,
    )
    return rules, arm_numbers(sigmas(labels, settings.feedback.sigma), settings, level), curve


def order_of(settings: Settings) -> int:
    """How pulls of two arms meet (order.py)."""
    if settings.blocks is not None:
        return BLOCKED
    return ORDERED if settings.feedback.sigma is None or settings.informative else FREE


def lags_of(settings: Settings, reads: bool) -> int:
    """How many numbers of early pulls are tried: 1, 2, 4 … up to r; none without readings that all pulls outlive."""
    if not reads or settings.min_delay is None or settings.looks == "once":
        return 0
    return (settings.per_arm or settings.parallel).bit_length()


def reading_sd_measured(settings: Settings) -> bool:
    """Whether the sd of a reading is left to the pilot."""
    return isinstance(settings.feedback, Unbiased | Biased) and settings.feedback.reading_sd is None


def delta_of(settings: Settings) -> float:
    """What the verdicts may spend of δ: all that the bounds of a pilot do not need."""
    if not isinstance(settings.feedback.sigma, Pilot):
        return settings.delta
    return settings.delta * (1.0 - PILOT_SHARE * (2 if reading_sd_measured(settings) else 1))


def level_of(n: int, settings: Settings) -> float:
    """L = ln(pairs/δ): the pairs of one of the best k and another; all there can ever be where arms come and go.

    Who comes and who leaves may depend on what was seen, and with it which k are the best.
    """
    if settings.reserve is None:
        return math.log(settings.k) + math.log(n - settings.k) - math.log(delta_of(settings))
    most = n + settings.reserve
    return math.log(most) + math.log(most - 1) - math.log(2.0) - math.log(settings.delta)


def arm_numbers(sigma: Floats, settings: Settings, level: float) -> ArmNumbers:
    """τ from σ, or from the gap one cares about: 4(1+1/x)/g², x = L + ln(1+L) (THEORY §2, "τ")."""
    known = settings.feedback.sigma is not None and not isinstance(settings.feedback.sigma, Pilot)
    if (
        known
        and not isinstance(settings.failure, str)
        and abs(settings.failure) > COARSE * min(sigma, default=math.inf)
    ):
        raise SettingError(too_coarse("failure", settings.failure, min(sigma)))
    tau = [WIDE / (sd * sd) for sd in sigma]
    narrow = [NARROW / (sd * sd) for sd in sigma]
    bias_scale = getattr(settings.feedback, "bias_scale", None)
    tau_bias = [(sd if bias_scale is None else bias_scale) ** -2.0 for sd in sigma]
    slope = [1.0] * len(sigma)
    if isinstance(settings.feedback, Correlated):
        slope = [settings.feedback.correlation * settings.feedback.surrogate_sd / sd for sd in sigma]
        tau_bias = [settings.feedback.surrogate_sd**-2.0] * len(sigma)
    if settings.scale is not None:
        x = level + math.log1p(level)
        tau = narrow = [4.0 * (1.0 + 1.0 / x) / settings.scale**2] * len(sigma)
    return ArmNumbers(sigma, tau, narrow, tau_bias, slope)


def sigmas(labels: tuple[str, ...], declared: Sigma) -> Floats:
    """The sd of each arm, in order, 1 where it is not known; refuses a table that does not name exactly the arms."""
    if declared is None or isinstance(declared, Pilot):
        return [1.0] * len(labels)
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
    if reading_sd_measured(settings):
        return [[1.0, 1.0]]
    declared = getattr(settings.feedback, "reading_sd", None)
    if declared is None:
        return []
    by_step = declared if isinstance(declared, Mapping) else {1: declared}
    return [[float(step), 1.0 / by_step[step] ** 2] for step in sorted(by_step)]
