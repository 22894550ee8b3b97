"""What long work says about itself: its stage and how long it has taken, on a terminal, after two seconds.

It is driven by stages and by the clock, never by rows: how many there are is private.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import Final, TextIO

Stage = Callable[[str], None]
# Seconds until the first word, and between two.
AFTER: Final = 2.0
_EVERY: Final = 0.5
_CLEAR: Final = "\r\x1b[2K"


@contextmanager
def working(stage: str, *, quiet: bool = False) -> Iterator[Stage]:
    """Says the stage while the block runs, and takes it away before anything else is printed. Gives: the next stage."""
    if quiet or not _is_terminal(sys.stderr):
        yield lambda _: None
        return
    line = Line(sys.stderr, stage)
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(_EVERY):
            line.tick()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield line.stage
    finally:
        ended.set()
        teller.join()
        line.clear()


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class Line:
    """One line that is written again and again. clock: seconds that only grow."""

    def __init__(self, stream: TextIO, stage: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._stage, self._clock = stream, stage, clock
        self._started = clock()
        self._written = False

    def stage(self, stage: str) -> None:
        """Name the next stage; it is shown with the next tick."""
        self._stage = stage

    def tick(self) -> None:
        """Write the line, if the work has taken long enough to be worth it."""
        seconds = self._clock() - self._started
        if seconds < AFTER:
            return
        text = f"{self._stage} … {_took(seconds)}"
        self._stream.write(_CLEAR + text[: get_terminal_size().columns - 1])
        self._stream.flush()
        self._written = True

    def clear(self) -> None:
        """Take the line away, if there is one."""
        if self._written:
            self._stream.write(_CLEAR)
            self._stream.flush()
            self._written = False


def _took(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
