"""What happened, in the past tense. Facts are all a race is made of: the same facts make the same race.

Values are in the user's direction. A pull is known by its number (1, 2, 3 …), an arm by its label. News comes from
whoever runs the pulls; decisions come from the race itself and are facts like the others.
"""

from dataclasses import dataclass

from earlycall.core.settings import Settings


@dataclass(frozen=True, slots=True)
class Opened:
    """A race was opened."""

    labels: tuple[str, ...]
    settings: Settings


# News -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Started:
    """A pull of an arm took a slot (a decision of `ask`); `owner`: the process that runs it, where one does."""

    pull: int
    arm: str
    seed: int
    key: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A pull showed a reading; `of` is the number of steps it has (Incremental)."""

    pull: int
    step: int
    value: float
    sd: float | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A pull ended with its full feedback."""

    pull: int
    value: float
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """A pull was lost for a reason that has nothing to do with how good it was."""

    pull: int
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A pull failed, or took too long."""

    pull: int
    reason: str


@dataclass(frozen=True, slots=True)
class ArmAdded:
    """An arm joined the race; `sigma` is its sd, where each arm has one of its own."""

    label: str
    sigma: float | None = None


@dataclass(frozen=True, slots=True)
class ArmWithdrawn:
    """An arm left the race for good; the best k of the others are wanted from now on."""

    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Closed:
    """Somebody ended the race ("stopped"), or its time was over ("deadline")."""

    reason: str
    outcome: str = "stopped"


# Decisions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Accepted:
    """An arm belongs to the best k; `rival` was the hardest to tell apart (None: the places left settled it)."""

    arm: str
    mean: float
    rival: str | None
    rival_mean: float | None


@dataclass(frozen=True, slots=True)
class Rejected:
    """An arm does not belong to the best k; `rival` was the closest of those that beat it (None: no place left)."""

    arm: str
    mean: float
    rival: str | None
    rival_mean: float | None


@dataclass(frozen=True, slots=True)
class Reopened:
    """The verdict on an arm stands no more, because an arm came or left; what it said goes on counting."""

    arm: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A running pull lost its slot because its arm is decided or withdrawn, or the race is decided."""

    pull: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A running pull lost its slot because a fresh one brings more per step."""

    pull: int


@dataclass(frozen=True, slots=True)
class Decided:
    """The race is over: "exact", "epsilon" (within ε), "deadline" or "stopped" (by hand).

    `confidence` is in what the outcome claims: 1 − δ for "exact" and "epsilon", else what the evidence gave then.
    `epsilon`: the smallest ε at which the answer was established (None: at no ε).
    """

    top: tuple[str, ...]
    outcome: str
    confidence: float | None
    epsilon: float | None


News = Started | Read | Told | Lost | Failed | ArmAdded | ArmWithdrawn | Closed
Decision = Reopened | Accepted | Rejected | Cancelled | Cut | Decided
Fact = Opened | News | Decision
