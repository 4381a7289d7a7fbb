"""Who comes and goes, and the verdicts that this calls into question; the other laws hold for such races, too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earlycall.core.facts import Accepted, ArmAdded, ArmWithdrawn, Rejected, Reopened
from tests.laws.test_laws import many
from tests.play import OPEN, games, play

pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")


@pytest.mark.parametrize("kind", OPEN)
@many
@given(data=st.data())
def test_who_comes_or_goes_calls_the_right_verdicts_into_question(kind: str, data: st.DataObject) -> None:
    """A newcomer takes back what was accepted, a leaver what was rejected unless it was rejected itself; no more.

    And at once: before any other decision. A reopened arm has no verdict until it gets another one.
    """
    player = play(data.draw(games(kind)))
    stands: dict[str, str] = {}
    due: set[str] = set()
    for fact in player.race.facts:
        if isinstance(fact, Reopened):
            due.remove(fact.arm)
            del stands[fact.arm]
            continue
        assert not due
        if isinstance(fact, ArmAdded):
            due = {arm for arm, verdict in stands.items() if verdict == "Accepted"}
        elif isinstance(fact, ArmWithdrawn):
            if stands.pop(fact.label, "") != "Rejected":
                due = {arm for arm, verdict in stands.items() if verdict == "Rejected"}
        elif isinstance(fact, Accepted | Rejected):
            stands[fact.arm] = type(fact).__name__
    assert not due
    shown = {arm.arm: arm.verdict.capitalize() for arm in player.race.status().arms}
    assert {arm: verdict for arm, verdict in shown.items() if verdict in ("Accepted", "Rejected")} == stands
