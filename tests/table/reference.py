"""What a program means, computed row by row with exact rationals: slow, and written without the engine's code.

Rows are dictionaries of Python values: int, float (a double), Decimal, str, bool, date, datetime or None.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from quincunx.table.expression import Call, Column, Expression, Literal
from quincunx.table.measure import Measure, Program, Selection, Vector
from quincunx.table.relations import Filter
from quincunx.table.schema import Schema, TableSchema

Row = dict[str, Any]
Key = tuple[Any, ...]


def scanned(row: Row, table: TableSchema, *, clip: bool = True) -> Row:
    """The row as a question sees it: NaN is nothing, numbers are moved to their bounds."""
    seen: Row = {}
    for column in table.columns:
        value = row[column.name]
        if isinstance(value, float) and math.isnan(value):
            value = None
        if isinstance(value, float) and value == 0:
            value = 0.0
        if value is not None and column.bounds is not None and clip:
            low, high = column.bounds
            if column.type == "integer":
                value = min(max(value, math.ceil(low)), math.floor(high))
            elif isinstance(value, Decimal):
                places = -int(value.as_tuple().exponent)
                unit = Fraction(1, 10**places)
                value = Fraction(value)
                value = min(max(value, math.ceil(low / unit) * unit), math.floor(high / unit) * unit)
            else:
                value = min(max(value, float(low)), float(high))
        seen[column.name] = value
    return seen


def owner(row: Row, schema: Schema, number: int) -> Key | None:
    """Who owns a row; None for nobody. Without a key each row is its own owner."""
    unit = schema.unit
    if unit.key is None:
        return (number,)
    person = row[unit.key]
    if person is None or (isinstance(person, float) and not math.isfinite(person)):
        return None
    if unit.per is None:
        return (person,)
    day = row[unit.per.column]
    return None if day is None else (person, period(day, unit.per.period))


def period(day: date, name: str) -> date:
    """The first day of the period that holds the day."""
    plain = day.date() if isinstance(day, datetime) else day
    if name == "week":
        return plain - timedelta(days=plain.weekday())
    month = {"month": plain.month, "quarter": (plain.month - 1) // 3 * 3 + 1, "year": 1}.get(name, plain.month)
    return plain if name == "day" else date(plain.year, month, 1)


def value(expression: Expression, row: Row) -> Any:
    """A few operators, enough for generated questions, on exact numbers."""
    if isinstance(expression, Column):
        return next(each for name, each in row.items() if name.lower() == expression.name.lower())
    if isinstance(expression, Literal):
        return expression.value
    if not isinstance(expression, Call):
        raise TypeError(type(expression))
    arguments = [value(part, row) for part in expression.arguments]
    if expression.operator == "is_null":
        return arguments[0] is None
    if expression.operator == "and":
        return False if False in arguments else None if None in arguments else True
    if expression.operator == "not":
        return None if arguments[0] is None else not arguments[0]
    if expression.operator == "case":
        pairs = zip(arguments[0:-1:2], arguments[1::2], strict=True)
        return next((chosen for condition, chosen in pairs if condition), arguments[-1])
    if None in arguments:
        return None
    x = arguments[0]
    match expression.operator, arguments[1:]:
        case "add", [y]:
            return x + y
        case "multiply", [y]:
            return x * y
        case "negate", []:
            return -x
        case "equal", [y]:
            return x == y
        case "greater", [y]:
            return x > y
        case "less", [y]:
            return x < y
        case "clamp", [low, high]:
            return min(max(x, float(low)), float(high)) if isinstance(x, float) else min(max(x, low), high)
        case "date_trunc", [day]:
            return day and datetime.combine(period(day, x), datetime.min.time())
    raise NotImplementedError(expression.operator)


def weight(vector: Vector, amounts: list[int]) -> int:
    """The largest integer W ≤ 2^bits with W·‖v‖ ≤ C·2^bits, found by bisection on the definition."""
    scale = 4**vector.bits
    norm2 = sum(amounts) ** 2 if vector.norm == 1 else sum(amount**2 for amount in amounts)
    low, high = 0, 2**vector.bits
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**2 * norm2 <= vector.bound2 * scale else (low, middle - 1)
    return low


def steps(measure: Measure, x: Any) -> int:
    """What a value is on the lattice, before weighting."""
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return 0
    if isinstance(x, float):
        scaled = x * float(measure.step.denominator) / float(measure.step.numerator) + 0.5
        place = math.floor(scaled) if math.isfinite(scaled) else measure.high if scaled > 0 else measure.low
    else:
        place = math.floor(Fraction(x) / measure.step + Fraction(1, 2))
    return min(max(place, measure.low), measure.high) - measure.centre


def multiplied(measure: Measure, row: Row) -> int:
    """What a row adds where factors are multiplied."""
    values = [value(each.argument, row) for each in measure.factors]
    if any(x is None or (isinstance(x, float) and not math.isfinite(x)) for x in values):
        return 0
    found = math.prod(steps(factor, x) for factor, x in zip(measure.factors, values, strict=True))
    return min(max(found, measure.low), measure.high) - measure.centre


def truncated(numerator: int, denominator: int) -> int:
    """The quotient cut toward zero."""
    cut = abs(numerator) // denominator
    return cut if numerator >= 0 else -cut


def run(program: Program, schema: Schema, rows: list[Row]) -> tuple[dict[Key, list[int]], dict[Key, int] | None]:
    """Measures by key, and votes by key where keys are unknown."""
    query = program.query
    (read,) = query.rows.tables.values()
    table = schema.table(read.name)
    kept: list[tuple[Key, Key, Row]] = []
    for number, raw in enumerate(rows):
        row, who = scanned(raw, table), owner(scanned(raw, table, clip=False), schema, number)  # type: ignore[arg-type]
        if who is None or (isinstance(query.rows, Filter) and value(query.rows.condition, row) is not True):
            continue
        key = tuple(_key(value(each.expression, row)) for each in query.keys)
        if all(each.values is None or part in each.values for each, part in zip(query.keys, key, strict=True)):
            kept.append((who, key, row))
    known = query.known_keys
    groups = itertools.product(*(each.values or () for each in query.keys)) if known else {key for _, key, _ in kept}
    found = {key: [_measured(measure, kept, key) for measure in program.measures] for key in groups}
    if program.selection is None:
        return found, None
    votes = _votes(program.selection, kept)
    return {key: found[key] for key in votes}, votes


def _key(x: Any) -> Any:
    return Fraction(repr(x)) if isinstance(x, float) else Fraction(x) if isinstance(x, Decimal) else x


def _measured(measure: Measure, kept: list[tuple[Key, Key, Row]], group: Key) -> int:
    def counts(row: Row) -> bool:
        return measure.where is None or value(measure.where, row) is True

    amounts: dict[Key, Counter[Key]] = defaultdict(Counter)
    values: dict[tuple[Key, Key], set[Any]] = defaultdict(set)
    for who, key, row in kept:
        if measure.vector.kind == "rows":
            amounts[who][key] += 1
        elif measure.vector.kind == "values":
            x = _held(measure, row)
            if counts(row) and x is not None:
                values[who, key].add(x)
                amounts[who][key] = len(values[who, key])
        elif counts(row):
            amounts[who][key] = 1
    weights = {who: weight(measure.vector, list(v.values())) for who, v in amounts.items()}
    if measure.vector.kind == "people":
        total = sum(weights[who] for who, v in amounts.items() if group in v)
        return min(max(total, -(2**62) + 1), 2**62 - 1)
    if measure.vector.kind == "values":
        weighed: Counter[Any] = Counter()
        for (who, key), mine in values.items():
            for x in mine if key == group else ():
                weighed[x] += weights[who]
        return sum(min(each, 2**measure.vector.bits) for each in weighed.values())
    total = 0
    shift = 2 ** (measure.vector.bits - measure.fraction)
    for who, key, row in kept:
        if key != group or not counts(row):
            continue
        if measure.factors:
            total += truncated(weights[who] * multiplied(measure, row), shift)
            continue
        x = None if measure.argument is None else value(measure.argument, row)
        if measure.counts:
            missing = measure.argument is not None and (x is None or (isinstance(x, float) and not math.isfinite(x)))
            total += 0 if missing else weights[who]
        else:
            total += truncated(weights[who] * steps(measure, x), shift)
    return min(max(total, -(2**62) + 1), 2**62 - 1)


def _held(measure: Measure, row: Row) -> Any:
    """The value that counts in a row, None where there is none."""
    x = None if measure.argument is None else value(measure.argument, row)
    return None if isinstance(x, float) and not math.isfinite(x) else x


def _votes(selection: Selection, kept: list[tuple[Key, Key, Row]]) -> dict[Key, int]:
    keys: dict[Key, set[Key]] = defaultdict(set)
    for who, key, _ in kept:
        keys[who].add(key)
    votes: Counter[Key] = Counter()
    for mine in keys.values():
        chosen = sorted(mine, key=lambda key: (hashlib.md5(canonical(key).encode()).hexdigest(), canonical(key)))
        chosen = chosen[: selection.groups]
        whole = 4**selection.bits // len(chosen) ** (2 if selection.norm == 1 else 1)
        for key in chosen:
            votes[key] += math.isqrt(whole)
    return dict(votes)


def canonical(key: Key) -> str:
    """The text that is hashed: lengths before texts, n for NULL."""
    return "".join("n" if part is None else f"{len(text(part))}:{text(part)}" for part in key)


def text(part: Any) -> str:
    return str(part).lower() if isinstance(part, bool) else str(part)
