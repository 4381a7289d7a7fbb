"""Who runs the pulls, behind three verbs: start a pull, cancel a pull, and what is the news?"""

from typing import Protocol

from earlycall.run.handle import Pull
from earlycall.run.workers.news import News


class Workers(Protocol):
    """Any place where pulls can run."""

    def start(self, pull: Pull) -> None:
        """Run this pull, as soon as a slot is free."""

    def cancel(self, pull: int) -> None:
        """Nobody needs this pull any more: its slot is wanted for the next."""

    def news(self, timeout: float) -> list[News]:
        """What happened, in order; waits for something to happen, but no longer than so many seconds.

        A pull that has shown a reading is paused until the next call, so that it can be cancelled at that reading.
        """

    def close(self) -> None:
        """Cancel what runs, and leave nothing behind."""
