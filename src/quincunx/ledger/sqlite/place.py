"""Where a ledger may live: one name, in an existing folder, on a local file system."""

from __future__ import annotations

import os
import re
import stat
import time
from pathlib import Path
from typing import Final

from quincunx.errors import ParameterError, UnavailableError, cause, kind_of

MEMORY: Final = ":memory:"
# SQLite's log is shared memory between processes: on these, two machines would not see each other's records.
# fmt: off
NETWORK: Final = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fakeowner", "fuse.ceph", "fuse.cephfs", "fuse.davfs2",
    "fuse.gcsfuse", "fuse.glusterfs", "fuse.grpcfuse", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs",
    "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb", "smb2", "smb3", "smbfs", "virtiofs",
})
# fmt: on
_MOUNTS: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
# How long a ledger that another process is creating may have two names, in seconds.
_CREATION: Final = 2.0


def located(path: object) -> str:
    """The one absolute path of a ledger's file, or ":memory:". Refused where a ledger would not be safe."""
    if not isinstance(path, str | os.PathLike):
        hint = 'Write the path of a file, or ":memory:" for a ledger that is forgotten.'
        raise ParameterError("expected the ledger's path", where="ledger", got=kind_of(path), hint=hint)
    text = os.fspath(path)
    if text == MEMORY:
        return MEMORY
    if not isinstance(text, str) or not text or "\0" in text:
        hint = 'A ledger has no default place: write a file name, or ":memory:" for a ledger that is forgotten.'
        raise ParameterError("this cannot be a ledger's path", where="ledger", got=ascii(text)[:60], hint=hint)
    real = os.path.realpath(text)
    folder = os.path.dirname(real)
    if not os.path.isdir(folder):
        raise UnavailableError("the folder does not exist", where=text, hint="Make it first, or correct the path.")
    mount, kind = mounted(real)
    if kind in NETWORK:
        hint = "Put it on a local disk: between machines SQLite's locks do not hold, and a budget could be spent twice."
        raise UnavailableError("a ledger cannot live on a network file system", where=text, got=kind, hint=hint)
    if mount == real:
        hint = "Mount its folder instead: the log beside the file must be shared too."
        raise UnavailableError("the ledger's file is a mount point of its own", where=text, hint=hint)
    return real


def check_file(real: str) -> tuple[int, int]:
    """(device, inode) of the ledger's file. Refused unless it is an ordinary file with one name."""
    until = time.monotonic() + _CREATION
    while True:
        try:
            found = os.stat(real)
        except OSError as error:
            raise UnavailableError("the ledger's file cannot be reached", where=real, got=cause(error)) from None
        if not stat.S_ISREG(found.st_mode):
            raise UnavailableError("this is not a file", where=real, hint="A ledger is a single file.")
        if found.st_nlink <= 1:
            return found.st_dev, found.st_ino
        if time.monotonic() > until:
            hint = (
                "Remove the other hard link: each name would get a log of its own, and the budget would be spent twice."
            )
            raise UnavailableError("the ledger's file has two names", where=real, hint=hint)
        time.sleep(0.01)


def mounted(real: str, table: str | None = None) -> tuple[str, str]:
    """(mount point, type of file system) that holds the path; ("", "") where the system does not say.

    `table`: the text of mountinfo (man 5 proc): fields 5 and, after the dash, 1. The last line for a place counts.
    """
    if table is None:
        try:
            table = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return "", ""
    best = ("", "")
    for line in table.splitlines():
        before, dash, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])
        inside = point == "/" or real == point or real.startswith(point + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, kinds[0])
    return best
