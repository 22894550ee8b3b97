"""Approximate intervals for the whole tables: the release run again on its own output, with new noise.

The output stands for the truth, so this costs nothing. How far reruns fall from it stands for how far the release fell
from the truth (approximate Monte Carlo, arXiv 2503.19714). It is an approximation: near 0 the output is smoother than
the truth, and intervals are too short. What can be measured without the truth is measured: how often the interval of
one rerun, made from the others, contains the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from quincunx.invariant.topdown.keep import Measured
from quincunx.invariant.topdown.measure import draw
from quincunx.invariant.topdown.pair import PairRelease
from quincunx.invariant.topdown.published import half_width, queries
from quincunx.invariant.topdown.schema import Floats
from quincunx.invariant.topdown.topdown import Release
from quincunx.numbers import positive_integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Half-widths for one query at one level, (places, cells), and how often reruns were covered. table: which of two
    tables, empty where there is one."""

    table: str
    level: str
    query: str
    half: Floats = field(repr=False)
    covered: float


def rerun(release: Release | PairRelease, count: object) -> tuple[Spread, ...]:
    """Intervals from `count` ≥ 2 reruns: value ± t·(root mean square of rerun − output), t of as many degrees. Of two
    tables both are run again, one with the other, as they were made."""
    times = max(positive_integer(count, "reruns"), 2)
    if isinstance(release, PairRelease):
        pairs = [_both(release) for _ in range(times)]
        homes = _spreads(release.households, [each.households for each in pairs])
        return *_spreads(release.people, [each.people for each in pairs]), *homes
    return _spreads(release, [release.topdown.computed(_drawn(release)) for _ in range(times)])


def _spreads(release: Release, runs: Sequence[Release]) -> tuple[Spread, ...]:
    planned = release.topdown
    reach, found = half_width(planned.confidence), []
    all_reach, other_reach = student(reach, len(runs)), student(reach, len(runs) - 1)
    for level in range(planned.geography.depth):
        for query in queries(planned, level):
            own = planned.schema.answers(query, release.tables[level])
            gaps = np.array([planned.schema.answers(query, run.tables[level]) - own for run in runs], dtype=np.float64)
            squares = (gaps**2).sum(axis=0)
            others = np.sqrt((squares - gaps**2) / (len(runs) - 1))
            found.append(
                Spread(
                    table=planned.universe,
                    level=planned.geography.names[level],
                    query=query.name,
                    half=all_reach * np.sqrt(squares / len(runs)),
                    covered=float((np.abs(gaps) <= other_reach * others).mean()),
                )
            )
    return tuple(found)


def student(normal: float, degrees: int) -> float:
    """Student's quantile at the level of a normal quantile z, by two terms of its expansion in one over the degrees.

    z + (z³ + z)/4n + (5z⁵ + 16z³ + 3z)/96n² (Abramowitz and Stegun 1964, 26.7.5); too small below four degrees.
    """
    z = normal
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def _both(release: PairRelease) -> PairRelease:
    return release.pair.computed(_drawn(release.households), _drawn(release.people))


def _drawn(release: Release) -> Measured:
    """The measurements again, with new noise, of the release's own tables."""
    planned = release.topdown
    answers = []
    for line, _ in release.measured.answers:
        (drawn,) = draw(planned.schema, release.tables[line.level], [line])
        answers.append((line, drawn))
    return replace(release.measured, answers=tuple(answers), charged=Fraction(0))
