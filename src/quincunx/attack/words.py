"""How stories write numbers."""

from __future__ import annotations

from typing import Final

# Where several of the stories were told to us first.
CHAPTER: Final = "F. Fioretto, P. Van Hentenryck, J. Ziani, Overview and fundamental techniques (2025)"


def percent(share: float, digits: int = 0) -> str:
    """A share of 1 in percent, with so many decimals: 0.25 is 25 %."""
    return f"{100 * share:.{digits}f} %"


def dollars(amount: float) -> str:
    """Whole dollars, with a true minus sign."""
    return f"{'−' if round(amount) < 0 else ''}${abs(round(amount)):,}"
