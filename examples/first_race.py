"""Which of five temperatures gives the best yield? Four processes race to find out."""

import random
import time
from collections.abc import Iterator

import earlycall as ec


def bake(temperature: float, pull: ec.Pull) -> Iterator[ec.Reading]:
    """One batch: two forecasts of its yield while it is in the oven, then the yield itself."""
    chance = random.Random(pull.seed)  # the same pull, the same batch
    true_yield = 80.0 - ((temperature - 180.0) / 10.0) ** 2 + chance.gauss(0.0, 2.0)
    for step, sd in ((1, 4.0), (2, 1.0)):
        time.sleep(0.01)
        yield ec.Reading(chance.gauss(true_yield, sd), step=step)
    time.sleep(0.01)
    yield ec.Reading(true_yield, final=True)  # or: return true_yield


if __name__ == "__main__":  # worker processes import this file, and must not start a race themselves
    result = ec.identify(
        bake,
        [150, 165, 180, 195, 210],
        k=1,
        delta=0.05,
        feedback=ec.Unbiased(sigma=2.0, reading_sd={1: 4.0, 2: 1.0}, pooling="refining"),
        delays="independent",
        parallel=4,
        workers="processes",
    )
    print(result)
    print(result.table())
