"""How far a release is from the truth, for the curator's eyes: nothing here is protected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quincunx.invariant.topdown.measure import levels_of
from quincunx.invariant.topdown.people import counted
from quincunx.invariant.topdown.published import half_width, queries
from quincunx.invariant.topdown.topdown import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """Errors of one query at one level. error: mean |release − truth|. estimate: mean |estimate − truth|, covered: how
    many of the intervals contain the truth; both None where some number has no estimate."""

    level: str
    query: str
    error: float
    estimate: float | None
    covered: float | None


def errors(release: Release) -> tuple[Error, ...]:
    """The errors of everything that is published. Reads the confidential file."""
    planned = release.topdown
    leaves = counted(planned.source, planned.schema, planned.geography, key=planned.key, counts=planned.counts)
    half, found = half_width(planned.confidence), []
    for level, truth in enumerate(levels_of(leaves, planned.geography)):
        for query in queries(planned, level):
            exact = planned.schema.answers(query, truth)
            made = planned.schema.answers(query, release.tables[level])
            best = release.estimates[level].of(query)
            known = bool(np.isfinite(best.variance).all())
            off = np.abs(best.value - exact)
            found.append(
                Error(
                    level=planned.geography.names[level],
                    query=query.name,
                    error=float(np.abs(made - exact).mean()),
                    estimate=float(off.mean()) if known else None,
                    covered=float((off <= half * np.sqrt(best.variance)).mean()) if known else None,
                )
            )
    return tuple(found)
