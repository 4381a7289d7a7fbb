"""The options of a race, as they were given. docs/options.md is the table of all of them.

A `Settings` that exists is sound in itself; what depends on the arms is checked in rules.py.
"""

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Required, TypedDict, get_args

from earlycall.core.checks import choice, real, refusal, scale, whole
from earlycall.core.models import LATER, Biased, Correlated, Feedback, Full, Incremental, Unbiased, settle
from earlycall.errors import SettingError

DELAYS = (
    'Say delays="independent" if how long a pull takes carries no news of how good it is. (If slow pulls are better or'
    f' worse ones, that needs delays="informative": {LATER}; use parallel=1 and leave setup out.)'
)
# Options of the design that later work brings; until then they are refused by name.
NOT_YET = frozenset("allocation blocks deadline journal looks name timeout workers".split())


MOST_SLOTS = 1_000_000
MOST_NEWCOMERS = 100_000  # each has a row from the start


class Options(TypedDict, total=False):
    """The keywords of `Race`, for type checkers; their meaning and defaults are those of `Settings`."""

    k: Required[int]
    delta: Required[float]
    feedback: Required[Feedback]
    epsilon: float
    scale: float | None
    direction: str
    parallel: int
    per_arm: int | None
    setup: float | None
    delays: str | None
    min_delay: int | None
    method: str
    ledger: str
    radius: str
    failure: str | float
    reserve: int | None
    max_pulls: int | None
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of a race."""

    k: int
    delta: float
    feedback: Feedback
    epsilon: float = 0.0
    scale: float | None = None
    direction: str = "maximize"
    parallel: int = 1
    per_arm: int | None = None
    setup: float | None = None
    delays: str | None = None
    min_delay: int | None = None
    method: str = "evidence"
    ledger: str = "simultaneous"
    radius: str = "corrected"
    failure: str | float = "retry"
    reserve: int | None = None
    max_pulls: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        settle(self, **checked(self))
        check_together(self)


def settings_of(options: Mapping[str, object]) -> Settings:
    """The settings made of keywords; an unknown or missing one is named, with what to write instead.

    >>> settings_of({"k": 1, "delta": 0.05, "feedbak": 3})
    Traceback (most recent call last):
    earlycall.errors.SettingError: there is no option feedbak. Did you mean feedback?
    """
    known = {field.name: field for field in fields(Settings)}
    for name in options:
        if name in NOT_YET:
            raise SettingError(f"{name}={options[name]!r}: {LATER}; leave it out.")
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            remedy = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}."
            raise SettingError(f"there is no option {name}. {remedy}")
    for name, field in known.items():
        if field.default is MISSING and name not in options:
            raise SettingError(f"{name} is missing. For example k=1, delta=0.05, feedback=earlycall.Full(sigma=1.0).")
    return Settings(**options)  # type: ignore[arg-type]  # each is checked, whatever it is


def checked(s: Settings) -> dict[str, object]:
    """Every option checked by itself: plain numbers and words, and a copy of the feedback that is nobody else's."""
    expected = "a number above 0 and below 1"
    remedy = "It is the chance of a wrong answer you accept: 0.05 for 95 % confidence."
    delta = real("delta", s.delta, expected, SettingError, remedy)
    if not 1e-300 <= delta < 1.0:
        raise SettingError(refusal("delta", s.delta, expected, remedy))
    return {
        "k": whole("k", s.k, 1, SettingError),
        "delta": delta,
        "feedback": feedback_of(s.feedback),
        "epsilon": at_least_zero("epsilon", s.epsilon),
        "scale": s.scale
        if s.scale is None
        else scale("scale", s.scale, SettingError, "It is the gap between arms that you care about."),
        "direction": choice("direction", s.direction, ["maximize", "minimize"], SettingError),
        "parallel": whole("parallel", s.parallel, 1, SettingError, most=MOST_SLOTS),
        "per_arm": s.per_arm if s.per_arm is None else whole("per_arm", s.per_arm, 1, SettingError),
        "setup": s.setup if s.setup is None else at_least_zero("setup", s.setup, "It is in steps; None: never cut."),
        "min_delay": s.min_delay if s.min_delay is None else whole("min_delay", s.min_delay, 1, SettingError),
        "method": choice("method", s.method, ["evidence", "paper"], SettingError),
        "ledger": choice("ledger", s.ledger, ["simultaneous", "as-printed"], SettingError),
        "radius": choice("radius", s.radius, ["corrected", "as-printed"], SettingError),
        "failure": failure_of(s.failure),
        "reserve": reserve_of(s.reserve),
        "max_pulls": s.max_pulls if s.max_pulls is None else whole("max_pulls", s.max_pulls, 1, SettingError),
        "seed": whole("seed", s.seed, 0, SettingError),
    }


def feedback_of(seen: object) -> Feedback:
    """A copy of what was declared, checked again: it may have been changed since it was made."""
    if isinstance(seen, Full | Incremental | Unbiased | Biased | Correlated) and type(seen) in get_args(Feedback):
        return replace(seen)
    remedy = "For example feedback=earlycall.Full(sigma=1.0)."
    raise SettingError(
        refusal("feedback", seen, "Full(…), Incremental(…), Unbiased(…), Biased(…) or Correlated(…)", remedy)
    )


def at_least_zero(name: str, seen: object, remedy: str = "") -> float:
    """A number, 0 or more."""
    number = real(name, seen, "a number, 0 or more", SettingError, remedy)
    if number < 0.0:
        raise SettingError(refusal(name, seen, "a number, 0 or more", remedy))
    return number


def failure_of(seen: object) -> str | float:
    """What a failed pull does: a word, or the number it counts as."""
    remedy = "Or a number that a failed pull counts as."
    if isinstance(seen, str):
        return choice("failure", seen, ["retry", "stop"], SettingError, remedy)
    return real("failure", seen, "'retry', 'stop' or a number", SettingError)


def reserve_of(seen: object) -> int | None:
    """How many arms may be added later; None: the arms are fixed."""
    remedy = "It is how many arms may be added later; 0: arms may only be withdrawn; None: the arms are fixed."
    return None if seen is None else whole("reserve", seen, 0, SettingError, remedy, most=MOST_NEWCOMERS)


def check_together(s: Settings) -> None:
    """Check what depends on more than one option."""
    if s.reserve is not None and isinstance(s.delays, str) and s.delays == "informative":
        remedy = "Arms come and go only where delays carry no news."
        raise SettingError(refusal("reserve", s.reserve, 'None with delays="informative"', remedy))
    if s.delays is not None:
        remedy = f"As to 'informative': {LATER}."
        choice("delays", s.delays, ["independent"], SettingError, remedy)
    noisy = isinstance(s.feedback, Unbiased | Biased | Correlated)
    if s.setup is not None and noisy and s.feedback.steps is None:  # type: ignore[union-attr]  # Full is not noisy
        remedy = f"Say {type(s.feedback).__name__}(…, steps=how many steps a pull has): cuts are planned from it."
        raise SettingError(refusal("setup", s.setup, "the length of a pull to be declared beside it", remedy))
    if s.method == "paper":
        check_paper(s)
    else:
        check_evidence(s)
    if s.min_delay is not None and not (s.method == "paper" and isinstance(s.feedback, Biased)):
        remedy = "So far it says how many readings each finished pull surely has, for method='paper' with Biased."
        raise SettingError(refusal("min_delay", s.min_delay, "None here", remedy))


def check_paper(s: Settings) -> None:
    """Refuse what the paper's methods do not know."""
    if s.setup is not None:
        remedy = 'The paper never cuts a pull: use method="evidence".'
        raise SettingError(refusal("setup", s.setup, "None with method='paper'", remedy))
    if s.scale is not None:
        remedy = 'It tunes the evidence: use method="evidence", or leave it out.'
        raise SettingError(refusal("scale", s.scale, "None with method='paper'", remedy))
    if isinstance(s.feedback, Unbiased | Biased) and s.feedback.pooling == "refining":
        remedy = 'The paper averages the readings of a pull: use method="evidence".'
        raise SettingError(refusal("pooling", "refining", "'independent' with method='paper'", remedy))
    if isinstance(s.feedback, Correlated):
        remedy = 'The paper knows no surrogates: use method="evidence".'
        raise SettingError(refusal("feedback", s.feedback, "another kind with method='paper'", remedy))
    if isinstance(s.feedback, Incremental) and s.feedback.steps is None:
        remedy = "Say Incremental(…, steps=the most steps a pull can have)."
        raise SettingError(refusal("steps", None, "a whole number with method='paper'", remedy))


def check_evidence(s: Settings) -> None:
    """Refuse what only the paper's methods need, and delays that were not thought about."""
    if s.delays is None and s.parallel > 1:
        raise SettingError(refusal("delays", None, f"'independent' with parallel={s.parallel}", DELAYS))
    if s.delays is None and s.setup is not None:  # who outlives a cut is no fair sample then, with one slot too
        raise SettingError(refusal("delays", None, f"'independent' with setup={s.setup:g}", DELAYS))
    for name, usual in (("ledger", "simultaneous"), ("radius", "corrected")):
        if getattr(s, name) != usual:
            remedy = 'It belongs to method="paper"; evidence needs neither ledger nor radius.'
            raise SettingError(refusal(name, getattr(s, name), repr(usual), remedy))
