"""Whether the order of an answer stands: neighbours whose intervals overlap may change places. Post-processing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from quincunx.release.column import Column
from quincunx.table import Program, Query

# How many pairs are named.
_SHOWN: Final = 10


def contested(program: Program, publish: Callable[[Program], Sequence[Column]]) -> tuple[str, ...]:
    """What is to be said where a question orders by a noisy number and takes the first rows (top k).

    publish: the columns of a program; all of its rows are looked at, because the first that is left out counts too.
    """
    query = program.query
    if query.limit is None or not query.order or not query.limit:
        return ()
    named = [output.name for output in query.outputs if output.expression == query.order[0].expression]
    columns = {each.name: each for each in publish(replace(program, query=_whole(query)))}
    if not named or f"{named[0]}_low" not in columns:
        return ()
    low, high = (columns[f"{named[0]}_{end}"].values for end in ("low", "high"))
    first, last = query.offset, min(query.offset + query.limit, len(low))
    over = [row for row in range(first, min(last, len(low) - 1)) if _overlap(low, high, row)]
    inside = [f"{row - first + 1} and {row - first + 2}" for row in over if row + 1 < last]
    said = []
    if inside:
        more = f" and {len(inside) - _SHOWN} more" if len(inside) > _SHOWN else ""
        said.append(f"Intervals of {named[0]} overlap in rows {', '.join(inside[:_SHOWN])}{more}: order not certain.")
    if over and over[-1] == last - 1:
        said.append(f"The first row that is left out overlaps with the last that is shown, by {named[0]}.")
    return tuple(said)


def _whole(query: Query) -> Query:
    return replace(query, limit=None, offset=0)


def _overlap(low: Sequence[float | None], high: Sequence[float | None], row: int) -> bool:
    ends = (low[row], low[row + 1], high[row], high[row + 1])
    known = [end for end in ends if end is not None]
    # Without an interval nothing is certain.
    return len(known) < len(ends) or (known[0] <= known[3] and known[1] <= known[2])
