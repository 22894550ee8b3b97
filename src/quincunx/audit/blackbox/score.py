"""How far apart two-point worlds are in each standard, in plain floating point: for choosing events, not verdicts.

`scores(standard, p, q)` follows `standard.least` of (p, 1 − p) and (q, 1 − q) for q < p, without its certainty.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from quincunx.audit.blackbox.outputs import Floats
from quincunx.numbers import float_near
from quincunx.spec import Standard

# Orders of Rényi divergence that are tried for ρ.
_ORDERS: Final = 1 + np.geomspace(1e-3, 500, 60)
_NORMAL: Final = NormalDist()


def _epsilon(standard: Any, p: Floats, q: Floats) -> Floats:
    delta = float(getattr(standard, "delta", 0))
    here, there = np.maximum(p - delta, 1e-300) / q, np.maximum(1 - q - delta, 1e-300) / (1 - p)
    return np.maximum(np.log(np.maximum(here, there)), 0.0)


def _renyi(order: float, p: Floats, q: Floats) -> Floats:
    def way(a: Floats, b: Floats) -> Floats:
        first = order * np.log(a) + (1 - order) * np.log(b)
        second = order * np.log1p(-a) + (1 - order) * np.log1p(-b)
        return np.logaddexp(first, second) / (order - 1)

    return np.maximum(way(p, q), way(q, p))


def _order(standard: Any, p: Floats, q: Floats) -> Floats:
    return _renyi(float(standard.alpha), p, q)


def _concentrated(standard: Any, p: Floats, q: Floats) -> Floats:
    delta = float(standard.delta)
    a, b = (p - delta) / (1 - delta), q / (1 - delta)
    apart = b < a
    safe_a, safe_b = np.where(apart, a, 0.5), np.where(apart, b, 0.5)
    best: Floats = np.max([_renyi(order, safe_a, safe_b) / order for order in _ORDERS.tolist()], axis=0)
    return np.where(apart, best, 0.0)


def _gaussian(standard: Any, p: Floats, q: Floats) -> Floats:  # noqa: ARG001
    pairs = zip(p.tolist(), q.tolist(), strict=True)
    return np.array([_NORMAL.inv_cdf(a) - _NORMAL.inv_cdf(b) for a, b in pairs])


def _kullback(standard: Any, p: Floats, q: Floats) -> Floats:  # noqa: ARG001
    def way(a: Floats, b: Floats) -> Floats:
        return np.asarray(a * np.log(a / b) + (1 - a) * (np.log1p(-a) - np.log1p(-b)))

    return np.maximum(way(p, q), way(q, p))


def _variation(standard: Any, p: Floats, q: Floats) -> Floats:  # noqa: ARG001
    return p - q


def _asked(standard: Standard, p: Floats, q: Floats) -> Floats:
    worlds = [(Fraction(a), Fraction(b)) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
    return np.array([float_near(standard.least([a, 1 - a], [b, 1 - b]).lower) for a, b in worlds])


_QUICK: Final[dict[str, Callable[[Any, Floats, Floats], Floats]]] = {
    "pure": _epsilon,
    "approximate": _epsilon,
    "renyi": _order,
    "zcdp": _concentrated,
    "gaussian": _gaussian,
    "kl": _kullback,
    "tv": _variation,
}


def scores(standard: Standard, p: Floats, q: Floats) -> Floats:
    """About the smallest intensity of each world, for 0 < q < p < 1."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(_QUICK.get(standard.kind, _asked)(standard, p, q), nan=0.0)
