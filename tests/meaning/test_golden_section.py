"""Golden section: the dip of a function, and never a place outside."""

import math

import pytest

from quincunx.meaning.golden_section import smallest


@pytest.mark.parametrize("dip", [0.0, 0.1, 1.7, 3.999, 4.0])
def test_one_dip_is_found(dip: float) -> None:
    assert smallest(lambda x: (x - dip) ** 2, 0.0, 4.0) == pytest.approx(dip, abs=1e-7)
    assert smallest(lambda x: abs(x - dip), 0.0, 4.0) == pytest.approx(dip, abs=1e-7)


def test_ends_are_looked_at_and_ties_go_left() -> None:
    assert smallest(lambda x: x, 2.0, 5.0) == 2.0
    assert smallest(lambda x: -x, 2.0, 5.0) == 5.0
    assert smallest(lambda _: 0.0, 2.0, 5.0) == 2.0
    assert smallest(math.exp, 3.0, 3.0) == 3.0


def test_what_is_returned_was_met() -> None:
    met = {}

    def wild(x: float) -> float:
        met[x] = math.sin(40 * x)
        return met[x]

    found = smallest(wild, 0.0, 4.0, steps=20)
    assert met[found] == min(met.values())
    assert len(met) <= 24
