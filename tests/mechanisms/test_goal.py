"""Guarantees as values: which parameters state one, and which losses meet it."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import ParameterError
from quincunx.loss import GaussianLaw, LaplaceLaw, Loss, StatedLaw
from quincunx.mechanisms.goal import goal, goal_outside

HALF = Loss.of(LaplaceLaw(epsilon=Fraction(1, 2)))
OUTSIDE = Loss.of(StatedLaw(epsilon=Fraction(1, 2), rho=Fraction(1, 8), delta=Fraction(1, 1000)))
FORMS: list[tuple[dict[str, str], str]] = [
    ({"epsilon": "1/3"}, "ε = 1/3 at δ = 0"),
    ({"epsilon": "1/3", "delta": "0"}, "ε = 1/3 at δ = 0"),
    ({"epsilon": "1/3", "delta": "1/10"}, "ε = 1/3 at δ = 0.1"),
    ({"rho": "2"}, "ρ = 2"),
    ({"mu": "2"}, "μ = 2"),
    ({"alpha": "3", "epsilon": "1"}, "ε = 1 at order α = 3"),
]


@pytest.mark.parametrize(("wanted", "text"), FORMS, ids=str)
def test_a_goal_says_what_it_is(wanted: dict[str, str], text: str) -> None:
    assert str(goal(**wanted)) == text
    assert goal(**wanted) == goal(**wanted)


@pytest.mark.parametrize(
    ("wanted", "limit"),
    [
        ({"epsilon": "{}"}, Fraction(1, 2)),
        ({"rho": "{}"}, None),
        ({"mu": "{}"}, None),
        ({"alpha": "2", "epsilon": "{}"}, None),
        ({"epsilon": "1/4", "delta": "{}"}, None),
    ],
    ids=str,
)
def test_a_goal_is_met_from_its_limit_on(wanted: dict[str, str], limit: Fraction | None) -> None:
    """The answers of a loss are floats above the truth: met there, and not a little below its lower bound."""
    answers: dict[frozenset[str], tuple[float, float]] = {
        frozenset({"epsilon"}): HALF.pure_bounds(),
        frozenset({"rho"}): HALF.zcdp_bounds(),
        frozenset({"mu"}): HALF.gdp_bounds(),
        frozenset({"alpha", "epsilon"}): HALF.renyi_bounds(2),
        frozenset({"epsilon", "delta"}): HALF.delta_bounds("1/4"),
    }
    low, high = answers[frozenset(wanted)]

    def stated(value: Fraction) -> Any:
        return goal(**{name: text.format(value) for name, text in wanted.items()})

    assert stated(limit if limit is not None else Fraction(high)).met(HALF)
    # The bound on μ has no lower end of its own; a hundredth less is not enough for the bound that is used.
    below = Fraction(high) * Fraction(99, 100) if "mu" in wanted else Fraction(low) * (1 - Fraction(1, 10**12))
    assert not stated(below).met(HALF)


def test_what_holds_within_epsilon_has_the_delta_that_was_stated() -> None:
    assert goal(epsilon="1/2", delta="1/1000").parameter(OUTSIDE) == Fraction(1, 1000)
    assert goal(epsilon="1/2", delta="1/1000").met(OUTSIDE)
    assert not goal(epsilon="1/2", delta="1/1001").met(OUTSIDE)
    assert goal(epsilon=1, delta="1e-9").parameter(HALF) == 0
    # Below its ε a loss has more δ than was stated.
    assert not goal(epsilon="0.499", delta="1/1000").met(OUTSIDE)


def test_goals_with_a_delta_are_met_by_losses_that_need_one() -> None:
    assert goal_outside(Fraction(1, 1000), epsilon="1/2").met(OUTSIDE)
    assert goal_outside(Fraction(1, 1000), rho="1/8").met(OUTSIDE)
    assert not goal_outside(Fraction(1, 1001), rho="1/8").met(OUTSIDE)
    assert not goal_outside(Fraction(1, 1000), rho="0.124999").met(OUTSIDE)
    assert str(goal_outside(Fraction(1, 1000), rho="1/8")) == "ρ = 0.125 at δ = 0.001"
    assert not goal(rho=1).met(OUTSIDE)
    assert not goal(mu=100).met(OUTSIDE)


@given(st.fractions("1/100", 20, max_denominator=100), st.fractions("1/100", 20, max_denominator=100))
def test_a_larger_limit_is_met_by_whatever_meets_a_smaller_one(first: Fraction, second: Fraction) -> None:
    less, more = sorted((first, second))
    for loss in (HALF, Loss.of(GaussianLaw(mu2=Fraction(1))), 3 * HALF):
        for name in ("rho", "mu"):
            assert not (goal(**{name: less}).met(loss) and not goal(**{name: more}).met(loss))
        assert not (goal(epsilon=less, delta="1e-5").met(loss) and not goal(epsilon=more, delta="1e-5").met(loss))


@pytest.mark.parametrize("given_", [{}, {"epsilon": 1, "rho": 1}], ids=str)
def test_exactly_one_of_epsilon_and_rho_outside_delta(given_: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="state one guarantee") as caught:
        goal_outside(Fraction(1, 10), **given_)
    assert caught.value.got == ("both" if given_ else "neither")


@pytest.mark.parametrize("value", [0, -1, "nan", float("inf"), "x", True, [1]], ids=repr)
@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_bad_numbers_outside_delta(name: str, value: object) -> None:
    with pytest.raises(ParameterError) as caught:
        goal_outside(Fraction(1, 10), **{name: value})
    assert caught.value.where == name
