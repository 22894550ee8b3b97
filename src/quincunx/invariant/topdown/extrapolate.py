"""Anderson's extrapolation of a fixed-point iteration, for many independent families at once.

From the last moves f_i = F(w_i) − w_i the combination of smallest length is taken, and the same combination of F(w_i)
is the next state (Anderson 1965; Walker and Ni 2011, equation 2.2). Nothing is promised far from a solution, so a
family whose moves have grown since its last jump goes on by plain steps (`fit.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.invariant.topdown.families import Families
from quincunx.invariant.topdown.schema import Floats

_MEMORY: Final = 6
_GROWN: Final = 2.0


class Extrapolation:
    """weights: of each array of a state in its squared length."""

    def __init__(self, families: Families, weights: Sequence[float]) -> None:
        self._families, self._weights = families, weights
        self._states: list[list[Floats]] = []
        self._moves: list[list[Floats]] = []
        self._fresh = np.zeros(len(families.counts), dtype=np.int64)
        self._best = np.full(len(families.counts), np.inf)

    def forget(self, which: NDArray[np.bool_]) -> None:
        """The map of some families has changed: what they did before says nothing."""
        self._fresh[which] = 0
        self._best[which] = np.inf

    def step(self, states: Sequence[Floats], moves: Sequence[Floats], *, jump: bool) -> list[Floats]:
        """The next state: state + move, or where `jump` and memory allow, the extrapolated one."""
        plain = [state + move for state, move in zip(states, moves, strict=True)]
        self._states.append(list(states))
        self._moves.append(list(moves))
        self._fresh += 1
        if len(self._states) > _MEMORY + 1:
            del self._states[0], self._moves[0]
        if not jump:
            return plain
        length = self._dot(moves, moves)
        good = (self._fresh > 2) & (length <= _GROWN**2 * self._best)
        self.forget((self._fresh > 2) & ~good)
        if not good.any():
            return plain
        self._best = np.where(good, np.minimum(self._best, length), self._best)
        turns = [self._change(self._moves, k) for k in range(len(self._moves) - 1)]
        # A change that reaches back before a family's memory begins does not count for it.
        old = [self._fresh < len(self._moves) - k for k in range(len(turns))]
        gram = np.zeros((len(good), len(turns), len(turns)))
        right = np.zeros((len(good), len(turns)))
        for i, one in enumerate(turns):
            for j in range(i, len(turns)):
                gram[:, i, j] = gram[:, j, i] = np.where(old[i] | old[j], 0.0, self._dot(one, turns[j]))
            right[:, i] = np.where(old[i], 0.0, self._dot(one, moves))
        ridge = 1e-10 * np.trace(gram, axis1=1, axis2=2) + 1e-300
        share = np.linalg.solve(gram + ridge[:, None, None] * np.eye(len(turns)), right[:, :, None])[:, :, 0]
        share = np.where(good[:, None] & np.isfinite(share), share, 0.0)
        for k, turn in enumerate(turns):
            part = self._families.spread(share[:, k])[:, None]
            for place, (state, move) in enumerate(zip(self._change(self._states, k), turn, strict=True)):
                plain[place] -= part * (state + move)
        return plain

    def _change(self, kept: list[list[Floats]], k: int) -> list[Floats]:
        return [after - before for before, after in zip(kept[k], kept[k + 1], strict=True)]

    def _dot(self, one: Sequence[Floats], other: Sequence[Floats]) -> Floats:
        found: Floats = np.zeros(len(self._families.owner))
        for weight, a, b in zip(self._weights, one, other, strict=True):
            found += weight * np.einsum("pc,pc->p", a, b)
        return self._families.sums(found)
