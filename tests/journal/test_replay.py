"""Facts → the state at any moment; decisions derived anew; what is not a race is refused."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import earlycall as ec
from earlycall.core.facts import Accepted, Decided, Fact, Rejected
from earlycall.journal.replay import DECISIONS, explain, state_at, verify
from earlycall.journal.rows import Entry
from tests.play import KINDS, games, play

pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")


def numbered(facts: tuple[Fact, ...] | list[Fact]) -> list[Entry]:
    """Facts, a minute apart."""
    return [Entry(seq, 60.0 * seq, fact) for seq, fact in enumerate(facts, start=1)]


def decided() -> list[Entry]:
    """A race of three arms to its end."""
    race = ec.Race(["a", "b", "c"], k=1, delta=0.05, feedback=ec.Full(1.0), delays="independent", parallel=3)
    while not race.decided:
        for pull in race.ask():
            if not race.should_stop(pull.id):
                race.tell(pull.id, {"a": 0.0, "b": 3.0, "c": 6.0}[pull.arm])
    return numbered(race.facts)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_decision_that_does_not_follow_is_found(kind: str, data: st.DataObject) -> None:
    """One decision left out or doubled, anywhere: the news before it is named. Without that: nothing."""
    entries = numbered(play(data.draw(games(kind))).race.facts)
    assert verify(entries) is None
    places = [place for place, entry in enumerate(entries) if isinstance(entry.fact, DECISIONS)]
    if places:
        place = data.draw(st.sampled_from(places))
        facts = [entry.fact for entry in entries]
        found = verify(numbered(facts[:place] + facts[place + 1 :]))
        assert found is not None
        news = max(p for p in range(place) if not isinstance(facts[p], DECISIONS))
        assert found.seq == news + 1
        assert len(found.derived) == len(found.held) + 1
        assert str(found).startswith(f"after fact {news + 1}, ")


def test_another_verdict_is_found() -> None:
    """An arm that was accepted where it should have been rejected, another top, another number."""
    entries = decided()
    for place, entry in enumerate(entries):
        fact = entry.fact
        wrong: list[Fact] = []
        if isinstance(fact, Accepted | Rejected):
            other = Rejected if isinstance(fact, Accepted) else Accepted
            wrong = [other(fact.arm, fact.mean, fact.rival, fact.rival_mean), replace(fact, mean=fact.mean + 1e-6)]
        elif isinstance(fact, Decided):
            wrong = [replace(fact, top=("a",)), replace(fact, outcome="epsilon"), replace(fact, confidence=None)]
        for change in wrong:
            assert verify([*entries[:place], entry._replace(fact=change), *entries[place + 1 :]]) is not None


def test_the_last_digit_of_a_number_may_differ() -> None:
    """Logarithms are not the same on every machine; a verdict does not hang on that."""
    entries = decided()
    last = entries[-1].fact
    assert isinstance(last, Decided)
    assert last.confidence is not None
    almost = replace(last, confidence=last.confidence * (1.0 + 1e-15))
    assert verify([*entries[:-1], entries[-1]._replace(fact=almost)]) is None


def test_a_moment_is_a_fact_or_a_time() -> None:
    """The state after it, and why an arm stood where it stood."""
    entries = decided()
    first = next(entry for entry in entries if isinstance(entry.fact, Rejected))
    assert not state_at(entries, seq=first.seq - 1).verdicts
    assert state_at(entries, at=first.at).verdicts == state_at(entries, seq=first.seq).verdicts != {}
    assert explain(entries, first.fact.arm, seq=first.seq - 1).arm.verdict == "surviving"  # type: ignore[union-attr]
    assert explain(entries, first.fact.arm).arm.verdict == "rejected"  # type: ignore[union-attr]
    with pytest.raises(ec.CallerError, match="after the race was opened"):
        state_at(entries, at=0.0)


def test_facts_that_are_no_race_are_refused() -> None:
    """One that is missing, doubled, or cannot follow."""
    entries = decided()
    for wrong in (
        entries[:3] + entries[4:],
        entries[:4] + entries[3:],
        numbered([entry.fact for entry in entries[:2] + entries[1:]]),
        numbered([entry.fact for entry in entries[:1] + entries[2:]]),
    ):
        with pytest.raises(ec.WorldError, match="journal"):
            state_at(wrong)
