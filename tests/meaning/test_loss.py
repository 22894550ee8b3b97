"""How far a belief can move under a loss, against the exact posteriors of small worlds."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quincunx as qx
from quincunx.errors import ParameterError, PrivacyError
from quincunx.finite import Mechanism
from quincunx.loss import GaussianLaw, LatticeLaw, Loss, StatedLaw
from quincunx.meaning import describe, posterior_bounds
from quincunx.meaning.belief import sentence
from quincunx.meaning.given import guarantee_of, read_unit
from quincunx.meaning.guarantee import Guarantee
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, RandomizedResponse
from quincunx.numbers import Log, ball, precision
from quincunx.spec import Specification, domain, scope, standard, unit

LAPLACE = Laplace(scale=1).loss
PRIORS = [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]


def stated(kind: standard.Standard, intensity: object, one: Any = None) -> Specification:
    return Specification(
        domain=domain.Histogram(cells=2),
        scope=scope.Everything(),
        unit=one or unit.Replace(),
        standard=kind,
        intensity=intensity,
    )


# A pure loss and the pure specification say the same.


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("name", "one"), [("replace", unit.Replace()), ("add-remove", unit.AddRemove())])
@pytest.mark.parametrize("about", ["record", "presence"])
@pytest.mark.parametrize("people", [1, 3])
def test_pure_losses_agree_with_the_specification(
    prior: Fraction, name: str, one: Any, about: str, people: int
) -> None:
    asked: dict[str, Any] = {"about": about, "people": people}
    found = posterior_bounds(prior, LAPLACE, unit=name, **asked)
    assert found == posterior_bounds(prior, stated(standard.Pure(), 1, one), **asked)
    assert found == posterior_bounds(prior, LAPLACE, unit=one, **asked)
    assert found.outside == 0


def test_a_record_costs_two_steps_under_add_remove_and_presence_one() -> None:
    record = posterior_bounds("0.1", LAPLACE, unit="add-remove")
    assert record == posterior_bounds("0.1", LAPLACE.group(2), unit="replace")
    assert record == posterior_bounds("0.1", LAPLACE.group(2), unit="add-remove", about="presence")
    assert posterior_bounds("0.1", LAPLACE, unit="add-remove", about="presence") == posterior_bounds(
        "0.1", LAPLACE, unit="replace"
    )


def test_a_unit_that_is_a_group_already_covers_it() -> None:
    pair = unit.Replace(group=2)
    assert posterior_bounds("0.1", LAPLACE, unit=pair, people=2) == posterior_bounds("0.1", LAPLACE, unit="replace")
    assert posterior_bounds("0.1", LAPLACE, unit=pair, people=3) == posterior_bounds(
        "0.1", LAPLACE, unit="replace", people=2
    )


@pytest.mark.parametrize("prior", PRIORS)
def test_randomized_response_attains_both_ends(prior: Fraction) -> None:
    found = posterior_bounds(prior, RandomizedResponse(probability="3/4").loss, unit="replace")
    exact = [prior * q / (prior * q + (1 - prior) * (1 - q)) for q in (Fraction(1, 4), Fraction(3, 4))]
    assert Fraction(found.low) <= exact[0]
    assert exact[1] <= Fraction(found.high)
    assert [found.low, found.high] == pytest.approx([float(each) for each in exact], rel=1e-15)


# Losses that are not pure, or not well told by their ε.


def growth(guarantee: Guarantee, risk: Fraction) -> float:
    with precision(256):
        factor, outside = guarantee.growth(risk)
        assert outside in (0, risk)
        return float(ball(factor).upper())


@pytest.mark.parametrize(
    "loss",
    [
        Gaussian(sigma=1).loss,
        Gaussian(sigma=20).loss,
        10 * DiscreteGaussian(sigma=5).loss,
        20 * DiscreteLaplace(scale=2).loss,
        LAPLACE + Gaussian(sigma=2).loss,
        50 * RandomizedResponse(probability="0.55").loss,
    ],
    ids=str,
)
@pytest.mark.parametrize("risk", [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**5)])
def test_no_epsilon_of_a_grid_does_better(loss: Loss, risk: Fraction) -> None:
    found = growth(guarantee_of(loss, "replace"), risk)
    curve = [(e, loss.delta(e)) for e in (i / 8 for i in range(120))]
    every = [math.exp(e) * float(risk) / (float(risk) - 2 * d) for e, d in curve if 2 * d < float(risk)]
    assert found <= min(every) * (1 + 1e-6)


def test_many_small_answers_are_told_by_their_curve_and_not_by_their_total() -> None:
    loss = 1000 * Laplace(scale=100).loss
    assert loss.pure() == 10
    assert posterior_bounds("0.1", loss, unit="replace").high > 0.999
    found = posterior_bounds("0.1", loss, unit="replace", outside="0.001")
    assert found.outside == Fraction(1, 1000)
    assert found.high < 0.5


def test_the_total_counts_where_it_is_better() -> None:
    assert posterior_bounds("0.1", LAPLACE, unit="replace", outside="0.4") == posterior_bounds(
        "0.1", LAPLACE, unit="replace"
    )
    assert posterior_bounds("0.1", Loss(), unit="replace", outside="0.4").high == pytest.approx(0.1)


@pytest.mark.parametrize(("delta", "outside"), [("1e-6", "0.001"), ("0.01", "0.03")])
def test_stated_losses_agree_with_the_approximate_standard(delta: str, outside: str) -> None:
    loss = Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1), delta=Fraction(delta)))
    found = posterior_bounds("0.1", loss, unit="replace", outside=outside)
    other = posterior_bounds("0.1", stated(standard.Approximate(delta), 1), outside=outside)
    assert (found.low, found.high) == pytest.approx((other.low, other.high), rel=1e-12)
    assert found.outside == other.outside


def test_gaussian_losses_are_at_least_as_good_as_the_gaussian_standard() -> None:
    for risk in ("1e-5", "0.001", "0.2"):
        found = posterior_bounds("0.1", Loss.of(GaussianLaw(mu2=Fraction(1, 4))), unit="replace", outside=risk)
        assert found.high <= posterior_bounds("0.1", stated(standard.GaussianDP(), "1/2"), outside=risk).high


# Small worlds.


def escaped(rows: dict[Any, list[Fraction]], belief: dict[Any, Fraction], true_of: set[Any], ends: Any) -> list[int]:
    """The outputs after which the belief lies outside the bounds."""
    found = []
    for i in range(len(next(iter(rows.values())))):
        joint = {x: weight * rows[x][i] for x, weight in belief.items()}
        total = sum(joint.values(), Fraction(0))
        if total and not Fraction(ends.low) <= sum((joint[x] for x in true_of), Fraction(0)) / total <= Fraction(
            ends.high
        ):
            found.append(i)
    return found


WORLDS = {
    "eight answers": (RandomizedResponse(probability="3/5"), 8, [0, 1]),
    "four answers among three": (RandomizedResponse(probability="1/2", options=3), 4, [0, 1, 2]),
    "five answers among four": (RandomizedResponse(probability="3/10", options=4), 5, [0, 1, 2, 3]),
}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("risk", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 50)])
def test_worlds_leave_the_bounds_with_probability_outside_at_most(name: str, risk: Fraction) -> None:
    mechanism, count, inputs = WORLDS[name]
    world = mechanism.finite().power(count).map(lambda answers: tuple(sorted(answers)))
    rows = {x: [Fraction(p) for p in world.law(x)] for x in inputs}  # type: ignore[arg-type]
    loss = count * mechanism.loss
    left = 0
    for prior in (Fraction(1, 20), Fraction(1, 3), Fraction(4, 5)):
        ends = posterior_bounds(prior, loss, unit="replace", outside=risk)
        for size in range(1, len(inputs)):
            for true in itertools.combinations(inputs, size):
                weights = {x: prior / size if x in true else (1 - prior) / (len(inputs) - size) for x in inputs}
                out = escaped(rows, weights, set(true), ends)
                left += len(out)
                for truth in inputs:
                    assert sum((rows[truth][i] for i in out), Fraction(0)) <= ends.outside
    # With much allowed outside some outputs do leave the bounds: the claim is not empty.
    assert left > 0 or risk < Fraction(1, 2)


@pytest.mark.parametrize("mechanism", [DiscreteGaussian(sigma=2), DiscreteLaplace(scale=2)], ids=str)
def test_noise_leaves_the_bounds_with_probability_outside_at_most(mechanism: Any) -> None:
    world = mechanism.finite([0, 1], reach=30)
    for prior, risk in itertools.product((0.1, 0.5), ("0.3", "0.05", "0.001")):
        ends = posterior_bounds(prior, mechanism.loss, unit="replace", outside=risk)
        laws = [[float(p.mid()) for p in world.law(x)] for x in (0, 1)]
        for truth in (0, 1):
            out = 0.0
            for p, q in zip(laws[1], laws[0], strict=True):
                belief = prior * p / (prior * p + (1 - prior) * q)
                out += (p if truth else q) * (not ends.low * (1 - 1e-9) <= belief <= ends.high * (1 + 1e-9))
            assert out <= float(ends.outside) + 1e-12


@settings(max_examples=40, deadline=None)
@given(
    st.fractions("1/100", "99/100", max_denominator=100),
    st.fractions("1/10", 4, max_denominator=10),
    st.fractions("1/1000", "9/10", max_denominator=1000),
)
def test_bounds_are_ordered_and_widen_with_people(prior: Fraction, mu2: Fraction, risk: Fraction) -> None:
    loss = Loss.of(GaussianLaw(mu2=mu2))
    found = [posterior_bounds(prior, loss, unit="replace", people=k, outside=risk) for k in (1, 2, 4)]
    assert all(each.low <= prior <= each.high for each in found)
    assert [each.high for each in found] == sorted(each.high for each in found)
    assert [each.low for each in found] == sorted((each.low for each in found), reverse=True)


# Words.


def test_a_loss_is_named_by_what_is_known_of_it() -> None:
    def named(loss: Loss) -> str:
        return guarantee_of(loss, "replace").stated

    assert named(LAPLACE) == "ε = 1"
    assert named(RandomizedResponse(probability="3/4").loss) == "ε ≤ 1.09862"
    assert named(Gaussian(sigma=4).loss) == "μ ≤ 0.25"
    assert named(Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1), delta=Fraction(1, 100)))) == "ε = 1, δ = 0.01"
    assert named(Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 3), delta=Fraction(1, 100)))).startswith(
        "ρ ≤ 0.333334"
    )
    assert named(LAPLACE + Gaussian(sigma=4).loss).endswith(" at δ = 1e-6")


def test_words_of_a_loss() -> None:
    said = sentence("0.1", LAPLACE, unit="replace")
    assert (
        "between 3.9 % and 23.2 %, whatever the release says. This is what was counted, a loss of ε = 1 in all" in said
    )
    group = sentence("0.1", LAPLACE, unit="replace", people="3", about="presence")
    assert "knows the records of all but these people and what theirs would be" in group
    assert "that these 3 people are in the data" in group
    assert sentence("0.1", LAPLACE, unit="replace", people="1") == said
    daily = unit.AddRemove(key="person", per={"column": "day", "period": "day"})
    assert "everything but these 2 people's rows of one day" in sentence("0.1", LAPLACE, unit=daily, people=2)


def test_description_of_a_loss() -> None:
    told = describe(LAPLACE, unit="add-remove")
    assert told.startswith("How much may leak (loss). ε = 1, for one step: One person, who is one record, being added")
    assert "What it means for one person. Someone who already knows" in told
    refused = describe(Gaussian(sigma=1).loss, unit="replace")
    assert refused.endswith("is stated here: no bounds hold always under a loss that is not pure.")


# What cannot be read.


@pytest.mark.parametrize("one", ["people", "", 3, unit.Neighbours([("a", "b")]), unit.Replace])
def test_unknown_units(one: object) -> None:
    with pytest.raises(ParameterError, match="unknown unit") as caught:
        posterior_bounds("0.1", LAPLACE, unit=one)
    assert caught.value.where == "unit"
    assert "replace" in caught.value.hint


def test_a_loss_needs_a_unit_and_a_specification_has_one() -> None:
    for ask in (posterior_bounds, sentence):
        with pytest.raises(ParameterError, match="a loss says nothing about its unit"):
            ask("0.1", LAPLACE)
        with pytest.raises(ParameterError, match="states its own unit"):
            ask("0.1", stated(standard.Pure(), 1), unit="replace")
    assert read_unit("replace") == unit.Replace()


@pytest.mark.parametrize("subject", [1, "epsilon=1", None, LatticeLaw(unit=Log(3), steps=1), Mechanism({0: {0: 1}})])
def test_other_things_are_no_guarantee(subject: Any) -> None:
    with pytest.raises(ParameterError, match="expected a guarantee") as caught:
        posterior_bounds("0.1", subject, unit="replace")
    assert caught.value.got == type(subject).__name__


@pytest.mark.parametrize("people", [0, -1, "1/2", "x", None, True])
def test_bad_numbers_of_people(people: object) -> None:
    with pytest.raises(ParameterError) as caught:
        posterior_bounds("0.1", LAPLACE, unit="replace", people=people)
    assert caught.value.where == "people"


def test_what_is_not_pure_needs_something_outside() -> None:
    loss = Gaussian(sigma=1).loss
    with pytest.raises(PrivacyError, match="no bounds hold always under a loss that is not pure") as caught:
        posterior_bounds("0.1", loss, unit="replace")
    assert "outside=" in caught.value.hint
    leaky = Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1), delta=Fraction(1, 100)))
    with pytest.raises(PrivacyError, match="no bound on a belief follows from this loss"):
        posterior_bounds("0.1", leaky, unit="replace", outside="0.02")
    assert posterior_bounds("0.1", leaky, unit="replace", outside="0.021").high < 1
    assert qx.Loss is Loss
