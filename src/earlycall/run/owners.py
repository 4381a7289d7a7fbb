"""Who runs a pull, and whether that process is still there.

A pull that a runner started belongs to it: host, process number, and since when the process runs (numbers are used
again). When the owner is gone its pulls are lost, and other pulls will be asked for. Pulls handed out by `ask` without
an owner are run by somebody we know nothing of, and stay open.
"""

import os
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

from earlycall.core.rules import order_of
from earlycall.core.tables import FREE
from earlycall.run.handle import Pull, Race

GONE = "its runner is gone"
PROC = Path("/proc")


@cache
def me() -> str:
    """This process, as the owner of pulls."""
    return named(os.getpid())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=me.cache_clear)  # a child is another process


def named(process: int) -> str:
    """A process of this host, as an owner: host/number/since."""
    return f"{socket.gethostname()}/{process}/{since(process)}"


def is_gone(owner: str) -> bool:
    """Whether an owner was a process of this host that runs no more; of other hosts nothing is known."""
    host, process, began = owner.rsplit("/", 2)
    if host != socket.gethostname() or began == "" or not process.isdecimal():
        return False
    return since(int(process)) != began


def since(process: int) -> str:
    """When a process began, in the words of its system; "" where it does not run, or cannot be asked for."""
    if PROC.is_dir():
        try:
            told = (PROC / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
            boot = (PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        except OSError:
            return ""
        state, *numbers = told.rpartition(")")[2].split()
        return "" if state in "ZX" else f"{numbers[18]}@{boot[:8]}"  # a zombie runs no more
    if sys.platform == "win32":
        return ""  # then owners are never found gone
    told = subprocess.run(["ps", "-o", "lstart=", "-p", str(process)], capture_output=True, text=True).stdout
    return " ".join(told.split())


def lose_orphans(race: Race) -> list[int]:
    """Lose the running pulls whose owner is gone; their numbers."""
    lost = []
    for pull, owner in race.owners().items():
        if is_gone(owner):
            race.lose(pull, GONE)
            lost.append(pull)
    return lost


def left_over(race: Race) -> list[Pull]:
    """The pulls to run again: those of runners that are gone, where arms are compared in the order of starts.

    To lose them would choose among pulls by their length there; run again with the same seed they are the same pulls.
    Elsewhere they are lost, and others will be asked for.
    """
    if order_of(race.settings) == FREE:
        lose_orphans(race)
        return []
    owners = race.owners()
    return [pull for pull in race.running if pull.id in owners and is_gone(owners[pull.id])]
