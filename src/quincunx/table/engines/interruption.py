"""Whether Ctrl-C was pressed while an engine worked: engines turn it into errors of their own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noticing() -> Iterator[Callable[[], bool]]:
    """Gives a function that says whether Ctrl-C was pressed inside the block; what it does otherwise stays the same.

    Signals reach the main thread alone; elsewhere, and where Ctrl-C is ignored, the answer is no.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: False
        return
    handler, pressed = before, []

    def noticed(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        handler(number, frame)

    signal.signal(signal.SIGINT, noticed)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
