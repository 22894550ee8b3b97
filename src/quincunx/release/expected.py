"""How far each output will be off, before it is asked: closed where it is known, else simulated on made-up groups.

Arithmetic on aggregates, functions and windows over them are worked out on groups of an assumed size, whose values lie
in the middle of their bounds, with noise of the law that would be drawn. No private row is read, and the key of these
draws is no secret: they are the same each time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import QueryError
from quincunx.mechanisms import Histogram
from quincunx.noise import testing
from quincunx.release.column import Column
from quincunx.release.derive import TABLE, derived_columns
from quincunx.release.pricing import Noisy, Priced, parts_of
from quincunx.release.publish import based, enclosure
from quincunx.release.stored import Stored
from quincunx.table import Expected, Measure, Measured, Output, Program, Value

# How many groups are made up: where groups are put beside each other each key has one, else all are of one kind.
_GROUPS: Final = 48
_CHOSEN: Final = Expected(half_width=math.nan, se=None, assumed="in proportion to the bound that is chosen")
_BARE: Final = Expected(half_width=math.nan, se=None, assumed="it will have no interval")
_LIMITED: Final = Expected(half_width=math.nan, se=None, assumed="in proportion to the limit that is chosen")
_UNKNOWN: Final = Expected(half_width=math.nan, se=None, assumed="it depends on the answer")


def expected(priced: Priced, outputs: Sequence[Output], risk: Fraction, rows: int) -> list[Expected]:
    """Of each output, in a group of so many rows; the half-width is NaN where it will have no interval."""
    program = priced.program
    if program.climb is not None:
        return [_LIMITED] * len(outputs)
    closed = [each.expression.index if isinstance(each.expression, Measured) else None for each in outputs]
    found: dict[int, Expected] = {}
    if None in closed and any(map(_chosen, program.measures)):
        found |= {place: _UNKNOWN for place, index in enumerate(closed) if index is None}
    elif None in closed:
        stored = made_up(priced, rows, _GROUPS)
        known = not any(measure.ladder is not None for measure in program.measures)
        columns = _columns(program, stored, risk) if program.query.above and known else {}
        for place, output in enumerate(outputs):
            if closed[place] is None and not climbs(program, output):
                one = _above(columns, output) if program.query.above else _arithmetic(program, stored, output, risk)
                found[place] = replace(one, assumed=one.assumed or _assumed(program, stored, rows))
    for place, index in enumerate(closed):
        if climbs(program, outputs[place]):
            found[place] = _CHOSEN
        elif index is not None:
            found[place] = program.query.aggregates[index].expected(parts_of(priced, index), risk, rows)
    return [found[place] for place in range(len(outputs))]


def climbs(program: Program, output: Output) -> bool:
    """Whether an output depends on a bound that is chosen when it is asked; above others, whether one of them does."""
    used = {node.index for node in output.expression.walk() if isinstance(node, Measured)}
    if program.query.above and not isinstance(output.expression, Measured):
        used = set(range(len(program.parts)))
    return any(program.measures[part].ladder is not None for index in used for part in program.parts[index])


def _chosen(measure: Measure) -> bool:
    """Whether what is measured follows from the rows themselves, or is a tree of counts: nothing is made up for it."""
    return measure.ladder is not None or (measure.grid is not None and not measure.grid.levels)


def made_up(priced: Priced, rows: int, groups: int) -> Stored:
    """An answer about groups that do not exist: each has so many rows, in the middle of their bounds."""
    keys = tuple(islice(_keys(priced), groups))
    # Nobody's rows are in it, so that its key need not be secret.
    with testing.keyed(testing.key_of("errors that are expected")):
        measures = tuple(each.draw(_exact(each.measure, rows, len(keys))) for each in priced.measurements)
    noisy = Noisy(keys=keys, measures=measures)
    return Stored(noisy=noisy, mechanisms=priced.noise, loss=priced.loss, injected=True)


def _keys(priced: Priced) -> Iterator[tuple[Value, ...]]:
    """The public keys, again and again where groups are not put beside each other; unknown ones are NULL."""
    query = priced.program.query
    values = [(None,) if key.values is None else key.values for key in query.keys]
    yield from product(*values)
    while not query.above:
        yield from product(*values)


def _exact(measure: Measure, rows: int, groups: int) -> NDArray[Any]:
    if measure.grid is not None:
        found = np.empty(groups, dtype=object)
        found[:] = [Histogram.even(measure.high - measure.low + 1, rows, 1 / measure.unit)] * groups
        return found
    if measure.ladder is not None:
        # Nothing that is shown depends on it.
        return np.zeros((groups, 2 * len(measure.ladder.rungs)), dtype=np.int64)
    if measure.counts:
        number = rows / measure.unit
    elif measure.factors:
        # Products are centred: what aggregates assume of themselves.
        number = Fraction(0)
    else:
        number = rows * (Fraction(measure.low + measure.high, 2) - measure.centre) * measure.step / measure.unit
    return np.full(groups, int(number), dtype=np.int64)


def _arithmetic(program: Program, stored: Stored, output: Output, risk: Fraction) -> Expected:
    """By the enclosure that will be published, of as many groups as there are draws.

    Not cut to proved bounds where it is known without: made-up shares lie at their ends, and real ones between them.
    """
    found = enclosure(output.expression, program, stored, risk, cut=False)
    if found is None or not np.isfinite(found.high - found.low).all():
        found = enclosure(output.expression, program, stored, risk)
    if found is None:
        return _BARE
    halves, values = (found.high - found.low) / 2, found.value[np.isfinite(found.value)]
    known = halves[np.isfinite(halves)]
    if 2 * len(known) <= len(halves):
        return _BARE
    return Expected(half_width=float(np.median(known)), se=float(np.std(values)))


def _columns(program: Program, stored: Stored, risk: Fraction) -> dict[str, Column]:
    """What would be published above made-up numbers."""
    tables = {TABLE: based(program, stored, confidence=1 - risk, tidy=())}
    try:
        return {each.name: each for each in derived_columns(tables, program.query.above, 1 - risk)}
    except QueryError:
        # Something that it computes does not exist for these numbers, as a logarithm below 0.
        return {}


def _above(columns: Mapping[str, Column], output: Output) -> Expected:
    low, high, se = (_floats(columns.get(f"{output.name}{end}")) for end in ("_low", "_high", "_se"))
    if not len(low):
        return _BARE
    return Expected(half_width=float(np.median(high - low)) / 2, se=float(np.median(se)) if len(se) else None)


def _floats(column: Column | None) -> NDArray[np.float64]:
    values = () if column is None else column.values
    return np.array([float(each) for each in values if each is not None], dtype=np.float64)


def _assumed(program: Program, stored: Stored, rows: int) -> str:
    groups = len(stored.noisy.keys) if program.query.above else 1
    which = "a group" if groups == 1 else f"{groups} groups"
    return f"simulated: {which} of {rows:,} rows in the middle of their bounds, all conditions of FILTER true"
