"""What an engine worked out for programs: of the last ones only, because a session may be asked all day.

A statement with its trees takes from 0.3 to 2 MB. What is forgotten is worked out again, which changes the time alone.
"""

from __future__ import annotations

import threading
from typing import Final, Generic, TypeVar

from quincunx.table.measure import Program

# More than a plan has releases, or a ladder rungs, most often.
MOST: Final = 128

T = TypeVar("T")


class Recent(Generic[T]):
    """Program → what was worked out for it; of more than MOST programs those that were not asked for longest are gone.

    Threads may share it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # In the order in which they were asked for last.
        self._found: dict[Program, T] = {}

    def __len__(self) -> int:
        return len(self._found)

    def get(self, program: Program) -> T | None:
        """What was worked out, if it is still known."""
        with self._lock:
            found = self._found.pop(program, None)
            if found is not None:
                self._found[program] = found
            return found

    def keep(self, program: Program, found: T) -> None:
        """Remember it as the last one that was asked for."""
        with self._lock:
            self._found.pop(program, None)
            self._found[program] = found
            while len(self._found) > MOST:
                del self._found[next(iter(self._found))]
