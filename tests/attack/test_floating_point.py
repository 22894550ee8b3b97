"""The floating-point attack: what is unreachable is unreachable, and our lattice hides nothing in its bits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.attack.floating_point import allowed, finer_than, reachable, textbook_laplace
from quincunx.errors import DataError, ParameterError
from quincunx.mechanisms import DiscreteLaplace, Laplace
from quincunx.noise.testing import KeyedBits
from tests.attack.telling import told
from tests.chart.reading import check_readable

GRID = 2**52


def forwards(j: int, sign: float, value: float, scale: float) -> float:
    """The textbook's answer for the grid point j·2^-52, by the same NumPy logarithm."""
    return float(value + (-scale * sign) * np.log(np.array([j / GRID]))[0])


@pytest.mark.parametrize("scale", [0.1, 1.0, 3.0, 100.0, 2.0**-5, 2.0**20, 1e-9, 1e12])
@pytest.mark.parametrize("value", [0.0, 1.0, -7.5, 30.0])
def test_the_truth_is_always_reachable(scale: float, value: float) -> None:
    value *= min(scale, 1.0)
    answers = value + textbook_laplace(np.random.default_rng(1), scale, 2_000)
    assert reachable(answers, value=value, scale=scale).all()


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_a_wider_search_finds_nothing_more(scale: float) -> None:
    answers = 1.0 + textbook_laplace(np.random.default_rng(2), scale, 400)
    found = reachable(answers, value=0.0, scale=scale)
    assert 0.02 < found.mean() < 0.9 or scale == 0.1
    for answer in answers[~found].tolist():
        near = round(GRID * math.exp(-abs(answer) / scale))
        inside = np.clip(np.arange(near - 600, near + 601, dtype=np.float64), 1, GRID) / GRID
        sign = math.copysign(1.0, answer)
        assert not ((-scale * sign) * np.log(inside) == answer).any()


@settings(max_examples=200)
@given(
    j=st.integers(1, GRID),
    sign=st.sampled_from([-1.0, 1.0]),
    value=st.sampled_from([0.0, 1.0, -1.0, 3.25, 100.0]),
    scale=st.floats(0.5, 2.0**20),
)
def test_every_grid_point_is_found_from_its_answer(j: int, sign: float, value: float, scale: float) -> None:
    answer = forwards(j, sign, value, scale)
    assert reachable([answer], value=value, scale=scale).all()


@pytest.mark.parametrize("scale", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("value", [0.0, 1.0, -2.0])
@pytest.mark.parametrize("centre", [0.9, 0.5, 0.05])
def test_enumerated_the_reachable_floats_are_exactly_those(scale: float, value: float, centre: float) -> None:
    # The answer falls as j rises, so neighbouring grid points give all answers between the first and the last: whatever
    # float lies between them and is not among them cannot be reached.
    js = round(centre * GRID) + np.arange(4_000, dtype=np.float64)
    given = np.unique(value + (-scale * 1.0) * np.log(js / GRID))
    first, last = given[5], given[-6]
    floats = [first]
    while floats[-1] < last and len(floats) < 6_000:
        floats.append(np.nextafter(floats[-1], np.inf))
    between = np.array(floats)
    assert reachable(between, value=value, scale=scale).tolist() == np.isin(between, given).tolist()


def test_the_sign_of_the_noise_is_tried() -> None:
    noise = textbook_laplace(np.random.default_rng(6), 1.0, 500)
    assert (noise < 0).any()
    assert reachable(-noise, value=0.0, scale=1.0).all()
    assert reachable([0.0], value=0.0, scale=1.0).all()
    assert reachable([1.0], value=1.0, scale=1.0).all()


def test_most_floats_cannot_be_reached() -> None:
    # Floats in a row around 0.7: at most a share of t·e^(−t) ≤ 0.37 can be noise of scale 1, and not their neighbours.
    floats = 0.7 + np.arange(2_000) * 2.0**-53
    share = reachable(floats, value=0.0, scale=1.0).mean()
    assert 0.1 < share < 0.4


def test_answers_to_one_are_coarse_and_answers_to_zero_are_not() -> None:
    noise = textbook_laplace(np.random.default_rng(3), 1.0, 20_000)
    small = np.abs(1.0 + noise) < 1
    assert not finer_than((1.0 + noise)[small], 2.0**-53).any()
    assert finer_than(noise[np.abs(noise) < 1], 2.0**-53).mean() > 0.3


def test_finer_than_looks_at_the_lowest_bit() -> None:
    values = np.array([0.0, 1.0, -3.0, 0.5, 0.25, -0.25, 2.0**-53, 1e300])
    assert finer_than(values, 0.5).tolist() == [False, False, False, False, True, True, True, False]


def test_textbook_noise_has_its_law() -> None:
    noise = textbook_laplace(np.random.default_rng(4), 2.0, 100_000)
    assert np.isfinite(noise).all()
    # E|Z| = scale with a relative deviation of 1/√n; six of them.
    assert np.abs(noise).mean() == pytest.approx(2.0, rel=0.02)
    assert (noise > 0).mean() == pytest.approx(0.5, abs=0.01)


def test_the_smallest_uniform_gives_no_infinite_noise() -> None:
    class Zero:
        def random(self, size: int) -> np.ndarray:
            return np.zeros(size)

    assert textbook_laplace(Zero(), 1.0, 3).tolist() == [0.0, 0.0, 0.0]  # type: ignore[arg-type]


@pytest.mark.parametrize("answers", [[float("nan")], [float("inf")], [[1.0]], 1.0])
def test_bad_answers_are_refused(answers: object) -> None:
    with pytest.raises(DataError, match="reachable: expected finite answers"):
        reachable(answers, value=0.0, scale=1.0)


@pytest.mark.parametrize(
    ("value", "scale"),
    [(math.nan, 1.0), (math.inf, 1.0), (0.0, 0.0), (0.0, -1.0), (0.0, math.inf), (0.0, math.nan), (1001.0, 1.0)],
)
def test_bad_parameters_are_refused(value: float, scale: float) -> None:
    with pytest.raises(ParameterError, match="value and scale"):
        reachable([0.5], value=value, scale=scale)


def test_no_answers_are_no_decisions() -> None:
    assert reachable([], value=0.0, scale=1.0).tolist() == []


@pytest.mark.parametrize("mechanism", [DiscreteLaplace(scale=1), Laplace(scale=1), Laplace(scale=3, step="1/4")])
def test_our_lattice_is_the_same_for_every_input(mechanism: Laplace | DiscreteLaplace) -> None:
    # Enumerated: within the reach every point has a positive probability for both inputs, by at most e^(ε·distance).
    world = mechanism.finite([0, 1], reach=6)
    outputs = list(world.outputs)
    bound = math.exp(mechanism.loss.pure() * float(mechanism.step))
    for output in outputs:
        chances = [float(world.probability(x, output)) for x in (0, 1)]
        assert min(chances) > 0
        assert max(chances) / min(chances) <= bound * (1 + 1e-9)


def test_ours_are_guessed_as_often_as_epsilon_allows(stream: KeyedBits) -> None:
    draws = 40_000
    zero, one = (DiscreteLaplace(scale=1).sample(np.full(draws, value)) for value in (0, 1))
    right = ((zero <= 0).mean() + (one >= 1).mean()) / 2
    assert right == pytest.approx(allowed(Fraction(1)), abs=6.2 * math.sqrt(0.25 / (2 * draws)))
    assert stream.injected


def test_the_story() -> None:
    story = told("floating-point")
    figures = {name: float(value) for name, value in story.figures.items()}
    for epsilon in ("0.01", "0.1", "1"):
        assert figures[f"certain, textbook Laplace, ε = {epsilon}"] > 0.7
        assert figures[f"right, textbook Laplace, ε = {epsilon}"] > 0.85
        for ours in ("Quincunx Laplace", "Quincunx discrete"):
            # 500,000 answers: more than six deviations of at most 0.0007.
            assert figures[f"right, {ours}, ε = {epsilon}"] <= figures[f"allowed at ε = {epsilon}"] + 0.0045
    for name, value in figures.items():
        if name.startswith(("wrong", "certain, Quincunx")):
            assert value == 0, name
    assert figures["certain by the lowest bit, ε = 1"] > 0.1
    check_readable(story.charts["floating_point"])
    assert all(len(row) == len(story.columns) for row in story.rows)
