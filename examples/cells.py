"""Which charging policy makes cells last longest? Forecasts are off, and the cells that last come back last.

python examples/cells.py
"""

import random

import earlycall as ec

LIVES = {"3.6C": 1150, "4.8C": 1000, "6.0C": 700}  # mean life in cycles: the truth, which no laboratory knows
chance = random.Random(8)
lives: dict[int, int] = {}  # of the cells that were ever on test, by pull
ages: dict[int, int] = {}  # of those that are on a channel now


def table(title: str) -> None:
    """What is known by now."""
    print(f"\n{title}")
    for arm in race.status().arms:
        known = "nothing known" if arm.low is None else f"{arm.mean:5.0f} cycles ({arm.low:.0f} to {arm.high:.0f})"
        print(f"  {arm.arm}: {known:28} {arm.finished:2} ended, {arm.running:2} running  {arm.verdict}")


race = ec.Race(
    list(LIVES),
    k=1,
    delta=0.05,
    feedback=ec.Biased(sigma=110, reading_sd=100),  # a forecast is off by some constant, another for each policy
    delays="informative",  # a long-lived cell is also a late one
    min_delay=300,  # no cell dies before
    parallel=12,  # channels
)
day = 0  # of 50 cycles
while not race.decided:
    for pull in race.ask():  # put these cells on the free channels
        lives[pull.id] = max(350, round(chance.gauss(LIVES[pull.arm], 110)))
        ages[pull.id] = 0
    day += 1
    for cell in list(ages):
        if race.should_stop(cell):
            continue
        ages[cell] += 50
        if ages[cell] == 300:
            race.report(cell, chance.gauss(lives[cell] - 60, 100), step=300)
        elif ages[cell] >= lives[cell]:
            race.tell(cell, lives[cell], step=lives[cell])
    off = [cell for cell in ages if race.should_stop(cell)]
    freed = [cell for cell in off if ages[cell] < lives[cell]]
    if freed:
        print(f"\nDay {day}: a policy is decided; take off cells {', '.join(map(str, freed))}")
    for cell in off:
        del ages[cell]
    if day % 40 == 0:
        table(f"Day {day}")
table(f"Decided on day {day}: {race.top[0]}")
