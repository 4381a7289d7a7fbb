"""The front door lists exactly what people may lean on, and the table of options exactly what there is."""

import inspect
import re
import subprocess
import sys
from dataclasses import MISSING, fields
from typing import get_type_hints

import earlycall
from earlycall.core.settings import Options, Settings
from tests.house.rooms import ROOT


def test_the_front_door_lists_exactly_its_rooms() -> None:
    """Every public name is in `__all__`, in order; about twenty; nothing else can be seen from outside."""
    public = {name for name, what in vars(earlycall).items() if name[0] != "_" and not inspect.ismodule(what)}
    assert public == set(earlycall.__all__) - {"__version__"}
    assert earlycall.__all__ == sorted(earlycall.__all__)
    assert len(earlycall.__all__) <= 24


def test_every_option_is_in_the_table_with_its_default() -> None:
    """docs/options.md, the keywords that type checkers see and the settings themselves are the same list."""
    table = (ROOT / "docs" / "options.md").read_text(encoding="utf-8").split("## Feedback")[0]
    listed = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", table, re.MULTILINE))
    expected = {f.name: "must be said" if f.default is MISSING else f"`{f.default!r}`" for f in fields(Settings)}
    assert listed == expected
    assert set(get_type_hints(Options)) == set(expected)


def test_importing_earlycall_brings_no_numpy() -> None:
    """The base install has none; where there is one it is not loaded."""
    code = "import sys, earlycall; assert not {'numpy', 'numba', 'pydantic', 'rich', 'typer'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
