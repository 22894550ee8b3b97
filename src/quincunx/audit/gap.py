"""How far two worlds are apart before noise, against what is declared: one comparison as a value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One comparison. part: what was compared; of a table "measure 0", "votes", "votes of new keys", "new keys" or
    "choice".

    distance2, allowed2: squares, in the declared norm and the unit of what was compared (lattice units for a table; for
    "new keys" squares of how many there are).
    """

    part: str
    distance2: Fraction
    allowed2: Fraction

    @property
    def holds(self) -> bool:
        """Whether the distance is within what is declared."""
        return self.distance2 <= self.allowed2

    @property
    def ratio(self) -> float:
        """The distance as a part of what is declared; for people, near 1 where the worlds are hard."""
        if not self.allowed2:
            return 0.0 if not self.distance2 else math.inf
        try:
            ratio = math.sqrt(self.distance2 / self.allowed2)
        except OverflowError:
            return math.inf
        # A violation of less than an ulp must not print as 1.
        return ratio if self.holds or ratio > 1 else math.nextafter(1.0, 2.0)
