"""Brute force beside the checkers, by other means: all events, all subsets, dense grids, scipy's linear programs.

Nothing here calls the checkers, the filter or the curves of `spec`. A factor is e^ε as a Fraction, None for infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product

import numpy as np
from scipy.optimize import linprog

from quincunx.taxonomy import World

F = Fraction
Law = Sequence[Fraction]
Floats = np.ndarray
Laws = list[tuple[Law, Law]]
NONE = F(0)


@cache
def events(size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(chain.from_iterable(combinations(range(size), r) for r in range(1, size + 1)))


def mass(law: Law, event: Sequence[int]) -> Fraction:
    return sum((law[i] for i in event), F(0))


def factor(pairs: Laws, delta: Fraction = NONE) -> Fraction | None:
    """The smallest t ≥ 1 with P(S) ≤ t·Q(S) + δ for all pairs and events."""
    best = F(1)
    for p, q in pairs:
        for event in events(len(p)):
            a, b = mass(p, event) - delta, mass(q, event)
            if a > 0:
                if not b:
                    return None
                best = max(best, a / b)
    return best


def stick(pairs: Laws, t: Fraction) -> Fraction:
    """The largest P(S) − t·Q(S) over all pairs and events."""
    return max([F(0), *(mass(p, e) - t * mass(q, e) for p, q in pairs for e in events(len(p)))])


def tail(pairs: Laws, t: Fraction) -> Fraction:
    return max([F(0), *(sum((a for a, b in zip(p, q, strict=True) if a > t * b), F(0)) for p, q in pairs)])


def relaxed(pairs: Laws, delta: Fraction, outside: Fraction) -> Fraction | None:
    worst = F(1)
    for p, q in pairs:
        best: Fraction | None = None
        for gone in [(), *events(len(p))]:
            if mass(p, gone) <= outside:
                left = [i for i in range(len(p)) if i not in gone]
                here = factor([([p[i] for i in left], [q[i] for i in left])], delta) if left else F(1)
                if here is not None and (best is None or here < best):
                    best = here
        if best is None:
            return None
        worst = max(worst, best)
    return worst


def number(x: Fraction) -> float:
    return x.numerator / x.denominator


def kl(p: Law, q: Law) -> float:
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return math.inf
    # log1p of the exact excess keeps near-ties.
    return math.fsum(number(a) * _log(a, b) for a, b in zip(p, q, strict=True) if a)


def _log(a: Fraction, b: Fraction) -> float:
    excess = a / b - 1
    return math.log1p(number(excess)) if abs(excess) < F(1, 2) else math.log(number(a)) - math.log(number(b))


def cumulant(p: Law, q: Law, t: float, shift: float = 0.0) -> float:
    """ln E_P e^{t(L − shift)} in floats, accurate near 0."""
    powers = [(number(a), t * (_log(a, b) - shift)) for a, b in zip(p, q, strict=True) if a]
    top = max(x for _, x in powers)
    if abs(top) > 1 or min(x for _, x in powers) < -1:
        return top + math.log(math.fsum(a * math.exp(x - top) for a, x in powers))
    return math.log1p(math.fsum(a * math.expm1(x) for a, x in powers))


def renyi(p: Law, q: Law, alpha: float) -> float:
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return math.inf
    return cumulant(p, q, alpha - 1) / (alpha - 1)


def cumulants(p: Law, q: Law, grid: Floats, shift: float = 0.0) -> Floats:
    """`cumulant` at every t of a grid at once."""
    mass, losses = np.array([(number(a), _log(a, b) - shift) for a, b in zip(p, q, strict=True) if a]).T
    powers = grid[:, None] * losses
    top = powers.max(axis=1)
    far = (np.abs(top) > 1) | (powers.min(axis=1) < -1)
    with np.errstate(over="ignore"):
        large = top + np.log((mass * np.exp(powers - top[:, None])).sum(axis=1))
        small = np.log1p((mass * np.expm1(np.where(far[:, None], 0.0, powers))).sum(axis=1))
    return np.where(far, large, small)


def concentrated(p: Law, q: Law, xi: float = 0.0, omega: float = math.inf) -> float:
    """sup (D_α − ξ)/α on a dense grid: from below, to about a thousandth."""
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return math.inf
    if p == q:
        return 0.0
    grid = np.geomspace(1e-6, min(omega - 1, 1e4), 400)
    return max(0.0, kl(p, q) - xi, float(((cumulants(p, q, grid) / grid - xi) / (1 + grid)).max()))


def around_mean(p: Law, q: Law) -> float:
    """τ² on a dense grid of λ of both signs: from below."""
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return math.inf
    mean = kl(p, q)
    size = [abs(_log(a, b) - mean) for a, b in zip(p, q, strict=True) if a]
    if p == q or max(size) == 0:
        return 0.0
    variance = math.fsum(number(a) * (_log(a, b) - mean) ** 2 for a, b in zip(p, q, strict=True) if a)
    side = np.geomspace(1e-3, 1e3, 400) / max(size)
    grid = np.concatenate([side, -side])
    return max(variance, float((2 * cumulants(p, q, grid, mean) / grid**2).max()))


def divergence(p: Law, q: Law) -> Fraction | None:
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return None
    return sum(((a / b - 1) ** 2 * b for a, b in zip(p, q, strict=True) if b), F(0))


def gaussian(pairs: Laws) -> float:
    """μ over all events, by scipy's quantiles."""
    from scipy.stats import norm

    worst = 0.0
    for p, q in pairs:
        for event in events(len(p)):
            a, b = mass(p, event), mass(q, event)
            if a == b:
                continue
            if (b == 0 and a) or (a == 1 and b != 1):
                return math.inf
            if 0 < a < 1 and 0 < b < 1:
                up, low = (norm.ppf(number(x)) if x < F(1, 2) else -norm.ppf(number(1 - x)) for x in (a, b))
                worst = max(worst, up - low)
    return worst


# ——— pairs of datasets, each relation written as a condition on two lists of records ———


def related(world: World, condition: Callable[[list[tuple[object, object]]], bool]) -> list[tuple[str, str]]:
    """Ordered pairs whose list of differing (before, after) satisfies a condition; positions are in `places`."""
    found = []
    for x in world.datasets:
        for y in world.datasets:
            changes = [(a, b) for a, b in zip(world.datasets[x], world.datasets[y], strict=True) if a != b]
            if changes and condition(changes):
                found.append((x, y))
    return found


def places(world: World, x: str, y: str) -> list[int]:
    return [i for i in range(world.people) if world.datasets[x][i] != world.datasets[y][i]]


def laws(world: World, pairs: Sequence[tuple[str, str]]) -> Laws:
    return [(world.laws[x], world.laws[y]) for x, y in pairs]


def one(world: World) -> list[tuple[str, str]]:
    return related(world, lambda c: len(c) == 1)


def bounded(world: World) -> list[tuple[str, str]]:
    return related(world, lambda c: len(c) == 1 and None not in c[0])


def unbounded(world: World) -> list[tuple[str, str]]:
    return related(world, lambda c: len(c) == 1 and None in c[0])


def all_pairs(world: World) -> list[tuple[str, str]]:
    return related(world, bool)


# ——— drawing ———


def given(world: World, weights: dict[str, Fraction], condition: Callable[[str], bool]) -> list[Fraction] | None:
    """The law of the output when the dataset is drawn and a condition holds."""
    total = sum((w for x, w in weights.items() if condition(x)), F(0))
    if not total:
        return None
    size = len(world.outputs)
    found = [F(0)] * size
    for x, w in weights.items():
        if condition(x):
            for o in range(size):
                found[o] += w * world.laws[x][o] / total
    return found


def values(world: World, i: int, *, absent: bool = False) -> list[object]:
    found = {r[i] for r in world.datasets.values()}
    return [v for v in sorted(found, key=str) if absent or v is not None]


def conditionals(world: World) -> Laws:
    """Noiseless: D(i) = t against D(i) = t' under each prior."""
    pairs: Laws = []
    for weights in world.priors.values():  # type: ignore[union-attr]
        for i in range(world.people):
            for t, u in product(values(world, i), repeat=2):
                p = given(world, weights, lambda x, i=i, t=t: world.datasets[x][i] == t)  # type: ignore[arg-type]
                q = given(world, weights, lambda x, i=i, u=u: world.datasets[x][i] == u)  # type: ignore[arg-type]
                if t != u and p is not None and q is not None:
                    pairs.append((p, q))
    return pairs


def redraws(world: World, weights: dict[str, Fraction]) -> Iterator[tuple[str, str, int, Fraction]]:
    """D₁ ~ θ, i uniform, D₂ ~ θ given that it agrees with D₁ outside i."""
    for x, w in weights.items():
        for i in range(world.people):
            same = {y: v for y, v in weights.items() if all(j == i for j in places(world, x, y))}
            total = sum(same.values(), F(0))
            for y, v in same.items():
                if w and v:
                    yield x, y, i, w / world.people * v / total


# ——— linear programs by scipy ———


def program(rows: list[dict[str, Fraction]], targets: list[Law], delta: float) -> Callable[[float], bool]:
    """Is there a simulator (a law for each label) with P ≈ Σ w·Sim up to (ln t, δ)? One program with slacks."""
    labels = sorted({label for row in rows for label in row})
    k, m = len(targets[0]), len(targets)
    sims = len(labels) * k
    slack = 2 * m * k if delta else 0
    # Left and right sides are (fixed) + t·(growing).
    fixed, growing = np.zeros((2, 2 * m * k + bool(delta) * 2 * m, sims + slack))
    right, rising = np.zeros((2, len(fixed)))
    for c, (row, law) in enumerate(zip(rows, targets, strict=True)):
        for o in range(k):
            ahead, back = 2 * (c * k + o), 2 * (c * k + o) + 1
            for label, w in row.items():
                place = labels.index(label) * k + o
                growing[ahead, place], fixed[back, place] = -number(w), number(w)
            right[ahead], rising[back] = -number(law[o]), number(law[o])
            if delta:
                fixed[ahead, sims + 2 * c * k + o] = fixed[back, sims + (2 * c + 1) * k + o] = -1
        for side in (2 * c, 2 * c + 1) if delta else ():
            fixed[2 * m * k + side, sims + side * k : sims + (side + 1) * k] = 1
            right[2 * m * k + side] = delta
    sums = np.zeros((len(labels), sims + slack))
    for i in range(len(labels)):
        sums[i, i * k : (i + 1) * k] = 1

    # What a law never gives the simulator may not give either: exactly, since a program forgives 1e-7.
    never = {
        labels.index(label) * k + o
        for row, law in zip(rows, targets, strict=True)
        for label, w in row.items()
        for o in range(k)
        if w and not law[o] and not delta
    }
    limit = [(0, 0 if i in never else None) for i in range(sims + slack)]

    def check(t: float) -> bool:
        left, limits = fixed + t * growing, right + t * rising
        cost, ones = np.zeros(sims + slack), np.ones(len(labels))
        return linprog(cost, left, limits, sums, ones, limit, method="highs").status == 0

    return check


def smallest_factor(check: Callable[[float], bool], top: float = 1e6) -> float:
    """Bisection on the logarithm; infinity where the top is not enough."""
    if not check(top):
        return math.inf
    low, high = 0.0, math.log(top)
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (low, middle) if check(math.exp(middle)) else (middle, high)
    return high
