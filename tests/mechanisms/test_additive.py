"""Clamping: the output is a function of the exact sum, whatever int64 does to the noise."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from quincunx.loss import Loss
from quincunx.mechanisms.additive import LIMIT, Additive
from quincunx.mechanisms.trial import Trial
from quincunx.numbers import Ball

INT64 = 2**63 - 1


@dataclass(frozen=True)
class Fixed(Additive):
    """A mechanism whose exact noise is given, clamped to int64 as the samplers do."""

    exact: int
    step: Fraction = Fraction(1)

    @property
    def loss(self) -> Loss:
        return Loss()

    @property
    def variance(self) -> float:
        return 0.0

    def words(self, unit: Fraction = Fraction(1)) -> str:
        return f"noise of {self.exact * unit}"

    @classmethod
    def examples(cls) -> tuple["Fixed", ...]:
        return (cls(0),)

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        yield Trial(name="none", make=lambda: cls(0), pair=(0, 0))

    @property
    def _distance(self) -> Fraction:
        return self.step

    def _draw(self, count: int) -> NDArray[np.int64]:
        return np.full(count, max(-INT64, min(self.exact, INT64)), dtype=np.int64)

    def _tail(self, m: int) -> Ball:
        return Ball(int(abs(self.exact) > m))


@pytest.mark.parametrize(
    "noise", [0, 5, LIMIT, LIMIT + 1, 2 * LIMIT, 2 * LIMIT + 1, INT64, 2**63, 2**70, -5, -LIMIT, -(2**63), -(2**80)]
)
@pytest.mark.parametrize("x", [0, 1, -1, LIMIT, -LIMIT, LIMIT - 1, 10**6, 2**63, -(2**70)])
def test_the_clamped_sum_is_that_of_the_exact_noise(noise: int, x: int) -> None:
    inside = max(-LIMIT, min(x, LIMIT))
    assert Fixed(noise).sample(x) == max(-LIMIT, min(inside + noise, LIMIT))


def test_saturated_noise_hides_the_input_entirely() -> None:
    answers = {Fixed(2**66).sample(x) for x in (-LIMIT, -1, 0, 1, LIMIT)}
    assert answers == {LIMIT}
