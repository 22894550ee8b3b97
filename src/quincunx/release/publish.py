"""From noisy integers to a table: values, intervals, derived outputs, HAVING, ORDER BY, LIMIT. All post-processing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from quincunx.errors import QueryError
from quincunx.mechanisms import added
from quincunx.numbers import amount
from quincunx.release.arithmetic import Range, derived
from quincunx.release.column import Column, Role
from quincunx.release.derive import TABLE, Tables, derived_columns
from quincunx.release.drawn import Drawn, Motion
from quincunx.release.quotients import Quotients
from quincunx.release.stored import Stored
from quincunx.release.tidy import SIGNED, TIDY, applied
from quincunx.table import NUMBERS, Call, Estimate, Expression, Floats, GroupKey, Measured, Part, Program, Slot
from quincunx.table import Column as Field

# expressions over named columns, columns as Python values → one list of Python values for each expression
Evaluate: TypeAlias = Callable[[Sequence[Expression], Mapping[Slot, Sequence[Any]]], Sequence[Sequence[Any]]]

_ROLES: Final[tuple[tuple[Role, str], ...]] = (("low", "_low"), ("high", "_high"), ("se", "_se"))
# Ends of an interval, rounded so that it still covers.
_OUTWARDS: Final[Mapping[Role, Callable[[float], int]]] = {"low": math.floor, "high": math.ceil}
_BARE: Final = "no interval: the output is not arithmetic on aggregates alone"


def publish(
    program: Program, stored: Stored, *, confidence: Fraction, tidy: tuple[str, ...], evaluate: Evaluate
) -> tuple[Column, ...]:
    """The columns of an answer, each measured output followed by its companions."""
    query = program.query
    single = [_published(program, stored, index, 1 - confidence) for index in range(len(program.parts))]
    if query.above:
        tables = {TABLE: based(program, stored, confidence=confidence, tidy=tidy)}
        return _above(tables, query.above, confidence)
    wanted = [output.expression for output in query.outputs]
    extra = ([query.having] if query.having is not None else []) + [each.expression for each in query.order]
    computed = _computed(program, [*wanted, *extra], single, stored, evaluate)
    columns: list[Column] = []
    for output, values in zip(query.outputs, computed, strict=False):
        columns += _columns(output.name, output.expression, values, program, stored, single, confidence, tidy)
    rows = _rows(program, computed[len(wanted) :], len(stored.noisy.keys))
    whole = rows == list(range(len(stored.noisy.keys)))
    return tuple(columns) if whole else tuple(column.picked(rows) for column in columns)


def _above(tables: Tables, sql: str, confidence: Fraction) -> tuple[Column, ...]:
    try:
        return derived_columns(tables, sql, confidence)
    except QueryError as error:
        hint = "The numbers are paid for and stored: ask for them without what stands above them, for nothing."
        raise QueryError(error.what, where="SELECT", got=error.got, hint=hint) from None


def based(program: Program, stored: Stored, *, confidence: Fraction, tidy: tuple[str, ...]) -> tuple[Column, ...]:
    """The published aggregates a0, a1, … with their companions, and the keys k0, k1, …, all groups of them."""
    single = [_published(program, stored, index, 1 - confidence) for index in range(len(program.parts))]
    columns: list[Column] = []
    for place, key in enumerate(program.query.keys):
        values = [each[place] for each in stored.noisy.keys]
        columns.append(_key_column(f"k{place}", key.expression.type, values))
    for index, aggregate in enumerate(program.query.aggregates):
        measured = Measured(index=index, **aggregate.result().named())
        columns += _columns(f"a{index}", measured, single[index].values, program, stored, single, confidence, tidy)
    return tuple(columns)


def _published(program: Program, stored: Stored, index: int, risk: Fraction) -> Estimate:
    """One aggregate, from the numbers of its measures."""
    used = program.parts[index]
    parts = [
        Part(lattice=program.measures[each].lattice, unit=program.measures[each].unit, noise=stored.mechanisms[each])
        for each in used
    ]
    numbers = [stored.noisy.measures[each] for each in used]
    return program.query.aggregates[index].estimate(numbers, parts, risk)


def _range(found: Estimate, measures: tuple[int, ...]) -> Range:
    slopes = dict(zip(measures, found.slopes, strict=True))
    return Range(value=found.near, low=found.low, high=found.high, slopes=slopes)


def _computed(
    program: Program, expressions: list[Expression], single: list[Estimate], stored: Stored, evaluate: Evaluate
) -> list[Sequence[Any]]:
    """The values of each expression: aggregates and keys as they are, everything else by the engine's `evaluate`."""
    keys = [[key[i] for key in stored.noisy.keys] for i in range(len(program.query.keys))]
    quotients = _quotients(program, stored)
    found: dict[int, Sequence[Any]] = {}
    asked: list[tuple[int, Expression]] = []
    for place, expression in enumerate(expressions):
        if isinstance(expression, Measured):
            found[place] = single[expression.index].values
        elif isinstance(expression, GroupKey):
            found[place] = keys[expression.index]
        else:
            asked.append((place, quotients.cut(expression).rewrite(_named)))
    if asked:
        # Numbers with decimals go in and come out as Fractions.
        columns: dict[Slot, Sequence[Any]] = {
            Slot(f"a{i}"): each.values if each.type == "integer" else [Fraction(value) for value in each.values]
            for i, each in enumerate(single)
        }
        columns |= {Slot(f"k{i}"): values for i, values in enumerate(keys)}
        used = {column.slot for _, each in asked for column in each.columns()}
        # A constant still has one value for each row, so at least one column always goes along.
        first = Slot("a0")
        given = {slot: values for slot, values in columns.items() if slot in used} or {first: columns[first]}
        results = evaluate([expression for _, expression in asked], given)
        found |= {place: values for (place, _), values in zip(asked, results, strict=True)}
    return [found[place] for place in range(len(expressions))]


def _named(node: Expression) -> Expression:
    names = {Measured: "a", GroupKey: "k"}
    if type(node) not in names:
        return node
    index = node.index  # type: ignore[attr-defined]
    return Field(name=f"{names[type(node)]}{index}", **node.facts)


def _columns(
    name: str,
    expression: Expression,
    values: Sequence[Any],
    program: Program,
    stored: Stored,
    single: list[Estimate],
    confidence: Fraction,
    tidy: tuple[str, ...],
) -> list[Column]:
    used = sorted({node.index for node in expression.walk() if isinstance(node, Measured)})
    if not used:
        return [_key_column(name, expression.type, values)]
    stated: Floats | None = None
    if isinstance(expression, Measured):
        found = single[expression.index]
        kind, scale, known = found.type, found.scale, _range(found, program.parts[expression.index])
        stated = found.se
    else:
        kind, scale = _derived_type(expression.type), 0
        values = [_plain(value, kind) for value in values]
        found_range = enclosure(expression, program, stored, 1 - confidence) if len(values) else None
        if found_range is None or kind not in ("integer", "float"):
            return [Column(name=name, type=kind, role="value", values=tuple(values), note=_BARE)]
        known = found_range
    done = applied(tidy, expression, program)
    said = [TIDY[each] for each in done] + ([SIGNED] if "non-negative" in tidy and "non-negative" not in done else [])
    columns = _with_companions(
        name, kind, scale, values, known, _se(known, program, stored) if stated is None else stated, done
    )
    drawn = _drawn(expression, known, program, stored)
    about = _about(program, expression.index) if isinstance(expression, Measured) else ""
    return [replace(columns[0], note="; ".join(said), about=about, drawn=drawn), *columns[1:]]


def _about(program: Program, index: int) -> str:
    """What an interval is about: the bounded statistic, and by which bound where that was chosen."""
    noun = program.query.aggregates[index].noun
    for measure in (program.measures[part] for part in program.parts[index]):
        if measure.chosen:
            low, high = (amount(end * measure.step) for end in (measure.low, measure.high))
            return f"{noun} within {low} to {high}"
    return f"bounded {noun}"


def enclosure(
    expression: Expression, program: Program, stored: Stored, risk: Fraction, *, cut: bool = True
) -> Range | None:
    """What is known of an output that is computed: its quotients and the aggregates beside them share the risk.

    cut: whether quotients are cut to what is proved of them.
    """
    quotients = _quotients(program, stored, cut=cut)
    inside = quotients.inside(expression)
    outside = _outside(expression, inside)
    known = {each: quotients.known(each, risk / (len(inside) + len(outside))) for each in inside}
    if None in known.values():
        # Of too many noises a quotient is worked out from the intervals of its parts.
        known, outside = {}, _outside(expression, [])
    share = risk / (len(known) + len(outside))
    ranges = {i: _range(_published(program, stored, i, share), program.parts[i]) for i in outside}
    return derived(expression, ranges, quotients.keys, {node: each for node, each in known.items() if each is not None})


def _quotients(program: Program, stored: Stored, *, cut: bool = True) -> Quotients:
    keys = {
        i: np.array([math.nan if row[i] is None else float(row[i]) for row in stored.noisy.keys])  # type: ignore[arg-type]
        for i, key in enumerate(program.query.keys)
        if key.expression.type in NUMBERS
    }
    return Quotients(program=program, stored=stored, keys=keys, bounded=cut)


def _outside(expression: Expression, inside: Sequence[Expression]) -> list[int]:
    """The aggregates of an expression that are not, or not only, in these parts of it."""
    if expression in inside:
        return []
    if isinstance(expression, Measured):
        return [expression.index]
    parts = expression.arguments if isinstance(expression, Call) else ()
    return sorted({index for part in parts for index in _outside(part, inside)})


def _drawn(expression: Expression, known: Range, program: Program, stored: Stored) -> Drawn | None:
    """How the noise of each measure moves the output; None where one of them has no noise that is added to it."""
    noises = {measure: added(stored.mechanisms[measure]) for measure in known.slopes}
    if None in noises.values():
        return None
    query, centres = program.query, known.value
    linear = isinstance(expression, Measured) and query.aggregates[expression.index].linear
    if isinstance(expression, Measured) and linear:
        # The noisy number before it was rounded to the statistic's step.
        (measure,) = program.parts[expression.index]
        centres = stored.noisy.measures[measure].astype(np.float64) * float(program.measures[measure].unit)
    motions = tuple(
        Motion(
            number=measure,
            noise=noise,
            unit=float(program.measures[measure].unit),
            slopes=tuple(slope.tolist()),
        )
        for measure, slope in sorted(known.slopes.items())
        if (noise := noises[measure]) is not None
    )
    groups = tuple(range(len(stored.noisy.keys)))
    low, high, middle = (tuple(part.tolist()) for part in (known.low, known.high, centres))
    return Drawn(
        origin=stored.origin, groups=groups, centres=middle, motions=motions, linear=linear, low=low, high=high
    )


def _se(known: Range, program: Program, stored: Stored) -> Floats:
    total = np.zeros(known.value.shape)
    for measure, slope in known.slopes.items():
        variance = stored.mechanisms[measure].variance * float(program.measures[measure].unit) ** 2
        total = total + slope**2 * variance
    return np.sqrt(total)


def _with_companions(
    name: str,
    kind: str,
    scale: int,
    values: Sequence[Any],
    known: Range,
    se: Floats,
    tidy: tuple[str, ...],
) -> list[Column]:
    if "integer" in tidy and kind != "integer":
        kind, scale = "integer", 0
        values = [None if value is None else math.floor(Fraction(value) + Fraction(1, 2)) for value in values]
    if "non-negative" in tidy:
        values = [None if value is None else max(value, type(value)(0)) for value in values]
        # An interval that lies below 0 becomes the point 0.
        known = replace(known, low=np.maximum(known.low, 0.0), high=np.maximum(known.high, 0.0))
    columns = [Column(name=name, type=kind, role="value", values=tuple(values), scale=scale)]
    # None becomes NaN.
    near = np.array(values, dtype=np.float64)
    ends = {"low": np.fmin(known.low, near), "high": np.fmax(known.high, near), "se": se}
    both = np.isfinite(known.low) & np.isfinite(known.high) & np.isfinite(near)
    for role, suffix in _ROLES:
        shown = np.where(both, ends[role], np.nan) if role != "se" else np.where(np.isfinite(near), se, np.nan)
        kept = tuple(shown.tolist())
        if not np.isfinite(shown).all():
            kept = tuple(value if math.isfinite(value) else None for value in kept)
        companion = Column(name=name + suffix, type="float", role=role, values=kept)
        columns.append(_whole(companion, _OUTWARDS[role]) if "integer" in tidy and role in _OUTWARDS else companion)
    return columns


def _whole(column: Column, rounded: Callable[[float], int]) -> Column:
    values = tuple(None if value is None else rounded(value) for value in column.values)
    return replace(column, type="integer", values=values)


def _key_column(name: str, kind: str, values: Sequence[Any]) -> Column:
    if kind == "decimal":
        return Column(name=name, type="float", role="key", values=tuple(_plain(value, "float") for value in values))
    return Column(name=name, type=kind, role="key", values=tuple(values))


def _derived_type(kind: str) -> str:
    return "float" if kind == "decimal" else kind


def _plain(value: Any, kind: str) -> Any:
    if value is None or kind != "float":
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def _rows(program: Program, extra: Sequence[Sequence[Any]], count: int) -> list[int]:
    """Which rows are shown, in which order."""
    query, rest = program.query, list(extra)
    rows = list(range(count))
    if query.having is not None:
        kept = rest.pop(0)
        rows = [row for row in rows if kept[row] is True]
    # Stable sorts from the last expression to the first; NULL apart, because it compares with nothing.
    for ordering, values in reversed(list(zip(query.order, rest, strict=True))):
        known = [row for row in rows if values[row] is not None]
        missing = [row for row in rows if values[row] is None]
        # `reverse` keeps equal rows in their order.
        known.sort(key=lambda row, values=values: values[row], reverse=ordering.descending)  # type: ignore[misc]
        rows = missing + known if ordering.nulls_first else known + missing
    end = None if query.limit is None else query.offset + query.limit
    return rows[query.offset : end]
