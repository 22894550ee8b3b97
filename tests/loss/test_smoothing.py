"""Averages of δ: above and below it, and transforms within their stated error."""

import math

import numpy as np
import pytest
from flint import acb
from hypothesis import given
from hypothesis import strategies as st

from quincunx.loss.smoothing import Average
from quincunx.numbers import Ball, precision

WIDTHS = [1e-6, 1e-3, 0.1, 2.0]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_shift_and_the_stretch_are_on_the_safe_side(width: float) -> None:
    average = Average(width)
    with precision(256):
        eta = Ball(width)
        mean = (4 * (eta / 4).expm1() / eta) ** 4
        assert (-Ball(average._shift)).exp() * mean <= 1
        assert Ball(average._stretch) * eta <= (2 * eta.expm1() + 1).log()
    assert 1 < average._stretch < 2


@given(st.floats(1e-4, 1.0), st.lists(st.tuples(st.floats(0.01, 1), st.floats(-1, 3)), min_size=1, max_size=6))
def test_averages_enclose_every_falling_convex_function(width: float, corners: list[tuple[float, float]]) -> None:
    """δ(ε) = Σ p·(1 − e^{ε−l})⁺ at ε = 0, averaged over the spline of Y by midpoints of its four parts."""

    def delta(y: np.ndarray) -> np.ndarray:
        return sum((p * np.maximum(0.0, -np.expm1(y - loss)) for p, loss in corners), np.zeros_like(y))

    average = Average(width)
    part = (np.arange(14) + 0.5) / 14 * width / 4
    pair = (part[:, None] + part).ravel()
    y = (pair[:, None] + pair).ravel()
    truth, slack = float(delta(np.array([0.0]))[0]), 2e-3 * width * sum(p for p, _ in corners) * math.exp(width)
    assert float(np.mean(delta(y - average._shift))) >= truth - slack
    assert 2 * float(np.mean(delta(y))) - float(np.mean(delta(average._stretch * y))) <= truth + slack


@pytest.mark.parametrize("width", WIDTHS)
def test_factors_are_within_their_error_and_fade(width: float) -> None:
    average, nodes = Average(width), [0.5, 2 + 1j, 1 + 1e3j, 3 + 2e6j, 0.1 + 6.283185307179586j / 1e-3]
    s = np.array(nodes, dtype=np.complex128)
    (above, above_off), (below, below_off) = average.above(s), average.below(s)
    with precision(256):
        for k, node in enumerate(nodes):
            z = acb(node.real, node.imag) if isinstance(node, complex) else acb(node)

            def fourth(x: acb) -> acb:
                return ((1 - (-x).exp()) / x) ** 4

            part = acb(width) / 4
            roof = fourth(z * part) * (z * acb(average._shift)).exp()
            floor = 2 * fourth(z * part) - fourth(z * part * acb(average._stretch))
            assert float((roof - acb(above[k].real, above[k].imag)).abs_upper()) <= above_off[k]
            assert float((floor - acb(below[k].real, below[k].imag)).abs_upper()) <= below_off[k]
            omega = abs(complex(node).imag)
            if omega:
                bound = average.fading(complex(node).real) / omega**4
                assert max(abs(above[k]), abs(below[k])) <= bound * (1 + 1e-9)
