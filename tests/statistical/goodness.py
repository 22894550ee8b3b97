"""Goodness of fit with a stated false-alarm rate: every verdict here is wrong about a right sampler once in 10^9.

A law on the integers is given by its upper tail P(X ≥ k), k ≥ 1; it is symmetric or lives on k ≥ 0. Cells have integer
cut points and expect at least 1,000 draws each: a Poisson cell's (O − E)²/E has cumulants 1, 2 + 1/E, 8 + 22/E + 1/E²
against 1, 2, 8 of a chi-square, so that the tail at 1e-9 is trustworthy. Cell probabilities are accurate to a relative
1e-12 or better; an error η adds at most n·η² = 10^-17 to the statistic's mean.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

FALSE_ALARM = 1e-9
LEAST_EXPECTED = 1000.0
_CELLS = 100
_GROUPS = 6
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Law:
    """`tail(k)` = P(X ≥ k) for k ≥ 1. A symmetric law has P(X ≤ −k) the same."""

    tail: Callable[[int], float]
    symmetric: bool = True

    def least_with_tail_at_most(self, chance: float) -> int:
        """The smallest k ≥ 1 with P(X ≥ k) ≤ chance."""
        high = 1
        while self.tail(high) > chance:
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.tail(middle) <= chance else (middle, high)
        return high


def geometric(t: float) -> Law:
    """P(X ≥ k) = q^k, q = e^{−1/t}."""
    return Law(lambda k: math.exp(-k / t), symmetric=False)


def discrete_laplace(t: float) -> Law:
    """P(X ≥ k) = q^k/(1 + q)."""
    return Law(lambda k: math.exp(-k / t) / (1 + math.exp(-1 / t)))


def rounded_laplace(t: float) -> Law:
    """P(X ≥ k − 1/2) of the continuous law: e^{−(k − 1/2)/t}/2."""
    return Law(lambda k: math.exp(-(k - 0.5) / t) / 2)


def rounded_gaussian(sigma: float) -> Law:
    """P(X ≥ k − 1/2) of the continuous law."""
    return Law(lambda k: float(special.ndtr(-(k - 0.5) / sigma)))


@lru_cache(maxsize=32)
def discrete_gaussian(sigma: float) -> Law:
    """P(X ≥ k) = Σ_{j ≥ k} e^{−j²/2σ²}/Z, by its own sum, or from σ = 10^5 by Euler and Maclaurin.

    Σ_{j ≥ k} f(j) = ∫_{k−1/2}^∞ f + f'(k − 1/2)/24 + R; for f = e^{−x²/2σ²} the next term is 7/5760·f''' ≤ 2e-3/σ³ and
    Z = σ√2π up to e^{−2π²σ²}: relative to the integral R is below 1/σ^4 = 1e-20 where a cell is wider than a step.
    """
    if sigma >= 1e5:

        def tail(k: int) -> float:
            x = (k - 0.5) / sigma
            return float(special.ndtr(-x)) - x / sigma**2 * math.exp(-x * x / 2) / math.sqrt(2 * math.pi) / 24

        return Law(tail)
    # Beyond 40σ a term is e^−800 of the largest.
    reach = math.ceil(40 * sigma) + 2
    terms = np.exp(-(np.arange(reach, dtype=np.float64) ** 2) / (2 * sigma**2))
    tails = np.cumsum(terms[::-1])[::-1]
    total = terms[0] + 2 * tails[1]
    return Law(lambda k: float(tails[k] / total) if k < reach else 0.0)


class Partition:
    """Cells of roughly equal probability with integer ends, none expecting fewer than 1,000 of `draws`."""

    def __init__(self, law: Law, draws: int, cells: int = _CELLS) -> None:
        self.draws = draws
        least = LEAST_EXPECTED / draws
        sides = 2 if law.symmetric else 1
        # From the centre outward: a cut is kept when both what it closes and what it leaves are large enough.
        cuts: list[int] = []
        tails: list[float] = []
        for step in range(1, cells):
            cut = law.least_with_tail_at_most((1 - step / cells) / sides)
            left = law.tail(cut)
            closed = tails[-1] - left if tails else 1 - sides * left
            if left >= least and closed >= least:
                cuts.append(cut)
                tails.append(left)
        outward = [a - b for a, b in itertools.pairwise([*tails, 0.0])]
        centre = 1 - sides * tails[0] if tails else 1.0
        mirrored = [1 - cut for cut in reversed(cuts)] if law.symmetric else []
        self.edges = np.array([*mirrored, *cuts], dtype=np.int64)
        chances = [*(reversed(outward) if law.symmetric else ()), centre, *outward]
        self.chances = np.array(chances)

    def cells_of(self, values: Integers) -> NDArray[np.uint8]:
        """The cell of each value: cell i holds edges[i − 1] ≤ x < edges[i]."""
        if not len(self.edges):
            return np.zeros(len(values), dtype=np.uint8)
        low, high = int(self.edges[0]) - 1, int(self.edges[-1])
        if high - low < 1 << 16:
            table = np.searchsorted(self.edges, np.arange(low, high + 1), side="right").astype(np.uint8)
            return table[np.clip(values, low, high) - low]
        found = np.empty(len(values), dtype=np.uint8)
        for start in range(0, len(values), 1 << 16):
            part = slice(start, start + (1 << 16))
            found[part] = np.searchsorted(self.edges, values[part], side="right")
        return found


def chi_square(counts: NDArray[np.int64], chances: NDArray[np.float64]) -> float:
    """The p-value of Pearson's test of a fully specified law."""
    expected = chances * counts.sum()
    if len(counts) == 1:
        return 1.0
    return float(stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), len(counts) - 1))


def binomial(successes: int, draws: int, chance: float) -> float:
    """A two-sided exact p-value: twice the smaller of both tails."""
    lower, upper = stats.binom.cdf(successes, draws, chance), stats.binom.sf(successes - 1, draws, chance)
    return float(min(1.0, 2 * min(lower, upper)))


def verdicts(values: Integers, law: Law) -> dict[str, float]:
    """p-values of every test of `values` against `law`; a right sampler goes below 1e-9 in each once in 10^9."""
    draws = len(values)
    found: dict[str, float] = {}
    partition = Partition(law, draws)
    cells = partition.cells_of(values)
    found["cells"] = chi_square(np.bincount(cells, minlength=len(partition.chances)), partition.chances)

    # Both tails where at most 30 draws are expected, none being a refusal, and at most 1e-10, one being a refusal.
    for name, expected in (("tail", 30.0), ("far tail", 1e-10)):
        cut = law.least_with_tail_at_most(expected / draws)
        chance = law.tail(cut)
        found[f"upper {name}"] = binomial(int(np.count_nonzero(values >= cut)), draws, chance)
        if law.symmetric:
            found[f"lower {name}"] = binomial(int(np.count_nonzero(values <= -cut)), draws, chance)
    if law.symmetric:
        positive, negative = int(np.count_nonzero(values > 0)), int(np.count_nonzero(values < 0))
        found["sign"] = binomial(positive, positive + negative, 0.5) if positive + negative else 1.0
    else:
        found["no negatives"] = float(not np.any(values < 0))

    # Neighbours (x_0, x_1), (x_2, x_3), … on a coarser partition: the joint law is the product.
    coarse = Partition(law, draws // 2, _GROUPS)
    while coarse.chances.min() ** 2 * (draws // 2) < LEAST_EXPECTED and len(coarse.edges):
        coarse.edges, coarse.chances = _merged(coarse.edges, coarse.chances)
    groups, k = coarse.cells_of(values), len(coarse.chances)
    pairs = np.bincount(groups[0 : draws // 2 * 2 : 2] * np.uint8(k) + groups[1::2][: draws // 2], minlength=k * k)
    found["neighbours"] = chi_square(pairs, np.outer(coarse.chances, coarse.chances).ravel())
    return found


def _merged(edges: Integers, chances: NDArray[np.float64]) -> tuple[Integers, NDArray[np.float64]]:
    """The partition without the rarest cell, which joins its rarer neighbour."""
    rare = int(np.argmin(chances))
    if rare == 0:
        other = 1
    elif rare == len(chances) - 1:
        other = rare - 1
    else:
        other = rare - 1 if chances[rare - 1] < chances[rare + 1] else rare + 1
    first = min(rare, other)
    joined = np.concatenate([chances[:first], [chances[first] + chances[first + 1]], chances[first + 2 :]])
    return np.delete(edges, first), joined


def refusals(values: Integers, law: Law) -> dict[str, float]:
    """The tests that `values` fail."""
    return {name: p for name, p in verdicts(values, law).items() if p < FALSE_ALARM}
