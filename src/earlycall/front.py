"""What needs more than one room of the house. The other rooms are entered when they are needed, not before."""

from typing import Any

from earlycall.run.handle import Race


def open_race(url: str, name: str, arms: object = None, **options: Any) -> Race:
    """The race of this name in a journal, new or taken up again where it was; the same verbs as `Race`.

    `url`: "sqlite:///charging.db" is a file beside you, "sqlite:////data/charging.db" one anywhere. Without arms and
    options a race that is there goes on; with them they have to be those it was opened with. Several processes may open
    the same race.

    >>> import tempfile
    >>> url = f"sqlite:///{tempfile.mkdtemp()}/charging.db"
    >>> with open_race(url, "spring", ["A", "B"], k=1, delta=0.05, feedback=Full(sigma=1.0)) as race:
    ...     pulls = race.ask()
    >>> with open_race(url, "spring") as race:
    ...     race.running == pulls
    True
    """
    from earlycall.run.opening import open_journal

    return open_journal(url, name, arms, options, depth=6)
