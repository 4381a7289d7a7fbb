"""Imported before NumPy and numba: says what to install where they are missing."""

from earlycall.errors import MissingExtraError

try:
    import numba  # noqa: F401
    import numpy  # noqa: F401
except ModuleNotFoundError as missing:
    raise MissingExtraError(f"simulating needs {missing.name}: pip install 'earlycall[sim]'.") from missing
