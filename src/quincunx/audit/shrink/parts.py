"""What is left when parts of a list are left out: how pairs of worlds are made small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

_T = TypeVar("_T")

# Parts so small that there would be more of them are not tried: the next round starts from a shorter list.
_MOST: Final = 24


def without_parts(items: tuple[_T, ...]) -> Iterator[tuple[_T, ...]]:
    """The items with everything, halves, quarters and so on left out, down to single ones where there are few."""
    if items:
        yield ()
    size = len(items) // 2
    while size >= 1 and len(items) // size <= _MOST:
        for start in range(0, len(items), size):
            rest = (*items[:start], *items[start + size :])
            if rest:
                yield rest
        size //= 2
