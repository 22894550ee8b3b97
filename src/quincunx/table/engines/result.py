"""What an engine computes: exact, private, not yet noisy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quincunx.table.expression import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One integer for each group and measure, in lattice units, clamped to ±(2^62 − 1). It must not leave unnoised.

    keys: one tuple for each group; the cross product in its order for public keys, () for a question without GROUP BY.
    selection: for unknown keys the votes for each; None for public ones.
    """

    keys: list[tuple[Value, ...]]
    measures: tuple[NDArray[np.int64], ...]
    selection: NDArray[np.int64] | None

    def __repr__(self) -> str:
        # A private value must not appear in a traceback or a log.
        return "Result(private)"
