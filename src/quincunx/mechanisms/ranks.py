"""What mechanisms for quantiles share: how sharply ranks may be told apart. See ranks.md.

A unit's rows weigh at most C in all, in the norm of the question over groups. The score of a place is minus the
distance of its rank from the rank that is wanted.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx.errors import DataError, ParameterError
from quincunx.mechanisms.additive import Additive, lattice_values
from quincunx.mechanisms.histogram import Histogram, Histograms
from quincunx.mechanisms.mechanism import Mechanism
from quincunx.numbers import Number, positive_integer, rational

# The root of a rational is rounded up to a multiple of 2^−64 of itself.
_ROOT_BITS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """For each answer its cuts, as positions in parts of 1/split of a bucket, and the noisy weights between them.

    noise: that of each weight; all are in parts of 1/split.
    """

    cuts: NDArray[np.int64]
    between: NDArray[np.int64]
    split: int
    noise: Additive


class Ranks(Mechanism):
    """Draws quantiles from histograms of weights. Subclasses say how many numbers they give for each.

    buckets: how many there are. weight: the most that the rows of what
    may change weigh, C in lattice units, times the number of people. moves: whether rows may change hands (replace) or
    only come or go. apart: whether there are several groups.
    """

    __slots__ = ()
    room: ClassVar[str] = "choices"
    buckets: int
    weight: int
    moves: bool
    apart: bool

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers an answer is."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The square of one unit of score, in lattice units of weight: how plans compare before they are asked."""

    @abstractmethod
    def at(self, answers: NDArray[np.int64], level: Fraction) -> NDArray[np.int64]:
        """The bucket that each answer gives for a level."""

    def counted(self, answers: NDArray[np.int64]) -> Counted | None:
        """The cuts of each answer, and the counts between them; None where there are none."""
        del answers
        return None

    @abstractmethod
    def draw(self, given: Histogram) -> list[int]:
        """One answer."""

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """The answer for a weight in each bucket, in lattice units; a table of weights has one answer for each row."""
        exact, _ = lattice_values(values, type(self).__name__)
        if exact.ndim not in (1, 2) or exact.shape[-1] != self.buckets:
            got = f"an array of shape {exact.shape}"
            raise DataError(f"expected weights of {self.buckets} buckets", where=type(self).__name__, got=got)
        if exact.ndim == 1:
            return np.array(self.draw(Histogram.of(exact)), dtype=np.int64)
        return np.array([self.draw(Histogram.of(row)) for row in exact], dtype=np.int64)

    def each(self, exact: Histograms) -> NDArray[np.int64]:
        """One answer for each histogram."""
        return np.array([self.draw(given) for given in exact], dtype=np.int64).reshape(len(exact), self.width)

    def finite_inputs(self, k: int) -> tuple[list[tuple[int, ...]], list[tuple[tuple[int, ...], tuple[int, ...]]]]:
        """Small histograms, and pairs of them that are k steps apart."""
        # Three rows of one unit each stay; those who change lie anywhere, also at two places, or nowhere.
        stays = tuple(1 if place in (0, self.buckets - 1) else 0 for place in range(self.buckets))
        step = self.weight * k
        forms = [tuple(step if place == at else 0 for place in range(self.buckets)) for at in range(self.buckets)]
        if step > 1:
            forms.append(tuple(step // 2 if place in (0, self.buckets - 1) else 0 for place in range(self.buckets)))
        inputs = [stays, *(tuple(a + b for a, b in zip(stays, form, strict=True)) for form in forms)]
        pairs = [(stays, other) for other in inputs[1:]]
        if self.moves:
            pairs += [(one, other) for i, one in enumerate(inputs[1:]) for other in inputs[i + 2 :]]
        return inputs, pairs


def rate_of(eta: Fraction, weight: int, level: Fraction, *, norm: int, moves: bool, several: bool) -> Fraction:
    """c so that e^{c·score} of all parts and groups together has range η (norm 1), or roots of squares that add to η².

    level: which share of a part's weight is wanted below. several: whether there is more than one part or group.
    """
    far = max(level, 1 - level)
    if not moves:
        return eta / (2 * far * weight)
    if not several:
        return eta / (2 * weight)
    if norm == 1:
        return eta / (4 * far * weight)
    return eta / (2 * weight * root_above(2 * (far**2 + (1 - far) ** 2)))


def root_above(square: Fraction) -> Fraction:
    """√square, or less than 2^−64 more."""
    scaled = square * 4**_ROOT_BITS
    return Fraction(math.isqrt(math.ceil(scaled) - 1) + 1, 2**_ROOT_BITS)


def read_level(given: Number, where: str = "level") -> Fraction:
    """A level, as it was typed."""
    level = rational(given, where)
    if not 0 < level < 1:
        hint = "0.5 is the median. The smallest and the largest value would be those of single people."
        raise ParameterError("a level is between 0 and 1, both excluded", where=where, got=str(given)[:40], hint=hint)
    return level


def read_levels(given: Sequence[Number]) -> tuple[Fraction, ...]:
    """Levels in their order, each once."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ParameterError("expected a list of levels", where="levels", got=type(given).__name__, hint='["0.5"]')
    return tuple(sorted({read_level(each, "levels") for each in given}))


def read_split(given: Number) -> int:
    """Into how many positions a bucket is divided."""
    split = positive_integer(given, "split")
    if split & (split - 1) or split > 2**20:
        raise ParameterError("must be a power of two, at most 2^20", where="split", got=str(split)[:40])
    return split
