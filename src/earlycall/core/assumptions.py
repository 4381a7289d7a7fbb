"""What the verdicts of a race rest on, in sentences: the ones docs/guarantees.md proves them from."""

from earlycall.core.models import Biased, Correlated, Full, Incremental, Pilot, Unbiased
from earlycall.core.settings import Settings


def assumptions(settings: Settings) -> tuple[str, ...]:
    """Everything that is taken for granted, most specific first; nothing else is."""
    return (*about_rewards(settings), *about_readings(settings), *about_delays(settings), *about_everything(settings))


def about_rewards(s: Settings) -> list[str]:
    """How full feedback scatters."""
    sigma = s.feedback.sigma
    if s.blocks is not None:
        shape = "normal" if sigma is None else "sub-Gaussian with the sds declared for a pull on its block"
        said = "On one block the difference of two arms scatters around the difference of their means, the same on all"
        return [f"{said} blocks ({shape}). What blocks do to both is free."]
    if sigma is None:
        own = "every arm has an sd of its own, which nobody knows."
        if isinstance(s.feedback, Incremental):
            return [f"Increments are normal, reported at steps that were fixed beforehand; {own}"]
        return [f"Full feedback is normal around the mean of its arm; {own}"]
    if isinstance(sigma, Pilot):
        return [
            f"Full feedback is normal with one sd for all arms, measured by the first {sigma.pulls} pulls of each. The"
            " chance that its bound is too low is counted in delta."
        ]
    if isinstance(s.feedback, Full | Incremental) or s.looks == "once" or s.method == "paper":
        return ["Full feedback scatters around the mean of its arm with sigma or less (sub-Gaussian)."]
    return ["Full feedback is normal around the mean of its arm, with the sigma declared and no other."]


def about_readings(s: Settings) -> list[str]:
    """What readings say of it."""
    feedback = s.feedback
    if isinstance(feedback, Incremental):
        return ["The increments of a pull are independent, with equal mean and variance for every step."]
    if isinstance(feedback, Correlated):
        return ["The surrogate and the full feedback of a pull are jointly normal, with the correlation declared."]
    if not isinstance(feedback, Unbiased | Biased):
        return []
    offset = "one unknown constant for each arm" if isinstance(feedback, Biased) else "0"
    found = [f"The error of a reading has mean {offset}."]
    if s.looks == "once":
        found.append("Errors scatter with the sds declared or less (sub-Gaussian), pooled as declared.")
        found.append("How long a pull runs is not chosen by what it shows.")
    elif s.method == "paper":
        found.append("Errors are independent and scatter with the sds declared or less (sub-Gaussian).")
    elif feedback.pooling == "refining":
        found.append(
            "Errors are normal with exactly the sds declared; an earlier one is a later one plus its own noise."
        )
    else:
        found.append("Errors are normal with exactly the sds declared, and independent.")
    return found


def about_delays(s: Settings) -> list[str]:
    """What the length of a pull may say."""
    if s.informative:
        found = ["How long a pull takes may say how good it is."]
        if s.min_delay is not None:
            found.append(
                f"No pull ends before step {s.min_delay}, and when readings are taken until then is not chosen."
            )
        return found
    if s.blocks is not None or (s.feedback.sigma is None and isinstance(s.feedback, Full)):
        return ["How long a pull takes may say how good it is."]
    if s.parallel > 1 or s.setup is not None:
        return ["How long a pull takes says nothing of how good it is."]
    return []


def about_everything(s: Settings) -> list[str]:
    """What no race does without."""
    found = ["Pulls are independent of each other, and nothing that was seen is kept from the race."]
    strict = s.informative or s.blocks is not None or s.feedback.sigma is None or s.looks == "once"
    if strict:
        found.append("A pull is lost for reasons that have nothing to do with any result, its own or another pull's.")
    else:
        found.append("A pull is lost for nothing but what was reported, or for reasons apart from how good it is.")
    if not isinstance(s.failure, str):
        found.append(f"A failed pull counts as {s.failure:g}, and that is part of what its arm is worth.")
        if not isinstance(s.feedback, Full | Incremental):
            found.append(
                "What a pull shows before it fails counts until then as a reading of a result like the others."
            )
    return found
