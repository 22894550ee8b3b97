"""A folder of ours in which rows are written down once, while a question is answered. See spark.md.

It is the owner's alone (mode 0700), and removed afterwards. What a crash left is removed at the next start: each folder
holds a lock that ends with its process.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from quincunx.errors import UnavailableError

_LOCK: Final = "lock"


class Scratch:
    """The folder of one engine. base: where it is made; None: where this machine keeps temporary files."""

    def __init__(self, base: str | None) -> None:
        self._above = Path(base or tempfile.gettempdir()) / f"quincunx-spark-{os.getuid()}"
        self._own: Path | None = None
        self._lock: int | None = None

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """A new folder for one question, gone after it."""
        found = self._folder() / secrets.token_hex(8)
        found.mkdir(mode=0o700)
        try:
            yield found
        finally:
            shutil.rmtree(found, ignore_errors=True)

    def close(self) -> None:
        """Remove everything."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
        self._own = self._lock = None

    def _folder(self) -> Path:
        if self._own is None:
            self._above.mkdir(mode=0o700, parents=False, exist_ok=True)
            _check(self._above)
            with _alone(self._above):
                for left in self._above.iterdir():
                    _remove_left(left)
                own = self._above / secrets.token_hex(8)
                own.mkdir(mode=0o700)
                # Held until the process ends, however it ends; no child inherits it.
                self._lock = os.open(own / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._own = own
        return self._own


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else begins or tidies up: a folder whose lock is not held yet would be taken for one that was left."""
    held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _check(folder: Path) -> None:
    """Refuse a folder that somebody else made, or can look into."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) != 0o700:
        hint = "Remove it, or name another folder as scratch."
        raise UnavailableError("the folder for temporary rows is not the owner's alone", where=str(folder), hint=hint)


def _remove_left(folder: Path) -> None:
    """Remove what a process left that ended without it; leave alone what one uses."""
    try:
        held = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        # Ended between making a folder and its lock: there is nothing in it.
        with suppress(OSError):
            folder.rmdir()
        return
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return
    finally:
        os.close(held)
