"""What the exponential mechanism and permute-and-flip share: scores in, a place out, the same refusals."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quincunx as qx
from quincunx.mechanisms import Exponential, PermuteAndFlip, calibration
from quincunx.mechanisms.goal import goal
from quincunx.mechanisms.selection import Selection
from quincunx.noise.testing import KeyedBits
from quincunx.numbers import Ball, ball, float_below, float_near, precision
from quincunx.spec.standard import ZCDP, Approximate, GaussianDP, Pure, Renyi, Standard
from tests.statistical.goodness import FALSE_ALARM, binomial

from .grid import one_digit_less

KINDS = [Exponential, PermuteAndFlip]
BAD_SCORES = [
    1.0,
    [1.5],
    [1, 2.0],
    [True, False],
    True,
    "3",
    None,
    [],
    [[[1, 2]]],
    3,
    np.array([1.0]),
    np.array(3),
    {1: 2},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scores", BAD_SCORES, ids=repr)
def test_bad_scores_are_refused_and_nothing_is_drawn(kind: type[Selection], scores: object, stream: KeyedBits) -> None:
    with pytest.raises(qx.errors.DataError) as caught:
        kind(scale=1).sample(scores)
    assert caught.value.where == kind.__name__
    assert int(stream.words(1)[0]) == int(type(stream)(stream._key).words(1)[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"scale": 0}, "scale"),
        ({"scale": -1}, "scale"),
        ({"scale": "nan"}, "scale"),
        ({"scale": None}, "scale"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"sensitivity": float("inf")}, "sensitivity"),
        ({"monotone": 1}, "monotone"),
        ({"monotone": "yes"}, "monotone"),
        ({"step": 0}, "step"),
    ],
    ids=str,
)
def test_bad_parameters(kind: type[Selection], changes: dict[str, object], where: str) -> None:
    with pytest.raises(qx.errors.ParameterError) as caught:
        kind(**{"scale": 1, **changes})  # type: ignore[arg-type]
    assert caught.value.where == where


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("beta", "candidates"), [(0, 3), (1, 3), ("nan", 3), (None, 3), ("0.05", 0), ("0.05", 1.5), ("0.05", None)]
)
def test_bad_error_questions(kind: type[Selection], beta: object, candidates: object) -> None:
    with pytest.raises(qx.errors.ParameterError):
        kind(scale=1).error(beta, candidates)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inputs", [[], [()], [(0.5,)], [(True,)], [("1",)]])
def test_finite_needs_tuples_of_integers(kind: type[Selection], inputs: list[tuple[int, ...]]) -> None:
    with pytest.raises(qx.errors.DataError):
        kind(scale=1).finite(inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_come_in_any_integer_type(kind: type[Selection]) -> None:
    for scores in ([0, 900], (0, 900), np.array([0, 900]), np.array([0, 100], dtype=np.int8), [np.int32(0), 900]):
        assert kind(scale=1).sample(scores) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_rescales_scores_and_error(kind: type[Selection]) -> None:
    coarse, fine = kind(scale=3), kind(scale="0.3", sensitivity="0.1", step="0.1")
    scores = (0, 2, 5)
    assert coarse.loss == fine.loss
    assert [str(p) for p in coarse.finite([scores]).law(scores)] == [str(p) for p in fine.finite([scores]).law(scores)]
    assert fine.error("0.05", 10) == pytest.approx(coarse.error("0.05", 10) / 10)
    assert coarse.error("0.05", 10) <= coarse.error("0.05", 100) <= coarse.error("0.001", 100)


@settings(max_examples=60)
@given(
    pairs=st.lists(st.tuples(st.integers(-9, 9), st.integers(-3, 3)), min_size=1, max_size=6),
    scale=st.sampled_from(["1/3", "1", "4", "50"]),
    monotone=st.booleans(),
    delta=st.sampled_from(["0", "1e-4", "0.05"]),
    kind=st.sampled_from(KINDS),
)
def test_any_scores_and_neighbours(
    pairs: list[tuple[int, int]], scale: str, monotone: bool, delta: str, kind: type[Selection]
) -> None:
    mechanism = kind(scale=scale, sensitivity=3, monotone=monotone)
    x = tuple(score for score, _ in pairs)
    y = tuple(score - (abs(move) if monotone else move) for score, move in pairs)
    world = mechanism.finite([x, y])
    with precision(512):
        assert float_near(sum(map(ball, world.law(x)), Ball(0))) == pytest.approx(1, abs=1e-15)
        found = Approximate(delta).least(world.law(x), world.law(y))
        assert float_below(found.lower) <= mechanism.loss.epsilon(delta) * (1 + 1e-12)


def test_a_message_never_holds_a_score() -> None:
    for kind in KINDS:
        with pytest.raises(qx.errors.DataError) as caught:
            kind(scale=1).sample([987654321.5])
        assert "987654321" not in str(caught.value)


# Calibration.

PURE_GOALS: list[dict[str, str]] = [{"epsilon": "1/3"}, {"epsilon": "1e-6"}, {"epsilon": "50", "delta": "0"}]
SEARCHED: list[dict[str, str]] = [
    {"epsilon": "1", "delta": "1e-6"},
    {"epsilon": "0.01", "delta": "1e-12"},
    {"epsilon": "0", "delta": "0.1"},
    {"epsilon": "7", "delta": "0.01"},
    {"rho": "1/3"},
    {"rho": "1e-6"},
    {"rho": "30"},
    {"mu": "1"},
    {"mu": "1e-3"},
    {"alpha": "2", "epsilon": "0.5"},
    {"alpha": "64", "epsilon": "3"},
]


@pytest.mark.parametrize("wanted", PURE_GOALS, ids=str)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_pure_goal_is_met_with_equality(kind: type[Selection], monotone: bool, wanted: dict[str, str]) -> None:
    found = kind.calibrate(sensitivity="3/7", monotone=monotone, step="1/7", **wanted)
    assert (found.sensitivity, found.monotone, found.step) == (Fraction(3, 7), monotone, Fraction(1, 7))
    assert found.loss.total_pure() == Fraction(wanted["epsilon"])
    assert found.scale == (1 if monotone else 2) * Fraction(3, 7) / Fraction(wanted["epsilon"])


@pytest.mark.parametrize("wanted", SEARCHED, ids=str)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_scale_of_six_digits(kind: type[Selection], monotone: bool, wanted: dict[str, str]) -> None:
    aim, found = goal(**wanted), kind.calibrate(sensitivity=3, monotone=monotone, **wanted)
    assert aim.met(found.loss)
    less = one_digit_less(found.scale)
    assert not aim.met(kind(scale=less, sensitivity=3, monotone=monotone).loss)


def test_known_scales() -> None:
    # ρ = η²/8 for bounded range: η = 1 at ρ = 1/8, which only the exponential mechanism may use.
    assert Exponential.calibrate(rho="1/8").scale == 2
    assert PermuteAndFlip.calibrate(rho="1/8").scale == Fraction("3.9583")
    # δ(ε) of bounded range falls faster than that of randomized response.
    assert (
        Exponential.calibrate(epsilon=1, delta="0.01").scale < PermuteAndFlip.calibrate(epsilon=1, delta="0.01").scale
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("wanted", "standard", "limit"),
    [
        ({"epsilon": "1"}, Pure(), "1"),
        ({"epsilon": "1/2", "delta": "1/50"}, Approximate("1/50"), "1/2"),
        ({"rho": "1/5"}, ZCDP(), "1/5"),
        ({"mu": "1"}, GaussianDP(), "1"),
        ({"alpha": "3", "epsilon": "1"}, Renyi(3), "1"),
    ],
    ids=str,
)
def test_calibrated_choices_meet_the_goal_on_a_small_world(
    kind: type[Selection], wanted: dict[str, str], standard: Standard, limit: str
) -> None:
    """Three candidates, every two neighbours of scores that move by one: never more than was asked."""
    found = kind.calibrate(**wanted)
    scores = (0, 2, 1)
    others = [
        tuple(score + move for score, move in zip(scores, moves, strict=True))
        for moves in itertools.product((-1, 0, 1), repeat=3)
        if any(moves)
    ]
    world = found.finite([scores, *others])
    for other in others:
        with precision(512):
            least = standard.least(world.law(scores), world.law(other))
            assert float_below(least.lower) <= float(Fraction(limit)) * (1 + 1e-9)


@pytest.mark.parametrize(("error", "step"), [("10", "1"), ("3.7", "1"), ("0.3", "0.1"), ("0.4", "1")])
@pytest.mark.parametrize(("beta", "candidates"), [("0.05", 2), ("0.05", 40), ("1e-9", 1000), ("0.4", 3)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_scale_that_is_accurate_enough(
    kind: type[Selection], error: str, step: str, beta: str, candidates: int
) -> None:
    found = kind.for_error(error=error, beta=beta, candidates=candidates, step=step, sensitivity=step)
    whole = Fraction(error) // Fraction(step) * Fraction(step)
    assert Fraction(found.error(beta, candidates)) <= whole * (1 + Fraction(1, 2**50))
    more = found.scale + (found.scale - one_digit_less(found.scale))
    assert Fraction(kind(scale=more, step=step).error(beta, candidates)) > whole


def test_permute_and_flip_is_as_accurate_with_less_loss() -> None:
    choices = {kind: kind.for_error(error=10, beta="0.05", candidates=20) for kind in KINDS}
    assert choices[PermuteAndFlip].loss.pure() < choices[Exponential].loss.pure()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"sensitivity": 0}, "sensitivity"),
        ({"sensitivity": "x"}, "sensitivity"),
        ({"monotone": 1}, "monotone"),
        ({"step": -1}, "step"),
    ],
    ids=str,
)
def test_bad_parameters_of_calibration(kind: type[Selection], changes: dict[str, Any], where: str) -> None:
    with pytest.raises(qx.errors.ParameterError) as caught:
        kind.calibrate(**{"epsilon": 1, **changes})
    assert caught.value.where == where
    with pytest.raises(qx.errors.ParameterError) as caught:
        kind.for_error(**{"error": 5, "beta": "0.05", "candidates": 3, **changes})
    assert caught.value.where == where


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"error": 0}, "error"),
        ({"error": "nan"}, "error"),
        ({"beta": 0}, "beta"),
        ({"beta": 1}, "beta"),
        ({"candidates": 0}, "candidates"),
        ({"candidates": 1}, "candidates"),
        ({"candidates": 2.5}, "candidates"),
    ],
    ids=str,
)
def test_bad_accuracies_of_a_choice(kind: type[Selection], changes: dict[str, Any], where: str) -> None:
    with pytest.raises(qx.errors.ParameterError) as caught:
        kind.for_error(**{"error": 5, "beta": "0.05", "candidates": 3, **changes})
    assert caught.value.where == where


@pytest.mark.parametrize("kind", KINDS)
def test_one_guarantee_is_stated(kind: type[Selection]) -> None:
    for wanted in ({}, {"delta": "1e-6"}, {"rho": 1, "mu": 1}, {"rho": 1, "delta": "1e-6"}):
        with pytest.raises(qx.errors.ParameterError, match="state one guarantee"):
            kind.calibrate(**wanted)
    for wanted in ({"epsilon": 0}, {"rho": 0}, {"mu": 0}):
        with pytest.raises(qx.errors.ParameterError, match="must be greater than 0"):
            kind.calibrate(**wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_that_goes_wrong_is_noticed(kind: type[Selection], monkeypatch: pytest.MonkeyPatch) -> None:
    right = calibration._edge
    monkeypatch.setattr(calibration, "_edge", lambda *given_: right(*given_) - given_[3])
    with pytest.raises(qx.errors.VerificationError):
        kind.calibrate(rho="1/3")
    with pytest.raises(qx.errors.VerificationError):
        kind.for_error(error=5, beta="0.05", candidates=10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", [(0, 0), (2, 0, -3), (1, 1, 4, 0), (7,)], ids=str)
@pytest.mark.usefixtures("stream")
def test_a_table_is_one_choice_for_each_row_with_the_same_law(kind: type[Selection], row: tuple[int, ...]) -> None:
    count, mechanism = 200_000, kind(scale="3/2")
    places = mechanism.sample(np.array([row] * count))
    assert places.dtype == np.int64
    assert places.shape == (count,)
    law = mechanism.finite([row]).law(row)
    for place, chance in enumerate(law):
        assert binomial(int((places == place).sum()), count, min(1.0, float_near(ball(chance)))) >= FALSE_ALARM
    # Rows next to each other are independent: the chance to agree is Σp².
    agree = float_near(sum((ball(p) * ball(p) for p in law), Ball(0)))
    assert binomial(int((places[::2] == places[1::2]).sum()), count // 2, min(1.0, agree)) >= FALSE_ALARM


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("stream")
def test_rows_that_differ_are_not_mixed_up(kind: type[Selection]) -> None:
    rows = [[0, 9000, 1], [9000, 0, 1], [0, 1, 9000]]
    chosen = kind(scale=1).sample(np.array(rows * 50))
    assert chosen.tolist() == [1, 0, 2] * 50
