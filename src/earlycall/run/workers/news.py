"""What workers have to tell. They cross pipes, so they are made of numbers and short texts only."""

from typing import NamedTuple

LONGEST = 500  # characters of a reason


class Began(NamedTuple):
    """A worker has taken the pull up."""

    pull: int


class Showed(NamedTuple):
    """The pull showed a reading."""

    pull: int
    value: float
    step: int | None = None
    sd: float | None = None
    of: int | None = None


class Ended(NamedTuple):
    """The pull ended with its full feedback."""

    pull: int
    value: float
    step: int | None = None


class Failed(NamedTuple):
    """The pull broke, or took too long."""

    pull: int
    reason: str


class Lost(NamedTuple):
    """The pull is gone, for a reason that has nothing to do with how good it was."""

    pull: int
    reason: str


class Stopped(NamedTuple):
    """A cancelled pull has let go of its worker."""

    pull: int


News = Began | Showed | Ended | Failed | Lost | Stopped


def shortened(reason: str) -> str:
    """A reason of a length that people read; how it ends says most, for a traceback."""
    return reason if len(reason) <= LONGEST else "… " + reason[-LONGEST:]
