"""Call the winner early: the best k of many slow, noisy arms, known with probability 1 − δ however often you look."""

from earlycall.core.facts import Fact
from earlycall.core.models import Biased, Correlated, Full, Incremental, Pilot, Unbiased
from earlycall.core.remedies import Suspicion
from earlycall.core.status import ArmStatus, Explanation, PullStory, Status
from earlycall.errors import (
    CallerError,
    EarlycallError,
    GuaranteeWarning,
    MissingExtraError,
    NewsError,
    SettingError,
    WorldError,
)
from earlycall.front import open_race
from earlycall.run.handle import Pull, Race
from earlycall.version import __version__

__all__ = [
    "ArmStatus",
    "Biased",
    "CallerError",
    "Correlated",
    "EarlycallError",
    "Explanation",
    "Fact",
    "Full",
    "GuaranteeWarning",
    "Incremental",
    "MissingExtraError",
    "NewsError",
    "Pilot",
    "Pull",
    "PullStory",
    "Race",
    "SettingError",
    "Status",
    "Suspicion",
    "Unbiased",
    "WorldError",
    "__version__",
    "open_race",
]
