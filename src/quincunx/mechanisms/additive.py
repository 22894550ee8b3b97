"""What all additive lattice mechanisms share: x ↦ x + K·step, K symmetric integer noise with a known tail.

Values are integers that count lattice steps: the value x stands for x·step in the data's own unit, in which `scale`,
`sigma`, `sensitivity`, `error` and `variance` are stated.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar, Final, Self, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx.errors import DataError, ParameterError, kind_of
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.mechanisms.calibration import widest
from quincunx.mechanisms.mechanism import Mechanism, World
from quincunx.mechanisms.parameters import first, risk
from quincunx.mechanisms.scaled import Scaled, Shape
from quincunx.numbers import Ball, Number, ball, float_above, positive_integer, precision

# Sums are clamped here, not noise: x + K with |x| ≤ LIMIT and K clamped to int64 has the same clamped sum as the exact
# K, because 2^63 − 1 − LIMIT > LIMIT. So clamping is post-processing of the exact sum.
LIMIT: Final = 2**62 - 1
_PRECISION: Final = 512
# A guess is a guess beyond these, and no float overflows.
_WIDEST: Final = Fraction(2**900)
_RAREST: Final = 1e-300


class Additive(Scaled):
    """An additive mechanism on the lattice step·ℤ. Subclasses say how they draw, what they leak and their tail."""

    __slots__ = ()
    step: Fraction
    # The norm in which `sensitivity` is measured: 1 or 2.
    norm: ClassVar[int]
    room: ClassVar[str] = "additive noise"

    @classmethod
    def for_error(cls, *, error: Number, beta: Number, size: Number = 1, **shape: Unpack[Shape]) -> Self:
        """The most noise whose `error(beta, size)` is at most `error`; its loss says what that accuracy costs."""
        roughly = cls._roughly(shape)
        return widest(
            cls._turned(shape),
            lambda found: found.error(beta, size),
            error=error,
            step=shape.get("step", 1),
            near=None if roughly is None else lambda noise: float(roughly(noise).error(beta, size)),
        )

    @property
    def spread(self) -> Fraction:
        """The parameter of its law: the scale where the norm is 1, σ² where it is 2."""
        stored: Fraction = getattr(self, self.squared or self.dial)
        return stored

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the output in the data's unit, squared."""

    @abstractmethod
    def _draw(self, count: int) -> NDArray[np.int64]:
        """`count` independent draws of K."""

    @property
    @abstractmethod
    def _distance(self) -> Fraction:
        """A distance in one coordinate that input distance 1 allows, as large as is handy in a small world."""

    @abstractmethod
    def _tail(self, m: int) -> Ball:
        """P(|K| > m) for m ≥ 0, at the working precision."""

    @overload
    def sample(self, values: int) -> int: ...

    @overload
    def sample(self, values: ArrayLike) -> NDArray[np.int64]: ...

    def sample(self, values: ArrayLike) -> int | NDArray[np.int64]:
        """The noisy values: an int64 array of the shape of `values`, or an int for an int.

        `values` are integers that count lattice steps. They, and the results, are clamped to ±(2^62 − 1).
        """
        exact, scalar = lattice_values(values, type(self).__name__)
        noise = self._draw(exact.size).reshape(exact.shape)
        noisy = np.clip(noise, -LIMIT - exact, LIMIT - exact) + exact
        return int(noisy[()]) if scalar else noisy

    def each(self, exact: NDArray[np.int64]) -> NDArray[np.int64]:
        """The noisy numbers, in the shape of `exact`, which may be empty."""
        return np.asarray(self.sample(exact)) if exact.size else np.zeros(exact.shape, dtype=np.int64)

    def beyond(self, limit: int, risk: Fraction) -> float | None:
        """`error(risk)` if it is more than `limit` steps of 1."""
        # Symmetric noise of a log-concave law is beyond t standard deviations with probability at most e^{1−t}.
        if math.sqrt(self.variance) * (2 - math.log(risk)) + 2 < limit:
            return None
        error = self.error(risk)
        return error if error > limit else None

    def stretched(self, square: Fraction) -> Self:
        """The same for distances √square times as long, and as private; in norm 1 a distance is whole, and cut."""
        given: dict[str, Any] = self.parameters()
        factor, names = square, ("sigma2", "sensitivity2")
        if self.norm == 1:
            factor, names = Fraction(math.isqrt(math.floor(square))), ("scale", "sensitivity")
        return type(self)(**given | {name: given[name] * factor for name in names})

    def error(self, beta: Number, size: Number = 1) -> float:
        """The smallest a such that, with probability at least 1 − beta, all of `size` answers are within a.

        In the data's unit; exact for the lattice law: a is a whole number of steps.
        """
        allowed, count = risk(beta), positive_integer(size, "size")

        def enough(m: int) -> bool:
            # ln(1 − tail)·size ≥ ln(1 − beta), in logarithms so that a huge size keeps its digits.
            tail = self._tail(m)
            return bool(tail < 1 and (-tail).log1p() * count >= (-ball(allowed)).log1p())

        with precision(_PRECISION):
            steps = first(enough, self._about(allowed / count))
        return float_above(steps * self.step)

    def _about(self, risk: Fraction) -> int:
        """About how many steps are exceeded with probability `risk`: the quantile of the law without a lattice."""
        spread = float(min(self.spread / self.step**self.norm, _WIDEST))
        if self.norm == 1:
            return int(spread * (math.log(risk.denominator) - math.log(risk.numerator)))
        return int(math.sqrt(spread) * -NormalDist().inv_cdf(max(float(risk / 2), _RAREST)))

    def finite(self, inputs: Sequence[int], reach: int = 40) -> FiniteMechanism:
        """The exact output law for each of `inputs`, with answers clamped `reach` steps beyond the inputs' range.

        Clamping is post-processing, so this small world leaks no more than the mechanism.
        """
        if not inputs or not all(isinstance(x, int) and not isinstance(x, bool) for x in inputs):
            raise DataError("needs at least one input, all of them integers", where="finite", got=_types(inputs))
        low, high = min(inputs) - reach, max(inputs) + reach
        with precision(_PRECISION):
            tails = [self._tail(m) for m in range(high - low + 1)]
            # P(K ≥ k) for k = 0, 1, …
            at_least = [1 - tails[0] / 2, *(tail / 2 for tail in tails)]

            def mass(k: int) -> Ball:
                return 1 - tails[0] if k == 0 else (tails[abs(k) - 1] - tails[abs(k)]) / 2

            return FiniteMechanism(
                {
                    x: {
                        low: at_least[x - low],
                        **{y: mass(y - x) for y in range(low + 1, high)},
                        high: at_least[high - x],
                    }
                    for x in inputs
                }
            )

    def world(self, k: int = 1) -> World:
        """One value, and another k sensitivities away; two steps of it at most where the norm is 2."""
        shift = k * int(self._distance / self.step)
        return self.finite([0, shift], reach=20), [(0, shift)]


def _types(values: Sequence[object]) -> str:
    return ", ".join(sorted({type(value).__name__ for value in values})) or "an empty list"


def lattice_values(
    values: object,
    where: str,
    kinds: str = "iu",
    hint: str = "Values count lattice steps: divide by the step and take the floor before the mechanism.",
) -> tuple[NDArray[np.int64], bool]:
    """`values` as an int64 array clamped to ±LIMIT, and whether they were one number. Types decide, never values.

    `kinds` are the NumPy kinds allowed: i and u for integers, b for booleans.
    """
    if isinstance(values, np.ndarray | np.generic):
        if values.dtype.kind not in kinds:
            raise DataError("values must be integers", where=where, got=f"an array of {values.dtype}", hint=hint)
        wide = values.astype(np.int8) if values.dtype.kind == "b" else values
        limits = np.iinfo(wide.dtype)
        array = np.asarray(np.clip(wide, max(-LIMIT, limits.min), min(LIMIT, limits.max))).astype(np.int64)
    else:
        nested = _clamped(values, where, kinds, hint)
        try:
            array = np.array(nested, dtype=np.int64)
        except ValueError:
            raise DataError("rows must have equal lengths", where=where, got="a ragged list") from None
    if array.size == 0:
        raise DataError("there is nothing to release", where=where, got=f"an array of shape {array.shape}")
    return array, array.ndim == 0


def _clamped(values: object, where: str, kinds: str, hint: str) -> Any:
    if isinstance(values, bool | np.bool_):
        if "b" in kinds:
            return int(values)
    elif isinstance(values, int | np.integer):
        return max(-LIMIT, min(int(values), LIMIT))
    if isinstance(values, list | tuple):
        return [_clamped(value, where, kinds, hint) for value in values]
    raise DataError("values must be integers", where=where, got=kind_of(values), hint=hint)


def added(mechanism: Mechanism) -> Additive | None:
    """The mechanism where it adds noise to numbers, and None where it draws its answers in another way."""
    return mechanism if isinstance(mechanism, Additive) else None


def noise_of(mechanism: Mechanism) -> Additive:
    """The mechanism, where it adds noise to numbers: what counts, sums and means ask about their error."""
    if not isinstance(mechanism, Additive):
        raise ParameterError("expected noise that is added to numbers", where="noise", got=mechanism.tag)
    return mechanism
