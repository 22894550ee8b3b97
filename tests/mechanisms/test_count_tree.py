"""A tree of counts: what it counts, how far neighbours move it, its noise, and what is refused."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from quincunx.errors import DataError, ParameterError
from quincunx.mechanisms import CountTree, DiscreteGaussian, DiscreteLaplace, Histogram, levels_of
from quincunx.mechanisms.additive import LIMIT
from quincunx.noise.testing import KeyedBits


def of(*weights: int) -> Histogram:
    return Histogram.of(np.array(weights, dtype=np.int64))


def tree(bins: int, branching: int, split: int = 1) -> CountTree:
    return CountTree(bins=bins, branching=branching, split=split, noise=DiscreteLaplace(scale=1))


@pytest.mark.parametrize("branching", [2, 3, 4, 16])
def test_every_level_counts_every_row_once(branching: int) -> None:
    for bins in (1, 2, 3, 4, 5, 16, 17, 64, 65):
        levels = levels_of(bins, branching)
        assert levels[0] == bins
        assert levels[-1] <= branching
        # Not one level more than that needs: each costs as much as all others.
        assert all(size > branching for size in levels[:-1])
        weights = list(range(1, bins + 1))
        counts = tree(bins, branching, 4).counts(of(*weights))
        assert len(counts) == tree(bins, branching).width
        start = 0
        for depth, size in enumerate(levels):
            wide = branching**depth
            here = [4 * sum(weights[at : at + wide]) for at in range(0, bins, wide)]
            assert counts[start : start + size] == here
            start += size


@pytest.mark.parametrize(("bins", "branching"), [(2, 2), (3, 2), (5, 2), (4, 3)])
def test_how_far_a_change_of_one_moves_all_counts(bins: int, branching: int) -> None:
    """Every person of at most two rows: come or gone, and replaced, in both norms, over all levels."""
    made, levels = tree(bins, branching), len(levels_of(bins, branching))
    mine = [
        tuple(sum(place == at for place in places) for at in range(bins))
        for count in range(3)
        for places in itertools.combinations_with_replacement(range(bins), count)
    ]
    counts = {each: np.array(made.counts(of(*each)), dtype=object) for each in mine}
    alone = [(abs(counts[each]).sum(), (counts[each] ** 2).sum()) for each in mine]
    pairs = [counts[one] - counts[two] for one, two in itertools.product(mine, repeat=2)]
    # C = 2 rows: depth·C in ℓ1, depth·C² squared in ℓ2; replaced twice as far, and 2·depth·C².
    assert max(one for one, _ in alone) == 2 * levels
    assert max(two for _, two in alone) == 4 * levels
    assert max(abs(each).sum() for each in pairs) == 4 * levels
    assert 4 * levels <= max((each**2).sum() for each in pairs) <= 8 * levels


def test_noise_is_added_to_every_count_by_itself(stream: KeyedBits) -> None:
    del stream
    made = CountTree(bins=3, branching=2, noise=DiscreteGaussian(sigma=4, sensitivity2=2))
    found = made.sample(np.broadcast_to(np.array([5, 0, 7]), (20_000, 3)))
    assert found.shape == (20_000, 5)
    assert np.abs(found.mean(axis=0) - [5, 0, 7, 5, 7]).max() < 0.25
    assert np.abs(np.cov(found.T) - 16 * np.eye(5)).max() < 1.5
    assert made.sample([1, 2, 3]).shape == (5,)
    assert made.each(np.array([], dtype=object)).shape == (0, 5)


def test_counts_beyond_the_lattice_are_clamped() -> None:
    counts = tree(4, 2, 2).counts(of(LIMIT, LIMIT, 1, 0))
    assert counts == [LIMIT, LIMIT, 2, 0, LIMIT, 2]


def test_words_variance_and_reach() -> None:
    noise = DiscreteLaplace(scale=8, sensitivity=2)
    assert CountTree(bins=3, branching=2, split=4, noise=noise).words() == (
        "5 counts in 2 levels, each with discrete Laplace noise, scale = 2"
    )
    flat = CountTree(bins=3, branching=4, noise=noise)
    assert flat.words(Fraction(1, 2)) == "3 counts, each with discrete Laplace noise, scale = 4"
    assert flat.loss == noise.loss
    assert flat.variance == noise.variance
    assert CountTree(bins=3, branching=4, split=2, noise=noise).variance == noise.variance / 4
    assert flat.beyond(10, Fraction(1, 20)) == noise.beyond(10, Fraction(1, 20)) is not None


def test_what_is_refused() -> None:
    noise = DiscreteLaplace(scale=1)
    with pytest.raises(ParameterError, match="at least 2"):
        CountTree(bins=3, branching=1, noise=noise)
    with pytest.raises(ParameterError, match="added to numbers"):
        CountTree(bins=3, branching=2, noise=7)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="weights of 3 bins"):
        CountTree(bins=3, branching=2, noise=noise).sample([1, 2])
