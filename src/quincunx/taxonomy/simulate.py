"""The best simulator: a linear program in floats, certified on both sides in rationals (simulate.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from quincunx.errors import UnavailableError, VerificationError
from quincunx.spec import whole

# rows by label, each a law on outputs
Simulator: TypeAlias = dict[str, list[Fraction]]
_GRAIN: Final = 1 << 44
# Entries below these multiples of the grain are swept away; which is better depends on the program.
_DUST: Final = (1 << 24, 1 << 12)
_ROUNDS: Final = 64
_CUTS: Final = 60
CLOSE: Final = Fraction(1, 10**6)
_HUGE: Final = 1e7
# Prices become whole multiples of this part of 1.
_FINE: Final = 1 << 60
# Where to look next, and where else while floats decide nothing there.
_TRIALS: Final = (0.5, 1.0, 0.25, 0.9, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """constant + t·growing + Σ (c + t·d)·Sim(label, output) ≤ 0, with entries (label, output) → (c, d)."""

    constant: Fraction
    growing: Fraction
    entries: Mapping[tuple[str, int], tuple[Fraction, Fraction]]


class _Rows:
    """Bounds as rows of a program: in floats for the solver, in whole numbers for the proof. Converted once each."""

    def __init__(self, labels: Sequence[str], outputs: int, forbidden: frozenset[tuple[str, int]]) -> None:
        self.labels, self.outputs, self.forbidden = labels, outputs, forbidden
        self.place = {label: i * outputs for i, label in enumerate(labels)}
        self.starts, self.scales, self.sides = [0], list[float](), list[tuple[float, float]]()
        self.index, self.fixed, self.growing = list[int](), list[float](), list[float]()
        # (places, whole c and d, whole constant and growing, their denominator)
        self.exact = list[tuple[list[int], list[int], list[int], int, int, int]]()

    def add(self, bounds: Sequence[Bound]) -> None:
        """Further rows."""
        size = len(self.labels) * self.outputs
        for bound in bounds:
            places = [self.place[label] + o for label, o in bound.entries]
            parts = [x for pair in bound.entries.values() for x in pair]
            numbers, unit = whole((bound.constant, bound.growing, *parts))
            floats = [x / unit for x in numbers]
            # Sides are compared relative to their own size: rare outputs count as much as common ones.
            own = abs(floats[0]) + abs(floats[1])
            pairs = zip(floats[2::2], floats[3::2], strict=True)
            scale = 1 / max(own or max((abs(c) + abs(d) for c, d in pairs), default=0.0), 1e-6)
            self.scales.append(scale)
            self.sides.append((floats[0] * scale, floats[1] * scale))
            self.index += [*places, size]
            self.fixed += [*(x * scale for x in floats[2::2]), -1.0]
            self.growing += [*(x * scale for x in floats[3::2]), 0.0]
            self.starts.append(len(self.index))
            self.exact.append((places, numbers[2::2], numbers[3::2], numbers[0], numbers[1], unit))

    def __len__(self) -> int:
        return len(self.exact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """lower ≤ the smallest factor ≤ upper (None: infinite), and a simulator that reaches the upper end."""

    lower: Fraction
    upper: Fraction | None
    simulator: Simulator | None


def least_factor(
    labels: Sequence[str],
    outputs: int,
    bounds: Callable[[Simulator, Fraction], list[Bound]],
    factor: Callable[[Simulator], Fraction | None],
    forbidden: frozenset[tuple[str, int]],
    starts: Sequence[Simulator],
    limit: Fraction | None = None,
) -> Found:
    """The smallest t ≥ 1 at which some simulator satisfies every bound.

    factor(Sim): the exact smallest t of a given simulator, None if infinite. bounds(Sim, t): the bounds to use, which
    may be cut to those that Sim violates most. forbidden: entries that must be 0. starts: simulators to begin with.
    limit: where it is certainly more than this, only that is said.
    """
    best: tuple[Fraction, Simulator] | None = None
    for start in starts:
        t = factor(start)
        if t is not None and (best is None or t < best[0]):
            best = (t, start)
    rows = _Rows(labels, outputs, forbidden)
    rows.add(bounds(starts[0], Fraction(2)))
    if limit is not None and _at(limit, rows, bounds, factor)[1]:
        return Found(lower=limit, upper=None, simulator=None)
    low, trial = Fraction(1), best[0] if best is not None else Fraction(int(_HUGE))
    stuck = 0
    for _ in range(_ROUNDS):
        if best is not None and best[0] <= low * (1 + CLOSE):
            break
        found, refuted = _at(trial, rows, bounds, factor)
        higher = refuted and trial > low
        low = max(low, trial) if refuted else low
        better = found is not None and (best is None or found[0] < best[0])
        if better:
            best = found
        if best is None:
            break
        stuck = 0 if higher or better else stuck + 1
        if stuck == len(_TRIALS):
            break
        # The program at the best factor so far may find a better simulator at once; where that is slow, halve what is
        # open. A simulator just below t may be the best of all, so in the end look a little below it.
        near = best[0] * (1 - CLOSE / 2)
        fast = better and best[0] < trial * Fraction(9, 10)
        close = better and low < near and best[0] < low * (1 + 20 * CLOSE)
        trial = near if close else best[0] if fast else _between(low, best[0], _TRIALS[stuck])
    return Found(lower=low, upper=None if best is None else best[0], simulator=None if best is None else best[1])


def _at(
    t: Fraction,
    rows: _Rows,
    bounds: Callable[[Simulator, Fraction], list[Bound]],
    factor: Callable[[Simulator], Fraction | None],
) -> tuple[tuple[Fraction, Simulator] | None, bool]:
    """The best simulator seen at t, and whether t is certainly not enough. Violated bounds join the rows on the way."""
    best: tuple[Fraction, Simulator] | None = None
    for _ in range(_CUTS):
        values, prices = _solve(rows, float(t))
        if _refutes(rows, prices, t):
            return best, True
        for dust in _DUST:
            rounded = _rounded(rows.labels, rows.outputs, values, rows.forbidden, dust)
            here = factor(rounded)
            if here is not None and (best is None or here < best[0]):
                best = (here, rounded)
        more = bounds(rounded, t)
        if not more:
            break
        rows.add(more)
    return best, False


def never(labels: Sequence[str], outputs: int, used: list[Bound]) -> bool:
    """Whether bounds that do not depend on the factor are certainly impossible together."""
    rows = _Rows(labels, outputs, frozenset())
    rows.add(used)
    _, prices = _solve(rows, 1.0)
    return _refutes(rows, prices, Fraction(1))


def _between(low: Fraction, high: Fraction, share: float) -> Fraction:
    """A factor at a share of the way, on the scale of logarithms; the upper end itself at 1."""
    return high if share == 1 else Fraction(float(low) ** (1 - share) * float(high) ** share)


def _refutes(rows: _Rows, prices: Sequence[float], t: Fraction) -> bool:
    """Whether the priced sum of the bounds is positive for every simulator: whole numbers, so a proof.

    Any weights ≥ 0 would do; these are the prices, rounded. Everything is multiplied by the denominator of t.
    """
    total, cost = 0, [0] * (len(rows.labels) * rows.outputs)
    largest = max((unit for *_, unit in rows.exact), default=1)
    for (places, fixed, growing, constant, rising, unit), price in zip(rows.exact, prices, strict=True):
        # A row times its denominator has whole numbers; its weight is divided by the same.
        weight = int(price * _FINE) * largest // unit if price > 0 else 0
        if not weight:
            continue
        total += weight * (constant * t.denominator + rising * t.numerator)
        for place, c, d in zip(places, fixed, growing, strict=True):
            cost[place] += weight * (c * t.denominator + d * t.numerator)
    for label in rows.labels:
        start = rows.place[label]
        free = [cost[start + o] for o in range(rows.outputs) if (label, o) not in rows.forbidden]
        if not free:
            return True
        total += min(free)
    return total > 0


def _rounded(
    labels: Sequence[str], outputs: int, values: Sequence[float], forbidden: frozenset[tuple[str, int]], dust: int
) -> Simulator:
    """A simulator in rationals near floats: whole multiples of 2^-44, dust swept away, each row summing to 1."""
    found: Simulator = {}
    for a, label in enumerate(labels):
        row = [max(0, round(values[a * outputs + o] * _GRAIN)) for o in range(outputs)]
        row = [0 if x < dust or (label, o) in forbidden else x for o, x in enumerate(row)]
        if not any(row):
            row[next(o for o in range(outputs) if (label, o) not in forbidden)] = 1
        found[label] = [Fraction(x, sum(row)) for x in row]
    return found


def _solve(rows: _Rows, t: float) -> tuple[list[float], list[float]]:
    """Minimise the largest left side at t: (simulator, price of each bound)."""
    highspy = _library()
    labels, outputs = len(rows.labels), rows.outputs
    size, count = labels * outputs, len(rows)
    sides = np.array(rows.sides).reshape(-1, 2)
    ends = rows.starts[-1] + outputs * np.arange(1, labels + 1)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = size + 1, count + labels
    lp.col_cost_ = np.append(np.zeros(size), 1.0)
    # Without any bound yet the side would fall for ever.
    lp.col_lower_ = np.append(np.zeros(size), -1e6)
    allowed = np.ones(size)
    allowed[[rows.place[label] + o for label, o in rows.forbidden]] = 0.0
    lp.col_upper_ = np.append(allowed, highspy.kHighsInf)
    # Then each row of the simulator sums to 1.
    lp.row_lower_ = np.append(np.full(count, -highspy.kHighsInf), np.ones(labels))
    lp.row_upper_ = np.append(-(sides[:, 0] + t * sides[:, 1]), np.ones(labels))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.append(np.array(rows.starts), ends).astype(np.int32)
    lp.a_matrix_.index_ = np.append(np.array(rows.index), np.arange(size)).astype(np.int32)
    lp.a_matrix_.value_ = np.append(np.array(rows.fixed) + t * np.array(rows.growing), np.ones(size))
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        model.setOptionValue(name, 1e-10)
    model.passModel(lp)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise VerificationError("the program of a simulator was not solved", where="simulate")
    solution = model.getSolution()
    prices = [-x * scale for x, scale in zip(list(solution.row_dual), rows.scales, strict=False)]
    return list(solution.col_value)[:size], prices


def _library() -> Any:
    try:
        import highspy
    except ImportError:
        raise UnavailableError("simulators are found with HiGHS", where="simulate", hint="Install highspy.") from None
    return highspy
