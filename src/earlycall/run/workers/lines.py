"""What a program prints about its pull, one line at a time: a number, or JSON with `value` and what belongs to it.

    1042.5
    {"value": 1042.5, "sd": 60, "step": 100}
    {"value": 1101, "final": true}

Whoever wrote it, it is data: a line that is neither is refused with a sentence, whatever is in it.
"""

import json
import re

from earlycall.core.checks import one_line, real, refusal, scale, whole
from earlycall.errors import NewsError
from earlycall.run.objective import NUMBER, Reading

LONGEST = 65_536  # bytes of a line
KEYS = ("value", "step", "sd", "of", "final")
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
EXPECTED = 'a number, or JSON like {"value": 1.5, "step": 10}'
REMEDY = "Print everything else to stderr."


def reading_of(line: bytes) -> tuple[Reading, bool]:
    """(the reading, whether the line itself says that it is final or that it is not); refuses any other line.

    >>> reading_of(b'{"value": 3, "sd": 0.5}')
    (Reading(value=3.0, step=None, sd=0.5, of=None, final=False), False)
    """
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise NewsError(refusal("line", line, EXPECTED, REMEDY)) from None
    if PLAIN.fullmatch(text) and len(text) <= 400:
        return Reading(real("value", float(text), NUMBER, NewsError)), False
    return of_table(table_of(text))


def table_of(text: str) -> dict[str, object]:
    """The JSON object of a line."""
    shown = one_line("line", text, NewsError)
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict) or "value" not in table:
        raise NewsError(refusal("line", shown, EXPECTED, REMEDY))
    unknown = [key for key in table if key not in KEYS]
    if unknown:
        raise NewsError(refusal("key", unknown[0], f"one of {', '.join(KEYS)}"))
    return table


def of_table(table: dict[str, object]) -> tuple[Reading, bool]:
    """The reading that a table is."""
    step, sd, of, final = (table.get(key) for key in ("step", "sd", "of", "final"))
    if final is not None and not isinstance(final, bool):
        raise NewsError(refusal("final", final, "true or false"))
    reading = Reading(
        value=real("value", table["value"], NUMBER, NewsError),
        step=None if step is None else whole("step", step, 1, NewsError),
        sd=None if sd is None else scale("sd", sd, NewsError),
        of=None if of is None else whole("of", of, 1, NewsError),
        final=final is True,
    )
    return reading, final is not None
