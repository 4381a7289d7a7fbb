"""A small process that outlives this one by a moment, and then ends what it left running.

However this process dies, its end of the guard's pipe closes; the guard then kills every process group it was told of
and not told to forget. It runs in a session of its own, so no Ctrl-C reaches it.
"""

import os
import signal
import subprocess
import sys

GUARD = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    group = int(line)
    groups.add(group) if group > 0 else groups.discard(-group)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no SIGKILL


class Guard:
    """Watches over process groups. Does nothing where there are none (Windows)."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """Kill this group when this process is gone."""
        if self.process is None and hasattr(os, "killpg"):
            command = [sys.executable, "-I", "-S", "-c", GUARD]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0, start_new_session=True)
        self._say(group)

    def forget(self, group: int) -> None:
        """This group has ended; its number may be somebody else's soon."""
        self._say(-group)

    def close(self) -> None:
        """Nothing is left to watch."""
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None

    def _say(self, number: int) -> None:
        if self.process is not None and self.process.stdin is not None:
            try:
                self.process.stdin.write(b"%d\n" % number)
            except BrokenPipeError:  # somebody killed the guard; the race goes on without
                self.process.wait()
                self.process = None


def kill_group(group: int, number: int) -> None:
    """Send a signal to a whole process group, or to the process where there are no groups."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(group, number)
        else:
            os.kill(group, number)
    except (ProcessLookupError, PermissionError):  # gone already, or gone and waiting to be fetched
        pass


def exit_of(code: int) -> tuple[bool, str]:
    """(whether it was killed from outside, how a process ended) by its exit code, −n for the signal n.

    SIGKILL is what operators, schedulers and a machine short of memory send; no program sends it to itself.
    """
    if code >= 0:
        return False, f"exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return name == "SIGKILL", name
