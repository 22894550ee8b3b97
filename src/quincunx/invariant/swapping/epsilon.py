"""What swapping costs: ε from the swap rate and the largest stratum (`epsilon.md`).

A stratum of n records permutes its values of the swapped variable by σ. The probability of σ depends only on the
number k of records it moves; the guarantee compares k with k' when the datasets differ in m ≥ |k − k'| records.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from math import comb, factorial
from typing import Final

from quincunx.errors import ParameterError
from quincunx.numbers import Ball, Exact, Log, Number, ball, float_above, precision, rational
from quincunx.spec import decimal_above

BITS: Final = 256
# Below, derangements are counted; from here on they are (n!)/e, rounded to the nearest whole number.
_LARGE: Final = 60
_CLOSED_FROM: Final = 4
_DIGITS: Final = 8


class Kind(StrEnum):
    """How the selected records of a stratum exchange their values.

    DERANGEMENT: nobody keeps their own place, and a selection of exactly one record is drawn again: the seed's
    algorithm. UNIFORM: any permutation, the identity included.
    """

    DERANGEMENT = "derangement"
    UNIFORM = "uniform"

    @classmethod
    def read(cls, value: object) -> Kind:
        """The kind of that name."""
        for each in cls:
            if value == each.value:
                return each
        hint = 'Choose "derangement" or "uniform".'
        got = repr(value)[:40] if isinstance(value, str) else type(value).__name__
        raise ParameterError("unknown kind of swapping", where="kind", got=got, hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapEpsilon:
    """ε of swapping, in pure privacy per record (or household) of Hamming distance, among datasets that agree on the
    invariants.

    rate: p, the probability with which a record is selected. largest_stratum: b, the number of records in the largest
    stratum with at least two different rests and two different values to swap. kind: see `Kind`. theorem: the simple
    bound, max(ln o, ln(b + 1) − ln o) with o = p/(1 − p), or ln(1 + b/o) for the uniform kind. exact: the smallest ε
    that holds for all strata of that size; attained when all rests and all values differ. intensity: an exact number
    not below it, as specifications state it. Both floats are certainly not below what they stand for.
    """

    rate: Fraction
    largest_stratum: int
    kind: Kind
    theorem: float = field(init=False)
    exact: float = field(init=False)
    intensity: Exact = field(init=False)

    def __post_init__(self) -> None:
        with precision(BITS):
            tight = supremum(self.rate, self.largest_stratum, self.kind)
            object.__setattr__(self, "theorem", float_above(_ball(_theorem(self))))
            object.__setattr__(self, "exact", float_above(_ball(tight)))
            object.__setattr__(self, "intensity", _stated(tight))

    @property
    def smallest_change(self) -> float:
        """2·exact: what the smallest change inside a universe costs, which is of two records."""
        return 2 * self.exact

    def words(self, record: str = "record") -> str:
        """What ε means for the smallest change that the published tables allow."""
        if self.exact == 0:
            return "No change that the published tables allow can be seen in the swapped data."
        with precision(BITS):
            grown = float_above((2 * ball(self.intensity)).exp())
        factor = f"{grown:.4g}" if grown < 1e6 else f"{grown:.2e}"
        return (
            f"The smallest change that the published tables allow is of two {record}s at once, so the swapped data may "
            f"become up to e^(2ε) ≈ {factor} times as likely, or as unlikely."
        )


def swap_epsilon(*, rate: Number, largest_stratum: Number, kind: object = Kind.DERANGEMENT) -> SwapEpsilon:
    """ε of swapping at a rate p: 0 < p < 1, for the uniform kind also p = 1. `largest_stratum`: b ≥ 0; no stratum of
    two records that can exchange anything is b = 0 or 1, and costs nothing."""
    chosen = Kind.read(kind)
    return SwapEpsilon(rate=read_rate(rate, chosen), largest_stratum=read_size(largest_stratum), kind=chosen)


def read_rate(value: object, kind: Kind) -> Fraction:
    """The rate, exact as typed, within its range."""
    rate = rational(value, "rate")
    if not 0 < rate < 1 and not (rate == 1 and kind is Kind.UNIFORM):
        if kind is Kind.UNIFORM:
            what, hint = "must be greater than 0 and at most 1", "Write a share such as 0.05."
        else:
            what = "must be greater than 0 and less than 1"
            hint = 'Write a share such as 0.05; if all records are to move, kind="uniform" takes the rate 1.'
        raise ParameterError(what, where="rate", got=str(value)[:40], hint=hint)
    return rate


def read_size(value: object) -> int:
    """The size of a stratum, a whole number from 0."""
    number = rational(value, "largest_stratum")
    if number.denominator != 1 or number < 0:
        raise ParameterError("must be a whole number, 0 or greater", where="largest_stratum", got=str(value)[:40])
    return int(number)


def derangements(n: int) -> int:
    """D(n), the number of permutations of n things that leave none in its place."""
    count = 1
    for i in range(1, n + 1):
        count = i * count + (-1) ** i
    return count


def growth(n: int) -> Ball:
    """D(n)/D(n − 1) for n ≥ 3, which is n + (−1)^n/D(n − 1)."""
    if n < _LARGE:
        return ball(Fraction(derangements(n), derangements(n - 1)))
    before = ball(n).gamma() / Ball(1).exp() + Ball(0, 0.5)
    return ball(n) - 1 / before if n % 2 else ball(n) + 1 / before


def supremum(rate: Fraction, b: int, kind: Kind) -> Exact | Ball:
    """The smallest ε for every stratum of at most b records: exact, or a ball around it."""
    if b < 2 or rate == 1:
        return Fraction(0)
    odds = rate / (1 - rate)
    if b < _CLOSED_FROM:
        return _largest([_enumerated(rate, n, kind) for n in range(2, b + 1)])
    if kind is Kind.UNIFORM:
        # w(b − 2)/w(b), the two steps of least probability.
        return ball(1 + 2 * b / odds + b * (b - 1) / odds**2).log() / 2
    up: Exact = Log(odds) if odds > 1 else Fraction(0)
    return _largest([up, (growth(b) * growth(b - 1)).log() / 2 - ball(odds).log()])


def weight(rate: Fraction, n: int, k: int, kind: Kind) -> Fraction:
    """The probability of one permutation that moves k of the n records of a stratum, up to a factor that is the same
    for all k. For the uniform kind: Σ_j C(n − k, j − k) p^j (1 − p)^{n − j}/j!, where j ≥ k records are selected."""
    if kind is Kind.DERANGEMENT:
        return rate**k * (1 - rate) ** (n - k) / derangements(k)
    return sum(
        (comb(n - k, j - k) * rate**j * (1 - rate) ** (n - j) / factorial(j) for j in range(k, n + 1)), Fraction(0)
    )


def _enumerated(rate: Fraction, n: int, kind: Kind) -> Ball:
    """sup (1/m)·|ln(w(k)/w(k'))| over 2 ≤ m ≤ n and k, k' in {0, 2, …, n} with |k − k'| ≤ m."""
    weights = {k: weight(rate, n, k, kind) for k in (0, *range(2, n + 1))}
    terms = [ball(weights[k] / weights[other]).log() / max(2, abs(k - other)) for k in weights for other in weights]
    return _top(terms)


def _top(terms: list[Ball]) -> Ball:
    best = terms[0]
    for each in terms[1:]:
        best = best.max(each)
    return best


def _theorem(epsilon: SwapEpsilon) -> Exact:
    b, rate = epsilon.largest_stratum, epsilon.rate
    if b < 2 or rate == 1:
        return Fraction(0)
    odds = rate / (1 - rate)
    if epsilon.kind is Kind.UNIFORM:
        return Log(1 + b / odds)
    return Log(max(odds, (b + 1) / odds))


def _largest(values: list[Ball] | list[Exact | Ball]) -> Exact | Ball:
    exact = [value for value in values if not isinstance(value, Ball)]
    balls = [value for value in values if isinstance(value, Ball)]
    top = _top(balls)
    # The logarithm stays exact where it is certainly the larger.
    if exact and ball(exact[0]) > top:
        return exact[0]
    return top.max(ball(exact[0])) if exact else top


def _ball(value: Exact | Ball) -> Ball:
    return value if isinstance(value, Ball) else ball(value)


def _stated(value: Exact | Ball) -> Exact:
    if not isinstance(value, Ball):
        return value
    # Eight significant digits can be read; the float `exact` keeps the rest.
    return decimal_above(value, digits=_DIGITS) if value.upper() > 0 else Fraction(0)
