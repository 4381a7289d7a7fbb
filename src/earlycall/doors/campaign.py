"""Campaign files: a race written down in TOML, and what its owner expects of it. `EXAMPLE` is one, explained."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from earlycall.core.models import Biased, Correlated, Feedback, Full, Incremental, Pilot, Unbiased
from earlycall.core.settings import Options, Settings, settings_of
from earlycall.errors import SettingError
from earlycall.run.arms import name_arms

EXAMPLE = """\
k = 1                          # any option of a race (docs/options.md)
delta = 0.05
parallel = 8
delays = "independent"
arms = ["3.6C", "4.8C", "6.0C"]

[feedback]
kind = "unbiased"              # full, incremental, unbiased, biased or correlated: docs/options.md
sigma = 110                    # or { "3.6C" = 110, … }; left out: not known (kinds full and incremental)
reading_sd = { 1 = 200, 50 = 90 }
pooling = "refining"
steps = 100                    # the length of a pull

[plan]                         # what you expect; no race ever looks at it
means = { "3.6C" = 760, "4.8C" = 990, "6.0C" = 640 }   # or a list; or spacing = 50: evenly apart
shortest = 60                  # lengths are uniform from here to `steps`; left out: all the same
# steps = 100                  # the length of a pull, where [feedback] does not say it
# bias = 40                    # of the readings, where they are biased
# sigma = 110                  # where [feedback] does not say it

# [commands]                   # for `earlycall run`: the program that makes one pull of each arm
# "3.6C" = "./test.sh --rate 3.6"
"""

Size = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Real = Annotated[float, Field(allow_inf_nan=False)]
Sigma = Size | dict[str, Size]
Pulls = Annotated[int, Field(ge=2)]
Curve = Size | dict[Annotated[int, Field(ge=1)], Size]


class Strict(BaseModel):
    """No unknown keys."""

    model_config = ConfigDict(extra="forbid")


class FullFeedback(Strict):
    """[feedback] of kind "full"."""

    kind: Literal["full"]
    sigma: Sigma | None = None
    pilot: Pulls | None = None


class IncrementalFeedback(Strict):
    """[feedback] of kind "incremental"."""

    kind: Literal["incremental"]
    sigma: Sigma | None = None
    pilot: Pulls | None = None
    steps: int | None = None


class UnbiasedFeedback(Strict):
    """[feedback] of kind "unbiased"."""

    kind: Literal["unbiased"]
    sigma: Sigma | None = None
    pilot: Pulls | None = None
    reading_sd: Curve | None = None
    pooling: Literal["independent", "refining"] = "independent"
    steps: int | None = None


class BiasedFeedback(Strict):
    """[feedback] of kind "biased"."""

    kind: Literal["biased"]
    sigma: Sigma | None = None
    pilot: Pulls | None = None
    reading_sd: Curve | None = None
    pooling: Literal["independent", "refining"] = "independent"
    bias_scale: Size | None = None
    steps: int | None = None


class CorrelatedFeedback(Strict):
    """[feedback] of kind "correlated"."""

    kind: Literal["correlated"]
    sigma: Sigma
    surrogate_sd: Size
    correlation: Annotated[float, Field(gt=-1, lt=1)]
    from_step: int = 1
    steps: int | None = None


class Expected(Strict):
    """[plan]: what one expects."""

    means: list[Real] | dict[str, Real] | None = None
    spacing: Size | None = None
    steps: Annotated[int, Field(ge=1)] | None = None
    shortest: Annotated[int, Field(ge=1)] | None = None
    bias: Real = 0.0
    sigma: Size | None = None


KINDS = {"full": Full, "incremental": Incremental, "unbiased": Unbiased, "biased": Biased, "correlated": Correlated}


class Campaign(BaseModel):
    """A campaign file; options of the race stand beside these and are checked by the race itself."""

    model_config = ConfigDict(extra="allow")

    arms: Annotated[list[str | int | float], Field(min_length=2)]
    feedback: Annotated[
        FullFeedback | IncrementalFeedback | UnbiasedFeedback | BiasedFeedback | CorrelatedFeedback,
        Field(discriminator="kind"),
    ]
    plan: Expected = Expected()
    commands: dict[str, str | list[str]] | None = None

    def settings(self) -> Settings:
        """The settings of the race."""
        declared = self.feedback.model_dump(exclude={"kind", "pilot"})
        pilot = getattr(self.feedback, "pilot", None)
        if pilot is not None:
            if declared["sigma"] is not None:
                raise SettingError(f"feedback.pilot={pilot}: expected only where sigma is left out: say one of them.")
            declared["sigma"] = Pilot(pilot)
        feedback: Feedback = KINDS[self.feedback.kind](**declared)
        return settings_of({**(self.model_extra or {}), "feedback": feedback})


def read_campaign(path: Path) -> Campaign:
    """The campaign in a file; refuses a wrong one with what was found, where, and what was expected."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as problem:
        raise SettingError(f"{path}: {problem.strerror}. Give the path of a campaign file (TOML).") from problem
    except UnicodeDecodeError as problem:
        raise SettingError(f"{path}: not text in UTF-8. Give the path of a campaign file (TOML).") from problem
    try:
        return campaign_of(tomllib.loads(text))
    except tomllib.TOMLDecodeError as problem:
        raise SettingError(f"{path}: not TOML: {problem}.") from problem
    except SettingError as problem:
        raise SettingError(f"{path}: {problem}") from problem


def campaign_of(table: Mapping[str, Any]) -> Campaign:
    """The campaign in a table."""
    try:
        campaign = Campaign.model_validate(table)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part not in KINDS) or "the file"
        raise SettingError(f"{place}: {first['msg']}. `earlycall plan --example` prints a whole file.") from problem
    unknown = set(campaign.model_extra or {}) - set(Options.__annotations__)
    if unknown:
        options = ", ".join(sorted(set(Options.__annotations__) - {"feedback"}))
        raise SettingError(f"{sorted(unknown)[0]}: no such option of a race. There are: {options}.")
    if campaign.commands is not None:
        wrong = sorted(set(name_arms(campaign.arms)) ^ set(campaign.commands))
        if wrong:
            raise SettingError(f"commands: expected one for every arm and no other; look at {wrong[0]!r}.")
    return campaign
