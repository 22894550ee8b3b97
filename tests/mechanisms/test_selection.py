"""What the exponential mechanism and permute-and-flip share: scores in, a place out, the same refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quincunx as qx
from quincunx.mechanisms import Exponential, PermuteAndFlip
from quincunx.mechanisms.selection import Selection
from quincunx.noise.testing import KeyedBits
from quincunx.numbers import Ball, ball, float_below, float_near, precision
from quincunx.spec.standard import Approximate

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
    [[1, 2]],
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
