"""What every standard answers, and the parts that all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Final

from quincunx.errors import ParameterError, kind_of
from quincunx.numbers import Ball, Exact, Log, positive_integer, precision
from quincunx.numbers.text import amount
from quincunx.spec.divergence import Number, checked
from quincunx.spec.implication import RULES, Intensity
from quincunx.spec.measure import EQUAL, Found, Least, worse
from quincunx.spec.wording import latex_number

_SYMBOLS: Final = {"ε": r"\varepsilon", "ρ": r"\rho", "√ρ": r"\sqrt{\rho}", "μ": r"\mu"}


class Standard:
    """What all standards answer. `intensity` is always this standard's own parameter."""

    __slots__ = ()

    kind: ClassVar[str]
    symbol: ClassVar[str]
    linear_in_distance: ClassVar[bool] = False
    parameters: ClassVar[tuple[str, ...]] = ()

    def least(self, p: Sequence[Number], q: Sequence[Number]) -> Least:
        """The smallest intensity at which the unordered pair of laws satisfies the standard, with a witness."""
        p, q, exact = checked(p, q)
        if exact and p == q:
            return EQUAL
        with precision(256):
            return worse(self._found(p, q, exact), self._found(q, p, exact), self._from_key)

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        raise NotImplementedError

    def _from_key(self, key: Fraction) -> Exact:
        return key

    def group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball] | None:
        """What holds at k steps when this standard holds at `intensity` for one; None where no bound is known."""
        self.check(intensity)
        count = positive_integer(k, "k")
        if count == 1:
            return self, intensity
        with precision(256):
            return self._group(intensity, count)

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball] | None:  # noqa: ARG002
        return None

    def implied(self, intensity: Intensity, other: Standard) -> Intensity | None:
        """An intensity of `other` that follows from this standard at `intensity`; None where none is known."""
        if self == other:
            return intensity
        rule = RULES.get((self.kind, other.kind))
        with precision(256):
            return rule(self, intensity, other) if rule else None

    def check(self, intensity: Exact) -> None:
        """Raise ParameterError unless `intensity` is an exact number of at least 0."""
        given: object = intensity
        if not isinstance(given, Fraction | Log):
            hint = 'Write Fraction("1/2") for a rational and Log(3) for ln 3.'
            raise ParameterError("expected an exact number", where=self.symbol, got=kind_of(given), hint=hint)
        if (intensity.of < 1) if isinstance(intensity, Log) else (intensity < 0):
            raise ParameterError("must be 0 or greater", where=self.symbol, got=amount(intensity))

    def words(self, intensity: Exact) -> str:
        """The guarantee in plain English, with its symbol."""
        raise NotImplementedError

    def latex(self, intensity: Exact) -> str:
        """The guarantee as an inequality in LaTeX; P and P' are the laws at neighbouring datasets, S any event."""
        raise NotImplementedError

    def _stated(self, intensity: Exact) -> str:
        return f"{_SYMBOLS.get(self.symbol, self.symbol)} = {latex_number(intensity)}"

    def to_json(self) -> dict[str, object]:
        """`kind` and the parameters, rationals as strings."""
        return {"kind": self.kind, **{name: str(getattr(self, name)) for name in self.parameters}}
