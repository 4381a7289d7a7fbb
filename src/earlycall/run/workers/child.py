"""What a worker process does: pull after pull, one message up for every piece of news, one answer down for a reading.

It leads a process group of its own, so that it can be killed with all it started and no Ctrl-C reaches it, and it dies
with its parent.
"""

import contextlib
import os
import pickle
import signal
import sys
from multiprocessing.connection import Connection

from earlycall.run import objective
from earlycall.run.objective import Objective, line_of
from earlycall.run.workers.news import Failed, Showed, Stopped

Pipe = Connection
READY = "ready"


def main(pipe: Pipe) -> None:
    """The life of a worker process."""
    stand_alone()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the parent is gone: so are we
        try:
            function = pickle.loads(pipe.recv_bytes())
        except EOFError:
            return
        except BaseException as problem:
            pipe.send(line_of(problem))
            return
        pipe.send(READY)
        while True:
            run(pipe, function, *pipe.recv())


def run(pipe: Pipe, function: Objective, number: int, packed: bytes) -> None:
    """One pull."""
    try:
        pull = pickle.loads(packed)
    except Exception as problem:
        pipe.send(Failed(number, line_of(problem)))
        return
    running = objective.run(function, pull)
    for news in running:
        sys.stdout.flush()
        pipe.send(news)
        if isinstance(news, Showed) and not pipe.recv():
            objective.stop(running)
            pipe.send(Stopped(pull.id))
            return


def stand_alone() -> None:
    """A group of its own, deaf to Ctrl-C, and no life after the parent's."""
    if hasattr(os, "setpgid"):
        with contextlib.suppress(PermissionError):  # it leads its session already
            os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # the parent blocked it until now
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if sys.platform == "linux":
        import ctypes

        parent = os.getppid()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)
