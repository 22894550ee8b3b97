"""One linear form of measures over another: SUM(w·x)/SUM(w), COUNT_IF(…)/COUNT(*). See quotient.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.table.aggregates.estimate import Floats, Part
from quincunx.table.aggregates.linear import law
from quincunx.table.aggregates.profile import SLACK, end
from quincunx.table.interval import Bounds

# So many Laplace noises keep their digits in one sum.
MOST: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A number for each group, near: from the noisy measures; slopes: by how much each of them moves it."""

    near: Floats
    slopes: tuple[Floats, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotient:
    """The ends of one form over another, group by group; NaN where they are not known, because it may be over 0."""

    near: Floats
    low: Floats
    high: Floats


def quotient(
    top: Form, bottom: Form, parts: Sequence[Part], inside: NDArray[np.bool_], risk: Fraction, bounds: Bounds
) -> Quotient | None:
    """r = A/B: the hull of {r : |Â − r·B̂| ≤ q(r)}, for the noises of `parts`; None where there are too many.

    inside: whether none of the noisy numbers was clamped. bounds: what is proved of r.
    """
    if len(parts) > MOST:
        return None
    noise = law(parts, risk)
    over, under = ([np.abs(each) * noise.reach(i) for i, each in enumerate(form.slopes)] for form in (top, bottom))
    most, reach = np.sum(over, axis=0), np.sum(under, axis=0)
    size = np.abs(bottom.near)
    settled = inside & (size > reach * (1 + SLACK))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        middle = np.where(settled, top.near / bottom.near, np.nan)
        # q(r) is at most q(A) + |r|·q(B): nothing farther out is possible.
        far = np.where(settled, (np.abs(top.near) + most) / (size - reach) * (1 + 2.0**-30), np.nan)
        slack = SLACK * (np.abs(top.near) + size * far)

        def possible(ratio: Floats) -> NDArray[np.bool_]:
            distance = np.maximum(np.abs(top.near - ratio * bottom.near) - slack, 0.0)
            coefficients = (a - ratio * b for a, b in zip(top.slopes, bottom.slopes, strict=True))
            return noise.possible(distance, *coefficients)

        low, high = (end(possible, middle, side * far) for side in (-1, 1))
        low, high = np.minimum(low, middle), np.maximum(high, middle)
    return Quotient(near=middle, low=_within(low, bounds, settled, 0), high=_within(high, bounds, settled, 1))


def _within(ends: Floats, bounds: Bounds, settled: NDArray[np.bool_], side: int) -> Floats:
    """Ends inside what is proved; where nothing else is known, the proved end itself."""
    low, high = (None if each is None else float(each) for each in bounds)
    if low is None or high is None:
        return np.where(settled, ends, np.nan)
    return np.where(settled, np.clip(ends, low, high), high if side else low)
