"""The options of a race, as they were given. docs/options.md is the table of all of them.

A `Settings` that exists is sound in itself; what depends on the arms is checked in rules.py.
"""

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Required, TypedDict, get_args

from earlycall.core.checks import choice, real, refusal, scale, whole
from earlycall.core.models import Biased, Correlated, Feedback, Full, Incremental, Pilot, Unbiased, settle
from earlycall.errors import SettingError

DELAYS = (
    'Say delays="independent" if how long a pull takes carries no news of how good it is; delays="informative" if slow'
    " pulls may be better or worse ones (safe either way, and slower)."
)
KEEPERS = frozenset("journal name".split())  # of those who keep the race in a file
RUNNERS = frozenset("deadline timeout workers".split())  # of those who run the pulls, and no matter of the race


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
    looks: str
    blocks: int | str | None
    method: str
    allocation: str
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
    looks: str = "every"
    blocks: int | str | None = None
    method: str = "evidence"
    allocation: str = "even"
    ledger: str = "simultaneous"
    radius: str = "corrected"
    failure: str | float = "retry"
    reserve: int | None = None
    max_pulls: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        settle(self, **checked(self))
        check_together(self)

    @property
    def informative(self) -> bool:
        """Whether the race is run so that delays may know the reward: said, or the safe default for full feedback."""
        if self.delays is None and self.method == "evidence" and self.parallel > 1:
            return isinstance(self.feedback, Full)
        return self.delays == "informative"


def settings_of(options: Mapping[str, object]) -> Settings:
    """The settings made of keywords; an unknown or missing one is named, with what to write instead.

    >>> settings_of({"k": 1, "delta": 0.05, "feedbak": 3})
    Traceback (most recent call last):
    earlycall.errors.SettingError: there is no option feedbak. Did you mean feedback?
    """
    known = {field.name: field for field in fields(Settings)}
    for name in options:
        if name in KEEPERS:
            remedy = "Say earlycall.open_race(journal, name, arms, …), or earlycall.identify(…, journal=…, name=…)."
            raise SettingError(f"{name}={options[name]!r}: a race of this kind is in memory alone. {remedy}")
        if name in RUNNERS:
            raise SettingError(f"{name}={options[name]!r}: only earlycall.identify runs pulls itself; leave it out.")
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
        "looks": choice("looks", s.looks, ["every", "once"], SettingError),
        "blocks": blocks_of(s.blocks),
        "method": choice("method", s.method, ["evidence", "paper"], SettingError),
        "allocation": choice("allocation", s.allocation, ["even", "contenders"], SettingError),
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


def blocks_of(seen: object) -> int | str | None:
    """How many blocks there are to pair arms on."""
    remedy = "Or 'endless' where every block can be made (seeds, days); None: no pairing."
    if seen is None or isinstance(seen, str):
        return None if seen is None else choice("blocks", seen, ["endless"], SettingError, "Or a whole number of them.")
    return whole("blocks", seen, 2, SettingError, remedy)


def reserve_of(seen: object) -> int | None:
    """How many arms may be added later; None: the arms are fixed."""
    remedy = "It is how many arms may be added later; 0: arms may only be withdrawn; None: the arms are fixed."
    return None if seen is None else whole("reserve", seen, 0, SettingError, remedy, most=MOST_NEWCOMERS)


def check_together(s: Settings) -> None:
    """Check what depends on more than one option."""
    if s.delays is not None:
        choice("delays", s.delays, ["independent", "informative"], SettingError)
    noisy = isinstance(s.feedback, Unbiased | Biased | Correlated)
    if s.setup is not None and noisy and s.feedback.steps is None:  # type: ignore[union-attr]  # Full is not noisy
        remedy = f"Say {type(s.feedback).__name__}(…, steps=how many steps a pull has): cuts are planned from it."
        raise SettingError(refusal("setup", s.setup, "the length of a pull to be declared beside it", remedy))
    if s.method == "paper":
        check_paper(s)
    else:
        check_evidence(s)
    check_min_delay(s)


def check_min_delay(s: Settings) -> None:
    """Refuse a `min_delay` that would say nothing."""
    useful = isinstance(s.feedback, Biased) if s.method == "paper" else s.delays == "informative"
    if s.min_delay is not None and not (useful and isinstance(s.feedback, Unbiased | Biased | Correlated)):
        remedy = "It is for readings with delays='informative', and for method='paper' with Biased."
        raise SettingError(refusal("min_delay", s.min_delay, "None here", remedy))
    steps = getattr(s.feedback, "steps", None)
    if s.min_delay is not None and steps is not None and s.min_delay > steps:
        raise SettingError(refusal("min_delay", s.min_delay, f"at most the {steps} steps of a pull"))


def check_paper(s: Settings) -> None:
    """Refuse what the paper's methods do not know."""
    if s.setup is not None:
        remedy = 'The paper never cuts a pull: use method="evidence".'
        raise SettingError(refusal("setup", s.setup, "None with method='paper'", remedy))
    if s.scale is not None:
        remedy = 'It tunes the evidence: use method="evidence", or leave it out.'
        raise SettingError(refusal("scale", s.scale, "None with method='paper'", remedy))
    if s.allocation != "even":
        remedy = 'The paper starts the arm with the fewest pulls: use method="evidence".'
        raise SettingError(refusal("allocation", s.allocation, "'even' with method='paper'", remedy))
    if isinstance(s.feedback, Unbiased | Biased) and s.feedback.pooling == "refining":
        remedy = 'The paper averages the readings of a pull: use method="evidence".'
        raise SettingError(refusal("pooling", "refining", "'independent' with method='paper'", remedy))
    if isinstance(s.feedback, Correlated):
        remedy = 'The paper knows no surrogates: use method="evidence".'
        raise SettingError(refusal("feedback", s.feedback, "another kind with method='paper'", remedy))
    for name, usual in (("looks", "every"), ("blocks", None)):
        if getattr(s, name) != usual:
            remedy = 'The paper does not have it: use method="evidence".'
            raise SettingError(refusal(name, getattr(s, name), f"{usual!r} with method='paper'", remedy))
    if s.delays == "informative":
        remedy = 'The paper takes delays for independent of rewards: use method="evidence".'
        raise SettingError(refusal("delays", s.delays, "'independent' with method='paper'", remedy))
    if s.feedback.sigma is None or isinstance(s.feedback.sigma, Pilot):
        remedy = 'The paper knows every sd: use method="evidence".'
        raise SettingError(refusal("sigma", s.feedback.sigma, "a number with method='paper'", remedy))
    if isinstance(s.feedback, Incremental) and s.feedback.steps is None:
        remedy = "Say Incremental(…, steps=the most steps a pull can have)."
        raise SettingError(refusal("steps", None, "a whole number with method='paper'", remedy))


def check_evidence(s: Settings) -> None:
    """Refuse what only the paper's methods need, and delays that were not thought about."""
    either = "'independent' or 'informative'"
    in_order = s.informative or (isinstance(s.feedback, Full) and (s.blocks is not None or s.feedback.sigma is None))
    if s.delays is None and s.parallel > 1 and not in_order:
        raise SettingError(refusal("delays", None, f"{either} with parallel={s.parallel}", DELAYS))
    if s.delays is None and s.setup is not None:  # who outlives a cut is no fair sample then, with one slot too
        raise SettingError(refusal("delays", None, f"{either} with setup={s.setup:g}", DELAYS))
    if s.delays == "informative":
        check_informative(s)
    if s.looks == "once":
        check_once(s)
    if s.blocks is not None:
        check_blocks(s)
    if s.feedback.sigma is None:
        check_unknown(s)
    if s.reserve is not None:
        check_reserve(s)
    if isinstance(s.feedback.sigma, Pilot):
        check_pilot(s)
    if s.allocation == "contenders":
        check_contenders(s)
    for name, usual in (("ledger", "simultaneous"), ("radius", "corrected")):
        if getattr(s, name) != usual:
            remedy = 'It belongs to method="paper"; evidence needs neither ledger nor radius.'
            raise SettingError(refusal(name, getattr(s, name), repr(usual), remedy))


def check_informative(s: Settings) -> None:
    """Refuse what is not proved where delays know the reward (docs/guarantees.md)."""
    if isinstance(s.feedback, Incremental):
        remedy = "Pulls that are under way say more the longer they take. Declare Full(…), and tell each in the end."
        raise SettingError(refusal("feedback", s.feedback, "another kind with delays='informative'", remedy))
    if s.setup is not None and (not isinstance(s.feedback, Unbiased) or s.min_delay is None):
        remedy = (
            "Pulls may only be cut at a step that none can have ended by: say min_delay=…, with Unbiased readings;"
            " or leave setup out."
        )
        raise SettingError(refusal("setup", s.setup, "None here with delays='informative'", remedy))
    if s.setup is not None and not isinstance(s.failure, str):
        remedy = "A pull that is cut as planned never shows whether it would have failed: say failure='stop'."
        raise SettingError(refusal("failure", s.failure, "no number where pulls are cut as planned", remedy))


def check_once(s: Settings) -> None:
    """Refuse `looks="once"` where it would change nothing, or where no length can be fixed beforehand."""
    if isinstance(s.feedback, Full | Incremental):
        remedy = "It is for readings that are not as Gaussian as declared. Leave it out."
        raise SettingError(refusal("looks", "once", f"'every' with {type(s.feedback).__name__}", remedy))
    if s.setup is not None and not isinstance(s.feedback, Unbiased):
        remedy = "With an offset the best length depends on what has finished: leave setup out."
        raise SettingError(refusal("setup", s.setup, "None with looks='once' and an offset", remedy))


def check_blocks(s: Settings) -> None:
    """Refuse what has no meaning where arms meet block by block."""
    if not isinstance(s.feedback, Full):
        remedy = "Differences are taken between full feedbacks: declare Full(sigma=None) or Full(sigma=…)."
        raise SettingError(refusal("feedback", s.feedback, "Full(…) with blocks", remedy))
    if s.scale is not None:
        raise SettingError(refusal("scale", s.scale, "None with blocks", "Leave it out."))


def check_unknown(s: Settings) -> None:
    """Refuse what needs a known σ."""
    if s.scale is not None:
        remedy = "Without sigma a gap has no size: leave scale out."
        raise SettingError(refusal("scale", s.scale, "None with sigma=None", remedy))
    if isinstance(s.feedback, Incremental) and s.feedback.steps is None:
        remedy = "Say Incremental(sigma=None, steps=how many steps every pull has)."
        raise SettingError(refusal("steps", None, "a whole number with sigma=None", remedy))


def check_contenders(s: Settings) -> None:
    """Refuse contenders where arms are compared on equal counts, or delays were not thought about."""
    if s.blocks is not None or s.feedback.sigma is None or s.delays == "informative":
        remedy = "Arms are compared on equal counts here, so they are pulled evenly: leave allocation out."
        raise SettingError(refusal("allocation", s.allocation, "'even' here", remedy))
    if s.delays is None:
        remedy = "Say so if how long a pull takes carries no news of how good it is, or leave allocation out."
        raise SettingError(refusal("delays", None, "'independent' with allocation='contenders'", remedy))


def check_reserve(s: Settings) -> None:
    """Refuse that arms come and go where they are compared in order: a cancelled pull would stand in the way."""
    if s.blocks is not None or s.feedback.sigma is None or isinstance(s.feedback.sigma, Pilot):
        remedy = "Arms come and go only where sigma is known and there are no blocks."
        raise SettingError(refusal("reserve", s.reserve, "None with blocks or an unknown sigma", remedy))
    if s.informative:
        remedy = 'Arms come and go only where delays carry no news: say delays="independent" if that is so.'
        raise SettingError(refusal("reserve", s.reserve, 'None with delays="informative"', remedy))


def check_pilot(s: Settings) -> None:
    """Refuse what needs the true σ, where a pilot only bounds it."""
    pilot = s.feedback.sigma
    if isinstance(s.feedback, Unbiased | Biased):
        if s.looks != "once":
            remedy = 'A bound is not on the safe side where readings are weighed by it: say looks="once".'
            raise SettingError(refusal("looks", s.looks, f"'once' with sigma={pilot}", remedy))
        if s.delays == "informative":
            remedy = "Declare sigma, or race without the readings: Full(sigma=None)."
            raise SettingError(refusal("sigma", pilot, "a number with readings and informative delays", remedy))
    if s.blocks is not None:
        raise SettingError(refusal("sigma", pilot, "a number or None with blocks", "Differences measure themselves."))
    if s.scale is not None or getattr(s.feedback, "bias_scale", None) is not None:
        remedy = "Sizes are taken from the sd that the pilot finds: leave scale and bias_scale out."
        raise SettingError(refusal("sigma", pilot, "a number with scale or bias_scale", remedy))
