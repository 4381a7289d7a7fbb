"""Worlds to race in, thousands of races at once, and what no method can beat. Needs the extra `sim`."""

from earlycall.errors import MissingExtraError

try:
    import numba  # noqa: F401
    import numpy  # noqa: F401
except ModuleNotFoundError as missing:
    raise MissingExtraError(f"simulating needs {missing.name}: pip install 'earlycall[sim]'.") from missing
