"""Deliberately broken mechanisms: the same auditor must refute every one of them, or nothing it says is worth much.

Each is a bug that was found in some library, next to the claim of the mechanism that it was meant to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.audit.self_audit.entry import Entry
from quincunx.audit.self_audit.swaps import swapped
from quincunx.invariant import Kind, SwapEpsilon, read_rate
from quincunx.mechanisms import DiscreteLaplace, Draw, Gaussian, ThresholdSelection, in_bulk

ROOM: Final = "controls"


def entries() -> Iterator[Entry]:
    """Seven ways to be wrong."""
    half = DiscreteLaplace(scale=2)
    little = in_bulk(DiscreteLaplace(scale="0.8"))
    yield _entry("1.25 times too little noise", (0, 1), "Laplace noise of scale 0.8 for 1", "epsilon=1", little)
    floats = "noise −ln U in floating point, whose last digits give the true value away"
    yield _entry("floating-point Laplace", (0.0, 1.0), floats, "epsilon=1", _floating)
    votes = ThresholdSelection.calibrate(groups=1, delta="0.005", epsilon=1)
    low = "a threshold one too low"
    yield _entry("off-by-one threshold", ((0,), (1,)), low, "epsilon=1, delta=0.005", _one_too_low(votes))
    yield _entry("forgotten repetition", ((0, 0), (1, 1)), "two answers, one paid for", "epsilon=0.5", in_bulk(half))
    parts = "a person who moves between two parts, charged for one"
    yield _entry("add or remove for replace", ((1, 0), (0, 1)), parts, "epsilon=0.5", in_bulk(half))
    sharp = in_bulk(Gaussian(sigma2="0.64", step="0.01"))
    yield _entry("variance for deviation", (0, 100), "Gaussian noise of σ = 0.8 for 1", "mu=1", sharp)
    uniform = SwapEpsilon(rate=read_rate("0.7", Kind.UNIFORM), largest_stratum=2, kind=Kind.UNIFORM)
    other = "derangements, with the ε of uniform permutations"
    claim = f"epsilon={2 * uniform.exact!r}"
    yield _entry("proven as one, run as another", ((0, 1), (1, 0)), other, claim, swapped(Kind.DERANGEMENT, "0.7"))


def _entry(name: str, pair: tuple[Any, Any], words: str, claim: str, draw: Draw) -> Entry:
    return Entry(name=name, room=ROOM, pair=pair, words=words, stated=claim, tight=False, draw=draw)


def _floating(value: float, size: int) -> NDArray[Any]:
    # The inverse of the distribution function, as textbooks have it, on U = (k + 1/2)/2^53.
    u = (np.asarray(noise.uniform_integers(2**53, size)) + 0.5) / 2**53 - 0.5
    return np.asarray(value - np.sign(u) * np.log1p(-2 * np.abs(u)))


def _one_too_low(selection: ThresholdSelection) -> Draw:
    def draw(votes: Any, size: int) -> NDArray[Any]:
        counts = np.broadcast_to(np.asarray(votes, dtype=np.int64), (size, len(votes)))
        return np.asarray(selection.noise.sample(counts) >= selection.threshold - 1) & (counts > 0)

    return draw
