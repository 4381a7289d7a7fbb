"""Counting in compiled races."""

import math


def at_most(count: int, trials: int, rate: float, size: float = 1e-3) -> bool:
    """Whether so many misses in so many trials are compatible with a rate of at most `rate`.

    Exact binomial test: wrongly False with probability at most `size` if the rate is at most `rate`.
    """
    log_rate, log_rest = math.log(rate), math.log1p(-rate)
    tail = math.fsum(
        math.exp(
            math.lgamma(trials + 1) - math.lgamma(m + 1) - math.lgamma(trials - m + 1) + m * log_rate
            + (trials - m) * log_rest
        )
        for m in range(count, trials + 1)
    )  # fmt: skip
    return tail > size
