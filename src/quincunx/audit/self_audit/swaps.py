"""Swapping in the catalogue: small strata, datasets that agree on the invariants, ε times the Hamming distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.self_audit.entry import Entry
from quincunx.invariant import EVERY, Kind, SwapEpsilon, read_rate
from quincunx.invariant import draw as swap_draw
from quincunx.mechanisms import Draw

ROOM: Final = "swapping"
# kind, rate, the second dataset's values, whether the pair attains ε times its distance
_CASES: Final = (
    (Kind.DERANGEMENT, "0.7", (1, 0), True),
    (Kind.DERANGEMENT, "0.2", (1, 0, 2), False),
    (Kind.DERANGEMENT, "0.5", (1, 0, 2, 3), True),
    (Kind.DERANGEMENT, "0.5", (1, 2, 0, 3), False),
    (Kind.UNIFORM, "0.3", (1, 0), True),
    (Kind.UNIFORM, "0.5", (1, 0, 2, 3), True),
    (Kind.UNIFORM, "0.5", (1, 2, 0, 3), False),
)


@dataclass(frozen=True, slots=True)
class Copies:
    """Many copies of one small stratum, as swapping reads a table: columns copy, place and value."""

    values: NDArray[np.int64]

    @property
    def types(self) -> dict[str, str]:
        """Three columns of whole numbers."""
        return dict.fromkeys(("copy", "place", "value"), "integer")

    @property
    def rows(self) -> int:
        """How many records."""
        return int(self.values.size)

    def incomplete(self, name: str) -> bool:  # noqa: ARG002 - the protocol asks for it
        """No column has missing values."""
        return False

    def codes(self, name: str, rows: slice = EVERY) -> NDArray[np.int64]:
        """The column itself: its values are small whole numbers."""
        copies, size = self.values.shape
        columns = {
            "copy": np.repeat(np.arange(copies, dtype=np.int64), size),
            "place": np.tile(np.arange(size, dtype=np.int64), copies),
            "value": np.ascontiguousarray(self.values).ravel(),
        }
        return columns[name][rows]


def entries() -> Iterator[Entry]:
    """Both kinds of swapping, strata of two to four, changes of two and three records."""
    for kind, rate, values, tight in _CASES:
        same = tuple(range(len(values)))
        distance = sum(a != b for a, b in zip(same, values, strict=True))
        epsilon = SwapEpsilon(rate=read_rate(rate, kind), largest_stratum=len(values), kind=kind)
        why = "" if tight else "ε is the largest over all distances, and another distance attains it."
        yield Entry(
            name=f"swapping, {kind.value}, {distance} of {len(values)} moved",
            room=ROOM,
            pair=(same, values),
            words=f"{distance} of {len(values)} records of a stratum with each other's values; rate {rate}",
            stated=f"epsilon={distance * epsilon.exact!r}",
            tight=tight,
            draw=swapped(kind, rate),
            why=why,
        )


def swapped(kind: Kind, rate: str) -> Draw:
    """Who holds which value afterwards, as one number; every copy is a stratum of its own."""

    def draw(values: Any, size: int) -> NDArray[Any]:
        table = Copies(np.broadcast_to(np.asarray(values, dtype=np.int64), (size, len(values))))
        drawn = swap_draw(table, column="value", match="copy", rate=rate, kind=kind.value, household=None)
        held = table.codes("value")[drawn.source].reshape(size, len(values))
        return np.asarray(held @ len(values) ** np.arange(len(values)))

    return draw
