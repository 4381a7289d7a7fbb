"""What counts as a mistake where arms come and go."""

from typing import Any

import numpy as np

from earlycall.core.settings import settings_of
from earlycall.core.tables import ACCEPTED, JUDGED, LEADER, REJECTED, SURVIVING, WITHDRAWN
from earlycall.sim.compiled import Track, run, track_of
from earlycall.sim.roster import SLIPS, mistaken, slips
from earlycall.sim.worlds import World

WORLD = World("four", (3.0, 2.0, 2.0, 0.0), 2, 1.0, 5, "none", departures={0: 500})
OPTIONS: dict[str, Any] = {"k": 2, "delta": 0.05, "feedback": WORLD.feedback(), "reserve": 0}


def judged(*verdicts: int) -> Track:
    """A race with these verdicts."""
    track = track_of(settings_of(OPTIONS), WORLD)
    track.tables.arms[:, JUDGED] = verdicts
    return track


def wrong(track: Track) -> int:
    """How many of its verdicts are."""
    return slips(track.rules, track.law, track.tables)


def test_verdicts_are_held_against_the_arms_that_are_there() -> None:
    """Ties may be judged either way; when the best has left, what was right is wrong and the other way round."""
    assert wrong(judged(ACCEPTED, ACCEPTED, REJECTED, REJECTED)) == 0
    assert wrong(judged(ACCEPTED, REJECTED, ACCEPTED, REJECTED)) == 0
    assert wrong(judged(ACCEPTED, SURVIVING, SURVIVING, ACCEPTED)) == 1
    assert wrong(judged(REJECTED, ACCEPTED, ACCEPTED, SURVIVING)) == 1
    assert wrong(judged(WITHDRAWN, ACCEPTED, REJECTED, REJECTED)) == 1
    assert wrong(judged(WITHDRAWN, ACCEPTED, ACCEPTED, REJECTED)) == 0


def test_a_wrong_verdict_counts_even_if_it_was_taken_back() -> None:
    """What was wrong when somebody came or left is remembered; so is a leader beyond ε, among those that are there."""
    track = judged(WITHDRAWN, SURVIVING, SURVIVING, SURVIVING)
    told = (track.rules, track.law, track.tables, track.clock)
    assert not mistaken(*told, within=False)
    track.tables.arms[1:3, LEADER] = 1
    assert not mistaken(*told, within=True)
    track.tables.arms[1:, LEADER] = [1, 0, 1]
    assert mistaken(*told, within=True)
    track.clock[SLIPS] = 1
    assert mistaken(*told, within=False)


def test_wrong_verdicts_are_looked_at_before_an_arm_leaves() -> None:
    """Arms much alike and δ = 0.999: some races reject the better one, and it comes back when the best arm leaves."""
    world = World("alike", (5.0, 0.5, 0.4, 0.4, 0.4, 0.4), 2, 1.0, 1, "none", departures={0: 60})
    careless = settings_of(
        OPTIONS | {"delta": 0.999, "feedback": world.feedback(), "parallel": 3, "delays": "independent"}
    )
    came_back = 0
    for rng in np.random.default_rng(1).spawn(2000):
        track = track_of(careless, world)
        run(track, rng, limit=60)
        told = (track.rules, track.law, track.tables, track.clock)
        if track.clock[SLIPS] > 0 and wrong(track) == 0:
            came_back += 1
            assert mistaken(*told, within=False)
    assert 0 < came_back < 100
