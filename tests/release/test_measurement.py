"""Measurements: numbers with noise, and rows of buckets with a choice, from exact integers to stored bytes and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from quincunx.errors import DataError, ParameterError
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteLaplace, Exponential, SparseVector
from quincunx.noise.testing import KeyedBits
from quincunx.release.measurement import Measurement
from quincunx.release.pricing import Priced
from quincunx.release.reach import FARTHEST
from quincunx.release.stored import Stored, decode, encode, from_bytes, to_bytes
from quincunx.spec.standard import Pure
from tests.release.test_pricing import Counted, measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """A measure as a quantile needs it: one row of scores for each group, in steps of the column."""

    unit: Fraction = Fraction(1)


ROWS = np.array([[-40, -3, -9, -2000], [-2000, -900, 0, -700], [0, -5000, -5000, -5000]], dtype=np.int64)
CHOICE = Exponential(scale=2, sensitivity=1)


def asked(*drawn: Measurement) -> Priced:
    return Priced(
        program=None,  # type: ignore[arg-type]
        standard=Pure(),
        spend=Fraction(2),
        delta=Fraction(0),
        measurements=drawn,
        selection=None,
    )


def both() -> Priced:
    number = Measurement(measure=measure(1, 1, fraction=0), mechanism=DiscreteLaplace(scale=1))
    return asked(number, Measurement(measure=Buckets(), mechanism=CHOICE))  # type: ignore[arg-type]


def through(priced: Priced, exact: Counted) -> tuple[bytes, Stored]:
    content = to_bytes(encode(priced, priced.draw(exact), injected=True))
    return content, decode(from_bytes(content))


def test_a_row_of_buckets_is_drawn_stored_and_read_back(stream: KeyedBits) -> None:
    """A measure that nobody knew, beside one that everybody knows: nothing on the way asks which it is."""
    priced = both()
    counts = np.array([10, 20, 30], dtype=np.int64) * 10**6
    content, found = through(priced, Counted(keys=[("a",), ("b",), ("c",)], measures=(counts, ROWS)))
    assert found.mechanisms == (DiscreteLaplace(scale=1), CHOICE)
    numbers, places = found.noisy.measures
    assert np.abs(numbers - counts).max() < 100
    # The best bucket is ahead by three steps at least: the noise of a scale of 2 keeps it in four of five draws.
    assert places.shape == (3,)
    assert places[1:].tolist() == [2, 0]
    assert found.loss == priced.loss == DiscreteLaplace(scale=1).loss + CHOICE.loss
    assert b'{"law":"exponential","scale":"2","sensitivity":"1","monotone":false,"step":"1"}' in content
    assert stream.injected


def test_each_group_has_a_choice_of_its_own(stream: KeyedBits) -> None:
    """Two buckets of equal score for 4,000 groups: a fair coin each, by Hoeffding's inequality at 1e-9."""
    rows = np.zeros((4_000, 2), dtype=np.int64)
    places = Measurement(measure=Buckets(), mechanism=CHOICE).draw(rows)  # type: ignore[arg-type]
    assert places.shape == (4_000,)
    assert abs(places.mean() - 0.5) <= (np.log(2 / 1e-9) / 8_000) ** 0.5
    assert stream.injected


@pytest.mark.parametrize(
    ("exact", "shape"), [(np.zeros(0, dtype=np.int64), (0,)), (np.zeros((0, 4), dtype=np.int64), (0, 4))]
)
def test_no_group_has_no_noise(exact: NDArray[np.int64], shape: tuple[int, ...], stream: KeyedBits) -> None:
    assert DiscreteLaplace(scale=1).each(exact).shape == shape
    if exact.ndim == 2:
        assert CHOICE.each(exact).shape == (0,)
    # Nothing was drawn: the stream still stands at its first word.
    assert int(stream.words(1)[0]) == int(type(stream)(stream._key).words(1)[0])


@pytest.mark.parametrize("exact", [np.zeros(3, dtype=np.int64), np.zeros((2, 3, 4), dtype=np.int64)])
def test_a_choice_never_takes_the_groups_for_candidates(exact: NDArray[np.int64]) -> None:
    """A column of numbers is no row of scores: one choice among all groups would be another release."""
    with pytest.raises(DataError, match="a row of scores for each group"):
        CHOICE.each(exact)


def test_a_row_without_buckets_is_refused() -> None:
    with pytest.raises(DataError, match="nothing to release"):
        CHOICE.each(np.zeros((2, 0), dtype=np.int64))


def test_a_mechanism_without_groups_is_refused() -> None:
    session = SparseVector(threshold=0, threshold_scale=1, query_scale=1)
    with pytest.raises(ParameterError, match="no answer for each"):
        session.each(np.zeros(3, dtype=np.int64))


def test_only_numbers_reach_the_ends_of_the_lattice() -> None:
    risk = Fraction(1, 20)
    assert CHOICE.beyond(0, risk) is None
    assert DiscreteLaplace(scale=2**50).beyond(FARTHEST, risk) is None
    wide = DiscreteLaplace(scale=2**62, sensitivity=1)
    assert wide.beyond(FARTHEST, risk) == wide.error(risk) > FARTHEST


def test_a_choice_has_no_variance_of_noise() -> None:
    """So what would read a choice as noise that is added shows no number."""
    priced = both()
    assert priced.noise == tuple(each.mechanism for each in priced.measurements)
    assert [math.isnan(each.variance) for each in priced.noise] == [False, True]
    _, found = through(priced, Counted(keys=[("a",)], measures=(ROWS[:1, 0], ROWS[:1])))
    assert found.mechanisms == priced.noise
    drawn: Any = priced.measurements[:1]
    assert asked(*drawn).noise == (DiscreteLaplace(scale=1),)
    assert Loss.compose(each.loss for each in drawn) == asked(*drawn).loss


def test_the_words_of_a_measurement_are_in_the_unit_of_the_data() -> None:
    fine = Measurement(measure=measure(1, 1, fraction=1), mechanism=DiscreteLaplace(scale=28))
    assert fine.words() == "discrete Laplace noise, scale = 14"
    wide = Measurement(measure=Buckets(unit=Fraction(5)), mechanism=CHOICE)  # type: ignore[arg-type]
    assert wide.words() == "a choice by the exponential mechanism, scale = 10"
