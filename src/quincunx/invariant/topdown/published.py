"""What is said about a level, and how far its intervals reach: the same in estimates, reruns and reports."""

from __future__ import annotations

from fractions import Fraction

from quincunx.invariant.topdown.schema import TOTAL, Query
from quincunx.invariant.topdown.topdown import TopDown
from quincunx.numbers import ball, float_above, normal_quantile, precision


def half_width(confidence: Fraction) -> float:
    """How many standard deviations an interval reaches to either side: Φ⁻¹((1 + confidence)/2), rounded up."""
    with precision(128):
        return float_above(normal_quantile(ball((1 + confidence) / 2)))


def queries(planned: TopDown, level: int) -> list[Query]:
    """What is published about a level: the total, and the queries of its budget and of its invariants."""
    named = [planned.schema.query(TOTAL)]
    named += [line.query for line in planned.budget if line.level == level]
    named += [each.query for each in planned.invariants if each.level == level]
    return list({query.name: query for query in named}.values())
