"""Every operator: the same as plain DuckDB on ordinary values, and total on nasty ones."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import duckdb
import pytest

from quincunx.errors import QueryError
from quincunx.table.engines import evaluate
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.emission import EMISSIONS, emit
from quincunx.table.engines.keys import python_value
from quincunx.table.expression import Column, Expression, GroupKey, Slot, Value
from quincunx.table.operators import OPERATORS, apply, cast, literal

WIDE, J = (Column(name=name, type="integer") for name in "ij")
# The same columns with bounds, so that arithmetic is plain; bounds as the scan would enforce them.
BI, BJ = (
    Column(name=name, type="integer", low=Fraction(-1000), high=Fraction(1000), step=Fraction(1)) for name in "ij"
)
D, E = (Column(name=name, type="decimal") for name in "de")
BD = Column(name="d", type="decimal", low=Fraction(-1000), high=Fraction(1000))
S, U = (Column(name=name, type="text") for name in "su")
T = Column(name="t", type="date")
M = Column(name="m", type="timestamp")
B = Column(name="b", type="boolean")

ASCII_UPPER, ASCII_LOWER = (
    f"TRANSLATE(s, '{given}', '{wanted}')"
    for given, wanted in ((ascii_lowercase, ascii_uppercase), (ascii_uppercase, ascii_lowercase))
)
# (operator, expression, what one would write in DuckDB)
CASES: list[tuple[str, Expression, str]] = [
    ("add", apply("add", WIDE, J), "i + j"),
    ("add", apply("add", BI, BJ), "i + j"),
    ("add", apply("add", D, WIDE), "d + i"),
    ("subtract", apply("subtract", WIDE, J), "i - j"),
    ("subtract", apply("subtract", BD, literal(Fraction(1, 4))), "d - 0.25"),
    ("multiply", apply("multiply", BI, J), "i * j"),
    ("multiply", apply("multiply", D, E), "d * e"),
    ("divide", apply("divide", WIDE, J), "i / j"),
    ("divide", apply("divide", D, literal(3)), "d / 3"),
    ("whole_divide", apply("whole_divide", WIDE, J), "TRY(i // j)"),
    ("whole_divide", apply("whole_divide", BI, literal(-7)), "i // -7"),
    ("remainder", apply("remainder", WIDE, J), "TRY(i % j)"),
    ("remainder", apply("remainder", D, literal(Fraction(3, 2))), "d - 1.5::DOUBLE * TRUNC(d / 1.5::DOUBLE)"),
    ("negate", apply("negate", WIDE), "-i"),
    ("negate", apply("negate", D), "-d"),
    ("abs", apply("abs", WIDE), "ABS(i)"),
    ("abs", apply("abs", D), "ABS(d)"),
    ("floor", apply("floor", D), "FLOOR(d)"),
    ("floor", apply("floor", WIDE), "i"),
    ("ceil", apply("ceil", D), "CEIL(d)"),
    ("round", apply("round", D, literal(1)), "ROUND(d, 1)"),
    ("least", apply("least", WIDE, J), "LEAST(i, j)"),
    ("least", apply("least", WIDE, D), "LEAST(i, d)"),
    ("greatest", apply("greatest", D, E), "GREATEST(d, e)"),
    ("clamp", apply("clamp", WIDE, literal(-3), literal(5)), "CASE WHEN i < -3 THEN -3 WHEN i > 5 THEN 5 ELSE i END"),
    ("clamp", apply("clamp", D, literal(0), literal(Fraction(1, 2))),
     "CASE WHEN d < 0 THEN 0 WHEN d > 0.5 THEN 0.5 ELSE d END"),
    ("is_null", apply("is_null", WIDE), "i IS NULL"),
    ("and", apply("and", B, apply("less", WIDE, J)), "b AND i < j"),
    ("or", apply("or", B, apply("less", WIDE, J), apply("is_null", D)), "b OR i < j OR d IS NULL"),
    ("not", apply("not", B), "NOT b"),
    ("case", apply("case", B, WIDE, apply("less", WIDE, literal(0)), J, literal(None)),
     "CASE WHEN b THEN i WHEN i < 0 THEN j END"),
    ("case", apply("case", B, WIDE, D), "CASE WHEN b THEN i ELSE d END"),
    ("coalesce", apply("coalesce", WIDE, J, literal(7)), "COALESCE(i, j, 7)"),
    ("nullif", apply("nullif", WIDE, literal(3)), "NULLIF(i, 3)"),
    ("date_trunc", apply("date_trunc", literal("week"), T), "date_trunc('week', t)"),
    ("date_trunc", apply("date_trunc", literal("hour"), M), "date_trunc('hour', m)"),
    ("upper", apply("upper", S), ASCII_UPPER),
    ("lower", apply("lower", S), ASCII_LOWER),
    ("length", apply("length", S), "LENGTH(s)"),
    ("trim", apply("trim", S), "TRIM(s, ' ')"),
    ("ltrim", apply("ltrim", S), "LTRIM(s, ' ')"),
    ("rtrim", apply("rtrim", S), "RTRIM(s, ' ')"),
    ("left", apply("left", S, literal(2)), "LEFT(s, 2)"),
    ("right", apply("right", S, literal(2)), "RIGHT(s, 2)"),
    ("substring", apply("substring", S, literal(2)), "SUBSTRING(s, 2)"),
    ("substring", apply("substring", S, literal(2), literal(3)), "SUBSTRING(s, 2, 3)"),
    ("join", apply("join", S, literal("-"), U), "s || '-' || u"),
    ("concat", apply("concat", S, U), "CONCAT(s, u)"),
    ("replace", apply("replace", S, literal("a"), literal("'")), "REPLACE(s, 'a', '''')"),
    ("starts_with", apply("starts_with", S, U), "STARTS_WITH(s, u)"),
    ("ends_with", apply("ends_with", S, literal("a")), "ENDS_WITH(s, 'a')"),
    ("contains", apply("contains", S, U), "CONTAINS(s, u)"),
    ("like", apply("like", S, literal("%a_%")), "s LIKE '%a_%'"),
    ("ilike", apply("ilike", S, literal("A%")), f"{ASCII_LOWER} LIKE 'a%'"),
    ("equal", apply("equal", WIDE, J), "i = j"),
    ("equal", apply("equal", S, literal("ab")), "s = 'ab'"),
    ("not_equal", apply("not_equal", WIDE, D), "i <> d"),
    ("less", apply("less", WIDE, literal(Fraction(5, 2))), "i < 2.5"),
    ("less_equal", apply("less_equal", T, literal("2000-01-01")), "t <= '2000-01-01'"),
    ("greater", apply("greater", D, literal(Fraction(1, 10))), "d > 0.1"),
    ("greater_equal", apply("greater_equal", M, T), "m >= t"),
    ("between", apply("between", WIDE, literal(-2), J), "i BETWEEN -2 AND j"),
    ("in", apply("in", WIDE, literal(1), literal(2), J), "i IN (1, 2, j)"),
    ("distinct", apply("distinct", WIDE, J), "i IS DISTINCT FROM j"),
    ("not_distinct", apply("not_distinct", S, U), "s IS NOT DISTINCT FROM u"),
    ("cast", cast(WIDE, "decimal"), "i::DOUBLE"),
    ("cast", cast(WIDE, "text"), "i::VARCHAR"),
    ("cast", cast(WIDE, "boolean"), "i::BOOLEAN"),
    ("cast", cast(D, "integer"), "FLOOR(d + 0.5)::HUGEINT"),
    ("cast", cast(BD, "integer"), "FLOOR(d + 0.5)::BIGINT"),
    ("cast", cast(B, "integer"), "b::BIGINT"),
    ("cast", cast(B, "text"), "b::VARCHAR"),
    ("cast", cast(T, "timestamp"), "t::TIMESTAMP"),
    ("cast", cast(T, "text"), "t::VARCHAR"),
    ("cast", cast(M, "date"), "m::DATE"),
    ("cast", cast(M, "text"), "m::VARCHAR"),
    *(("cast", cast(S, to), f"CASE WHEN s IN ({of}) THEN TRY_CAST(s AS {kind}) END") for to, kind, of in
      (("integer", "HUGEINT", "'12', '-3'"), ("decimal", "DOUBLE", "'12', '-3', '2.5'"),
       ("date", "DATE", "'2024-02-29'"), ("timestamp", "TIMESTAMP", "'2024-02-29', '1969-12-31 23:59:59'"),
       ("boolean", "BOOLEAN", "'true'"))),
    *(("date_part", apply("date_part", literal(part), M), f"date_part('{part}', m)") for part in
      ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute", "second")),
]  # fmt: skip

KINDS = {"i": "BIGINT", "j": "BIGINT", "d": "DOUBLE", "e": "DOUBLE", "s": "VARCHAR", "u": "VARCHAR", "t": "DATE",
         "m": "TIMESTAMP", "b": "BOOLEAN"}  # fmt: skip


def ordinary() -> dict[str, list[Value]]:
    source = random.Random("ordinary")
    texts = ["a", "ab", "Äb ", " x", "", "12", "-3", "2.5", "true", "2024-02-29", "1969-12-31 23:59:59", "ba'r", "10%"]
    columns: dict[str, list[Value]] = {name: [] for name in KINDS}
    for _ in range(120):
        for name in "ij":
            columns[name].append(source.choice((None, *range(-4, 9))))
        for name in "de":
            columns[name].append(source.choice((None, Fraction(source.randrange(-4000, 4000), 1000))))
        for name in "su":
            columns[name].append(source.choice((None, *texts)))
        day = date(1900, 1, 1) + timedelta(days=source.randrange(60_000))
        columns["t"].append(source.choice((None, day)))
        columns["m"].append(source.choice((None, datetime(day.year, day.month, day.day, 13, 14, 15, 16))))
        columns["b"].append(source.choice((None, True, False)))
    return columns


def plain(sql: str, columns: dict[str, list[Value]]) -> list[Any]:
    connection = duckdb.connect()
    listed = ", ".join(f"UNNEST($a{i}::{kind}[]) AS {name}" for i, (name, kind) in enumerate(KINDS.items()))
    given = {
        f"a{i}": [float(value) if isinstance(value, Fraction) else value for value in columns[name]]
        for i, name in enumerate(KINDS)
    }
    found = connection.execute(f"SELECT {sql} FROM (SELECT {listed})", given).fetchall()
    return [None if isinstance(x, float) and not math.isfinite(x) else python_value(x) for (x,) in found]


def slots(columns: Mapping[str, Sequence[Value]]) -> dict[Slot, Sequence[Value]]:
    return {Slot(name): values for name, values in columns.items()}


def test_every_operator_is_emitted_and_tried() -> None:
    assert set(EMISSIONS) == set(OPERATORS)
    assert {name for name, _, _ in CASES} == set(OPERATORS)


@pytest.mark.parametrize(("expression", "sql"), [case[1:] for case in CASES], ids=[sql for _, _, sql in CASES])
def test_ordinary_values_are_those_of_duckdb(expression: Expression, sql: str) -> None:
    columns = ordinary()
    (found,) = evaluate([expression], slots(columns))
    assert found == plain(sql, columns)
    assert any(value is not None for value in found)


INTEGERS = (None, 0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**100, 2**127 - 1, -(2**127))
DECIMALS = (
    None,
    Fraction(0),
    Fraction(1, 10),
    Fraction(10) ** 308,
    -(Fraction(10) ** 308),
    Fraction(1, 10**308),
    Fraction(2) ** 2000,
)
TEXTS = (
    None,
    "",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "9" * 60,
    "infinity",
    "0001-01-01 (BC)",
    "294247-01-10",
    "\x00",
    "💥",
    "%_\\",
)
DAYS = (None, date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31))
MOMENTS = (None, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1969, 12, 31, 23, 59, 59))


def test_no_operator_can_fail() -> None:
    pools: dict[str, tuple[Value, ...]] = {
        "i": INTEGERS, "j": INTEGERS, "d": DECIMALS, "e": DECIMALS, "s": TEXTS, "u": TEXTS, "t": DAYS, "m": MOMENTS,
        "b": (None, True, False),
    }  # fmt: skip
    for _, expression, sql in CASES:
        names = sorted({node.name for node in expression.walk() if isinstance(node, Column)})
        rows = list(itertools.product(*(pools[name] for name in names)))
        # Bounded columns were clipped where they were read.
        clipped = any(isinstance(node, Column) and node.bounded for node in expression.walk())
        columns = {name: [_clip(row[i]) if clipped else row[i] for row in rows] for i, name in enumerate(names)}
        (found,) = evaluate([expression], slots(columns))
        assert len(found) == len(rows), sql
        for value in found:
            assert value is not None or expression.nullable, sql
            if value is not None and expression.low is not None and not isinstance(value, str | date | bool):
                assert value >= expression.low - Fraction(1, 10**9), sql


def _clip(value: Value) -> Value:
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return min(max(value, -1000), 1000)
    return value


def test_integers_are_exact() -> None:
    def one(expression: Expression, **columns: Value) -> Value:
        return evaluate([expression], slots({name: [value] for name, value in columns.items()}))[0][0]

    assert one(apply("equal", WIDE, literal(2**53 + 1)), i=2**53) is False
    assert one(apply("add", WIDE, literal(1)), i=2**53) == 2**53 + 1
    assert one(apply("multiply", WIDE, J), i=2**50, j=2**50) == 2**100
    assert one(apply("add", WIDE, WIDE), i=2**126) is None
    assert one(apply("add", WIDE, literal(1)), i=2**126 - 1) == 2**126
    assert one(apply("add", WIDE, literal(1)), i=2**126) is None
    assert one(apply("multiply", WIDE, literal(-1)), i=2**126) == -(2**126)
    assert one(apply("whole_divide", WIDE, J), i=-7, j=2) == -3
    assert one(apply("remainder", WIDE, J), i=-7, j=2) == -1
    assert one(apply("divide", WIDE, J), i=7, j=2) == Fraction(7, 2)
    assert one(apply("less", WIDE, literal(Fraction(2**54 + 1, 2))), i=2**53 + 1) is False


def test_zero_has_one_sign_and_nothing_is_infinite() -> None:
    negated = apply("negate", D)
    assert evaluate([negated, apply("divide", D, E)], slots({"d": [Fraction(0)], "e": [Fraction(0)]})) == ([0], [None])
    assert evaluate([apply("divide", D, E)], slots({"d": [Fraction(1)], "e": [Fraction(0)]})) == ([None],)


def test_bad_calls_are_refused() -> None:
    with pytest.raises(QueryError, match="no such column"):
        evaluate([WIDE], slots({"x": [1]}))
    with pytest.raises(QueryError, match="same length"):
        evaluate([WIDE], slots({"i": [1], "j": [1, 2]}))
    with pytest.raises(QueryError, match="cannot compute"):
        emit(DUCKDB, GroupKey(type="text", index=0), {})
    with pytest.raises(QueryError, match="no such column"):
        emit(DUCKDB, WIDE, {})
