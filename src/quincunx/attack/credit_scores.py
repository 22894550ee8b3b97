"""The tables of the chapter's section 1.2.2 (Fioretto, Van Hentenryck and Ziani 2025), as printed.

Marcia's zip code 19456 is printed as 30***, which it does not generalise to: see docs/errata.md.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

__all__ = ["BANDS", "COMPANY", "EMPLOYEES", "Row", "band"]

# The bands of the Fair Isaac Corporation (FICO scores run from 300 to 850), by their lowest score.
BANDS: Final = {"Poor": 300, "Fair": 580, "Good": 670, "Very good": 740, "Exceptional": 800}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a 4-anonymous table. `name` is what the attacker looks up elsewhere; the release prints the rest."""

    name: str
    place: str
    age: str
    score: int


def band(score: int) -> int:
    """The place of a score's band in `BANDS`."""
    return bisect_right(list(BANDS.values()), score) - 1


# Table 1.1 and the left of Table 1.2.
EMPLOYEES: Final = (
    Row(name="Rick", place="19***", age="60-70", score=797),
    Row(name="Nathan", place="30***", age="30-40", score=650),
    Row(name="Yani", place="19***", age="60-70", score=755),
    Row(name="Xiao", place="30***", age="30-40", score=590),
    Row(name="Luciana", place="19***", age="60-70", score=767),
    Row(name="Anastasia", place="30***", age="30-40", score=597),
    Row(name="Marcia", place="30***", age="30-40", score=613),
    Row(name="Yuki", place="19***", age="60-70", score=775),
)
# The right of Table 1.2: of these only Marcia is named, and not her row.
COMPANY: Final = tuple(
    Row(name=letter, place="30***", age="30-40", score=score)
    for letter, score in (("A", 815), ("B", 613), ("C", 376), ("D", 727))
)
