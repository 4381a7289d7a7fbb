"""How long it takes until earlycall is there: `import earlycall` and `earlycall --help`."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.rows import Row, row

TRIES = 15


def times(command: list[str]) -> list[float]:
    """Wall times of a command, after one run that fills the caches."""
    seconds = []
    for _ in range(TRIES + 1):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - began)
    return seconds[1:]


def rows() -> Iterator[Row]:
    """Import and help, beside a Python that does nothing. Neither may load NumPy."""
    bare = times([sys.executable, "-c", "pass"])
    beside = "python -c pass"
    lean = "import sys, earlycall; sys.exit('numpy' in sys.modules)"
    yield row("import earlycall", times([sys.executable, "-c", lean]), 0.15, beside, bare)
    program = Path(sys.executable).with_name("earlycall")
    yield row("earlycall --help", times([str(program), "--help"]), 0.25, beside, bare)
