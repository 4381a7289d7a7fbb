"""Which solver settings are fastest? How much running times scatter nobody knows, and it differs from one to the next.

python examples/unknown_noise.py
"""

import random

import earlycall as ec

SETTINGS = {  # mean running time in seconds and its scatter: the truth, which the race does not know
    "default": (61.0, 4.0),
    "more cuts": (58.0, 9.0),
    "no presolve": (75.0, 6.0),
    "strong branching": (52.0, 3.0),
}
chance = random.Random(1)


def solve(setting: str) -> float:
    """Seconds that one run takes; in your laboratory this is a call of the solver."""
    mean, scatter = SETTINGS[setting]
    return chance.gauss(mean, scatter)


race = ec.Race(
    list(SETTINGS),
    k=1,
    delta=0.05,
    feedback=ec.Full(sigma=None),  # every setting has a scatter of its own, learned on the way
    direction="minimize",
    parallel=4,
)
while not race.decided:
    for pull in race.ask():
        race.tell(pull.id, solve(pull.arm))

print(f"Fastest: {race.top[0]}, with confidence {race.confidence:.0%}.")
print(f"\n{'setting':18}{'runs':>4}{'mean':>8}   95 % interval")
for arm in race.status().arms:
    shown = "not known yet" if arm.low is None else f"{arm.low:.1f} to {arm.high:.1f} s"
    print(f"{arm.arm:18}{arm.finished:4}{arm.mean:8.1f}   {shown}  {arm.verdict}")
print("\nWhy:")
for name in SETTINGS:
    why = race.explain(name)
    print(f"  {name}: {why.arm.verdict}. {why.reason}")
