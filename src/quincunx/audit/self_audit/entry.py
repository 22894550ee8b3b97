"""One line of the catalogue: a mechanism, two neighbouring datasets on which it is at its worst, and its claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from quincunx.errors import ParameterError
from quincunx.loss import Loss
from quincunx.mechanisms import Draw

# Draws on each side.
QUICK, DEFAULT, FULL = 10**5, 10**6, 10**7
# What an entry with a smaller share gets in a quick audit, and at least in any other.
FEWEST: Final = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is claimed of one mechanism, and how it is tried.

    name: unique in the catalogue. room: the part of Quincunx it belongs to, in words. covers: the public names of
    `quincunx.mechanisms` that it exercises. pair: the two neighbouring datasets; words: what they are. stated: what is
    claimed, as `Claim.parse` reads it ("epsilon=1"), or what computes that, or a whole `Loss`, when it is tried. tight:
    whether the pair attains the claim, so that the bound must reach 90 % of it with ten million draws. draw: draws
    outputs in bulk. share: which part of the draws asked for this entry gets, 0 < share ≤ 1; less than 1 where outputs
    are drawn one at a time. why: for the reader, where it is not tight or has a smaller share.
    """

    name: str
    room: str
    covers: tuple[str, ...] = ()
    pair: tuple[Any, Any]
    words: str
    stated: str | Callable[[], str | Loss]
    tight: bool
    draw: Draw
    share: Fraction = Fraction(1)
    why: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ParameterError("must be above 0 and at most 1", where="share", got=str(self.share))

    @property
    def claim(self) -> str | Loss:
        """What is claimed."""
        return self.stated if isinstance(self.stated, str) else self.stated()

    def samples(self, asked: int) -> int:
        """How many draws on each side, of `asked`."""
        if self.share == 1:
            return asked
        # A quick audit is over before a share of it is worth waiting for.
        return min(asked, FEWEST if asked <= QUICK else max(FEWEST, int(asked * self.share)))
