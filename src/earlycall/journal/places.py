"""Where a journal is: the address a user gives, and the file systems that SQLite cannot be trusted on."""

import os
from collections.abc import Iterable
from pathlib import Path

from earlycall.core.checks import refusal
from earlycall.errors import SettingError, WorldError

EXPECTED = "the address of a journal"
EXAMPLE = "For example 'sqlite:///charging.db', a file beside you, or 'sqlite:////data/charging.db', anywhere."
# Two machines that write to one file here do not see each other's locks (sqlite.org/howtocorrupt.html, 2.1).
NETWORK = frozenset(
    "nfs nfs4 cifs smb smb2 smb3 smbfs afs ncpfs lustre gpfs beegfs ceph ocfs2 gfs2 glusterfs fuse.sshfs fuse.glusterfs"
    " fuse.ceph fuse.s3fs fuse.rclone fuse.gcsfuse fuse.juicefs davfs fuse.davfs2".split()
)
MOUNTS = Path("/proc/self/mounts")  # where a system has none, the file system stays unknown and is trusted


def file_of(url: object) -> Path:
    """The file a journal's address names.

    >>> file_of("sqlite:///charging.db").name
    'charging.db'
    >>> file_of("charging.db")
    Traceback (most recent call last):
    earlycall.errors.SettingError: url='charging.db': expected the address of a journal. For example \
'sqlite:///charging.db', a file beside you, or 'sqlite:////data/charging.db', anywhere.
    """
    if isinstance(url, str) and url.startswith(("postgres:", "postgresql:")):
        remedy = f"A journal on a server is not built yet. {EXAMPLE}"
        raise SettingError(refusal("url", url, "the address of an SQLite file", remedy))
    name = url.removeprefix("sqlite:///") if isinstance(url, str) else ""
    if name in ("", url, ":memory:") or "\0" in name or name.endswith("/"):
        remedy = "For a race in memory: earlycall.Race(…)." if name == ":memory:" else EXAMPLE
        raise SettingError(refusal("url", url, EXPECTED, remedy))
    return Path(name).absolute()


def trusted(file: Path, mounts: Path = MOUNTS) -> None:
    """Refuse a file in a folder that is not there, and one on a network file system."""
    folder = file.parent
    if not folder.is_dir():
        raise WorldError(f"{folder} is no folder: expected one to keep {file.name} in. Make it, or name another.")
    try:
        lines = mounts.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    kind = file_system(folder.resolve(), lines)
    if kind in NETWORK:
        raise WorldError(
            f"{file} lies on a network file system ({kind}): expected a disk of this machine. SQLite's locks do not"
            " hold there, and two writers would spoil the journal. Keep it on a local disk."
        )


def file_system(folder: Path, lines: Iterable[str]) -> str:
    """The kind of file system a folder is on, of those mounted: the last of the longest that lead to it."""
    found, longest = "", -1
    for line in lines:
        _, mounted, kind, *_ = [*line.split(" "), "", ""]
        at = mounted.replace("\\040", " ")
        if folder.is_relative_to(at or os.sep) and len(at) >= longest:
            found, longest = kind, len(at)
    return found
