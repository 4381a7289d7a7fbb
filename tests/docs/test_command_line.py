"""docs/command-line.md is executed: every line that begins with $, in one folder, prints what stands below it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.test_examples import blocks
from tests.house.rooms import ROOT

PAGE = ROOT / "docs" / "command-line.md"
PROGRAMS = Path(sys.executable).parent


def printed(command: str, folder: Path) -> str:
    """What a shell prints of a command, errors included."""
    there = {name: value for name, value in os.environ.items() if not name.startswith("EARLYCALL_")}
    there["PATH"] = f"{PROGRAMS}{os.pathsep}{there['PATH']}"
    told = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=there, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return told.stdout.decode("utf-8")


def test_the_page_of_the_command_line_says_what_it_prints(tmp_path: Path) -> None:
    for line, language, text in blocks(PAGE):
        if language == "toml":
            (tmp_path / "campaign.toml").write_text(text, encoding="utf-8")
        if language == "console":
            commands = [told.removeprefix("$ ") for told in text.splitlines() if told.startswith("$ ")]
            said = "".join(f"$ {command}\n{printed(command, tmp_path)}" for command in commands)
            assert said == text, f"{PAGE.name}:{line}"


def test_every_command_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = subprocess.run([str(PROGRAMS / "earlycall"), "--help"], capture_output=True, text=True, check=True).stdout
    found = [words[1] for words in map(str.split, told.split("Commands")[1].splitlines()) if len(words) > 2]
    names = [name for name in found if told.count(f"│ {name} ") and name not in ("demo", "plan")]
    assert len(names) > 10
    for name in names:
        assert f"`{name}" in page, name
