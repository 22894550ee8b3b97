"""Divergences with a parameter: powers of P/P' − 1, and f-divergences seen through a family of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

from quincunx.errors import ParameterError
from quincunx.numbers import Ball, Exact, amount, ball, float_near, positive_integer, precision, rational
from quincunx.spec.divergence import FOREVER, ZERO, Number, as_rational, enclosed, is_zero, larger, sharpened
from quincunx.spec.measure import Found, likelier
from quincunx.spec.standard_base import Standard
from quincunx.spec.wording import latex_number


@dataclass(frozen=True, slots=True)
class PowerDivergence(Standard):
    """(Σ P'·|P/P' − 1|^k)^{1/k}, the larger of both directions. k = 1 is twice total variation, k = 2 the root of χ².

    k: a whole number ≥ 1.
    """

    k: int

    kind: ClassVar[str] = "power"
    symbol: ClassVar[str] = "ε"
    parameters: ClassVar[tuple[str, ...]] = ("k",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive_integer(self.k, "k"))

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        if self.k > 1 and any(is_zero(b) and ball(a) > 0 for a, b in zip(p, q, strict=True)):
            return Found.of(FOREVER, likelier(p, q))
        if exact:
            total = Fraction(0)
            for x, y in zip(map(as_rational, p), map(as_rational, q), strict=True):
                total += abs(x - y) ** self.k / y ** (self.k - 1) if y else x
            if self.k == 1:
                value = ball(total)
                return Found.of((value.lower(), value.upper()), likelier(p, q), total)
            return Found.of(sharpened(lambda: enclosed(ball(total).root(self.k)), True), likelier(p, q))
        parts = []
        for a, b in zip(p, q, strict=True):
            # Multiplied out: a general power of a ball around 0 would be undefined.
            gap, term = abs(ball(a) - ball(b)), ball(a)
            if not is_zero(b):
                term = gap
                for _ in range(self.k - 1):
                    term = term * gap / ball(b)
            parts.append(term)
        # A root is taken of each end: that of a ball around 0 would be undefined.
        low, high = enclosed(sum(parts, ZERO))
        ends = low.root(self.k).lower() if low > 0 else ZERO, high.root(self.k).upper() if high.is_finite() else high
        return Found.of(ends, likelier(p, q))

    def words(self, intensity: Exact) -> str:
        return (
            f"ε = {amount(intensity)}: when the data change by one unit, the probability of an output changes by a "
            f"share of itself whose {self.k}-th power is ε to the {self.k} on average."
        )

    def latex(self, intensity: Exact) -> str:
        return (
            rf"\left(\sum P' \left|\tfrac{{P}}{{P'}} - 1\right|^{{{self.k}}}\right)^{{1/{self.k}}} \le "
            rf"{latex_number(intensity)}"
        )


# name of f → its conjugate f*(s) = sup over t ≥ 0 of st − f(t), as a ball; None is infinite
_CONJUGATES: Final[dict[str, Callable[[Fraction], Ball | None]]] = {
    "kl": lambda s: (ball(s) - 1).exp(),
    "chi-squared": lambda s: ball(s + s * s / 4) if s >= -2 else Ball(-1),
    "total-variation": lambda s: None if s > Fraction(1, 2) else ball(max(s, Fraction(-1, 2))),
}
# where f* is rational on rationals
_RATIONAL: Final[dict[str, Callable[[Fraction], Fraction]]] = {
    "chi-squared": lambda s: s + s * s / 4 if s >= -2 else Fraction(-1),
    "total-variation": lambda s: max(s, Fraction(-1, 2)),
}


@dataclass(frozen=True, slots=True)
class CapacityBounded(Standard):
    """The largest E_P h − E_P' f*(h) over some functions h of the output, at least 0, the larger of both directions.

    With all functions it is the f-divergence; with few, what an attacker of small capacity sees of it. f: "kl",
    "chi-squared" or "total-variation". functions: each a tuple of numbers, one for each output in its order.
    """

    f: str
    functions: tuple[tuple[Fraction, ...], ...]

    kind: ClassVar[str] = "capacity-bounded"
    symbol: ClassVar[str] = "D"
    parameters: ClassVar[tuple[str, ...]] = ("f", "functions")

    def __post_init__(self) -> None:
        if self.f not in _CONJUGATES:
            hint = f"Known: {', '.join(_CONJUGATES)}."
            raise ParameterError("unknown f-divergence", where="f", got=repr(self.f)[:40], hint=hint)
        found = tuple(tuple(rational(x, "functions") for x in each) for each in self.functions)
        if not found or len({len(each) for each in found}) != 1 or not found[0]:
            hint = "Give at least one function, each with one number for each output."
            raise ParameterError("the functions differ in length", where="functions", got=str(len(found)), hint=hint)
        object.__setattr__(self, "functions", found)

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        if len(p) != len(self.functions[0]):
            got = f"{len(self.functions[0])} numbers for {len(p)} outputs"
            raise ParameterError("a function needs one number for each output", where="functions", got=got)
        if exact and self.f in _RATIONAL:
            conjugate = _RATIONAL[self.f]
            best = Fraction(0)
            for h in self._usable():
                gain = sum((as_rational(a) * s for a, s in zip(p, h, strict=True)), Fraction(0))
                cost = sum((as_rational(b) * conjugate(s) for b, s in zip(q, h, strict=True)), Fraction(0))
                best = max(best, gain - cost)
            value = ball(best)
            return Found.of((value.lower(), value.upper()), likelier(p, q), best)
        parts = []
        for h in self._usable():
            total = ZERO
            for a, b, s in zip(p, q, h, strict=True):
                # Functions with an infinite conjugate are left out, so this is one.
                total += ball(a) * ball(s) - ball(b) * (_CONJUGATES[self.f](s) or ZERO)
            parts.append(total)
        low = larger([x.lower() for x in parts])
        return Found.of((low, larger([x.upper() for x in parts], floor=low)), likelier(p, q))

    def weighed(self) -> list[tuple[list[float], list[float]]]:
        """The functions that count with their conjugates, as the nearest floats."""
        with precision(128):
            return [
                (
                    [x.numerator / x.denominator for x in h],
                    [float_near(_CONJUGATES[self.f](x) or ZERO) for x in h],
                )
                for h in self._usable()
            ]

    def _usable(self) -> list[tuple[Fraction, ...]]:
        # Where f* is infinite the function proves nothing (an output of probability 0 under P' still has it listed).
        return [h for h in self.functions if all(_CONJUGATES[self.f](s) is not None for s in h)]

    def words(self, intensity: Exact) -> str:
        return (
            f"D = {amount(intensity)}: when the data change by one unit, an attacker who may use {len(self.functions)} "
            f"listed functions of the output sees at most D of the {self.f}-divergence."
        )

    def latex(self, intensity: Exact) -> str:
        return rf"\sup_{{h \in H}} \mathbb{{E}}_P h - \mathbb{{E}}_{{P'}} f^*(h) \le {latex_number(intensity)}"

    def to_json(self) -> dict[str, object]:
        """`kind`, the name of f and the functions as lists of strings."""
        return {"kind": self.kind, "f": self.f, "functions": [[str(x) for x in h] for h in self.functions]}
