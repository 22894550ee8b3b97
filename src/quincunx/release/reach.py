"""Whether noise stays away from the ends of the lattice, where sums are clamped and intervals would say nothing.

Sums are clamped to ±(2^62 − 1). An error of up to 2^60 lattice units at the stated confidence leaves an interval that
is narrower than the lattice; a larger one is refused before anything is asked, with what to declare instead.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from quincunx.errors import PrivacyError
from quincunx.release.pricing import Priced
from quincunx.table import Measure, Measured, Program
from quincunx.table.rules.scale import FINE

FARTHEST: Final = 2**60


def check_reach(priced: Priced, confidence: Fraction) -> None:
    """Refuse a question whose error, at the confidence of its intervals, passes 2^60 lattice units."""
    program = priced.program
    risks = _risks(program, 1 - confidence)
    for index, drawn in enumerate(priced.measurements):
        error = drawn.mechanism.beyond(FARTHEST, risks.get(index, 1 - confidence))
        if error is not None:
            what = "the noise would reach the ends of the lattice, and no interval could be given"
            got = f"an error of {_power(error)} lattice units of {drawn.measure.unit}, at most 2^60"
            raise PrivacyError(what, where="spend", got=got, hint=_hint(priced, drawn.measure, error))


def _risks(program: Program, risk: Fraction) -> dict[int, Fraction]:
    """The smallest risk at which each measure's error is taken: outputs made of several aggregates share theirs."""
    found: dict[int, Fraction] = {}
    for output in program.query.outputs:
        used = {node.index for node in output.expression.walk() if isinstance(node, Measured)}
        for measure in (part for index in used for part in program.parts[index]):
            found[measure] = min(found.get(measure, risk), risk / len(used))
    return found


def _hint(priced: Priced, measure: Measure, error: float) -> str:
    if not math.isfinite(error):
        return "Spend far more."
    over = math.ceil(Fraction(error) / FARTHEST)
    coarser = measure.step * 10 ** len(str(over - 1))
    # Where one person moves 2^32 steps or more a step has no finer parts, so a coarser one shortens every distance.
    shrinks = measure.argument is not None and not measure.counts and measure.fraction == 0
    if shrinks and measure.sensitivity2 >= (coarser / measure.step) ** 2 * 4**FINE:
        return f"Declare a step of {coarser} for the column that is summed (it is {measure.step}), or spend more."
    times = over if measure.vector.norm == 1 else over**2
    return f"Spend at least {_digits(priced.spend * times)}, or declare narrower bounds or lower limits."


def _power(error: float) -> str:
    return f"2^{math.log2(error):.1f}" if math.isfinite(error) else "more than 2^1023"


def _digits(spend: Fraction) -> str:
    """Two digits, rounded up."""
    unit = Fraction(10) ** (len(str(spend.numerator)) - len(str(spend.denominator)) - 2)
    rounded = math.ceil(spend / unit) * unit
    return str(rounded) if rounded.denominator == 1 else f"{float(rounded):.3g}"
