"""Files that appear whole or not at all: made in a hidden folder beside the target, then put in its place in one step.

A writer holds a lock on its hidden folder while it lives, and the system lets go of it when the process ends, however
it ends. So a later run knows what a killed one left behind from what another one is writing now.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from quincunx.errors import UnavailableError, cause

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

_PREFIX: Final = ".quincunx-"


def check_folder(folder: Path) -> None:
    """Make the folder and see that it can be written, before anything is spent; what killed runs left is removed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        with _hidden(folder) as place:
            (place / "probe").touch()
    except OSError as error:
        hint = "Check the path and who may write there; nothing was spent."
        got = cause(error)
        raise UnavailableError("the folder cannot be written", where=str(folder), got=got, hint=hint) from None


def write_whole(path: Path, make: Callable[[Path], None]) -> None:
    """`make` writes to the path that it is given; then the file takes its place."""
    with _hidden(path.parent) as place:
        make(place / path.name)
        os.replace(place / path.name, path)


def write_text(path: Path, text: str) -> None:
    """A text as UTF-8, with its line ends as they are."""

    def make(fresh: Path) -> None:
        fresh.write_text(text, encoding="utf-8", newline="")

    write_whole(path, make)


@contextmanager
def _hidden(folder: Path) -> Iterator[Path]:
    """A hidden folder of this process alone, locked, and removed in the end."""
    while True:
        place = folder / f"{_PREFIX}{secrets.token_hex(8)}"
        place.mkdir()
        lock = _locked(place, wait=True)
        if place.exists():
            break
        # Somebody swept between the two lines above.
        _release(lock)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        _release(lock)


def _sweep(folder: Path) -> None:
    for place in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            lock = _locked(place, wait=False)
            if lock is not None:
                shutil.rmtree(place, ignore_errors=True)
                _release(lock)


def _locked(place: Path, *, wait: bool) -> int | None:
    """An open lock on a folder; None where another process holds it, or where there are no such locks: then nothing
    is swept."""
    if sys.platform == "win32":
        return None
    try:
        handle = os.open(place, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        flock(handle, LOCK_EX if wait else LOCK_EX | LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _release(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)
