"""One bucket by permute-and-flip: its law, its claim on small worlds, and that it beats the exponential mechanism."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from quincunx.mechanisms import QuantileCuts, QuantileFlip
from quincunx.mechanisms.histogram import Histogram
from quincunx.numbers import ball, float_near, precision

from .test_quantile_cuts import ALARM, neighbours


@pytest.mark.parametrize("moves", [False, True], ids=["come or go", "replaced"])
@pytest.mark.parametrize("level", ["1/2", "9/10", "1/4"])
def test_it_stays_within_its_claim(level: str, moves: bool) -> None:
    pairs = neighbours(moves=moves)
    for epsilon in (1, 4):
        flip = QuantileFlip(level=level, buckets=3, epsilon=epsilon, weight=2, moves=moves, apart=False)
        world = flip.finite(sorted({each for pair in pairs for each in pair}))
        found = []
        for one, other in pairs:
            with precision(128):
                laws = zip(world.law(one), world.law(other), strict=True)
                found.append(max(abs(float_near((ball(p) / ball(q)).log())) for p, q in laws))
        assert 0.4 * epsilon <= max(found) <= epsilon * (1 + 1e-9)


@pytest.mark.usefixtures("stream")
def test_draws_follow_the_law(full: bool) -> None:
    count = 20_000 if full else 3_000
    weights = (3, 0, 1, 2)
    flip = QuantileFlip(level="1/3", buckets=4, epsilon=2)
    drawn = Counter(flip.sample(np.broadcast_to(np.array(weights), (count, 4)))[:, 0].tolist())
    chances = [float_near(p) for p in flip.finite([weights]).law(weights)]
    assert stats.chisquare([drawn[t] for t in range(4)], [p * count for p in chances]).pvalue > ALARM


def test_a_bucket_in_which_the_rank_lies_deepest_has_no_gap() -> None:
    flip = QuantileFlip(level="1/3", buckets=6, epsilon=1)
    given = Histogram(np.array([1, 4], dtype=np.int64), np.array([3, 6], dtype=np.int64))
    # Rank 3 of 9: the first value ends there and the second begins; between them every bucket covers it. In thirds.
    assert flip.gaps(given).tolist() == [9, 0, 0, 0, 0, 18]
    assert flip.gaps(Histogram.of(np.zeros(6, dtype=np.int64))).tolist() == [0] * 6
    large = Histogram(given.places, given.weights * 2**58)
    assert flip.gaps(large).tolist() == [9 * 2**58, 0, 0, 0, 0, 18 * 2**58]
    # Rank 3 of 9 again, one row deep in the second value, which takes the rows from 2 to 6.
    inside = Histogram(np.array([1, 4, 5], dtype=np.int64), np.array([2, 4, 3], dtype=np.int64))
    assert flip.gaps(inside).tolist() == [9 + 3, 3 + 3, 3 + 3, 3 + 3, 0, 9 + 3]


def test_it_is_never_worse_than_the_exponential_mechanism() -> None:
    """Exactly, on small worlds: the expected distance of the bucket that is drawn."""
    for weights in ((2, 1, 0, 3), (0, 5, 0, 1), (1, 1, 1, 1)):
        for epsilon in ("1/2", "2"):
            flip = QuantileFlip(level="1/2", buckets=4, epsilon=epsilon)
            gaps = flip.gaps(Histogram.of(np.array(weights))).tolist()
            rate = Fraction(epsilon)
            with precision(128):
                shares = [(-ball(rate * gap / 2)).exp() for gap in gaps]
                whole = sum(shares[1:], shares[0])
                law = flip.finite([weights]).law(weights)
                flipped = sum(float_near(p) * gap for p, gap in zip(law, gaps, strict=True))
                chosen = sum(float_near(share / whole) * gap for share, gap in zip(shares, gaps, strict=True))
            assert flipped <= chosen * (1 + 1e-12)


def test_its_stated_loss() -> None:
    flip = QuantileFlip(level="1/2", buckets=4, epsilon=1)
    assert flip.loss.pure() == 1
    assert flip.loss.zcdp() == pytest.approx(np.tanh(0.5))
    assert QuantileCuts(levels=["1/2"], buckets=4, eta=1).loss.zcdp() == pytest.approx(1 / 8)
