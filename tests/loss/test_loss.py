"""The algebra: laws that every loss obeys, whatever it is made of."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quincunx as qx
from quincunx.errors import ParameterError
from quincunx.loss import DiscreteGaussianLaw, GaussianLaw, LaplaceLaw, LatticeLaw, Loss, StatedLaw
from quincunx.numbers import Log

LAWS = [
    GaussianLaw(mu2=Fraction(1, 9)),
    GaussianLaw(mu2=Fraction(2)),
    LaplaceLaw(epsilon=Fraction(1, 5)),
    LaplaceLaw(epsilon=Fraction(2)),
    LatticeLaw(unit=Fraction(1, 4), steps=1),
    LatticeLaw(unit=Fraction(1, 4), steps=3),
    LatticeLaw(unit=Log(3), steps=1),
    DiscreteGaussianLaw(sigma2=Fraction(4), shift=1),
    DiscreteGaussianLaw(sigma2=Fraction(1, 2), shift=2),
    StatedLaw(epsilon=Fraction(1, 2), rho=Fraction(1, 10)),
]
losses = st.lists(st.tuples(st.sampled_from(LAWS), st.integers(1, 4)), min_size=0, max_size=3).map(
    lambda terms: Loss(tuple(terms))
)


@given(losses, losses)
def test_order_does_not_matter(a: Loss, b: Loss) -> None:
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)


@given(losses, losses, losses)
def test_grouping_of_sums_does_not_matter(a: Loss, b: Loss, c: Loss) -> None:
    assert (a + b) + c == a + (b + c)


@given(losses, st.integers(0, 5))
def test_n_times_is_n_compositions(a: Loss, n: int) -> None:
    assert n * a == sum([a] * n, Loss())
    assert a * n == n * a


@given(losses, st.integers(1, 4), st.integers(1, 4))
def test_groups_multiply(a: Loss, j: int, k: int) -> None:
    assert a.group(j).group(k) == a.group(j * k)


@given(losses, st.fractions(0, 6, max_denominator=10))
def test_bounds_are_ordered_and_probabilities(a: Loss, epsilon: Fraction) -> None:
    low, high = a.delta_bounds(epsilon)
    assert 0.0 <= low <= high <= 1.0
    assert a.delta(epsilon) == high


@given(losses, st.fractions(0, 4, max_denominator=10), st.fractions(0, 4, max_denominator=10))
def test_delta_falls_with_epsilon(a: Loss, first: Fraction, second: Fraction) -> None:
    smaller, larger = sorted((first, second))
    assert a.delta_bounds(larger)[0] <= a.delta_bounds(smaller)[1]


@given(losses, st.sampled_from(["0", "1e-12", "1e-6", "0.01", "0.5"]))
def test_epsilon_inverts_delta(a: Loss, delta: str) -> None:
    low, high = a.epsilon_bounds(delta)
    assert 0.0 <= low <= high
    if math.isfinite(high):
        # The float ε is an exact binary number: ask with it as a fraction.
        assert a.delta_bounds(Fraction(high))[0] <= float(Fraction(delta))
    if 0 < low < math.inf:
        assert a.delta_bounds(Fraction(low))[1] >= float(Fraction(delta))


@given(losses, losses, st.sampled_from(["1e-9", "1e-3"]))
def test_composition_never_leaks_less(a: Loss, b: Loss, delta: str) -> None:
    assert (a + b).epsilon(delta) >= a.epsilon_bounds(delta)[0]
    assert (a + b).pure() >= a.pure()
    assert (a + b).zcdp() >= a.zcdp_bounds()[0]


@given(losses)
def test_repr_rebuilds_the_loss(a: Loss) -> None:
    names = {name: getattr(qx.loss, name) for name in qx.loss.__all__} | {"Fraction": Fraction, "Log": Log}
    assert eval(repr(a), names) == a


def test_the_empty_loss_leaks_nothing() -> None:
    nothing = Loss()
    assert nothing.pure() == 0.0
    assert nothing.zcdp() == 0.0
    assert nothing.delta(0) == 0.0
    assert nothing.epsilon(delta="0.1") == 0.0
    assert 0 * Loss.of(LAWS[0]) == nothing


def test_equal_laws_merge_and_counts_add() -> None:
    loss = Loss.of(LAWS[2]) + 3 * Loss.of(LAWS[2])
    assert loss.terms == ((LAWS[2], 4),)


def test_a_pure_law_beside_a_gaussian_shifts_epsilon() -> None:
    both = Loss.of(LaplaceLaw(epsilon=Fraction(1, 20))) + Loss.of(GaussianLaw(mu2=Fraction(1, 100)))
    gauss = Loss.of(GaussianLaw(mu2=Fraction(1, 100)))
    low, high = both.epsilon_bounds(delta=1e-6)
    # The search for ε stops at a relative width of 1e-13.
    assert gauss.epsilon_bounds(delta=1e-6)[0] <= low * (1 + 1e-12)
    # (ε₀, 0) with (ε, δ) is (ε₀ + ε, δ): the bound must find it.
    assert high <= gauss.epsilon(delta=1e-6) + 0.05 + 1e-9


def test_frozen() -> None:
    loss = Loss.of(LAWS[0])
    with pytest.raises(AttributeError):
        loss.terms = ()  # type: ignore[misc]


@pytest.mark.parametrize("delta", [-1, -1e-9, 1, 1.5, "nan", float("inf"), None, True])
def test_delta_outside_its_range_is_refused(delta: object) -> None:
    with pytest.raises(ParameterError, match="delta"):
        Loss.of(LAWS[0]).epsilon(delta=delta)


@pytest.mark.parametrize("epsilon", [-1, "nan", float("inf"), None])
def test_epsilon_outside_its_range_is_refused(epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Loss.of(LAWS[0]).delta(epsilon=epsilon)


@pytest.mark.parametrize("k", [0, -1, "1/2", 1.5, None, True])
def test_group_sizes_are_whole_and_positive(k: object) -> None:
    with pytest.raises(ParameterError, match="k"):
        Loss.of(LAWS[0]).group(k)


def test_repetition_is_a_whole_number() -> None:
    with pytest.raises(ParameterError, match="0 or more"):
        -1 * Loss.of(LAWS[0])
    with pytest.raises(TypeError):
        0.5 * Loss.of(LAWS[0])  # type: ignore[operator]
    with pytest.raises(TypeError):
        True * Loss.of(LAWS[0])
    with pytest.raises(TypeError):
        Loss.of(LAWS[0]) + 1.0  # type: ignore[operator]
