"""What a user declares about the feedback of a pull: how X scatters, and what its readings say about it.

Everything is checked and copied where it is made, so a declaration that exists is sound in itself; what depends on
the arms is checked in rules.py. Nothing here is computed with.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from earlycall.core.checks import choice, real, refusal, scale, whole
from earlycall.errors import SettingError

NOISY = "With readings an sd that is not known is measured first: say sigma=earlycall.Pilot(pulls=10)."


def settle(declared: object, **fields: object) -> None:
    """Put the checked copies in the place of what was given (the declarations are frozen for everybody else)."""
    for name, value in fields.items():
        object.__setattr__(declared, name, value)


@dataclass(frozen=True, slots=True)
class Pilot:
    """An sd that is not known: the first `pulls` pulls of every arm measure it, before anything is decided.

    What they give is an upper bound that holds with probability 1 − δ/10, and the race is run at what is left of δ.

    >>> Pilot(pulls=10)
    Pilot(pulls=10)
    """

    pulls: int

    def __post_init__(self) -> None:
        remedy = "With fewer the bound is many times the sd."
        settle(self, pulls=whole("pulls", self.pulls, 2, SettingError, remedy, most=100_000))


Sigma = float | Mapping[str, float] | Pilot | None  # one sd for all arms, {label: sd}, or not known
ReadingSd = float | Mapping[int, float] | None  # one sd for all readings, {from_step: sd}, or left to the pilot


def sigma_of(seen: object, unknown: str = "") -> Sigma:
    """A checked copy of `sigma`; `unknown`: what to do when it is None, where that will not do."""
    if isinstance(seen, Pilot) or (seen is None and not unknown):
        return seen
    if isinstance(seen, Mapping):
        table = {str(label): scale(f"sigma[{label!r}]", sd, SettingError) for label, sd in seen.items()}
        if len(table) < len(seen):
            raise SettingError(refusal("sigma", seen, "a different label for every arm (labels are text)"))
        return table
    return scale("sigma", seen, SettingError, unknown if seen is None else "")


def reading_sd_of(seen: object, pooling: str, sigma: object) -> ReadingSd:
    """A checked copy of `reading_sd`, in order of steps; None where a pilot measures it."""
    if seen is None and isinstance(sigma, Pilot):
        return None
    if not isinstance(seen, Mapping):
        return scale("reading_sd", seen, SettingError)
    expected = "a number or {from_step: sd} with at least one step"
    if not seen:
        raise SettingError(refusal("reading_sd", seen, expected))
    steps = sorted(whole("a step of reading_sd", step, 1, SettingError) for step in seen)
    curve = {step: scale(f"reading_sd[{step}]", seen[step], SettingError) for step in steps}
    sds = list(curve.values())
    if pooling == "refining" and sds != sorted(sds, reverse=True):
        remedy = "A refining reading is never worse than the one before it."
        raise SettingError(refusal("reading_sd", seen, 'sds that do not grow when pooling="refining"', remedy))
    return curve


def steps_of(seen: object) -> int | None:
    """A checked `steps`: the length of a pull, or None."""
    return None if seen is None else whole("steps", seen, 1, SettingError)


@dataclass(frozen=True, slots=True)
class Full:
    """A pull says nothing before it ends: X ~ mean ± sigma.

    `sigma`: standard deviation of the full feedback around the arm's mean, one for all arms or {label: sd}; None where
    it is not known (each arm then has its own).

    >>> Full(sigma=110)
    Full(sigma=110.0)
    """

    sigma: Sigma

    def __post_init__(self) -> None:
        settle(self, sigma=sigma_of(self.sigma))


@dataclass(frozen=True, slots=True)
class Incremental:
    """A pull earns its full feedback X bit by bit: a reading is what was gained since the last one.

    `sigma`: sd of X, or None where it is not known. The increments of one pull are independent, of equal mean and
    variance per step.
    `steps`: how many steps a pull has (the most, if pulls differ; then each reading says `of=`).

    >>> Incremental(sigma=3.0, steps=20)
    Incremental(sigma=3.0, steps=20)
    """

    sigma: Sigma
    steps: int | None = None

    def __post_init__(self) -> None:
        settle(self, sigma=sigma_of(self.sigma), steps=steps_of(self.steps))


@dataclass(frozen=True, slots=True)
class Unbiased:
    """A reading is the pull's own full feedback X with an error of mean 0.

    `sigma`: sd of X around the arm's mean. `reading_sd`: sd of a reading around X, a number or {from_step: sd}. With
    sigma=Pilot(…) they are bounds, so `looks="once"` must be said; reading_sd=None leaves that to the pilot, too.
    `pooling`: "independent" errors, or "refining" where each reading already contains all the earlier ones.
    `steps`: how many steps a pull has, needed to plan cuts (`setup=`).

    >>> Unbiased(sigma=110, reading_sd={1: 200, 100: 60}, pooling="refining")
    Unbiased(sigma=110.0, reading_sd={1: 200.0, 100: 60.0}, pooling='refining', steps=None)
    """

    sigma: Sigma
    reading_sd: ReadingSd
    pooling: str = "independent"
    steps: int | None = None

    def __post_init__(self) -> None:
        choice("pooling", self.pooling, ["independent", "refining"], SettingError)
        reading_sd = reading_sd_of(self.reading_sd, self.pooling, self.sigma)
        settle(self, sigma=sigma_of(self.sigma, NOISY), reading_sd=reading_sd, steps=steps_of(self.steps))


@dataclass(frozen=True, slots=True)
class Biased:
    """A reading is X with an error whose mean is one unknown number per arm, learned from the pulls that end.

    `bias_scale`: how large that bias may well be (a guess that costs time when wrong, never the guarantee); sigma
    where it is not given. The rest is as for `Unbiased`.

    >>> Biased(sigma=110, reading_sd=100).bias_scale is None
    True
    """

    sigma: Sigma
    reading_sd: ReadingSd
    pooling: str = "independent"
    bias_scale: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        choice("pooling", self.pooling, ["independent", "refining"], SettingError)
        reading_sd = reading_sd_of(self.reading_sd, self.pooling, self.sigma)
        bias_scale = None if self.bias_scale is None else scale("bias_scale", self.bias_scale, SettingError)
        settle(
            self,
            sigma=sigma_of(self.sigma, NOISY),
            reading_sd=reading_sd,
            bias_scale=bias_scale,
            steps=steps_of(self.steps),
        )


@dataclass(frozen=True, slots=True)
class Correlated:
    """A pull has one early measurement, a surrogate, that goes with its full feedback X but is no copy of it.

    `sigma`: sd of X around its arm's mean. `surrogate_sd`: sd of the surrogate around its own mean, which is unknown
    and may be another for every arm. `correlation`: of the two within an arm, above −1 and below 1. The first reading
    from `from_step` on is the surrogate; later ones say nothing more. `steps` as for `Unbiased`.

    >>> Correlated(sigma=110, surrogate_sd=0.02, correlation=0.6)
    Correlated(sigma=110.0, surrogate_sd=0.02, correlation=0.6, from_step=1, steps=None)
    """

    sigma: Sigma
    surrogate_sd: float
    correlation: float
    from_step: int = 1
    steps: int | None = None

    def __post_init__(self) -> None:
        expected = "a number above -1 and below 1"
        correlation = real("correlation", self.correlation, expected, SettingError)
        if not -1.0 < correlation < 1.0:
            remedy = "A surrogate that is X itself is its full feedback: tell it."
            raise SettingError(refusal("correlation", self.correlation, expected, remedy))
        if self.sigma is None or isinstance(self.sigma, Pilot):
            remedy = "How much a surrogate says follows from all three numbers; a bound on one of them is no safe side."
            raise SettingError(refusal("sigma", self.sigma, "a number, or {label: number}", remedy))
        settle(
            self,
            sigma=sigma_of(self.sigma, NOISY),
            surrogate_sd=scale("surrogate_sd", self.surrogate_sd, SettingError),
            correlation=correlation,
            from_step=whole("from_step", self.from_step, 1, SettingError),
            steps=steps_of(self.steps),
        )

    @property
    def residual_sd(self) -> float:
        """The sd of the surrogate where X is known."""
        return self.surrogate_sd * math.sqrt((1.0 - self.correlation) * (1.0 + self.correlation))


Feedback = Full | Incremental | Unbiased | Biased | Correlated
