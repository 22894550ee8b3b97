"""Random pairs and chains of laws with zeros, certain outputs and near-tight ratios, and brute force over all events.

Nothing here is shared with the library: sums over subsets, floats from `math` and `scipy`.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from scipy.stats import norm

Law = tuple[Fraction, ...]


def law(weights: Sequence[int]) -> Law:
    total = sum(weights)
    return tuple(Fraction(w, total) for w in weights)


def dense(rng: random.Random, n: int) -> Law:
    return law([rng.randint(1, 20) for _ in range(n)])


def sparse(rng: random.Random, n: int) -> Law:
    weights = [rng.choice((0, 0, 1, 2, 7)) for _ in range(n)]
    weights[rng.randrange(n)] += 1
    return law(weights)


def certain(rng: random.Random, n: int) -> Law:
    place = rng.randrange(n)
    return tuple(Fraction(int(i == place)) for i in range(n))


def near(rng: random.Random, base: Law, size: int | None = None) -> Law:
    """A law that moves a sliver of mass between two outputs of `base`."""
    take, give = rng.randrange(len(base)), rng.randrange(len(base))
    sliver = base[take] / 10 ** (size or rng.choice((1, 3, 9, 30)))
    moved = list(base)
    moved[take] -= sliver
    moved[give] += sliver
    return tuple(moved)


def tight(rng: random.Random, n: int) -> tuple[Law, Law]:
    """Two laws on which many ratios are equal: k-ary randomized response with a random base."""
    base = rng.randint(2, 9)
    p = [1] * n
    q = [1] * n
    p[0], q[-1] = base, base
    return law(p), law(q)


def pair(rng: random.Random) -> tuple[Law, Law]:
    n = rng.randint(2, 6)
    style = rng.randrange(8)
    if style <= 2:
        return dense(rng, n), dense(rng, n)
    if style == 3:
        return sparse(rng, n), sparse(rng, n)
    if style == 4:
        return certain(rng, n), rng.choice((dense, sparse, certain))(rng, n)
    if style == 5:
        base = dense(rng, n)
        return base, near(rng, base)
    if style == 6:
        return tight(rng, n)
    base = sparse(rng, n)
    return base, near(rng, base)


def pairs(seed: str, count: int) -> Iterator[tuple[Law, Law]]:
    rng = random.Random(seed)
    for _ in range(count):
        yield pair(rng)


def chain(rng: random.Random, k: int) -> list[Law]:
    """k + 1 laws, neighbours close or far, on one support most of the time."""
    n = rng.randint(2, 5)
    style = rng.randrange(4)
    if style == 0:
        return [dense(rng, n) for _ in range(k + 1)]
    if style == 1:
        return [sparse(rng, n) for _ in range(k + 1)]
    laws = [dense(rng, n)]
    while len(laws) <= k:
        laws.append(near(rng, laws[-1], 1 if style == 2 else None))
    return laws


def geometric_chain(k: int, ratio: Fraction, n: int = 2) -> list[Law]:
    """Laws ∝ (1, ratio^j) for j centred at 0: every step costs the same ε only at the ends of a long chain."""
    shapes = []
    for j in range(k + 1):
        odds = ratio ** (2 * j - k)
        weights = [odds, *[Fraction(1)] * (n - 1)]
        shapes.append(tuple(w / sum(weights) for w in weights))
    return shapes


def events(n: int) -> Iterator[tuple[int, ...]]:
    for size in range(n + 1):
        yield from itertools.combinations(range(n), size)


def mass(p: Sequence[Fraction], event: Sequence[int]) -> Fraction:
    return sum((p[i] for i in event), Fraction(0))


def both(p: Law, q: Law) -> tuple[tuple[Law, Law], tuple[Law, Law]]:
    return (p, q), (q, p)


def brute_ratio(p: Law, q: Law, delta: Fraction) -> Fraction | None:
    """The smallest r ≥ 1 with P(S) ≤ r·Q(S) + δ for all events, both ways; None is infinite."""
    best = Fraction(1)
    for a, b in both(p, q):
        for event in events(len(p)):
            gap, level = mass(a, event) - delta, mass(b, event)
            if gap > 0 and level == 0:
                return None
            if gap > 0:
                best = max(best, gap / level)
    return best


def brute_tv(p: Law, q: Law) -> Fraction:
    return max(abs(mass(p, event) - mass(q, event)) for event in events(len(p)))


def brute_mu(p: Law, q: Law) -> float:
    """sup over all events of Φ⁻¹(P(S)) − Φ⁻¹(Q(S)), in floats, tails taken from the small side."""

    def quantile(x: Fraction) -> float:
        return float(norm.ppf(float(x))) if x < Fraction(1, 2) else float(norm.isf(float(1 - x)))

    best = 0.0
    for a, b in both(p, q):
        for event in events(len(p)):
            power, level = mass(a, event), mass(b, event)
            if power <= level:
                continue
            if level == 0 or power == 1:
                return math.inf
            best = max(best, quantile(power) - quantile(level))
    return best


def brute_steps(p: Law, q: Law, points: Sequence[tuple[Fraction, Fraction]], most: int) -> int | None:
    """The smallest k with P(S) ≤ (1−f)^{∘k}(Q(S)) for all events, f as the maximum of its edges' lines."""
    lines = [((d - b) / (c - a), b - a * (d - b) / (c - a)) for (a, b), (c, d) in itertools.pairwise(points)]

    def power(x: Fraction) -> Fraction:
        return 1 - max(slope * x + start for slope, start in lines)

    worst = 0
    for a, b in both(p, q):
        for event in events(len(p)):
            level, target, k = mass(b, event), mass(a, event), 0
            while level < target:
                level, k = power(level), k + 1
                if k > most:
                    return None
            worst = max(worst, k)
    return worst


def one_way(p: Law, q: Law, f: Callable[[float], float], at_zero: float, slope: float) -> float:
    """Σ q·f(p/q) in floats, in this direction."""
    terms = []
    for x, y in zip(p, q, strict=True):
        if x == 0 and y == 0:
            continue
        if y == 0:
            terms.append(float(x) * slope)
        elif x == 0:
            terms.append(float(y) * at_zero)
        else:
            terms.append(float(y) * f(float(x / y)))
    return math.fsum(terms)


def in_floats(p: Law, q: Law, f: Callable[[float], float], at_zero: float, slope: float) -> float:
    """Σ q·f(p/q) in floats, the larger of both directions."""
    return max(one_way(p, q, f, at_zero, slope), one_way(q, p, f, at_zero, slope))


# f, f(0) and lim f(t)/t of the named divergences, written down a second time.
SHAPES: dict[str, tuple[Callable[[float], float], float, float]] = {
    "kl": (lambda t: t * math.log(t), 0.0, math.inf),
    "reverse-kl": (lambda t: -math.log(t), math.inf, 0.0),
    "total-variation": (lambda t: abs(t - 1) / 2, 0.5, 0.5),
    "chi-squared": (lambda t: (t - 1) ** 2, 1.0, math.inf),
    "squared-hellinger": (lambda t: (math.sqrt(t) - 1) ** 2 / 2, 0.5, 0.5),
    "jensen-shannon": (
        lambda t: (t * math.log(t) - (t + 1) * math.log((t + 1) / 2)) / 2,
        math.log(2) / 2,
        math.log(2) / 2,
    ),
}


def renyi_floats(p: Law, q: Law, alpha: float) -> float:
    """max of D_α both ways, in floats, by logarithms so that large α does not overflow."""

    def one(a: Law, b: Law) -> float:
        if any(x > 0 and y == 0 for x, y in zip(a, b, strict=True)):
            return math.inf
        logs = [alpha * (math.log(x) - math.log(y)) + math.log(y) for x, y in zip(a, b, strict=True) if x > 0 and y > 0]
        top = max(logs)
        return (top + math.log(math.fsum(math.exp(v - top) for v in logs))) / (alpha - 1)

    return max(one(p, q), one(q, p))


def hockey_stick(p: Law, q: Law, ratio: Fraction) -> Fraction:
    """The smallest δ with P(S) ≤ ratio·Q(S) + δ for all events, both ways, over all events."""
    return max(mass(a, e) - ratio * mass(b, e) for a, b in both(p, q) for e in events(len(p)))
