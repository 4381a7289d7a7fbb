"""What can go wrong, in two families: the caller is wrong, or the world is broken.

    EarlycallError
    ├── CallerError            (a ValueError) what was asked cannot be done; nothing has changed
    │   ├── SettingError       the race cannot be opened like this
    │   └── NewsError          this cannot have happened to this race
    └── WorldError             something outside is broken or missing
        └── MissingExtraError  (an ImportError) a library of an extra is not installed

A message says what was seen, what was expected, and what to do.
"""


class EarlycallError(Exception):
    """Anything earlycall refuses or cannot do."""


class CallerError(EarlycallError, ValueError):
    """What was asked for cannot be done; the message says what would be. Nothing has changed."""


class SettingError(CallerError):
    """A race cannot be opened with these settings."""


class NewsError(CallerError):
    """This news does not fit what is known of the race or of the pull."""


class WorldError(EarlycallError):
    """Something outside earlycall is broken or missing."""


class MissingExtraError(WorldError, ImportError):
    """A library that only an extra brings is not installed; the message has the `pip install` line."""


class GuaranteeWarning(UserWarning):
    """The race runs, but its guarantee rests on something you should know."""
