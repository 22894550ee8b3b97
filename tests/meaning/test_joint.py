"""Joint priors: what is stored, what is equal, what is refused."""

import itertools
import pickle
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import ParameterError
from quincunx.meaning.dependence import Joint
from quincunx.meaning.dependence.joint import MOST

from .dependent_worlds import bits, weighted


def test_whole_weights_without_a_common_factor() -> None:
    joint = Joint({(0, "a"): "1/2", (1, "a"): 0.25, (1, "b"): Fraction(1, 4), (0, "b"): 0})
    assert (joint.records, joint.total) == (2, 4)
    assert joint.cells == (((0, "a"), 2), ((1, "a"), 1), ((1, "b"), 1))
    assert joint.table() == {(0, "a"): Fraction(1, 2), (1, "a"): Fraction(1, 4), (1, "b"): Fraction(1, 4)}
    assert joint.probability((1, "b")) == Fraction(1, 4)
    assert joint.probability([0, "b"]) == 0
    # What has probability 0 is no value.
    assert joint.values(1) == ("a", "b")
    assert Joint({(0, 1): 1, (1, 1): 0}).values(0) == (0,)
    assert joint.law(0) == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    assert joint.law(1) == {"a": Fraction(3, 4), "b": Fraction(1, 4)}


def test_equal_priors_are_equal_values_whatever_their_order() -> None:
    one, other = Joint({(0, 0): "1/2", (1, 1): "1/2"}), Joint({(1, 1): 0.5, (0, 1): 0, (0, 0): 0.5})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Joint({(0, 0): "1/3", (1, 1): "2/3"})
    assert eval(repr(one), {"Joint": Joint}) == one
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError):
        one.total = 3  # type: ignore[misc]


@given(st.lists(st.integers(0, 5), min_size=8, max_size=8).filter(any))
def test_conditioning_is_division(weights: list[int]) -> None:
    joint = weighted(weights, 3)
    assert eval(repr(joint), {"Joint": Joint}) == joint
    for value in joint.values(1):
        part = joint.given({1: value})
        for x in bits(3):
            wanted = joint.probability(x) / joint.law(1)[value] if x[1] == value else 0
            assert part.probability(x) == wanted
    assert joint.given({}) == joint


def test_independent_parts_multiply() -> None:
    pair = Joint({(0, 0): "1/3", (1, 1): "2/3"})
    joint = Joint.independent(pair, {"x": "1/4", "y": "3/4"}, {0: 1})
    assert joint.records == 4
    for (a, b), letter in itertools.product(bits(2), "xy"):
        wanted = pair.probability((a, b)) * {"x": Fraction(1, 4), "y": Fraction(3, 4)}[letter]
        assert joint.probability((a, b, letter, 0)) == wanted
    assert Joint.independent(pair) == pair


def test_alike() -> None:
    assert Joint.alike({0: "9/10", 1: "1/10"}, 3) == Joint({(0, 0, 0): "9/10", (1, 1, 1): "1/10"})
    assert Joint.alike({"a": 1}, 2).table() == {("a", "a"): 1}


@pytest.mark.parametrize(
    ("weights", "what"),
    [
        ({}, "expected {records: probability}"),
        ([((0,), 1)], "expected {records: probability}"),
        ({(0,): "1/2", (1,): "1/3"}, "do not sum to 1"),
        ({(0,): 0, (1,): 0}, "do not sum to 1"),
        ({(0,): "1/2", (1, 0): "1/2"}, "tuples of 1 and 2 records"),
        ({(): 1}, "at least one"),
        ({(0,): -1, (1,): 2}, "must be a probability"),
        ({(0,): "nan", (1,): 1}, "finite"),
        ({(0,): True}, "expected a number"),
        ({"ab": 1}, "expected a tuple of records"),
        ({7: 1}, "expected a tuple of records"),
    ],
    ids=str,
)
def test_what_is_no_prior_is_refused(weights: Any, what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        Joint(weights)


def test_further_refusals() -> None:
    joint = Joint.alike({0: "1/2", 1: "1/2"}, 2)
    for record in (2, -1, "0", True, 0.0):
        with pytest.raises(ParameterError, match="no such record"):
            joint.values(record)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="probability 0"):
        joint.given({0: 1, 1: 0})
    with pytest.raises(ParameterError, match="no such record"):
        joint.given({5: 1})
    with pytest.raises(ParameterError, match="nothing to join"):
        Joint.independent()
    with pytest.raises(ParameterError, match="of one record"):
        Joint.independent([0, 1])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="whole number"):
        Joint.alike({0: 1}, 0)
    with pytest.raises(ParameterError, match=r"too many tuples.*component"):
        Joint.independent(*[{0: "1/2", 1: "1/2"}] * (MOST.bit_length()))
