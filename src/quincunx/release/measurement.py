"""What is drawn: a measure with the mechanism that answers for it, and the votes of unknown keys with their rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quincunx.loss import Loss
from quincunx.mechanisms import Mechanism, PartitionSelection, ThresholdSelection
from quincunx.table import Measure, Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A measure of a program, and the mechanism, in the measure's lattice units, that answers for it."""

    measure: Measure
    mechanism: Mechanism

    @property
    def loss(self) -> Loss:
        """What the answers for all groups leak together when the data change by one unit of protection."""
        return self.mechanism.loss

    def draw(self, exact: NDArray[Any]) -> NDArray[np.int64]:
        """One answer for each group, as it is stored: a number, or a row of them."""
        return self.mechanism.each(exact)

    def words(self) -> str:
        """`discrete Gaussian noise, σ = 14.1`, in the data's unit."""
        return self.mechanism.words(self.measure.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySelection:
    """The votes for unknown keys, and the rule by which keys are shown.

    uses: how often the rule is charged, because one unit of protection may change so many of what it is stated for.
    """

    votes: Selection
    mechanism: PartitionSelection | ThresholdSelection
    uses: int

    @property
    def loss(self) -> Loss:
        """What the choice of keys leaks when the data change by one unit of protection."""
        return self.mechanism.loss * self.uses

    def draw(self, votes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each key is shown."""
        return np.asarray(self.mechanism.sample(votes)) if votes.size else np.zeros(0, dtype=bool)
