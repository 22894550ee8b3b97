"""Randomized response, with two options and with more, and its unbiased estimators."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import quincunx as qx
from quincunx.loss import LatticeLaw, Loss, ResponseLaw
from quincunx.mechanisms import RandomizedResponse
from quincunx.numbers import Log


def test_loss_is_the_absolute_log_odds() -> None:
    assert RandomizedResponse(probability="3/4").loss == Loss.of(LatticeLaw(unit=Log(3), steps=1))
    assert RandomizedResponse(probability="1/4").loss == RandomizedResponse(probability="3/4").loss
    assert RandomizedResponse(probability="1/2").loss == Loss()


def test_the_slides_example() -> None:
    """Slides 000: T̄ = 0.45, p = 0.6 ⇒ 0.25."""
    assert RandomizedResponse(probability=0.6).unbias(0.45) == Fraction(1, 4)


@pytest.mark.parametrize("p", ["3/4", "0.1"])
@pytest.mark.parametrize("truth", [(0, 0, 1), (1, 1, 1), (0, 1, 0, 1)])
def test_the_estimator_is_unbiased_with_its_variance_by_enumeration(p: str, truth: tuple[int, ...]) -> None:
    """Lemma 1.18 with the correction per respondent: over all 2^n coins, exactly."""
    m, chance = RandomizedResponse(probability=p), Fraction(p)
    mean = second = Fraction(0)
    for coins in itertools.product((True, False), repeat=len(truth)):
        weight = math.prod((chance if coin else 1 - chance for coin in coins), start=Fraction(1))
        responses = [bit if coin else 1 - bit for bit, coin in zip(truth, coins, strict=True)]
        value = m.estimate(responses).value
        mean, second = mean + weight * value, second + weight * value**2
    assert mean == Fraction(sum(truth), len(truth))
    assert second - mean**2 == m.estimate(list(truth)).variance


def test_the_misprinted_estimator_is_biased() -> None:
    """With the correction applied once for all respondents, as printed, three respondents are already off."""
    p, truth = Fraction(3, 4), (0, 0, 1)
    mean = Fraction(0)
    for coins in itertools.product((True, False), repeat=3):
        weight = math.prod((p if coin else 1 - p for coin in coins), start=Fraction(1))
        responses = sum(bit if coin else 1 - bit for bit, coin in zip(truth, coins, strict=True))
        mean += weight * (responses + p - 1) / ((2 * p - 1) * 3)
    assert mean != Fraction(1, 3)


@pytest.mark.parametrize("p", ["3/4", "0.55", "0.1"])
@pytest.mark.parametrize(("n", "ones"), [(1, 0), (10, 3), (40, 40)])
@pytest.mark.parametrize("beta", ["0.05", "0.3"])
def test_the_interval_covers_exactly_enough(p: str, n: int, ones: int, beta: str) -> None:
    """Coverage from the exact law of the number of ones: a sum of two binomials."""
    m, chance = RandomizedResponse(probability=p), float(Fraction(p))
    half = m.error(beta=beta, size=n)
    law = np.convolve(
        stats.binom.pmf(range(ones + 1), ones, chance), stats.binom.pmf(range(n - ones + 1), n - ones, 1 - chance)
    )
    share = ones / n
    covered = sum(
        weight for count, weight in enumerate(law) if abs(float(m.unbias(Fraction(count, n))) - share) <= half + 1e-12
    )
    assert covered >= 1 - float(beta) - 1e-9


def test_error_is_the_better_of_two_inequalities() -> None:
    m = RandomizedResponse(probability="3/4")
    assert m.error(beta="0.5", size=100) == pytest.approx(math.sqrt(3 / 16 / 100 / 0.25 / 0.5))
    assert m.error(beta="0.001", size=100) == pytest.approx(math.sqrt(math.log(2000) / 200) / 0.5)


@pytest.mark.usefixtures("stream")
def test_sampling_flips_as_often_as_stated() -> None:
    """False-alarm rate 1e-9."""
    truth = np.arange(400_000).reshape(2, -1) % 2
    answers = RandomizedResponse(probability="0.6").sample(truth)
    assert answers.shape == truth.shape
    assert answers.dtype == np.int64
    assert set(np.unique(answers)) == {0, 1}
    for bit in (0, 1):
        agree = int(np.sum(answers[truth == bit] == bit))
        assert stats.binomtest(agree, 200_000, 0.6).pvalue > 1e-9


@pytest.mark.usefixtures("stream")
def test_estimate_has_an_interval_around_its_value() -> None:
    m = RandomizedResponse(probability="3/4")
    estimate = m.estimate(m.sample([0, 1] * 500), beta="0.01")
    assert estimate.low < float(estimate.value) < estimate.high
    assert estimate.variance == Fraction(3, 4000)
    assert m.variance == 0.75


def test_the_finite_model_is_the_table() -> None:
    world = RandomizedResponse(probability="3/4").finite()
    assert world.probability(0, 0) == Fraction(3, 4)
    assert world.probability(1, 0) == Fraction(1, 4)


def test_fair_coins_estimate_nothing() -> None:
    fair = RandomizedResponse(probability="1/2")
    assert fair.variance == math.inf
    assert set(np.unique(fair.sample([0, 1] * 20))) <= {0, 1}
    for ask in (lambda: fair.estimate([0, 1]), lambda: fair.unbias("1/2"), lambda: fair.error(beta="0.05")):
        with pytest.raises(qx.errors.ParameterError, match="no information"):
            ask()


@pytest.mark.parametrize("p", [0, 1, -1, 1.5, "nan", None, True, float("inf")])
def test_bad_probabilities(p: object) -> None:
    with pytest.raises(qx.errors.ParameterError, match="probability"):
        RandomizedResponse(probability=p)


@pytest.mark.parametrize(
    "values",
    [[], 0.5, [0.5], "yes", None, np.array([0.0, 1.0]), np.array([], dtype=bool), [[1], [0, 1]], np.array([1], object)],
)
def test_bad_values(values: object) -> None:
    m = RandomizedResponse(probability="3/4")
    with pytest.raises(qx.errors.DataError):
        m.sample(values)
    with pytest.raises(qx.errors.DataError):
        m.estimate(values)


@pytest.mark.usefixtures("stream")
def test_what_is_not_zero_counts_as_one() -> None:
    """No value is refused after it was seen."""
    honest = RandomizedResponse(probability="0.999999999999")
    assert honest.sample([7, -3, 0, 2**70, -(2**70), True, False]).tolist() == [1, 1, 0, 1, 1, 1, 0]
    assert honest.sample(np.array([2**64 - 1, 0], dtype=np.uint64)).tolist() == [1, 0]
    assert honest.sample(np.array([[True], [False]])).tolist() == [[1], [0]]
    assert honest.sample(1) == 1
    assert isinstance(honest.sample(np.bool_(True)), int)


def test_more_options_have_their_own_law_and_two_are_as_before() -> None:
    assert RandomizedResponse(probability="1/2", options=4).loss == Loss.of(
        ResponseLaw(high=Fraction(1, 2), low=Fraction(1, 6))
    )
    # Below 1/k the truth is the unlikely answer.
    assert RandomizedResponse(probability="0.1", options=4).loss == Loss.of(
        ResponseLaw(high=Fraction(3, 10), low=Fraction(1, 10))
    )
    assert RandomizedResponse(probability="1/4", options=4).loss == Loss()
    assert RandomizedResponse(probability="3/4", options=2) == RandomizedResponse(probability="3/4")


@pytest.mark.parametrize("p", ["1/2", "0.1"])
@pytest.mark.parametrize("truth", [(0, 0, 1), (2, 2, 2), (0, 1, 2, 2)])
def test_estimates_are_unbiased_within_their_variance_by_enumeration(p: str, truth: tuple[int, ...]) -> None:
    """Three options, over all 3^n answers, exactly; the variance is the formula of the note, at most the stated one."""
    m, chance = RandomizedResponse(probability=p, options=3), Fraction(p)
    other = (1 - chance) / 2
    mean, second = [Fraction(0)] * 3, [Fraction(0)] * 3
    for told in itertools.product(range(3), repeat=len(truth)):
        weight = math.prod((chance if a == b else other for a, b in zip(told, truth, strict=True)), start=Fraction(1))
        for option, found in enumerate(m.estimates(list(told))):
            mean[option] += weight * found.value
            second[option] += weight * found.value**2
    stated = m.estimates(list(truth))[0].variance
    for option in range(3):
        share = Fraction(truth.count(option), len(truth))
        spread = share * chance * (1 - chance) + (1 - share) * other * (1 - other)
        assert mean[option] == share
        assert second[option] - mean[option] ** 2 == spread / (len(truth) * (chance - other) ** 2) <= stated


@pytest.mark.parametrize("p", ["0.6", "0.1"])
@pytest.mark.parametrize("counts", [(4, 0, 0), (2, 1, 1), (0, 3, 2)])
@pytest.mark.parametrize("beta", ["0.05", "0.4"])
def test_all_intervals_cover_at_once(p: str, counts: tuple[int, ...], beta: str) -> None:
    """Simultaneous coverage from the exact joint law of three options."""
    m, truth = RandomizedResponse(probability=p, options=3), [x for x, n in enumerate(counts) for _ in range(n)]
    chance, half = Fraction(p), Fraction(m.error(beta=beta, size=len(truth)))
    covered = Fraction(0)
    for told in itertools.product(range(3), repeat=len(truth)):
        weights = (chance if a == b else (1 - chance) / 2 for a, b in zip(told, truth, strict=True))
        values = [m.unbias(Fraction(told.count(option), len(truth))) for option in range(3)]
        shares = [Fraction(n, len(truth)) for n in counts]
        if all(abs(value - share) <= half for value, share in zip(values, shares, strict=True)):
            covered += math.prod(weights, start=Fraction(1))
    assert covered >= 1 - Fraction(beta)


def test_error_with_more_options_is_the_better_of_two_inequalities() -> None:
    m = RandomizedResponse(probability="1/2", options=6)
    gap, spread = 0.4, 0.25 + 5 * 0.09
    assert m.error(beta="0.5", size=100) == pytest.approx(
        min(math.sqrt(spread / 50), math.sqrt(math.log(24) / 200)) / gap
    )
    assert m.error(beta="1e-6", size=100) == pytest.approx(math.sqrt(math.log(12e6) / 200) / gap)
    assert m.variance == pytest.approx(0.25 / gap**2)
    assert RandomizedResponse(probability="0.01", options=3).variance == pytest.approx(0.495 * 0.505 / 0.485**2)


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize(("p", "k"), [("0.6", 3), ("0.05", 5), ("1/7", 7)])
def test_sampling_tells_every_option_as_often_as_stated(p: str, k: int) -> None:
    """False-alarm rate 1e-9 in each cell."""
    draws = 50_000
    m, truth = RandomizedResponse(probability=p, options=k), np.repeat(np.arange(k), draws).reshape(k, draws)
    answers = m.sample(truth)
    assert answers.shape == truth.shape
    assert answers.dtype == np.int64
    world = m.finite()
    for x, y in itertools.product(range(k), repeat=2):
        told = int(np.sum(answers[x] == y))
        assert stats.binomtest(told, draws, float(world.probability(x, y))).pvalue > 1e-9  # type: ignore[arg-type]


@pytest.mark.usefixtures("stream")
def test_answers_out_of_range_are_moved_into_it() -> None:
    """No value is refused after it was seen."""
    honest = RandomizedResponse(probability="0.999999999999", options=4)
    assert honest.sample([7, -3, 0, 2**70, -(2**70), 2, True]).tolist() == [3, 0, 0, 3, 0, 2, 1]
    assert isinstance(honest.sample(2), int)
    assert [found.value > Fraction(1, 5) for found in honest.estimates([0, 0, 9, 9, -1])] == [True, False, False, True]


def test_estimate_is_for_two_options_and_estimates_for_all() -> None:
    two, three = RandomizedResponse(probability="3/4"), RandomizedResponse(probability="1/2", options=3)
    zeros, ones = two.estimates([1, 1, 0, 1])
    assert ones == two.estimate([1, 1, 0, 1])
    assert zeros.value + ones.value == 1
    assert sum(found.value for found in three.estimates([0, 1, 1, 2, 0])) == 1
    with pytest.raises(qx.errors.ParameterError, match="two options"):
        three.estimate([0, 1])
    with pytest.raises(qx.errors.ParameterError, match="no information"):
        RandomizedResponse(probability="1/3", options=3).estimates([0, 1])


@pytest.mark.parametrize("options", [1, 0, -2, 2.5, "nan", None, True, 2**21])
def test_bad_options(options: object) -> None:
    with pytest.raises(qx.errors.ParameterError, match="options"):
        RandomizedResponse(probability="3/4", options=options)


def test_a_table_of_too_many_options_is_refused() -> None:
    with pytest.raises(qx.errors.MatrixError, match="too many"):
        RandomizedResponse(probability="1/2", options=10_000).finite()


@pytest.mark.parametrize("values", [[], 0.5, [0.5], "yes", None, np.array([0.0, 1.0]), [[1], [0, 1]]])
def test_bad_values_with_more_options(values: object) -> None:
    m = RandomizedResponse(probability="1/2", options=3)
    with pytest.raises(qx.errors.DataError):
        m.sample(values)
    with pytest.raises(qx.errors.DataError):
        m.estimates(values)


@pytest.mark.parametrize("beta", [0, 1, "nan", -1])
def test_bad_beta(beta: object) -> None:
    with pytest.raises(qx.errors.ParameterError):
        RandomizedResponse(probability="3/4").error(beta=beta, size=3)
