"""The arms as a user gives them: labels for the race, values for the user's own code."""

from collections.abc import Mapping, Set
from numbers import Number

from earlycall.core.checks import refusal, text
from earlycall.errors import SettingError

EXPECTED = "a list of arms, or a dict {label: value}"


def name_arms(arms: object) -> dict[str, object]:
    """{label: value}, in order. A label is the text of a name or number, and "0", "1", … for anything else.

    >>> name_arms(["slow", 3, {"lr": 0.1}])
    {'slow': 'slow', '3': 3, '2': {'lr': 0.1}}
    """
    if isinstance(arms, Mapping):
        pairs = [(str(key), value) for key, value in arms.items()]
    elif type(arms).__name__ == "DataFrame":  # iterating over one gives its columns, which nobody means
        remedy = 'With pandas: arms=df.to_dict("index"); with polars: arms=df.to_dicts().'
        raise SettingError(f"arms is a DataFrame: expected {EXPECTED}. {remedy}")
    elif isinstance(arms, str | bytes | Set) or not hasattr(arms, "__iter__") or getattr(arms, "ndim", 1) != 1:
        remedy = "A set has no order: give a list." if isinstance(arms, Set) else ""
        raise SettingError(refusal("arms", arms, EXPECTED, remedy))
    else:
        pairs = [(label_of(arm, number), arm) for number, arm in enumerate(iter(arms))]
    if len(pairs) < 2:
        raise SettingError(refusal("arms", arms, "two arms or more"))
    named: dict[str, object] = {}
    for label, value in pairs:
        text("label", label, 1, SettingError)
        if label in named:
            raise SettingError(
                f"label={label!r}: expected a different one for every arm; give a dict {{label: value}}."
            )
        named[label] = value
    return named


def label_of(arm: object, number: int) -> str:
    """The label of an arm given without one."""
    if not isinstance(arm, str | Number):
        return str(number)
    try:
        return str(arm)
    except ValueError:  # a whole number of thousands of digits has no text
        return str(number)
