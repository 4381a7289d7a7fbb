"""One number or word from outside at a time: what it must be, and the sentence it gets when it is not.

A number may be anything Python calls real, so NumPy scalars pass; True and False do not. A refusal quotes what was
seen, says what was expected and, where one is known, the remedy.
"""

import math
from collections.abc import Iterable
from numbers import Integral, Real

from earlycall.errors import CallerError

# The kernel squares and multiplies; between these, nothing it computes can overflow or vanish without a word.
SMALLEST, LARGEST = 1e-30, 1e30
# Beyond this many sds a value's last digits are coarser than what the race has to tell apart.
COARSE = 1e9


def real(name: str, seen: object, expected: str, error: type[CallerError], remedy: str = "") -> float:
    """A finite number as a float.

    >>> real("value", 3, "a number", CallerError)
    3.0
    """
    if type(seen) is float and math.isfinite(seen):  # the usual case, and the quick one
        return seen
    if not isinstance(seen, bool) and isinstance(seen, Real):
        try:
            number = float(seen)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise error(refusal(name, seen, expected, remedy))


def scale(name: str, seen: object, error: type[CallerError], remedy: str = "") -> float:
    """A standard deviation or another positive size.

    >>> scale("sigma", -1.0, CallerError)
    Traceback (most recent call last):
    earlycall.errors.CallerError: sigma=-1.0: expected a number above 0 (from 1e-30 to 1e+30).
    """
    expected = f"a number above 0 (from {SMALLEST:g} to {LARGEST:g})"
    number = real(name, seen, expected, error, remedy)
    if not SMALLEST <= number <= LARGEST:
        raise error(refusal(name, seen, expected, remedy))
    return number


def whole(
    name: str, seen: object, least: int, error: type[CallerError], remedy: str = "", most: int = 2**63 - 1
) -> int:
    """A whole number, `least` or more, `most` or less.

    >>> whole("parallel", 0, 1, CallerError)
    Traceback (most recent call last):
    earlycall.errors.CallerError: parallel=0: expected a whole number, 1 or more.
    """
    if not isinstance(seen, bool) and isinstance(seen, Integral):
        number = int(seen)
        if least <= number <= most:
            return number
        if number > most:
            raise error(refusal(name, seen, f"a whole number, at most {most}", remedy))
    raise error(refusal(name, seen, f"a whole number, {least} or more", remedy))


def choice(name: str, seen: object, words: Iterable[str], error: type[CallerError], remedy: str = "") -> str:
    """One of a few words.

    >>> choice("direction", "up", ["maximize", "minimize"], CallerError)
    Traceback (most recent call last):
    earlycall.errors.CallerError: direction='up': expected 'maximize' or 'minimize'.
    """
    known = list(words)
    if isinstance(seen, str) and seen in known:
        return seen
    raise error(refusal(name, seen, " or ".join(map(repr, known)), remedy))


def text(name: str, seen: object, least: int, error: type[CallerError], remedy: str = "") -> str:
    """Some words of `least` characters or more: a label, a key, a reason.

    >>> text("reason", None, 0, CallerError)
    Traceback (most recent call last):
    earlycall.errors.CallerError: reason=None: expected text without line breaks or control characters.
    """
    if isinstance(seen, str) and seen.isprintable() and len(seen) >= least:
        return str(seen)
    expected = f"text{' that is not empty,' if least else ''} without line breaks or control characters"
    raise error(refusal(name, seen, expected, remedy))


def too_coarse(name: str, seen: float, sd: float) -> str:
    """The sentence for a value so far from 0 that rounding would eat what it says."""
    expected = f"at most {COARSE:g} times its sd {sd:g}, or rounding would eat what it says"
    return refusal(name, seen, expected, "Measure from another origin: subtract a constant from every value.")


def one_line(name: str, seen: object, error: type[CallerError]) -> str:
    """Any words, a traceback included, on one line and without control characters.

    >>> one_line("reason", "Traceback:\\n  oven on fire", CallerError)
    'Traceback: oven on fire'
    """
    if not isinstance(seen, str):
        raise error(refusal(name, seen, "text"))
    words = " ".join(seen.split())
    return "".join(letter for letter in words if letter.isprintable())


def quoted(seen: object) -> str:
    """What was seen, as short as it can be shown on one line."""
    try:
        said = " ".join(repr(seen).split())
    except Exception as problem:  # the repr of a stranger's object may do anything, and this is a message about it
        said = f"<a {type(seen).__name__} that cannot be shown: {type(problem).__name__}>"
    return said if len(said) <= 80 else said[:77] + "..."


def refusal(name: str, seen: object, expected: str, remedy: str = "") -> str:
    """The sentence: what was seen, what was expected, what to do."""
    said = quoted(seen)
    return f"{name}={said}: expected {expected}." + (f" {remedy}" if remedy else "")
