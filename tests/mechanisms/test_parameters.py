"""What selecting mechanisms share: flags, risks, the first that is enough, tuples, stated losses."""

import math
from fractions import Fraction

import pytest

from quincunx.errors import DataError, ParameterError
from quincunx.mechanisms.parameters import first, flag, risk, stated, tuples


@pytest.mark.parametrize("least", [0, 1, 2, 3, 7, 8, 9, 1000, 10**12])
def test_first_finds_the_smallest_that_is_enough(least: int) -> None:
    asked: list[int] = []

    def enough(n: int) -> bool:
        asked.append(n)
        return n >= least

    assert first(enough) == least
    assert len(asked) <= 2 * least.bit_length() + 3


@pytest.mark.parametrize("least", [0, 1, 2, 7, 1000, 10**12])
@pytest.mark.parametrize("away", [-(10**13), -1000, -3, -2, -1, 0, 1, 2, 3, 1000, 10**13])
def test_a_guess_changes_what_is_tried_and_not_what_is_found(least: int, away: int) -> None:
    asked: list[int] = []

    def enough(n: int) -> bool:
        asked.append(n)
        return n >= least

    near = max(0, least + away)
    assert first(enough, near) == least
    assert min(asked) >= 0
    assert len(asked) == len(set(asked)) <= 2 * abs(near - least).bit_length() + 3


def test_flags_are_true_or_false() -> None:
    assert flag(True, "x") is True
    assert flag(False, "x") is False
    for value in (1, 0, None, "yes", [True]):
        with pytest.raises(ParameterError, match="True or False"):
            flag(value, "x")


@pytest.mark.parametrize("beta", [0, 1, -1, 2, "nan", None, True])
def test_a_risk_is_inside_zero_and_one(beta: object) -> None:
    assert risk(0.05) == Fraction(1, 20)
    with pytest.raises(ParameterError, match="beta"):
        risk(beta)


def test_tuples_of_integers() -> None:
    assert tuples([[1, 2], (3,)]) == [(1, 2), (3,)]
    for bad in ([], [()], [(1,), ()], [(1.0,)], [(True,)], [("1",)]):
        with pytest.raises(DataError, match="integers"):
            tuples(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", ["1/1000", "1", "30", "1000"])
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_a_stated_loss_is_never_below_its_rho(epsilon: str, delta: str) -> None:
    ((law, _),) = stated(Fraction(epsilon), Fraction(delta)).terms
    exact = float(Fraction(epsilon)) * math.tanh(float(Fraction(epsilon)) / 2)
    assert float(law.zcdp()[1]) == pytest.approx(exact, rel=1e-14)  # type: ignore[arg-type]
    assert law.pure() == Fraction(epsilon)
    assert law.stated_delta == Fraction(delta)
    assert stated(Fraction(2), Fraction(0)).zcdp() >= 2 * math.tanh(1) * (1 - 1e-16)
