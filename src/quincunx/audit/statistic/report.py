"""What a replay of a statistic found, and the two worlds that show it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from quincunx.audit.gap import Gap
from quincunx.audit.spaces.literal import literal
from quincunx.errors import VerificationError

_NORMS: Final = {"l1": "ℓ1", "l2": "ℓ2", "linf": "ℓ∞"}
# A violation below this part of the sensitivity is more often rounding than a wrong bound.
_ROUNDING: Final = 1 + 1e-6
_REASONS: Final = {
    "exception": "an exception on one world tells it from its neighbour",
    "warning": "a warning on one world tells it from its neighbour",
    "type": "the type of the result depends on the data",
    "length": "the length of the result depends on the data",
    "keys": "the keys of the result depend on the data",
    "order": "the order of the keys depends on the data",
    "undefined": "no noise hides a number that is missing, NaN or infinite",
    "unstable": "two calls on one world gave different results: the statistic draws noise or keeps a state",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """Two neighbouring worlds, made small, that a statistic sets farther apart than declared. They are no data.

    part: "distance", "exception", "warning", "type", "length", "keys", "order", "undefined" or "unstable". words: what
    was seen. before, after: the worlds as the statistic was given them; results: what it gave, as text. gap: the
    distance and what was declared, where part is "distance".
    """

    statistic: str
    part: str
    words: str
    norm: str
    gap: Gap | None
    before: Any
    after: Any
    results: tuple[str, str]

    def __str__(self) -> str:
        """As text that can be pasted into a test."""
        first, second = self.results
        return "\n".join(
            (
                f"{self.statistic}: {self.part}: {self._reason()}",
                f"    before = {literal(self.before)}",
                f"    after = {literal(self.after)}",
                f"    {self.statistic}(before)  # {first}",
                f"    {self.statistic}(after)  # {second}",
            )
        )

    def _reason(self) -> str:
        if self.gap is None:
            return f"{_REASONS[self.part]} ({self.words})"
        declared = _root(self.gap.allowed2)
        if self.gap.ratio >= _ROUNDING:
            return f"{_root(self.gap.distance2)} apart in {_NORMS[self.norm]}, declared {declared}"
        # √d² − √a² = (d² − a²)/(√d² + √a²), and the two roots are nearly equal.
        more = float((self.gap.distance2 - self.gap.allowed2) / self.gap.allowed2) / 2
        hint = "So little is rounding: sum whole numbers on a lattice, or declare room for it"
        return f"{declared} apart in {_NORMS[self.norm]}, as declared, and {more:.1e} of it more. {hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of pair and how it fared. largest: the largest distance as a part of what is declared."""

    name: str
    cases: int
    largest: float
    violations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticReplay:
    """The report on one statistic. It says that nothing was found among so many pairs, never that nothing is there.

    space: in words. declared2: the square of the sensitivity. kinds: of pairs. raised: pairs on both worlds of which
    the statistic raised the same exception, so that nothing was compared. counterexamples: the smallest of each part.
    """

    statistic: str
    space: str
    norm: str
    declared2: Fraction
    kinds: tuple[Kind, ...]
    raised: int
    counterexamples: tuple[Counterexample, ...]

    @property
    def cases(self) -> int:
        """How many pairs were compared."""
        return sum(kind.cases for kind in self.kinds)

    @property
    def violations(self) -> int:
        """How many of them broke the declaration."""
        return sum(kind.violations for kind in self.kinds)

    @property
    def largest(self) -> float:
        """The largest distance as a part of what is declared: 1 is as far as allowed, more is a violation."""
        return max((kind.largest for kind in self.kinds), default=0.0)

    @property
    def holds(self) -> bool:
        """Whether something was compared and nothing broke the declaration."""
        return self.cases > 0 and not self.violations

    def check(self, *, reach: float = 0.0) -> StatisticReplay:
        """The report itself; a VerificationError where a pair broke the declaration or none was compared.

        reach: also where no pair came as far as this part of what is declared; then the worlds are too easy to say
        anything, or the declared sensitivity is too large.
        """
        if self.violations:
            shown = "\n".join(map(str, self.counterexamples))
            what = f"{self.violations:,} of {self.cases:,} neighbouring pairs broke the declared sensitivity\n{shown}"
            raise VerificationError(what, where="replay_statistic")
        if not self.cases:
            what = f"nothing was compared: the statistic raised on all {self.raised:,} pairs"
            raise VerificationError(what, where="replay_statistic")
        if self.largest < reach:
            what = f"no pair came farther than {self.largest:.6f} of what is declared"
            hint = "Draw harder worlds, or declare a smaller sensitivity."
            raise VerificationError(what, where="replay_statistic", got=f"reach={reach}", hint=hint)
        return self

    def __str__(self) -> str:
        declared = f"{_NORMS[self.norm]} {_root(self.declared2)}"
        title = f"{self.statistic}, {declared}, {self.space}"
        rows = [("pairs", "cases", "largest", "violations")]
        rows += [(each.name, f"{each.cases:,}", f"{each.largest:.6f}", f"{each.violations:,}") for each in self.kinds]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
        raised = f", {self.raised:,} raised on both worlds" if self.raised else ""
        last = f"{self.cases:,} cases, {self.violations:,} violations{raised}"
        return "\n".join([title, *(line.rstrip() for line in lines), last, *map(str, self.counterexamples)])


def _root(square: Fraction) -> str:
    """The square root of a rational: exact where it is rational and short, else √ of it or a few digits."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    whole = top * top == square.numerator and bottom * bottom == square.denominator
    root = Fraction(top, bottom) if whole else square
    text = str(root) if whole else f"√{square}" if square.denominator == 1 else f"√({square})"
    if len(text) <= 24:
        return text
    try:
        return f"{float(root) if whole else math.sqrt(square):.17g}"
    except OverflowError:
        return f"about 10^{(len(str(top)) - len(str(bottom)))}"
