"""The rooms of the house (who may lean on whom is in test_imports), and where their files are."""

from pathlib import Path

import earlycall.core

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "src" / "earlycall"

# The core has two layers. The kernel is functions of numbers and tables, compiled as they stand; the shell is
# ids, labels and validation, never compiled.
KERNEL = frozenset(earlycall.core.KERNEL)
SHELL = frozenset(
    "assumptions audit audit_order audit_pulls checks facts models news race remedies roster rules settings state"
    " status".split()
)


def kernel_files() -> list[Path]:
    """Every file of the kernel, in order of name."""
    return [HOUSE / "core" / f"{name}.py" for name in sorted(KERNEL)]
