"""Equally spaced losses: running sums answer every ε, also at and beyond the atoms."""

from fractions import Fraction

import pytest

from quincunx.loss.spectrum import Spectrum
from quincunx.numbers import Ball, ball, precision

MASSES = [Fraction(1, 2), Fraction(1, 4), Fraction(0), Fraction(1, 8), Fraction(1, 8)]


@pytest.mark.parametrize("epsilon", [0, "1/3", "1/2", 1, "3/2", 2, "5/2", 10])
def test_delta_is_the_direct_sum(epsilon: object) -> None:
    with precision(256):
        top, gap = Fraction(2), Fraction(1, 2)
        spectrum = Spectrum.of([ball(p) for p in MASSES], top=ball(top), gap=ball(gap), missing=Ball(0))
        at = ball(Fraction(epsilon))
        expected = Ball(0)
        for j, p in enumerate(MASSES):
            expected = expected + ball(p) * (1 - (at - ball(top - j * gap)).exp()).max(Ball(0))
        low, high = spectrum.delta(at)
        assert low.overlaps(expected)
        assert high.overlaps(expected)
        assert abs(low - expected) < Ball(2) ** -200


def test_missing_mass_raises_only_the_upper_bound() -> None:
    with precision(256):
        spectrum = Spectrum.of([ball(p) for p in MASSES], top=Ball(2), gap=Ball(0.5), missing=Ball(0.25))
        low, high = spectrum.delta(Ball(5))
        assert low == 0
        assert high == 0.25
