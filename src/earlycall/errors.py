"""What can go wrong, in two families: the caller is wrong, or the world is broken.

    EarlycallError
    └── CallerError            (a ValueError) what was asked cannot be done; nothing has changed
        ├── SettingError       the race cannot be opened like this
        └── NewsError          this cannot have happened to this race

The family of the broken world (disks, processes, networks) arrives with the rooms that touch it. A message says what
was seen, what was expected, and what to do.
"""


class EarlycallError(Exception):
    """Anything earlycall refuses or cannot do."""


class CallerError(EarlycallError, ValueError):
    """What was asked for cannot be done; the message says what would be. Nothing has changed."""


class SettingError(CallerError):
    """A race cannot be opened with these settings."""


class NewsError(CallerError):
    """This news does not fit what is known of the race or of the pull."""


class GuaranteeWarning(UserWarning):
    """The race runs, but its guarantee rests on something you should know."""
