"""Reconstruction of a column: at least 95 % under errors well below √n, near chance under ε = 0.5."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.attack.decoding import reconstruct
from quincunx.attack.secret_column import (
    DELTA,
    EPSILONS,
    KINDS,
    PEOPLE,
    QUESTIONS,
    Column,
    by_epsilon,
    ceiling,
    column,
    private_noise,
    rough_answers,
)
from quincunx.errors import DataError
from quincunx.mechanisms import DiscreteLaplace

HALF = Fraction(1, 2)


def unlikely(trials: int, chance: float, risk: float) -> int:
    """The smallest k with P(X ≥ k) ≤ risk, X binomial."""
    tail = 0.0
    for k in range(trials, -1, -1):
        ways = lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1)
        tail += exp(ways + k * log(chance) + (trials - k) * log(1 - chance))
        if tail > risk:
            return k + 1
    return 0


# What is recovered under errors that are too small.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_errors_well_below_root_n_give_back_the_column(kind: str, share: float) -> None:
    source = np.random.default_rng((KINDS.index(kind), int(100 * share)))
    secret = column(source)
    assert secret.bits.shape == (PEOPLE,)
    assert secret.questions.shape == (QUESTIONS, PEOPLE)
    told = rough_answers(secret, kind, share * PEOPLE**0.5, source)
    assert secret.recovered(told) >= 0.95


@pytest.mark.parametrize("people", [50, 100, 200])
def test_more_people_and_errors_of_less_than_root_n_still_fall(people: int) -> None:
    # n^¼/2 is o(√n): it is an ever smaller share of √n.
    source = np.random.default_rng(people)
    secret = column(source, people, 8 * people)
    assert secret.recovered(rough_answers(secret, "normal", people**0.25 / 2, source)) >= 0.95


def test_large_errors_protect() -> None:
    source = np.random.default_rng(5)
    secret = column(source)
    assert secret.recovered(rough_answers(secret, "normal", 2 * PEOPLE**0.5, source)) < 0.75


@pytest.mark.parametrize("kind", KINDS)
def test_errors_have_the_size_they_are_said_to_have(kind: str) -> None:
    source = np.random.default_rng(6)
    secret = column(source)
    errors = rough_answers(secret, kind, 2.0, source) - secret.questions @ secret.bits
    # The deviation of 1,000 errors is within a fifth of 2 (rounding to whole people adds 1/12 to its square).
    assert 1.6 <= float(errors.std()) <= 2.4
    if kind == "bounded":
        assert np.abs(errors).max() <= 2 * 3**0.5 + 0.5
    if kind == "rounded":
        told = rough_answers(secret, kind, 2.0, source)
        assert np.allclose(told / (2 * 12**0.5), np.rint(told / (2 * 12**0.5)))


# What is recovered under a budget for all questions.


@pytest.mark.usefixtures("stream")
def test_under_a_half_the_attack_is_near_chance(full: bool) -> None:
    runs = 60 if full else 12
    found = by_epsilon(np.random.default_rng(9), (HALF,), runs)
    guesses = runs * PEOPLE
    for shares in found.values():
        right = round(shares[0] * guesses)
        # However it is done, under pure ε the number right is below a binomial one with e^ε/(1 + e^ε).
        assert right < unlikely(guesses, ceiling(HALF), 1e-9)
        # Near chance: a guess is right with probability at most 0.525 (certified below for normal noise; Laplace noise
        # is eight times as wide). 5.5 deviations of as many coins are exceeded with a chance below 1e-7.
        assert abs(right / guesses - 0.5) <= 5.5 * 0.5 / guesses**0.5 + 0.025


def test_what_is_certified_about_normal_noise_at_a_half() -> None:
    secret = column(np.random.default_rng(2))
    _, normal = private_noise(secret, HALF)
    # One person's bit is found with probability (1 + TV)/2 at best, even by who knows all others.
    assert (1 + normal.loss.tv()) / 2 <= 0.525
    assert normal.loss.delta(HALF) <= float(DELTA)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_noise_meets_the_total(epsilon: Fraction) -> None:
    secret = column(np.random.default_rng(3))
    laplace, normal = private_noise(secret, epsilon)
    k = secret.touched
    assert k == secret.questions.sum(axis=0).max()
    assert laplace.scale == k / epsilon
    assert laplace.loss.total_pure() == epsilon
    # Question by question: one person is in k of them, and moves each by 1.
    each = DiscreteLaplace(scale=laplace.scale, sensitivity=1).loss
    assert (k * each).total_pure() == epsilon
    assert normal.sensitivity2 == k
    assert normal.loss.delta(epsilon) <= float(DELTA)


@pytest.mark.usefixtures("stream")
def test_a_larger_total_gives_more_back() -> None:
    found = by_epsilon(np.random.default_rng(4), (Fraction(1), Fraction(10), Fraction(100)), 1)
    normal, laplace = found["gaussian"], found["laplace"]
    assert normal[0] < normal[1] < normal[2]
    assert normal[2] >= 0.95
    assert laplace[2] > laplace[0]
    assert all(laplace[k] <= normal[k] + 0.1 for k in range(3))


# The ceiling, enumerated.


def test_the_ceiling_is_the_posterior_bound() -> None:
    for epsilon in EPSILONS:
        exact = exp(float(epsilon)) / (1 + exp(float(epsilon)))
        assert exact <= ceiling(epsilon) <= exact * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("questions", [[(1, 1)], [(1, 0), (0, 1)], [(1, 1), (1, 0), (0, 1)]])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_best_attack_of_all_stays_below_the_ceiling(questions: list[tuple[int, int]], epsilon: Fraction) -> None:
    # Two people, every column, every output: the best guess about the first person, averaged over everything.
    k = max(sum(column) for column in zip(*questions, strict=True))
    noise = DiscreteLaplace(scale=k / epsilon)
    law = {x: {y: float(p) for y, p in row.items()} for x, row in noise.finite([0, 1, 2], reach=6).table().items()}
    outputs = sorted(law[0])
    best = 0.0
    for told in product(outputs, repeat=len(questions)):
        weight = [0.0, 0.0]
        for bits in product((0, 1), repeat=2):
            chance = 0.25
            for question, answer in zip(questions, told, strict=True):
                chance *= law[sum(a * b for a, b in zip(question, bits, strict=True))][answer]
            weight[bits[0]] += chance
        best += max(weight)
        # Given any output, neither value of the bit has more than the ceiling.
        assert max(weight) <= (ceiling(epsilon) + 1e-9) * sum(weight)
    assert 0.5 < best <= ceiling(epsilon) + 1e-9


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_number_right_is_below_a_binomial_one(epsilon: Fraction) -> None:
    # Two people, two questions; for every output the guess that is right about both, or about any, most often.
    questions, k = [(1, 1), (1, 0)], 2
    noise = DiscreteLaplace(scale=k / epsilon)
    law = {x: {y: float(p) for y, p in row.items()} for x, row in noise.finite([0, 1, 2], reach=8).table().items()}
    both = any_ = 0.0
    for told in product(sorted(law[0]), repeat=2):
        chance = {
            bits: 0.25
            * law[questions[0][0] * bits[0] + questions[0][1] * bits[1]][told[0]]
            * law[questions[1][0] * bits[0] + questions[1][1] * bits[1]][told[1]]
            for bits in product((0, 1), repeat=2)
        }
        both += max(chance.values())
        any_ += sum(chance.values()) - min(chance.values())
    p = ceiling(epsilon)
    assert 0.25 < both <= p**2 + 1e-9
    assert 0.75 < any_ <= 1 - (1 - p) ** 2 + 1e-9


def test_with_delta_the_average_is_above_the_ceiling_by_less_than_delta() -> None:
    # TV ≤ (e^ε − 1 + 2δ)/(e^ε + 1) for every (ε, δ): the certified TV of the noise used obeys it.
    for epsilon in EPSILONS[:4]:
        _, normal = private_noise(column(np.random.default_rng(1)), epsilon)
        grown = exp(float(epsilon))
        assert (1 + normal.loss.tv()) / 2 <= (grown + float(DELTA)) / (1 + grown)
        assert (grown + float(DELTA)) / (1 + grown) <= ceiling(epsilon) + float(DELTA)


# The function itself.


@given(bits=st.lists(st.integers(0, 1), min_size=1, max_size=6))
def test_all_subsets_answered_exactly_give_everything(bits: list[int]) -> None:
    questions = np.array(list(product((0, 1), repeat=len(bits))))
    assert reconstruct(questions, questions @ bits).tolist() == bits


def test_the_same_answers_give_the_same_bits() -> None:
    secret = column(np.random.default_rng(7), 60, 300)
    told = np.random.default_rng(7).normal(30, 100, 300)
    assert (reconstruct(secret.questions, told) == reconstruct(secret.questions, told)).all()


def test_questions_may_be_lists_or_truth_values() -> None:
    assert reconstruct([[1, 0], [0, 1]], [1, 0]).tolist() == [1, 0]
    assert reconstruct(np.eye(2, dtype=bool), (0, 1)).tolist() == [0, 1]


def test_one_false_answer_among_many_is_outvoted() -> None:
    # The sum of distances, unlike that of squares, does not give way to a single far error.
    source = np.random.default_rng(8)
    secret = column(source, 30, 200)
    told = (secret.questions @ secret.bits).astype(float)
    told[:20] += 1_000
    assert secret.recovered(told) == 1.0


@pytest.mark.parametrize(
    ("questions", "answers", "message"),
    [
        ([[1, 0]], [1, 2], "one answer for each question"),
        ([], [], "in 2 dimensions"),
        ([[]], [1], "expected people"),
        (np.zeros((0, 3)), [], "one answer for each question"),
        ([[1, 2]], [1], "zeros and ones"),
        ([[1, 0.5]], [1], "zeros and ones"),
        ([[1, 0]], [[1]], "in 1 dimensions"),
        ([[1, 0]], [float("nan")], "not finite"),
        ([[1, float("inf")]], [1], "not finite"),
        ([[1, 0], [1]], [1, 1], "expected numbers"),
        ("questions", [1], "expected numbers"),
        ([[1, 0]], None, "dimensions|expected"),
    ],
)
def test_bad_input_is_refused(questions: object, answers: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        reconstruct(questions, answers)


def test_an_error_does_not_show_an_answer() -> None:
    with pytest.raises(DataError) as caught:
        reconstruct([[1, 7]], [123456])
    assert "123456" not in str(caught.value)


def test_a_column_counts_who_is_asked_about_most() -> None:
    secret = Column(bits=np.array([0, 1]), questions=np.array([[1, 0], [1, 1], [1, 0]]))
    assert secret.touched == 3
    assert secret.recovered([0, 1, 0]) == 1.0
