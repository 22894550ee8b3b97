"""How fine a grid is chosen: fine enough for a thousandth, no finer than rounding allows, and where to look."""

import math
from fractions import Fraction

import pytest

from quincunx.loss import GaussianLaw, LaplaceLaw, Loss, SubsampledLaw
from quincunx.loss.spacing import spacing, where


def sampled(rate: str, mu2: str = "1") -> SubsampledLaw:
    return SubsampledLaw(base=GaussianLaw(mu2=Fraction(mu2)), rate=Fraction(rate), replacing=False)


@pytest.mark.parametrize(("rate", "count"), [("0.5", 3), ("0.01", 1000), ("0.001", 10)])
def test_the_spacing_is_a_power_of_two_with_a_bounded_number_of_cells(rate: str, count: int) -> None:
    law, cut = sampled(rate), 1e-16 / count
    mesh = spacing([(law, count)], cut)
    assert math.log2(mesh) == round(math.log2(mesh))
    assert law.span(cut) / 2**20 / 2 <= mesh <= law.span(cut) / 2**10
    # Alone, a law is seen at its own rate.
    assert mesh <= float(Fraction(rate)) / 32


def test_more_uses_do_not_need_a_coarser_grid_than_the_span_allows() -> None:
    beside = [(sampled("0.01"), 100), (LaplaceLaw(epsilon=Fraction(1)), 3)]
    assert 0 < spacing(beside, 1e-18) <= sampled("0.01").span(1e-18) / 2**10


@pytest.mark.parametrize("truth", [1e-9, 1e-3, 1.0, 300.0])
def test_where_a_falling_function_reaches_a_goal(truth: float) -> None:
    assert where(lambda e: math.exp(-e / truth), math.exp(-1)) == pytest.approx(truth, rel=1e-5)


def test_where_it_is_below_from_the_start() -> None:
    assert where(lambda _: 1e-9, 1e-6) == 0.0


def test_closed_laws_have_no_grid() -> None:
    law = LaplaceLaw(epsilon=Fraction(1))
    assert law.span(1e-16) == 0.0
    assert law.resolution == 1.0
    assert Loss.of(law).curve().sharpness(1.0) == 1e-12
