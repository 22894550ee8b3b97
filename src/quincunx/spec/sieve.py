"""The float64 filter: for many pairs of laws at once, floats that certainly enclose the smallest intensity.

Exact arithmetic then looks only at the pairs that could be the largest. A sieve is one-directional, the first law
against the second; rows are pairs. What it cannot bound it leaves open: 0 and infinity. sieve.md derives every bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.numbers import Ball, float_above, float_below, normal_tail, precision

if TYPE_CHECKING:
    from quincunx.spec.divergence import Number
    from quincunx.spec.standard_base import Standard

Floats: TypeAlias = NDArray[np.float64]
Sieved: TypeAlias = tuple[Floats, Floats]
Sieve: TypeAlias = Callable[[Floats, Floats, Any], Sieved]

_U: Final = 2.0**-53
# Entries below this are left to exact arithmetic: products and quotients of larger ones neither overflow nor underflow.
_SMALLEST: Final = Fraction(1, 1 << 400)
# Eight units in the last place are allowed to the library's log and exp; tests compare both with Arb.
_ULPS: Final = 16.0
_CHUNK: Final = 1 << 19
_STEPS: Final = 64
_ORDERS: Final = 1.08 ** np.arange(1, 96)
_SCALES: Final = 2.0**-8 * 1.1 ** np.arange(0, 150)
_FINE_SCALES: Final = 2.0**-10 * 1.01 ** np.arange(0, 1600)


def rounded(laws: Sequence[Sequence[Number]]) -> Floats | None:
    """The laws as correctly rounded floats; None where they are not exact or have entries too small for the bounds."""
    found = []
    for law in laws:
        exact = [x for x in law if isinstance(x, Fraction) and (x == 0 or x >= _SMALLEST)]
        if len(exact) < len(law):
            return None
        found.append([x.numerator / x.denominator for x in exact])
    return np.array(found)


def bounds(standard: Standard, laws: Floats, pairs: Sequence[tuple[int, int]]) -> Sieved | None:
    """Floats below and above the smallest intensity of each ordered pair of laws; None where no sieve is known."""
    sieve = SIEVES.get(standard.kind)
    if sieve is None or not pairs:
        return None
    first, second = np.array(pairs).T
    step = max(1, _CHUNK // laws.shape[1])
    with np.errstate(all="ignore"):
        parts = [
            sieve(laws[first[i : i + step]], laws[second[i : i + step]], standard) for i in range(0, len(pairs), step)
        ]
    low, high = (np.concatenate(side) for side in zip(*parts, strict=True))
    return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), np.inf, high)


def contenders(low: Floats, high: Floats, certain: Callable[[int], float]) -> list[int]:
    """The places that could hold the largest value, in increasing order.

    `certain(i)` evaluates place i and returns a float not above its value. Places are asked by falling upper bound
    until the next one is certainly below a value that is reached: what is left out is not the largest.
    """
    best, asked = float(np.max(low, initial=0.0)), []
    if best == np.inf:
        # Nothing is larger, and the first stands for all.
        first = int(np.argmax(low))
        certain(first)
        return [first]
    for i in np.argsort(-high, kind="stable"):
        if high[i] < best:
            break
        asked.append(int(i))
        best = max(best, certain(int(i)))
    return sorted(asked)


def over(sieved: Sieved, distances: Sequence[Fraction]) -> Sieved:
    """The bounds divided by distances > 0."""
    d = np.array([x.numerator / x.denominator for x in distances])
    return sieved[0] / d * (1 - 4 * _U), sieved[1] / d * (1 + 4 * _U)


def _losses(p: Floats, q: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """ln(p/q) where both are positive (0 elsewhere), its error, and the rows in which some q is 0 and its p is not."""
    both = (p > 0) & (q > 0)
    loss = np.where(both, np.log(np.where(both, p, 1.0) / np.where(both, q, 1.0)), 0.0)
    return loss, _U * (4 + (_ULPS + 1) * np.abs(loss)), ((p > 0) & (q == 0)).any(axis=1)


def _open(low: Floats, high: Floats, endless: NDArray[np.bool_]) -> Sieved:
    return np.where(endless, np.inf, np.maximum(low, 0.0)), np.where(endless, np.inf, np.maximum(high, 0.0))


def _pure(p: Floats, q: Floats, _standard: object) -> Sieved:
    loss, error, endless = _losses(p, q)
    here = (p > 0) & (q > 0)
    low, high = (np.where(here, x, 0.0).max(axis=1) for x in (loss - error, loss + error))
    return _open(low, high, endless)


def _kl(p: Floats, q: Floats, _standard: object) -> Sieved:
    loss, _, endless = _losses(p, q)
    size = p.shape[1]
    value = (p * loss).sum(axis=1)
    error = _U * (p * (5 + (_ULPS + 5 + size) * np.abs(loss))).sum(axis=1)
    return _open(value - error, value + error, endless)


def _total_variation(p: Floats, q: Floats, _standard: object) -> Sieved:
    value = np.maximum(p - q, 0.0).sum(axis=1)
    error = (p.shape[1] + 6) * 2 * _U
    return np.maximum(value - error, 0.0), value + error


def _hellinger(p: Floats, q: Floats, _standard: object) -> Sieved:
    value = 1 - np.sqrt(p * q).sum(axis=1)
    error = (p.shape[1] + 8) * 2 * _U
    return np.maximum(value - error, 0.0), value + error


def _chi_squared(p: Floats, q: Floats, _standard: object) -> Sieved:
    gap, off = np.abs(p - q), 3 * _U * (p + q)
    safe = np.where(q > 0, q, 1.0)
    value = np.where(q > 0, gap * gap / safe, 0.0)
    slack = np.where(q > 0, (2 * gap + off) * off / safe, 0.0).sum(axis=1)
    total = value.sum(axis=1)
    error = 1.01 * slack + (p.shape[1] + 8) * _U * total
    return _open(total - error, total + error, ((p > 0) & (q == 0)).any(axis=1))


def _cumulant(p: Floats, loss: Floats, t: float) -> Sieved:
    """Bounds of K(t) = ln Σ p·e^{t·loss}, for t > 0."""
    power = t * loss
    top = np.where(p > 0, power, -np.inf).max(axis=1)
    total = (p * np.exp(power - top[:, None])).sum(axis=1)
    size = np.abs(np.where(p > 0, loss, 0.0)).max(axis=1)
    each = _U * (t * (5 + (_ULPS + 5) * size) + 4 * t * size + _ULPS + 6)
    log = np.log(total)
    value = top + log
    error = 1.1 * each + _U * (p.shape[1] + 6 + (_ULPS + 2) * np.abs(log) + 2 * np.abs(top) + 2 * np.abs(value))
    # Beyond a tenth the exponential of an error is no longer near 1 + error.
    return np.where(each < 0.1, value - error, 0.0), np.where(each < 0.1, value + error, np.inf)


def _renyi(p: Floats, q: Floats, standard: Any) -> Sieved:
    t = float(standard.alpha - 1)
    loss, _, endless = _losses(p, q)
    low, high = _cumulant(p, loss, t)
    return _open(low / t * (1 - 4 * _U), high / t * (1 + 4 * _U), endless)


def _zcdp(p: Floats, q: Floats, standard: Any) -> Sieved:
    if standard.delta:
        return np.zeros(len(p)), np.full(len(p), np.inf)
    loss, _, endless = _losses(p, q)
    low, _ = _kl(p, q, standard)
    before, high = 1.0, np.zeros(len(p))
    for alpha in _ORDERS:
        t = float(alpha - 1)
        below, above = _cumulant(p, loss, t)
        low = np.maximum(low, below / (t * alpha) * (1 - 8 * _U))
        # D_α rises with α, so D_α/α between two orders is at most D at the larger over the smaller.
        high = np.maximum(high, above / (t * before) * (1 + 8 * _U))
        before = float(alpha)
    high = np.maximum(high, _pure(p, q, standard)[1] / before * (1 + 4 * _U))
    return _open(low, high, endless)


def _sorted(p: Floats, q: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Prefix sums of P and Q by falling ratio, and the sums of the rest."""
    loss, _, _ = _losses(p, q)
    ratio = np.where((p > 0) & (q > 0), loss, np.where(p > 0, np.inf, -np.inf))
    order = np.argsort(-ratio, axis=1, kind="stable")
    tops, bottoms = np.take_along_axis(p, order, 1), np.take_along_axis(q, order, 1)
    return np.cumsum(tops, axis=1), np.cumsum(bottoms, axis=1), _after(tops), _after(bottoms)


def _after(x: Floats) -> Floats:
    # Summed on its own: one minus a prefix sum would lose the relative precision of a small rest.
    reverse = np.cumsum(x[:, ::-1], axis=1)[:, ::-1]
    return np.concatenate([reverse[:, 1:], np.zeros((len(x), 1))], axis=1)


def _approximate(p: Floats, q: Floats, standard: Any) -> Sieved:
    if not standard.delta:
        return _pure(p, q, standard)
    delta, size = float(standard.delta), p.shape[1]
    power, level, _, _ = _sorted(p, q)
    least = power - delta - (size + 4) * _U * (power + delta)
    found = np.where(level > 0, least / (level * (1 + (size + 4) * _U)), np.where(least > 0, np.inf, 0.0))
    low = found.max(axis=1)
    at = found.argmax(axis=1)[:, None]
    here = np.take_along_axis(level, at, 1)[:, 0]
    # A factor is enough if the hockey stick at it, with its error, is at most δ.
    trial = np.maximum(low, 1.0) + (8 * size + 128) * _U * (np.maximum(low, 1.0) + 1 / np.where(here > 0, here, 1.0))
    spare = delta * (1 - 2 * _U) - (size + 8) * _U
    none, enough = _stick(p, q, np.ones(len(p))) <= spare, _stick(p, q, trial) <= spare
    least_log, most_log = np.log(np.maximum(low, 1.0)), np.log(trial)
    high = np.where(enough, most_log + 4 * _U + (_ULPS + 1) * _U * most_log, np.inf)
    return np.maximum(least_log - 4 * _U - (_ULPS + 1) * _U * least_log, 0.0), np.where(none, 0.0, high)


def _stick(p: Floats, q: Floats, factor: Floats) -> Floats:
    found: Floats = np.maximum(p - factor[:, None] * q, 0.0).sum(axis=1)
    return found


@cache
def _tails() -> tuple[Floats, Floats, Floats]:
    """z = 0, 1/64, …, 38 with floats below and above P(Z > z)."""
    z = [j / _STEPS for j in range(38 * _STEPS + 1)]
    with precision(64):
        tails = [normal_tail(Ball(x)) for x in z]
    return np.array(z), np.array([float_below(x) for x in tails]), np.array([float_above(x) for x in tails])


def _deviate(x: Floats, rest: Floats, relative: float) -> Sieved:
    """Bounds of Φ⁻¹(x), where x and rest = 1 − x are each known up to the relative error."""
    z, below, above = _tails()
    small = np.minimum(x, rest)
    # P(Z > z_j) ≥ y ⇒ the deviate is at least z_j; P(Z > z_j) ≤ y ⇒ at most.
    up, down = small * (1 + relative), small * (1 - relative)
    near = np.searchsorted(-below, -up, side="right") - 1
    far = np.searchsorted(-above, -down, side="left")
    # At z = 0 the tail is 1/2 exactly; a side slightly above one half has a slightly negative deviate.
    least = np.where(near >= 0, z[np.maximum(near, 0)], -1 / _STEPS)
    most = np.where(far < len(z), z[np.minimum(far, len(z) - 1)], np.inf)
    return np.where(x <= rest, -most, least), np.where(x <= rest, -least, most)


def _gaussian(p: Floats, q: Floats, _standard: object) -> Sieved:
    _, error, _ = _losses(p, q)
    power, level, power_rest, level_rest = _sorted(p, q)
    sums = (p.shape[1] + 4) * _U
    there = (level > 0) & (power_rest > 0) & (power > 0) & (level_rest > 0)
    endless = ((level == 0) & (power > 0)).any(axis=1) | ((power_rest == 0) & (level_rest > 0)).any(axis=1)
    above, below = _deviate(power, power_rest, sums), _deviate(level, level_rest, sums)
    low = np.where(there, above[0] - below[1], 0.0).max(axis=1)
    # Outputs of nearly equal ratio may be in the wrong order: the slack covers what that can hide.
    slack = 8 * p.shape[1] * error.max(axis=1)
    high = np.where(there, above[1] - below[0], 0.0).max(axis=1) + slack
    return _open(low * (1 - 4 * _U), high * (1 + 4 * _U), endless)


_NAMED: Final[dict[str, Sieve]] = {
    "kl": _kl,
    "total-variation": _total_variation,
    "chi-squared": _chi_squared,
    "squared-hellinger": _hellinger,
}


def _divergence(p: Floats, q: Floats, standard: Any) -> Sieved:
    sieve = _NAMED.get(standard.f) if isinstance(standard.f, str) else None
    return sieve(p, q, standard) if sieve else (np.zeros(len(p)), np.full(len(p), np.inf))


# kind of standard → its sieve; a kind that is not here is decided by exact arithmetic alone
SIEVES: Final[dict[str, Sieve]] = {
    "pure": _pure,
    "approximate": _approximate,
    "zcdp": _zcdp,
    "renyi": _renyi,
    "gaussian": _gaussian,
    "kl": _kl,
    "tv": _total_variation,
    "divergence": _divergence,
}


def _probabilistic(p: Floats, q: Floats, standard: Any) -> Sieved:
    loss, error, _ = _losses(p, q)
    ratio = np.where((p > 0) & (q > 0), loss, np.where(p > 0, np.inf, -np.inf))
    order = np.argsort(-ratio, axis=1, kind="stable")
    mass = np.cumsum(np.take_along_axis(p, order, 1), axis=1)
    falling, off = np.take_along_axis(ratio, order, 1), 2 * error.max(axis=1)
    delta, slack = float(standard.delta), (p.shape[1] + 4) * _U
    found = []
    for sign in (-1, 1):
        more = mass + sign * slack > delta * (1 - sign * 2 * _U)
        at = np.where(more.any(axis=1), more.argmax(axis=1), p.shape[1] - 1)
        found.append(np.take_along_axis(falling, at[:, None], 1)[:, 0] + sign * off)
    return np.maximum(np.where(np.isfinite(found[0]) | (found[0] > 0), found[0], 0.0), 0.0), np.maximum(found[1], 0.0)


def _range(p: Floats, q: Floats, _standard: object) -> Sieved:
    loss, error, _ = _losses(p, q)
    here = (p > 0) & (q > 0)
    wide = np.where(here, loss, -np.inf).max(axis=1) - np.where(here, loss, np.inf).min(axis=1)
    off = 2 * error.max(axis=1) + 2 * _U * np.abs(wide)
    return _open(wide - off, wide + off, ((p > 0) != (q > 0)).any(axis=1))


def _concentrated(p: Floats, q: Floats, standard: Any) -> Sieved:
    loss, _, endless = _losses(p, q)
    xi, last = float(standard.xi), np.inf if standard.omega is None else float(standard.omega)
    off = 4 * _U * xi
    low = _kl(p, q, standard)[0] - xi - off
    orders = [*_ORDERS[last > _ORDERS], *([last] if np.isfinite(last) else [])]
    before, high = 1.0, np.zeros(len(p))
    for alpha in orders:
        t = float(alpha - 1)
        below, above = _cumulant(p, loss, t)
        low = np.maximum(low, (below / t * (1 - 4 * _U) - xi - off) / alpha * (1 - 4 * _U))
        high = np.maximum(high, (above / t * (1 + 4 * _U) - xi + off) / before * (1 + 4 * _U))
        before = float(alpha)
    if not np.isfinite(last):
        high = np.maximum(high, (_pure(p, q, standard)[1] - xi + off) / before * (1 + 4 * _U))
    return _open(low, high, endless)


def _mean_concentrated(p: Floats, q: Floats, standard: Any) -> Sieved:
    _, _, endless = _losses(p, q)
    if standard.mu is not None:
        return np.zeros(len(p)), np.full(len(p), np.inf)
    low, high = _around_mean(p, q, _SCALES)
    if not endless.any():
        # A finer grid for those that could be the largest.
        left = high >= low.max(initial=0.0)
        finer = _around_mean(p[left], q[left], _FINE_SCALES)
        low[left], high[left] = np.maximum(low[left], finer[0]), np.minimum(high[left], finer[1])
    return _open(np.sqrt(low) * (1 - 4 * _U), np.sqrt(high) * (1 + 4 * _U), endless)


def _around_mean(p: Floats, q: Floats, scales: NDArray[np.floating[Any]]) -> Sieved:
    """Bounds of τ²: at the λ of a grid from below, between them from above."""
    loss, error, _ = _losses(p, q)
    off = 2 * error.max(axis=1) + _U * (p.shape[1] + 4) * np.abs(loss).max(axis=1)
    mean = (p * loss).sum(axis=1)
    centred = np.where(p > 0, loss - mean[:, None], 0.0)
    reach = centred.max(axis=1) - centred.min(axis=1)
    variance = (p * centred**2).sum(axis=1)
    slack = (p.shape[1] + 16) * 4 * _U * variance + 2 * off * reach + off * off
    low, high = variance - slack, np.zeros(len(p))
    for sign in (1.0, -1.0):
        before = 0.0
        for size in scales:
            below, above = _cumulant(p, sign * centred, float(size))
            low = np.maximum(low, 2 * (below - size * off) / size**2 * (1 - 16 * _U))
            # The cumulant rises with λ; below the first λ it is at most V·e^{λR}·λ²/2.
            first = (variance + slack) * np.exp(size * (reach + off)) * (1 + 1e-12)
            step = 2 * (above + size * off) / before**2 if before else first
            high = np.maximum(high, step * (1 + 16 * _U))
            before = float(size)
        top = (sign * centred).max(axis=1) + off
        high = np.maximum(high, 2 * top / before * (1 + 16 * _U))
    return np.maximum(low, 0.0), np.maximum(high, 0.0)


def _relaxed(p: Floats, q: Floats, standard: Any) -> Sieved:
    # (ε, δ_a + δ_p) is weaker, and (ε, δ_a) stronger: tails.md.
    total = min(standard.delta + standard.outside, Fraction(1))
    return _approximate(p, q, _Delta(total))[0], _approximate(p, q, _Delta(standard.delta))[1]


def _power(p: Floats, q: Floats, standard: Any) -> Sieved:
    # k = 1 is twice total variation, k = 2 the root of χ²; others are left open.
    if standard.k == 1:
        low, high = _total_variation(p, q, standard)
        return 2 * low, 2 * high
    if standard.k == 2:
        low, high = _chi_squared(p, q, standard)
        return np.sqrt(low) * (1 - 4 * _U), np.sqrt(high) * (1 + 4 * _U)
    return np.zeros(len(p)), np.full(len(p), np.inf)


def _capacity(p: Floats, q: Floats, standard: Any) -> Sieved:
    low, high = np.zeros(len(p)), np.zeros(len(p))
    if len(standard.functions[0]) != p.shape[1]:
        return low, np.full(len(p), np.inf)
    for h, costs in standard.weighed():
        # Numbers and conjugates are rounded once, multiplied and summed.
        gain, cost = np.array(h), np.array(costs)
        value = (p * gain - q * cost).sum(axis=1)
        error = (p.shape[1] + 8) * 2 * _U * (p * np.abs(gain) + q * np.abs(cost)).sum(axis=1)
        low, high = np.maximum(low, value - error), np.maximum(high, value + error)
    return low, high


class _Delta:
    def __init__(self, delta: Fraction) -> None:
        self.delta = delta


SIEVES["relaxed"] = _relaxed
SIEVES["mean-concentrated"] = _mean_concentrated
SIEVES["probabilistic"] = _probabilistic
SIEVES["range-bounded"] = _range
SIEVES["concentrated"] = _concentrated
SIEVES["power"] = _power
SIEVES["capacity-bounded"] = _capacity
