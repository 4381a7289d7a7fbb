"""Which landing page sells most? In week 5 somebody has an idea for another one; in week 8 one has to go.

python examples/new_arm.py
"""

import random

import earlycall as ec

SALES = {"plain": 200, "video": 223, "quiz": 190}  # a week in one shop: the truth, which nobody knows
chance = random.Random(3)
race = ec.Race(
    list(SALES),
    k=1,
    delta=0.05,
    feedback=ec.Full(sigma=15),
    delays="independent",  # every pull takes a week
    parallel=6,  # shops
    reserve=1,  # one more page may join, and any may leave
)
week = 0
while not race.decided:
    week += 1
    if week == 5:
        SALES["chat"] = 228
        race.add_arm("chat")
    if week == 8:
        race.withdraw("video", "the actor objects")
    for pull in race.ask():
        race.tell(pull.id, round(chance.gauss(SALES[pull.arm], 15)))
    standing = ", ".join(f"{arm.arm} {arm.verdict}" for arm in race.status().arms)
    sure = f"{race.confidence:.0%} sure" if race.confidence else "too early to be sure of anything"
    print(f"Week {week}: {standing}. Best so far: {race.top[0]}, {sure}")

print(f"\nThe best page is {race.top[0]}.")
print(race.explain(race.top[0]).reason)
