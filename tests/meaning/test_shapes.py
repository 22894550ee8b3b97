"""Four promises about a belief: their formulas, which of them implies which, and worlds that show it."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import DataError, ParameterError
from quincunx.meaning import posterior_bounds
from quincunx.meaning.shapes import Adversarial, APosterioriNoiseless, Differential, PositiveMembership, Shape, figure
from quincunx.mechanisms import RandomizedResponse
from quincunx.numbers import Log, float_above, float_below
from quincunx.spec import Specification, domain, scope, standard, unit

GRID = [Fraction(i, 20) for i in range(21)]
# Close enough to 0 and 1 to see the limits of ratios of small numbers.
FINE = [Fraction(1, 10**6), *GRID[1:-1], 1 - Fraction(1, 10**6)]
FEW = [FINE[0], *(Fraction(i, 4) for i in (1, 2, 3)), FINE[-1]]
THREE = Log(3)
ALL: list[Shape] = [
    Differential(THREE),
    PositiveMembership(THREE),
    Adversarial(THREE, Fraction(1, 20)),
    APosterioriNoiseless(THREE),
]

Law = tuple[Fraction, ...]


def worlds(parts: int = 6, outputs: int = 3) -> Iterator[tuple[Law, Law]]:
    """Every pair of laws on three outputs with probabilities in sixths: with t in the data, and without."""
    laws = [
        tuple(Fraction(each, parts) for each in split)
        for split in itertools.product(range(parts + 1), repeat=outputs)
        if sum(split) == parts
    ]
    yield from itertools.product(laws, laws)


def events(outputs: int = 3) -> list[tuple[int, ...]]:
    return [each for size in range(1, outputs + 1) for each in itertools.combinations(range(outputs), size)]


def posterior(prior: Fraction, inside: Law, outside: Law, event: tuple[int, ...]) -> Fraction | None:
    """The belief in t after an event; None where the event never happens."""
    p, q = (sum((law[i] for i in event), Fraction(0)) for law in (inside, outside))
    total = prior * p + (1 - prior) * q
    return prior * p / total if total else None


def promised(shape: Shape, inside: Law, outside: Law, priors: list[Fraction] = FINE) -> bool:
    """Whether the world keeps the promise for every prior of the list and every event."""
    found = ((prior, posterior(prior, inside, outside, event)) for prior in priors for event in events(len(inside)))
    return all(after is None or shape.allows(prior, after) for prior, after in found)


# Formulas.


@pytest.mark.parametrize("prior", GRID)
def test_the_survey_s_formulas_at_ln_3(prior: Fraction) -> None:
    p, e = prior, Fraction(3)
    expected = {
        ALL[0]: (p / (p + (1 - p) * e), p * e / (p * e + 1 - p)),
        ALL[1]: (Fraction(0), min(e * p, 1 - (1 - p) / e)),
        ALL[2]: (Fraction(0), min(Fraction(1), e * p + Fraction(1, 20))),
        ALL[3]: (max(p / e, 1 - e * (1 - p)), min(e * p, 1 - (1 - p) / e)),
    }
    for shape, (low, high) in expected.items():
        assert shape.enclosure(prior) == (low, high)
        assert shape.bounds(prior) == (float_below(low), float_above(high))
        assert shape.allows(prior, low)
        assert shape.allows(prior, high)
        if high < 1:
            assert not shape.allows(prior, high + Fraction(1, 10**9))
        if low > 0:
            assert not shape.allows(prior, low - Fraction(1, 10**9))


@given(st.fractions(0, 1, max_denominator=1000), st.fractions(0, 30, max_denominator=100))
def test_other_epsilons_enclose_the_formulas(prior: Fraction, epsilon: Fraction) -> None:
    p, e = float(prior), math.exp(float(epsilon))
    shapes: list[tuple[Shape, float, float]] = [
        (Differential(epsilon), p / (p + (1 - p) * e), p * e / (p * e + 1 - p)),
        (PositiveMembership(epsilon), 0.0, min(e * p, 1 - (1 - p) / e)),
        (Adversarial(epsilon, Fraction(1, 20)), 0.0, min(1.0, e * p + 0.05)),
        (APosterioriNoiseless(epsilon), max(p / e, 1 - e * (1 - p)), min(e * p, 1 - (1 - p) / e)),
    ]
    for shape, low, high in shapes:
        found = shape.bounds(prior)
        assert found == pytest.approx((max(0.0, low), min(1.0, high)), rel=1e-9, abs=1e-9)
        assert 0 <= found[0] <= p + 1e-15
        assert p - 1e-15 <= found[1] <= 1


def test_corners() -> None:
    quarter = Fraction(1, 4)
    assert PositiveMembership(THREE).enclosure(quarter) == (0, Fraction(3, 4))
    assert APosterioriNoiseless(THREE).enclosure(1 - quarter) == (quarter, Fraction(11, 12))
    assert Adversarial(THREE).delta == 0
    assert Differential(0).bounds("0.3") == (float_below(Fraction(3, 10)), float_above(Fraction(3, 10)))
    assert PositiveMembership(5000).bounds("0.1") == (0.0, 1.0)
    assert Differential(5000).bounds("0.1") == (0.0, 1.0)


# Attained.


@pytest.mark.parametrize("prior", GRID)
def test_randomized_response_attains_the_differential_shape(prior: Fraction) -> None:
    table = RandomizedResponse(probability="3/4").finite()
    inside, outside = (tuple(Fraction(p) for p in table.law(x)) for x in (1, 0))  # type: ignore[arg-type]
    after = [posterior(prior, inside, outside, (i,)) for i in (0, 1)]
    assert set(after) == set(Differential(THREE).enclosure(prior))


@pytest.mark.parametrize("prior", GRID)
def test_the_differential_shape_is_what_a_pure_specification_means(prior: Fraction) -> None:
    spec = Specification(
        domain=domain.Histogram(cells=2),
        scope=scope.Everything(),
        unit=unit.Replace(),
        standard=standard.Pure(),
        intensity=THREE,
    )
    found = posterior_bounds(prior, spec)
    assert (found.low, found.high) == Differential(THREE).bounds(prior)


# Which implies which.


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10), Fraction(1), THREE, Fraction(7)])
def test_bands_are_nested(epsilon: Any) -> None:
    for prior in GRID:
        low, high = Differential(epsilon).enclosure(prior)
        loose = APosterioriNoiseless(epsilon).enclosure(prior)
        above = PositiveMembership(epsilon).enclosure(prior)
        # Ends that are equal but irrational are enclosed by two intervals, each narrower than this.
        hair = Fraction(1, 10**60)
        assert loose[0] <= low + hair
        assert high <= loose[1] + hair
        assert loose[1] == above[1]
        assert above[1] <= Adversarial(epsilon).enclosure(prior)[1] <= Adversarial(epsilon, "1/20").enclosure(prior)[1]  # type: ignore[arg-type]


def test_every_world_in_sixths() -> None:
    """Differential ⟺ a-posteriori noiseless for all priors ⟹ positive membership ⟹ adversarial; none backwards."""
    counted = dict.fromkeys(("differential", "noiseless", "positive", "adversarial"), 0)
    for inside, outside in worlds():
        ratios = [(p, q) for p, q in zip(inside, outside, strict=True) if p or q]
        differential = all(p <= 3 * q and q <= 3 * p for p, q in ratios)
        kept = {
            "differential": promised(ALL[0], inside, outside, FEW),
            "noiseless": promised(ALL[3], inside, outside, FEW),
            "positive": promised(ALL[1], inside, outside, FEW),
            "adversarial": promised(ALL[2], inside, outside, FEW),
        }
        assert kept["differential"] == differential == kept["noiseless"]
        # For all priors, positive membership is one half of differential privacy.
        assert kept["positive"] == all(p <= 3 * q for p, q in ratios)
        assert kept["positive"] >= kept["differential"]
        assert kept["adversarial"] >= kept["positive"]
        counted = {name: counted[name] + kept[name] for name in counted}
    assert 0 < counted["differential"] < counted["positive"] < counted["adversarial"] < 28 * 28


def test_positive_membership_does_not_imply_differential_privacy() -> None:
    """An output that only people outside can make reveals absence: allowed by the one, not by the other."""
    inside, outside = (Fraction(0), Fraction(1)), (Fraction(2, 3), Fraction(1, 3))
    assert promised(PositiveMembership(THREE), inside, outside)
    assert not promised(Differential(THREE), inside, outside)
    assert posterior(Fraction(1, 2), inside, outside, (0,)) == 0


def test_adversarial_privacy_does_not_imply_positive_membership() -> None:
    inside, outside = (Fraction(1, 20), Fraction(19, 20)), (Fraction(0), Fraction(1))
    # Without δ it fails for small beliefs too; the first relation alone says nothing above 1/3.
    half = [Fraction(1, 2)]
    assert promised(Adversarial(THREE), inside, outside, half)
    assert not promised(PositiveMembership(THREE), inside, outside, half)
    assert not promised(Adversarial(THREE), inside, outside)


def test_for_one_prior_noiseless_privacy_is_weaker_and_costs_twice_epsilon() -> None:
    for prior in FINE:
        low, high = APosterioriNoiseless(THREE).enclosure(prior)
        double = Differential(Log(9)).enclosure(prior)
        assert double[0] <= low
        assert high <= double[1]
    # Reached at 1/(e^ε + 1), so no smaller factor will do.
    corner = Fraction(1, 4)
    assert APosterioriNoiseless(THREE).enclosure(corner)[1] == Differential(Log(9)).enclosure(corner)[1]
    inside, outside = (Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 10), Fraction(9, 10))
    assert promised(APosterioriNoiseless(THREE), inside, outside, [corner]) is False
    inside, outside = (Fraction(3, 10), Fraction(7, 10)), (Fraction(1, 30), Fraction(29, 30))
    assert promised(APosterioriNoiseless(THREE), inside, outside, [corner])
    assert not promised(Differential(THREE), inside, outside, [corner])


# What cannot be read, and the picture.


@pytest.mark.parametrize("shape", [Differential, PositiveMembership, Adversarial, APosterioriNoiseless])
@pytest.mark.parametrize("epsilon", [-1, "x", None, Log("1/2"), float("inf"), True])
def test_bad_epsilons(shape: Any, epsilon: object) -> None:
    with pytest.raises(ParameterError) as caught:
        shape(epsilon)
    assert caught.value.where == "epsilon"


@pytest.mark.parametrize("shape", ALL, ids=str)
@pytest.mark.parametrize("prior", [-0.1, 1.1, "x", None, True])
def test_bad_beliefs(shape: Shape, prior: object) -> None:
    for ask in (shape.bounds, shape.enclosure, lambda x: shape.allows(x, 0), lambda x: shape.allows(0, x)):
        with pytest.raises(ParameterError):
            ask(prior)


def test_bad_deltas() -> None:
    for delta in (-1, 1, 2, "x"):
        with pytest.raises(ParameterError) as caught:
            Adversarial(1, delta)  # type: ignore[arg-type]
        assert caught.value.where == "delta"


def test_values_are_frozen_equal_and_repeat_themselves() -> None:
    names = {cls.__name__: cls for cls in (Differential, PositiveMembership, Adversarial, APosterioriNoiseless)}
    for shape in ALL:
        assert eval(repr(shape), {**names, "Fraction": Fraction, "Log": Log}) == shape
        with pytest.raises(AttributeError):
            shape.epsilon = 1  # type: ignore[attr-defined]
    assert len(set(ALL)) == 4
    assert Differential(1) != PositiveMembership(1)


def test_the_figure_has_four_panels_and_says_what_it_shows() -> None:
    drawn = figure()
    assert drawn.svg.count('class="band"') == 4
    assert drawn.svg.count('class="panel"') == 4
    assert "two let a belief fall to nothing" in drawn.title
    assert "Desfontaines" in drawn.svg
    assert figure().svg == drawn.svg
    one = figure([("Mine", Differential(1))], title="One", note="Alone.")
    assert one.svg.count('class="band"') == 1
    assert one.height < drawn.height
    assert figure([("Mine", Differential(1))]).title == "Where each promise lets a belief go"


@pytest.mark.parametrize("shapes", [[], [("a", Differential(1))] * 5])
def test_figures_of_none_or_too_many(shapes: Any) -> None:
    with pytest.raises(DataError, match="one to four shapes"):
        figure(shapes)


def test_a_panel_needs_a_name() -> None:
    with pytest.raises(ParameterError):
        figure([("", Differential(1))])
