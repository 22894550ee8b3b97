"""Two respondents: every ratio against enumeration, and the theorem on a grid of priors."""

import itertools
import pickle
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import ParameterError
from quincunx.meaning.dependence import Joint, Respondents
from quincunx.numbers import Log

from .dependent_worlds import grid, likelihood, responses

CHANCES = [Fraction(1, 10), Fraction(1, 4), Fraction(2, 5), Fraction(3, 5), Fraction(3, 4), Fraction(9, 10)]
PRIORS = [joint for joint in grid(2, 3) if len(joint.values(0)) == 2]
ANSWERS = list(itertools.product((0, 1), repeat=2))


def test_the_grid_is_large_and_holds_every_kind() -> None:
    signs = [(found > 0) - (found < 0) for found in (ask(prior).covariance for prior in PRIORS)]
    assert len(PRIORS) > 150
    assert min(signs.count(-1), signs.count(0), signs.count(1)) > 20


def ask(prior: Any, p: object = "3/4") -> Respondents:
    return Respondents(prior=prior, probability=p)


@pytest.mark.parametrize("p", CHANCES, ids=str)
def test_every_ratio_is_that_of_the_enumerated_world(p: Fraction) -> None:
    world = responses(2, p)
    for prior in PRIORS:
        asked, table = ask(prior, p), prior.table()
        one = prior.law(0)[1]
        for t in ANSWERS:
            yes, no = (likelihood(world, table, t, x0=a) for a in (1, 0))
            assert asked.likelihood_ratio(*t) == (yes / one) / (no / (1 - one))
            assert asked.posterior(*t) == yes / (yes + no)
            assert asked.posterior_ratio(*t) == yes / (yes + no) / one


@pytest.mark.parametrize("p", [p for p in CHANCES if p > Fraction(1, 2)], ids=str)
def test_lr_exceeds_e_to_epsilon_exactly_when_the_covariance_is_positive(p: Fraction) -> None:
    for prior in PRIORS:
        asked = ask(prior, p)
        ratio, limit = asked.likelihood_ratio(1, 1), asked.epsilon.of
        assert asked.together == ratio
        assert (ratio > limit) == (asked.covariance > 0) == (asked.chance(1) > asked.chance(0)) == asked.exceeds
        assert (ratio == limit) == (asked.covariance == 0) == (asked.chance(1) == asked.chance(0))
        # Other answers exceed it exactly when the covariance is negative.
        assert (asked.likelihood_ratio(1, 0) > limit) == (asked.covariance < 0)
        assert (limit**2 == ratio) == (prior.probability((0, 1)) == prior.probability((1, 0)) == 0)
        assert 1 <= ratio <= limit**2


@pytest.mark.parametrize("p", CHANCES, ids=str)
def test_some_answers_exceed_it_exactly_under_dependence(p: Fraction) -> None:
    for prior in PRIORS:
        asked = ask(prior, p)
        ratios = [asked.likelihood_ratio(*t) for t in ANSWERS]
        worst = max(max(ratio, 1 / ratio) for ratio in ratios)
        assert (worst > asked.epsilon.of) == (asked.covariance != 0)


@pytest.mark.parametrize("p", [p for p in CHANCES if p < Fraction(1, 2)], ids=str)
def test_below_one_half_the_other_answer_speaks_for_one(p: Fraction) -> None:
    for prior in PRIORS:
        asked, mirrored = ask(prior, p), ask(prior, 1 - p)
        assert asked.affirmative == 0
        assert asked.epsilon == mirrored.epsilon == Log((1 - p) / p)
        assert asked.together == asked.likelihood_ratio(0, 0) == mirrored.together
        assert asked.exceeds == (asked.covariance > 0)


def test_fair_coins_say_nothing() -> None:
    for prior in PRIORS:
        asked = ask(prior, "1/2")
        assert asked.epsilon.of == 1
        assert all(asked.likelihood_ratio(*t) == 1 for t in ANSWERS)
        assert not asked.exceeds
    assert "Fair coins say nothing about anybody." in ask(PRIORS[0], "1/2").words()


@given(
    st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(lambda w: w[0] + w[1] and w[2] + w[3]),
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
)
def test_the_corrected_formula_and_the_covariance(weights: list[int], p: Fraction) -> None:
    total = sum(weights)
    # In the order 00, 01, 10, 11.
    t00, t01, t10, t11 = (Fraction(w, total) for w in weights)
    asked = ask({(0, 0): t00, (0, 1): t01, (1, 0): t10, (1, 1): t11}, p)
    one, zero, o = t10 + t11, t00 + t01, p / (1 - p)
    assert asked.odds == o
    assert asked.likelihood_ratio(1, 1) == (o * t11 / one + t10 / one) / (t01 / zero + t00 / zero / o)
    assert asked.covariance == t11 - one * (t01 + t11) == (asked.chance(1) - asked.chance(0)) * one * zero
    for t in ANSWERS:
        ratio, c = asked.likelihood_ratio(*t), asked.posterior_ratio(*t)
        assert min(1, ratio) <= c <= max(1, ratio)
        assert asked.epsilon.of**-2 <= ratio <= asked.epsilon.of**2


def test_words() -> None:
    alike = ask({(1, 1): "1/4", (0, 0): "3/4"}).words()
    assert "9 times as likely if the first person is a 1 as if not, more than e^ε = 3." in alike
    assert "speaks for it: under this prior the covariance of the two is positive." in alike
    assert "A belief of 0.25 that the first person is a 1 becomes 0.75." in alike
    assert "already knows the second person's truth is moved by e^ε at most" in alike
    apart = ask({(1, 0): "1/2", (0, 1): "1/2"}, "1/4").words()
    assert apart.startswith("Both answer no, which speaks for 1. Together the answers are 1 times as likely")
    assert "less than e^ε = 3. The second answer speaks against it" in apart
    independent = ask(Joint.independent({0: "1/3", 1: "2/3"}, {0: "1/2", 1: "1/2"})).words()
    assert "exactly e^ε = 3. The second answer adds nothing: under this prior the two people are uncorrelated" in (
        independent
    )


def test_it_is_a_value() -> None:
    asked = ask({(1, 1): "1/4", (0, 0): "3/4"})
    assert asked == ask(Joint({(0, 0): "0.75", (1, 1): "0.25"}), 0.75)
    assert pickle.loads(pickle.dumps(asked)) == asked
    assert eval(repr(asked), {"Respondents": Respondents, "Joint": Joint, "Fraction": Fraction}) == asked
    with pytest.raises(AttributeError):
        asked.probability = Fraction(1, 2)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("prior", "p", "where"),
    [
        ({(0, 0): 1}, "3/4", "prior"),
        ({(1, 0): "1/2", (1, 1): "1/2"}, "3/4", "prior"),
        ({(0, 0, 0): "1/2", (1, 1, 1): "1/2"}, "3/4", "prior"),
        ({(0, 2): "1/2", (1, 1): "1/2"}, "3/4", "prior"),
        ({(0, 0): "1/2", (1, 1): "1/2"}, 0, "probability"),
        ({(0, 0): "1/2", (1, 1): "1/2"}, 1, "probability"),
        ({(0, 0): "1/2", (1, 1): "1/2"}, "3/2", "probability"),
        ({(0, 0): "1/2", (1, 1): "1/2"}, "inf", "probability"),
        ({(0, 0): "2/2", (1, 1): "1/2"}, "3/4", "Joint"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_refused(prior: Any, p: object, where: str) -> None:
    with pytest.raises(ParameterError) as caught:
        ask(prior, p)
    assert caught.value.where == where


@pytest.mark.parametrize("answer", [2, -1, "1", None, 0.0])
def test_answers_are_bits(answer: Any) -> None:
    asked = ask({(1, 1): "1/4", (0, 0): "3/4"})
    with pytest.raises(ParameterError, match="must be 0 or 1"):
        asked.likelihood_ratio(answer, 1)
    with pytest.raises(ParameterError, match="must be 0 or 1"):
        asked.posterior(1, answer)
    with pytest.raises(ParameterError, match="must be 0 or 1"):
        asked.chance(answer)
