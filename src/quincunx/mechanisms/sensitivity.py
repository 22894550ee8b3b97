"""Clipping and sensitivities as values: how far one protected change can move a statistic, exactly.

A statistic f answers, for a unit, max ‖f(x) − f(x')‖₁ and max ‖f(x) − f(x')‖₂² over all x, x' at distance 1, as
rationals in the data's own unit. Where values go to a lattice first, x ↦ ⌊x/step + 1/2⌋, give f that `step`: its bounds
are then those after the map.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError, ParameterError, PrivacyError, kind_of
from quincunx.mechanisms.additive import LIMIT
from quincunx.numbers import Number, float_near, positive, positive_integer, rational
from quincunx.spec import AddRemove, Replace, Unit, domain, of_people

__all__ = ["Clip", "Count", "Histogram", "Linear", "Mean", "Statistic", "Sum", "Variance"]

People: TypeAlias = AddRemove | Replace
Point: TypeAlias = tuple[Fraction, ...]

_HALF: Final = Fraction(1, 2)
# Up to here a float64 quotient is within 1/2 of the true one; wider lattices are mapped one value at a time.
_FLOAT_BOUND: Final = 2**50
_INT64: Final = 2**63 - 1
_NUMBERS: Final = "Give a NumPy array of numbers, a list or tuple of them, or one number."


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Clip:
    """x ↦ min(max(x, `low`), `high`), low ≤ high, both exact and in the data's unit. They must not come from the data.

    What is missing (None, NaN, anything that is not a real number) becomes `low`, −∞ becomes `low` and +∞ `high`: every
    record keeps its place, so that no record's value decides how many records there are.
    """

    low: Fraction
    high: Fraction

    def __init__(self, low: object, high: object) -> None:
        object.__setattr__(self, "low", rational(low, "low"))
        object.__setattr__(self, "high", rational(high, "high"))
        if self.low > self.high:
            raise ParameterError("low must not exceed high", where="Clip", got=f"{self.low} and {self.high}"[:80])

    def bounds_on_lattice(self, step: Number) -> tuple[int, int]:
        """⌊low/step + 1/2⌋ and ⌊high/step + 1/2⌋, in lattice steps: the map is monotone, so they bound every value."""
        length = positive(step, "step")
        return _nearest(self.low, length), _nearest(self.high, length)

    def apply(self, values: object, step: Number) -> Any:
        """⌊clip(x)/step + 1/2⌋ for every x of `values`, exactly: int64 of their shape, or an int for one number.

        `values`: a NumPy array of booleans, integers, floats or objects, a flat list or tuple, or one number or None.
        Python floats mean the decimal they print; NumPy's floats are data and mean their binary value. No value raises:
        only the type of the whole argument and the parameters can be refused.
        """
        length = positive(step, "step")
        low, high = self.bounds_on_lattice(length)
        if max(-low, high) > LIMIT:
            raise ParameterError("the bounds exceed 2^62 steps", where="Clip.apply", hint="Take a longer step.")
        if isinstance(values, np.ndarray):
            return self._array(values, length, low, high)
        if isinstance(values, list | tuple):
            return np.array([self._one(value, length) for value in values], dtype=np.int64)
        if values is None or isinstance(values, int | float | Fraction | Decimal | np.number | np.bool_):
            return self._one(values, length)
        raise DataError("values must be numbers", where="Clip", got=kind_of(values), hint=_NUMBERS)

    def _array(self, values: NDArray[Any], step: Fraction, low: int, high: int) -> Any:
        if values.dtype.kind not in "biufO":
            raise DataError("values must be numbers", where="Clip", got=f"an array of {values.dtype}", hint=_NUMBERS)
        plain = np.ma.getdata(values).ravel()
        if plain.dtype.kind in "biu":
            answers = _integers(plain.astype(np.int8) if plain.dtype.kind == "b" else plain, step, low, high)
        elif plain.dtype.kind == "f" and plain.itemsize <= 8 and max(-low, high) <= _FLOAT_BOUND:
            answers = self._floats(plain.astype(np.float64), step, low, high)
        else:
            answers = np.array([self._one(value, step) for value in plain], dtype=np.int64)
        answers[np.ma.getmaskarray(values).ravel()] = low
        return answers.reshape(values.shape) if values.ndim else int(answers[0])

    def _floats(self, x: NDArray[np.float64], step: Fraction, low: int, high: int) -> NDArray[np.int64]:
        # |quotient − x/step| ≤ |quotient|·2^-51 for a normal scale. A value whose fraction is farther than
        # (|quotient| + 1)·2^-50 from 1/2 is decided by it; the others are decided exactly.
        usable = 2.0**-1000 < (scale := float_near(step)) < 2.0**1000
        with np.errstate(all="ignore"):
            quotient = x / (scale if usable else 1.0)
            whole = np.floor(quotient)
            part = quotient - whole
            inside = (quotient > low - 1) & (quotient < high + 1)
            rounded = np.where(inside, whole + (part >= 0.5), low).astype(np.int64)
            doubtful = (inside & (np.abs(part - 0.5) <= (np.abs(quotient) + 1) * 2.0**-50)) | (not usable)
        answers = np.clip(np.where(quotient >= high + 1, high, rounded), low, high).astype(np.int64)
        distinct, place = np.unique(x[doubtful], return_inverse=True)
        answers[doubtful] = np.array([self._one(value, step) for value in distinct], dtype=np.int64)[place]
        return answers

    def _one(self, value: object, step: Fraction) -> int:
        bits = max((abs(each.numerator) + each.denominator).bit_length() for each in (self.low, self.high, step)) + 2
        number = _number(value, bits)
        return _nearest(self.low if number is None else max(self.low, min(number, self.high)), step)


def _nearest(value: Fraction | float, step: Fraction) -> int:
    return math.floor(Fraction(value) / step + _HALF)


def _number(value: object, bits: int) -> Fraction | float | None:
    """The exact number, ±inf, or None where there is none. `bits`: of the longest parameter."""
    # By kind, because NumPy's durations are a subclass of its integers.
    if isinstance(value, np.generic) and value.dtype.kind in "biu":
        value = value.item()
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            return None if np.isnan(value) else math.inf if value > 0 else -math.inf
        binary = isinstance(value, np.floating)
        return Fraction(*value.as_integer_ratio()) if binary else Fraction(float.__repr__(value))
    if not isinstance(value, Decimal) or value.is_nan():
        return None
    # 1E+999999 would be a number of a million digits. Beyond 10^bits it passes every bound; below 10^-bits it is
    # nearer to 0 than every bound other than 0 and than half a step, and counts as 0.
    if value and (value.is_infinite() or value.adjusted() > bits):
        return math.copysign(math.inf, value)
    return Fraction(value) if value and value.adjusted() >= -bits else Fraction(0)


def _integers(x: NDArray[Any], step: Fraction, low: int, high: int) -> NDArray[np.int64]:
    # Everything up to (low − 1)·step goes to low and everything from (high + 1)·step to high.
    limits = np.iinfo(x.dtype)
    ends = (math.floor((low - 1) * step), math.ceil((high + 1) * step))
    least, most = (max(limits.min, min(end, limits.max)) for end in ends)
    p, q = step.numerator, step.denominator
    fits = 2 * q * max(abs(least), abs(most)) + 2 * p <= _INT64
    near = np.clip(x, least, most).astype(np.int64 if fits else object)
    # x·q/p + 1/2 = (2xq + p)/2p
    return np.asarray(np.clip((near * (2 * q) + p) // (2 * p), low, high)).astype(np.int64)


class Statistic(ABC):
    """A statistic whose sensitivity is known under `AddRemove` and `Replace`.

    A person is exactly one record, or, with `rows` = r, from 0 to r records (those left out by a condition count 0).
    A unit with a key protects all rows of a person and needs `rows`.
    """

    __slots__ = ()
    rows: int | None

    def l1(self, unit: Unit) -> Fraction:
        """max ‖f(x) − f(x')‖₁ over datasets at distance 1, the unit's group included."""
        return self._moved(self._people(unit), 1)

    def l2_squared(self, unit: Unit) -> Fraction:
        """max ‖f(x) − f(x')‖₂² over datasets at distance 1: k people move it by up to k², not k, times one."""
        return self._moved(self._people(unit), 2)

    @property
    def parts(self) -> tuple[Statistic, ...]:
        """The coordinates, for a release that gives each its own noise; most statistics are one part."""
        return (self,)

    @abstractmethod
    def _points(self) -> Sequence[Point]:
        """Contributions of one record among which both the longest and the two farthest apart are found."""

    def _moved(self, unit: People, power: int) -> Fraction:
        points = list(self._points())
        if self.rows is not None:
            points.append((Fraction(0),) * len(points[0]))
        # k people of r equal records each move the sum k·r times as far as one record does.
        times = Fraction(unit.group * (self.rows or 1)) ** power
        return times * _farthest(points, power, unit.moves_between_parts)

    def _people(self, unit: Unit) -> People:
        where = type(self).__name__
        if not of_people(unit):
            hint = "Sensitivities are known for the units that speak of people: AddRemove and Replace."
            raise PrivacyError("no sensitivity is known for this unit", where=where, got=kind_of(unit), hint=hint)
        if unit.key is not None and self.rows is None:
            hint = "Bound them with rows=…, or take a unit without key where each record is one person."
            raise PrivacyError("a person may have any number of rows", where=where, got=f"key={unit.key!r}", hint=hint)
        return unit


def _farthest(points: Sequence[Point], power: int, between: bool) -> Fraction:
    """max Σ|p_i|^power over points, or max Σ|p_i − q_i|^power over pairs of them, exactly."""
    scale = math.lcm(*(value.denominator for point in points for value in point))
    whole = [[int(value * scale) for value in point] for point in points]
    reach = max(abs(value) for point in whole for value in point)
    fits = len(points[0]) * (2 * reach) ** 2 <= _INT64
    table = np.array(whole, dtype=np.int64 if fits else object)
    from_where = table if between else np.zeros_like(table[:1])
    return Fraction(max(int((abs(table - point) ** power).sum(axis=1).max()) for point in from_where), scale**power)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Count(Statistic):
    """How many records satisfy a condition; a record counts 0 or 1."""

    rows: int | None

    def __init__(self, *, rows: object = None) -> None:
        object.__setattr__(self, "rows", _optional(rows, "rows"))

    def _points(self) -> Sequence[Point]:
        return [(Fraction(0),), (Fraction(1),)]


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Histogram(Statistic):
    """How many records fall into each of `cells` (their labels, or how many there are), each into exactly one."""

    cells: tuple[Hashable, ...] | int
    rows: int | None

    def __init__(self, cells: Iterable[Hashable] | int, *, rows: object = None) -> None:
        object.__setattr__(self, "cells", domain.Histogram(cells=cells).cells)
        object.__setattr__(self, "rows", _optional(rows, "rows"))

    def _points(self) -> Sequence[Point]:
        # Any two cells are like the first two; with one cell every record counts there.
        return [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))][: domain.Histogram(cells=self.cells).size]


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Linear(Statistic):
    """W·h for a histogram h: `matrix` W has a row for each query and a column for each cell, exact rationals.

    Add or remove: the largest norm of a column. Replace: the largest norm of a difference of two columns.
    """

    matrix: tuple[tuple[Fraction, ...], ...]
    rows: int | None

    def __init__(self, matrix: Iterable[Iterable[object]], *, rows: object = None) -> None:
        queries = tuple(matrix) if isinstance(matrix, Iterable) else (matrix,)
        if not all(isinstance(query, Iterable) and not isinstance(query, str | bytes) for query in queries):
            raise ParameterError("expected rows of numbers, one for each query", where="matrix")
        exact = tuple(tuple(rational(value, "matrix") for value in query) for query in queries)
        widths = {len(query) for query in exact}
        if len(widths) != 1 or 0 in widths:
            got = f"{len(exact)} rows of lengths {sorted(widths)[:5]}"
            raise ParameterError("needs rows of one length, at least one number each", where="matrix", got=got)
        object.__setattr__(self, "matrix", exact)
        object.__setattr__(self, "rows", _optional(rows, "rows"))

    def _points(self) -> Sequence[Point]:
        return list(zip(*self.matrix, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Sum(Statistic):
    """Σ clip(x), on the lattice of `step` where one is given."""

    clip: Clip
    rows: int | None
    step: Fraction | None

    def __init__(self, clip: Clip, *, rows: object = None, step: Number | None = None) -> None:
        _set_clipped(self, clip, rows, step)

    def _points(self) -> Sequence[Point]:
        return [(end,) for end in _ends(self.clip, self.step)]


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class _Averaged(Statistic):
    clip: Clip
    n: int | None
    rows: int | None
    step: Fraction | None

    def __init__(self, clip: Clip, *, n: object = None, rows: object = None, step: object = None) -> None:
        _set_clipped(self, clip, rows, step)
        if n is not None and rows is not None:
            hint = "A public n counts people of exactly one record each; for several records leave n out."
            raise ParameterError("give n or rows, not both", where=type(self).__name__, got="both", hint=hint)
        object.__setattr__(self, "n", _optional(n, "n"))

    @property
    def centre(self) -> Fraction:
        """The middle of the bounds; on a lattice, the lattice point at or below it."""
        middle = sum(_ends(self.clip, self.step)) * _HALF
        return middle if self.step is None else math.floor(middle / self.step) * self.step

    @property
    def parts(self) -> tuple[Statistic, ...]:
        """The statistic itself for a public n; else its sums, the number of records last."""
        return self._sums() if self.n is None else (self,)

    def _sums(self) -> tuple[Statistic, ...]:
        return Sum(self._centred(), rows=self.rows, step=self.step), Histogram(1, rows=self.rows)

    def _centred(self) -> Clip:
        low, high = _ends(self.clip, self.step)
        return Clip(low - self.centre, high - self.centre)

    def _moved(self, unit: People, power: int) -> Fraction:
        if self.n is None:
            return Statistic._moved(self, unit, power)
        if not unit.moves_between_parts:
            hint = "State Replace, or leave n out: then sums and the number of records are released together."
            raise PrivacyError("adding or removing a person changes n", where=type(self).__name__, hint=hint)
        low, high = _ends(self.clip, self.step)
        return self._exchanged(unit.group, self.n, high - low) ** power

    @abstractmethod
    def _exchanged(self, group: int, n: int, width: Fraction) -> Fraction:
        """How far `group` of n people, n public, can move the statistic."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Mean(_Averaged):
    """The mean of clip(x).

    `n` given: the number of people is public and each has exactly one record; the release is Σ clip(x)/n. Only
    `Replace` keeps n. `n` left out: it is private, and the release is the pair Σ (clip(x) − centre) and the number of
    records N; the mean is their quotient plus `centre`.
    """

    def _points(self) -> Sequence[Point]:
        centred = self._centred()
        return [(centred.low, Fraction(1)), (centred.high, Fraction(1))]

    def _exchanged(self, group: int, n: int, width: Fraction) -> Fraction:
        return min(group, n) * width / n


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Variance(_Averaged):
    """The variance of clip(x), divided by n (not n − 1).

    `n` given: as for `Mean`; the release is the variance itself. `n` left out: it is private, and with
    t = clip(x) − centre on the lattice of `step`, which is needed then, the release is Σ t, Σ t² and the number of
    records N; the variance is Σ t²/N − (Σ t/N)².
    """

    def __init__(self, clip: Clip, *, n: Number | None = None, rows: object = None, step: Number | None = None) -> None:
        _Averaged.__init__(self, clip, n=n, rows=rows, step=step)
        if n is None and step is None:
            hint = "Give step=…, or a public n: off a lattice the ℓ2 sensitivity of the sums has an irrational square."
            raise ParameterError("a variance with private n needs a lattice", where="Variance", hint=hint)

    def _sums(self) -> tuple[Statistic, ...]:
        centred, step = self._centred(), self.step or Fraction(1)
        squares = Clip(0, max(centred.low**2, centred.high**2))
        total, count = _Averaged._sums(self)
        return total, Sum(squares, rows=self.rows, step=step**2), count

    def _points(self) -> Sequence[Point]:
        step = self.step or Fraction(1)
        low, high = self._centred().bounds_on_lattice(step)
        # The two records farthest apart are `high`, and `low` or a lattice neighbour of a stationary point: the note.
        near = {low, high, *_stationary(high, step)}
        return [(t * step, (t * step) ** 2, Fraction(1)) for t in near if low <= t <= high]

    def _exchanged(self, group: int, n: int, width: Fraction) -> Fraction:
        # From all records at one end to `moved` of them at the other; more than half would bring them together again.
        moved = min(group, n // 2)
        return moved * (n - moved) * width**2 / n**2


def _stationary(end: int, step: Fraction) -> set[int]:
    """Lattice neighbours of the t < end = b at which (b − t) + (b² − t²) or (b − t)² + (b² − t²)² is stationary."""
    linear = math.floor(-_HALF / step)
    root = end * end - 2 / step**2
    quadratic = (math.isqrt(math.floor(root)) - end) // 2 if root >= 0 else linear
    return {linear, linear + 1, quadratic, quadratic + 1}


def _ends(clip: Clip, step: Fraction | None) -> tuple[Fraction, Fraction]:
    if step is None:
        return clip.low, clip.high
    low, high = clip.bounds_on_lattice(step)
    return low * step, high * step


def _optional(value: object, name: str) -> int | None:
    return None if value is None else positive_integer(value, name)


def _set_clipped(statistic: Statistic, clip: object, rows: object, step: object) -> None:
    if not isinstance(clip, Clip):
        raise ParameterError("expected bounds", where="clip", got=kind_of(clip), hint="Write Clip(low, high).")
    object.__setattr__(statistic, "clip", clip)
    object.__setattr__(statistic, "rows", _optional(rows, "rows"))
    object.__setattr__(statistic, "step", None if step is None else positive(step, "step"))
