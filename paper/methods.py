"""The methods that are compared: a name, options, and what each hears of a pull."""

from dataclasses import dataclass, field, replace
from typing import Any

from earlycall.core.settings import Settings, settings_of
from earlycall.sim.worlds import World

DELTA = 0.05
SEQUENTIAL: dict[str, Any] = {}
PARALLEL: dict[str, Any] = {"parallel": 10, "per_arm": 10}  # the paper's b = r = 10
SHAPES = {"sequential": SEQUENTIAL, "parallel": PARALLEL}


@dataclass(frozen=True)
class Method:
    """One line in the figures."""

    name: str
    partial: bool  # whether it hears readings
    options: dict[str, Any] = field(default_factory=dict)

    def settings(self, world: World, shape: dict[str, Any]) -> Settings:
        """The settings of a race in a world."""
        feedback = world.feedback() if self.partial else replace(world, noise="none").feedback()
        return settings_of(
            {"k": world.k, "delta": DELTA, "feedback": feedback, "delays": "independent", **shape, **self.options}
        )


LEDGER: dict[str, Any] = {"method": "paper", "ledger": "as-printed"}
PRINTED: dict[str, Any] = {**LEDGER, "radius": "as-printed"}
METHODS = (
    Method("paper, full", False, {"method": "paper"}),
    Method("paper, partial", True, {"method": "paper"}),
    Method("printed ledger, full", False, LEDGER),
    Method("printed ledger, partial", True, LEDGER),
    Method("as printed, full", False, PRINTED),
    Method("as printed, partial", True, PRINTED),
    Method("evidence, full", False),
    Method("evidence", True),
    Method("evidence, cutting", True, {"setup": 0}),
)
