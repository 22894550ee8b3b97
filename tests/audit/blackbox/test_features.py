"""What is looked at in an output, and that each way of looking finds what it is for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.audit.blackbox.cells import Bins, Cells, Joint, Labels
from quincunx.audit.blackbox.features import bits, partitions
from quincunx.audit.blackbox.outputs import Batch, Layout


def found(first: object, second: object) -> dict[str, Cells]:
    layout = Layout.learn([(first, "x"), (second, "y")])  # type: ignore[list-item]
    a, b = (layout.read(each, "x") for each in (first, second))  # type: ignore[arg-type]
    ways = partitions(layout.names, a, b)
    # A way that is cut coarsely and finely keeps its name: the finer one comes first.
    return {getattr(way, "name", type(way).__name__): way for way in ways[::-1]}


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0))
def test_the_lowest_set_bit(value: float) -> None:
    low = int(bits(np.array([value]), relative=False)[0])
    zeros = int(bits(np.array([value]), relative=True)[0])
    numerator, denominator = value.as_integer_ratio()
    exact = (numerator & -numerator).bit_length() - denominator.bit_length()
    assert low == exact
    assert 0 <= zeros <= 52
    if abs(value) >= 2.0**-1022:
        assert zeros == low - (math.frexp(value)[1] - 53)


def test_what_has_no_lowest_bit() -> None:
    assert np.isnan(bits(np.array([0.0, np.nan, np.inf, -np.inf]), relative=False)).all()


def test_numbers_alone() -> None:
    ways = found([0, 1, 2, 1], [1, 2, 0, 1])
    assert set(ways) == {"output"}
    assert isinstance(ways["output"], Bins)


def test_fractions_are_looked_at_bit_by_bit() -> None:
    ways = found([0.5, 0.25], [0.75, 1.0])
    assert set(ways) == {"output", "log2 of the lowest set bit of output", "trailing zero bits of output"}


def test_many_values_are_cut_finely_and_coarsely() -> None:
    values = np.random.default_rng(1).normal(size=(2, 5000))
    layout = Layout.learn([(values[0], "x"), (values[1], "y")])
    ways = partitions(layout.names, layout.read(values[0], "x"), layout.read(values[1], "y"))
    sizes = [way.size for way in ways if isinstance(way, Bins) and way.name == "output"]
    assert len(sizes) == 2
    assert sizes[0] > 4 * sizes[1]


def test_vectors_are_combined() -> None:
    rng = np.random.default_rng(1)
    ways = found(rng.integers(0, 3, (400, 3)), rng.integers(0, 3, (400, 3)))
    assert {"output[0]", "output[1]", "output[2]", "the sum of the output", "Joint"} <= set(ways)
    assert {"output[0] − output[1]", "output[1] − output[2]"} <= set(ways)
    assert {"a linear combination of the output", "the evidence of all coordinates together"} <= set(ways)
    assert isinstance(ways["Joint"], Joint)


def test_labels_come_first() -> None:
    layout = Layout.learn([(["a", "b", "a"], "x"), (["b", "b", "a"], "y")])
    a, b = (layout.read(each, "x") for each in (["a", "b", "a"], ["b", "b", "a"]))
    ways = partitions(layout.names, a, b)
    assert isinstance(ways[0], Labels)
    assert ways[0].counts(a).sum() == 3
    # One side alone may have labels.
    mixed = Layout.learn([([1.0, None], "x"), ([1.0, 2.0], "y")])
    ways = partitions(mixed.names, mixed.read([1.0, None], "x"), mixed.read([1.0, 2.0], "y"))
    assert isinstance(ways[0], Labels)


def test_the_direction_separates_what_no_coordinate_does() -> None:
    rng = np.random.default_rng(7)
    common = rng.normal(size=(4000, 1)) * 100
    first = np.hstack((common, common + rng.normal(size=(4000, 1))))
    second = np.hstack((common, common + rng.normal(size=(4000, 1)) + 3))
    way = found(first, second)["a linear combination of the output"]
    assert isinstance(way, Bins)
    a, b = way.feature(Batch(first)), way.feature(Batch(second))
    assert (a > np.median(np.concatenate((a, b)))).mean() > 0.9
    assert abs(way.feature(Batch(first[:1]))[0] - a[0]) == 0


def test_the_evidence_adds_up_over_coordinates() -> None:
    rng = np.random.default_rng(7)
    first, second = rng.normal(size=(20000, 4)), rng.normal(size=(20000, 4)) + 0.5
    way = found(first, second)["the evidence of all coordinates together"]
    assert isinstance(way, Bins)
    truth = (0.5 - first).sum(axis=1) / 2 - 0.0
    assert np.corrcoef(way.feature(Batch(first)), truth)[0, 1] > 0.95


@pytest.mark.parametrize("bad", [1e308, np.inf, np.nan])
def test_enormous_and_undefined_values_raise_no_warning(bad: float) -> None:
    rng = np.random.default_rng(7)
    first, second = rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    first[:5, 0], second[:5, 1] = bad, -bad
    first[:, 2] = bad
    with np.errstate(all="raise"):
        for way in found(first, second).values():
            assert way.counts(Batch(first)).sum() == 300


@given(st.integers(0, 2**32 - 1))
def test_features_look_at_one_output_at_a_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(60, 5)), rng.normal(size=(60, 5))
    fresh = rng.normal(size=(7, 5))
    for way in found(first, second).values():
        alone = [int(way.codes(Batch(fresh[i : i + 1]))[0]) for i in range(7)]
        assert way.codes(Batch(fresh)).tolist() == alone
