"""Checks of the model that failed, in words: what was seen, what was declared, what to do.

A suspicion never changes a verdict. It is looked for when asked, in everything that was reported so far.
"""

import math
from dataclasses import dataclass

from earlycall.core.models import Biased, Correlated, Full, Incremental, Unbiased
from earlycall.core.settings import Settings
from earlycall.core.state import State
from earlycall.core.suspicions import (
    BIAS,
    CHECK,
    DELAYS,
    ENOUGH,
    NOISE,
    SCALE,
    SD_TIMES,
    SHARED,
    SHARED_VARIANCE,
    SIGMA_TIMES,
    SOME,
    TOGETHER,
    add_logs,
    bias_in,
    compare,
    delay_in,
    fit,
    log_odds,
    log_odds_in,
    log_odds_of_bias,
    log_odds_of_delays,
)
from earlycall.core.tables import BLOCKED, FIRST, Floats, Rules

NAMES = {BIAS: "bias", SCALE: "sigma", SHARED: "shared errors", NOISE: "reading_sd", DELAYS: "delays"}

SIGMAS = (0.25, 0.5, 0.7, 1.4, 2.0, 4.0)  # λ
VARIANCES = (1 / 64, 1 / 8, 1.0, 8.0)  # γ², in variances of one reading
SDS = (0.25, 0.5, 0.7, 1.4, 2.0, 4.0)  # κ


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A declaration that what was reported does not bear out."""

    check: str  # bias, sigma, shared errors, reading_sd or delays
    says: str  # what was seen, what was declared, what to do
    odds: float  # how many times likelier all reports are if it is wrong; 100 is enough
    arms: tuple[str, ...]  # the arms that show it by themselves; none: only all of them together
    costs: str  # "guarantee", or "time" where only that is lost

    def __str__(self) -> str:
        return self.says


def alternatives(settings: Settings, rules: Rules) -> list[Floats]:
    """The table of alternatives for a race: what its sds might be instead.

    With method="paper" and looks="once" sds may be smaller than declared, so only larger ones are looked for.
    """
    least = 1.0 if settings.method == "paper" or settings.looks == "once" else 0.0
    noise = rules.reading_sd * rules.reading_sd
    rows = [[SCALE, times, 0.0, 1.0] for times in SIGMAS if times > least]
    if averages(settings):
        rows += [[SHARED, 1.0, times * noise, 1.0] for times in VARIANCES]
        rows += [[NOISE, 1.0, 0.0, times] for times in SDS if times > least]
    return [[*map(float, row), 0.0, 0.0] for row in rows]


def averages(settings: Settings) -> bool:
    """Whether the readings of a pull are averaged, as their errors are declared independent."""
    return isinstance(settings.feedback, Unbiased | Biased) and settings.feedback.pooling == "independent"


def independent_delays(settings: Settings) -> bool:
    """Whether it was said, or is taken for granted, that delays say nothing of rewards.

    (One slot without cuts needs no such thing.)
    """
    taken = settings.delays is None and settings.method == "paper" and settings.parallel > 1
    return settings.delays == "independent" or taken


def suspicions(state: State) -> tuple[Suspicion, ...]:
    """What the reports so far speak against, the most likely first."""
    rules, t, settings = state.rules, state.tables, state.settings
    if rules.unknown == 1 or rules.pilot > 0 or rules.order == BLOCKED:  # nothing was declared that could be wrong
        return ()
    others = alternatives(settings, rules)
    compare(rules, t, others)
    found = []
    if isinstance(settings.feedback, Unbiased):
        found.append(about_bias(state, log_odds_of_bias(rules, t)))
    for check in (SCALE, SHARED, NOISE):
        found.append(about_sds(state, others, check, log_odds(rules, others, check)))
    if independent_delays(settings):
        found.append(about_delays(state, log_odds_of_delays(rules, t)))
    return tuple(sorted((s for s in found if s is not None), key=lambda s: -s.odds))


def made(state: State, check: int, odds: float, arms: list[int], says: str, costs: str = "guarantee") -> Suspicion:
    """A suspicion, with its odds in words."""
    times = math.exp(min(odds, 690.0))  # a number JSON can hold
    likelier = f"All that was reported is {times:.3g} times likelier so than as declared."
    shown = tuple(state.labels[index] for index in arms)
    return Suspicion(NAMES[check], f"{says} {likelier}", times, shown, costs)


def listed(state: State, arms: list[int]) -> str:
    """A few arms by name, or all of them."""
    if not arms:
        return "all arms together"
    names = ", ".join(repr(state.labels[index]) for index in arms[:3])
    return f"arm {names}" if len(arms) == 1 else f"arms {names}{', …' if len(arms) > 3 else ''}"


def about_bias(state: State, odds: float) -> Suspicion | None:
    """Readings that were called unbiased."""
    if odds < ENOUGH:
        return None
    seen = [bias_in(state.rules, state.tables, index) for index in range(state.rules.arms)]
    arms = [index for index, (own, _) in enumerate(seen) if own >= ENOUGH]
    most = max(range(len(seen)), key=lambda index: seen[index][0])
    bias = state.sign * seen[most][1]
    return made(
        state,
        BIAS,
        odds,
        arms,
        f"The readings of arm {state.labels[most]!r} lie about {abs(bias):.3g} {'above' if bias > 0.0 else 'below'} its"
        " full feedback, and were declared unbiased. If they have an offset, race with feedback=Biased(…).",
    )


def about_delays(state: State, odds: float) -> Suspicion | None:
    """Delays that were called independent."""
    if odds < ENOUGH:
        return None
    seen = [delay_in(state.rules, state.tables, index) for index in range(state.rules.arms)]
    arms = [index for index, own in enumerate(seen) if max(own) >= ENOUGH]
    better, worse = max(seen, key=max)
    higher = (better > worse) == (state.sign > 0.0)
    return made(
        state,
        DELAYS,
        odds,
        arms,
        f"In {listed(state, arms)} pulls that take longer end {'higher' if higher else 'lower'}, and delays were"
        ' declared independent. If they tell of the reward, race with delays="informative".',
    )


def about_sds(state: State, others: list[Floats], check: int, odds: float) -> Suspicion | None:
    """Sds that were declared, or errors that were called independent."""
    if odds < ENOUGH:
        return None
    rules, t = state.rules, state.tables
    rows = [row for row in others if row[CHECK] == check]
    best = max(rows, key=lambda row: add_logs(row[TOGETHER], row[SOME] - math.log(rules.arms)))
    arms = []
    for index in range(rules.arms):
        if t.arms[index][FIRST] < 0:
            continue
        null = fit(rules, t, index, 1.0, 0.0, 1.0)
        if log_odds_in(rules, t, index, null, best) >= ENOUGH:
            arms.append(index)
    says, costs = in_words(state, check, best, listed(state, arms))
    return made(state, check, odds, arms, says, costs)


def in_words(state: State, check: int, best: Floats, where: str) -> tuple[str, str]:
    """(what was seen, declared and should be done; what it costs) where one alternative fits best."""
    if check == SHARED:
        return (
            f"In {where} the errors of one pull go together, as if its readings shared one of sd about"
            f" {math.sqrt(best[SHARED_VARIANCE]):.3g}, and they were declared independent. Race with"
            ' pooling="refining" and looks="once".',
            "guarantee",
        )
    if check == NOISE:
        return (
            f"In {where} readings scatter as if their sd were about {best[SD_TIMES]:g} times the one declared."
            " Declare another reading_sd, or say sd= with each reading.",
            "guarantee",
        )
    times = best[SIGMA_TIMES]
    feedback = state.settings.feedback
    if isinstance(feedback, Incremental):
        seen = f"In {where} increments scatter as if sigma were about {times:g} times the one declared."
        alike = " (Or the increments of a pull are not alike or not independent: then race with Full.)"
    else:
        seen = f"In {where} pulls scatter around their mean as if sigma were about {times:g} times the one declared."
        alike = ""
    if times > 1.0:
        return f"{seen} Declare a larger sigma, or sigma=None where it is not known.{alike}", "guarantee"
    if isinstance(feedback, Full | Incremental):
        return f"{seen} This costs time and not the guarantee: declare a smaller sigma.{alike}", "time"
    wrong = "An sd that is too large is not on the safe side where readings are weighed by it"
    other = "" if isinstance(feedback, Correlated) else ', or race with looks="once"'
    return f"{seen} {wrong}: declare a smaller sigma{other}.", "guarantee"
