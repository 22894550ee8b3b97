"""The best simulator: a linear program in floats, certified on both sides in rationals (simulate.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

from quincunx.errors import UnavailableError, VerificationError

# rows by label, each a law on outputs
Simulator: TypeAlias = dict[str, list[Fraction]]
_GRAIN: Final = 1 << 44
# Entries below these multiples of the grain are swept away; which is better depends on the program.
_DUST: Final = (1 << 24, 1 << 12)
_ROUNDS: Final = 64
_CUTS: Final = 60
_CLOSE: Final = Fraction(1, 10**6)
_HUGE: Final = 1e7
# Where to look next, and where else while floats decide nothing there.
_TRIALS: Final = (0.5, 1.0, 0.25, 0.9, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """constant + t·growing + Σ (c + t·d)·Sim(label, output) ≤ 0, with entries (label, output) → (c, d)."""

    constant: Fraction
    growing: Fraction
    entries: Mapping[tuple[str, int], tuple[Fraction, Fraction]]


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
) -> Found:
    """The smallest t ≥ 1 at which some simulator satisfies every bound.

    factor(Sim): the exact smallest t of a given simulator, None if infinite. bounds(Sim, t): the bounds to use, which
    may be cut to those that Sim violates most. forbidden: entries that must be 0. starts: simulators to begin with.
    """
    best: tuple[Fraction, Simulator] | None = None
    for start in starts:
        t = factor(start)
        if t is not None and (best is None or t < best[0]):
            best = (t, start)
    used = bounds(starts[0], Fraction(2))
    low, trial = Fraction(1), best[0] if best is not None else Fraction(int(_HUGE))
    stuck = 0
    for _ in range(_ROUNDS):
        if best is not None and best[0] <= low * (1 + _CLOSE):
            break
        found, refuted = _at(trial, labels, outputs, used, bounds, factor, forbidden)
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
        near = best[0] * (1 - _CLOSE / 2)
        fast = better and best[0] < trial * Fraction(9, 10)
        close = better and low < near and best[0] < low * (1 + 20 * _CLOSE)
        trial = near if close else best[0] if fast else _between(low, best[0], _TRIALS[stuck])
    return Found(lower=low, upper=None if best is None else best[0], simulator=None if best is None else best[1])


def _at(
    t: Fraction,
    labels: Sequence[str],
    outputs: int,
    used: list[Bound],
    bounds: Callable[[Simulator, Fraction], list[Bound]],
    factor: Callable[[Simulator], Fraction | None],
    forbidden: frozenset[tuple[str, int]],
) -> tuple[tuple[Fraction, Simulator] | None, bool]:
    """The best simulator seen at t, and whether t is certainly not enough. Violated bounds join `used` as they show."""
    best: tuple[Fraction, Simulator] | None = None
    for _ in range(_CUTS):
        values, prices, _ = _solve(labels, outputs, used, float(t), forbidden)
        if _refutes(used, prices, labels, outputs, t, forbidden):
            return best, True
        for dust in _DUST:
            rounded = _rounded(labels, outputs, values, forbidden, dust)
            here = factor(rounded)
            if here is not None and (best is None or here < best[0]):
                best = (here, rounded)
        more = bounds(rounded, t)
        if not more:
            break
        used += more
    return best, False


def never(labels: Sequence[str], outputs: int, used: list[Bound]) -> bool:
    """Whether bounds that do not depend on the factor are certainly impossible together."""
    _, prices, _ = _solve(labels, outputs, used, 1.0, frozenset())
    return _refutes(used, prices, labels, outputs, Fraction(1), frozenset())


def _between(low: Fraction, high: Fraction, share: float) -> Fraction:
    """A factor at a share of the way, on the scale of logarithms; the upper end itself at 1."""
    return high if share == 1 else Fraction(float(low) ** (1 - share) * float(high) ** share)


def _refutes(
    used: Sequence[Bound],
    prices: Sequence[float],
    labels: Sequence[str],
    outputs: int,
    t: Fraction,
    forbidden: frozenset[tuple[str, int]],
) -> bool:
    """Whether the priced sum of the bounds is positive for every simulator: exact arithmetic, so a proof."""
    total = Fraction(0)
    cost: dict[tuple[str, int], Fraction] = {}
    for bound, price in zip(used, prices, strict=False):
        weight = Fraction(price) if price > 0 else Fraction(0)
        if not weight:
            continue
        total += weight * (bound.constant + t * bound.growing)
        for place, (c, d) in bound.entries.items():
            cost[place] = cost.get(place, Fraction(0)) + weight * (c + t * d)
    for label in labels:
        free = [cost.get((label, o), Fraction(0)) for o in range(outputs) if (label, o) not in forbidden]
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


def _solve(
    labels: Sequence[str], outputs: int, used: Sequence[Bound], t: float, forbidden: frozenset[tuple[str, int]]
) -> tuple[list[float], list[float], float]:
    """Minimise the largest left side at t: (simulator, price of each bound, that side)."""
    highspy = _library()
    place = {label: i * outputs for i, label in enumerate(labels)}
    size = len(labels) * outputs
    starts, index, value, upper = [0], [], [], []
    scales = []
    for bound in used:
        # Sides are compared relative to their own size: rare outputs count as much as common ones.
        own = abs(float(bound.constant)) + abs(float(bound.growing))
        scales.append(1 / max(own or max(abs(float(c)) + abs(float(d)) for c, d in bound.entries.values()), 1e-6))
        for (label, o), (c, d) in bound.entries.items():
            index.append(place[label] + o)
            value.append((float(c) + t * float(d)) * scales[-1])
        index.append(size)
        value.append(-1.0)
        starts.append(len(index))
        upper.append(-(float(bound.constant) + t * float(bound.growing)) * scales[-1])
    lower = [-highspy.kHighsInf] * len(used)
    for label in labels:
        index += [place[label] + o for o in range(outputs)]
        value += [1.0] * outputs
        starts.append(len(index))
        lower.append(1.0)
        upper.append(1.0)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = size + 1, len(upper)
    lp.col_cost_ = [0.0] * size + [1.0]
    # Without any bound yet the side would fall for ever.
    lp.col_lower_ = [0.0] * size + [-1e6]
    lp.col_upper_ = [0.0 if (label, o) in forbidden else 1.0 for label in labels for o in range(outputs)]
    lp.col_upper_ = [*lp.col_upper_, highspy.kHighsInf]
    lp.row_lower_, lp.row_upper_ = lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, index, value
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
    prices = [-float(x) * scale for x, scale in zip(list(solution.row_dual), scales, strict=False)]
    return [float(x) for x in list(solution.col_value)[:size]], prices, float(solution.col_value[size])


def _library() -> Any:
    try:
        import highspy
    except ImportError:
        raise UnavailableError("simulators are found with HiGHS", where="simulate", hint="Install highspy.") from None
    return highspy
