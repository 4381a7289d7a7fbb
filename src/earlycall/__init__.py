"""Call the winner early: the best k of many slow, noisy arms, known with probability 1 − δ however often you look."""

from earlycall.core.facts import Fact
from earlycall.core.models import Biased, Correlated, Full, Incremental, Pilot, Unbiased
from earlycall.core.remedies import Suspicion
from earlycall.core.status import Status
from earlycall.errors import (
    CallerError,
    EarlycallError,
    GuaranteeWarning,
    MissingExtraError,
    NewsError,
    SettingError,
    WorldError,
)
from earlycall.front import Result, identify, open_race
from earlycall.run.handle import Pull, Race
from earlycall.run.objective import Lost, Reading
from earlycall.version import __version__

__all__ = [
    "Biased",
    "CallerError",
    "Correlated",
    "EarlycallError",
    "Fact",
    "Full",
    "GuaranteeWarning",
    "Incremental",
    "Lost",
    "MissingExtraError",
    "NewsError",
    "Pilot",
    "Pull",
    "Race",
    "Reading",
    "Result",
    "SettingError",
    "Status",
    "Suspicion",
    "Unbiased",
    "WorldError",
    "__version__",
    "identify",
    "open_race",
]
