"""The quick scores follow the certified intensity of two-point worlds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.audit.blackbox.claim import least
from quincunx.audit.blackbox.score import scores
from quincunx.spec.standard import KL, TV, ZCDP, Approximate, Divergence, GaussianDP, Pure, Renyi, Standard, Tradeoff

CLOSE = [
    (Pure(), 1e-9),
    (Approximate(Fraction(1, 1000)), 1e-9),
    (Renyi(Fraction(3)), 1e-9),
    (ZCDP(), 2e-2),
    (ZCDP(Fraction(1, 1000)), 2e-2),
    (GaussianDP(), 1e-6),
    (KL(), 1e-9),
    (TV(), 1e-9),
    (Divergence("squared-hellinger"), 1e-9),
    (Tradeoff(((0, "3/4"), ("1/4", "1/4"), (1, 0))), 1e-9),
]
probabilities = st.floats(0.001, 0.999)


@pytest.mark.parametrize(("standard", "close"), CLOSE, ids=lambda each: getattr(each, "kind", None))
@settings(max_examples=30)
@given(pairs=st.lists(st.tuples(probabilities, probabilities), min_size=1, max_size=3))
def test_scores_follow_the_certified_intensity(
    standard: Standard, close: float, pairs: list[tuple[float, float]]
) -> None:
    worlds = [(max(pair), min(pair)) for pair in pairs if abs(pair[0] - pair[1]) > 1e-3]
    if not worlds:
        return
    p, q = (np.array(each) for each in zip(*worlds, strict=True))
    found = scores(standard, p, q)
    for value, a, b in zip(found.tolist(), p.tolist(), q.tolist(), strict=True):
        want = float(least(standard, a, b))
        assert value == pytest.approx(want, rel=close, abs=close)


@pytest.mark.parametrize("standard", [each for each, _ in CLOSE], ids=lambda each: each.kind)
def test_extreme_worlds_give_numbers_and_no_warning(standard: Standard) -> None:
    p, q = np.array([1 - 1e-16, 1e-12, 0.5]), np.array([1e-300, 1e-300, 1e-300])
    with np.errstate(all="raise"):
        assert not np.isnan(scores(standard, p, q)).any()
