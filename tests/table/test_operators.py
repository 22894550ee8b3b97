"""What is proved about an expression holds for every row: random expressions on random rows, computed by DuckDB.

The SQL that is typed is the SQL that DuckDB runs, each operator inside TRY, which stands for totality. Engines'
emission has its own tests; here the typing rules are held against the dialect itself.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest

from quincunx.errors import QueryError
from quincunx.table.expression import Call, Column, Expression
from quincunx.table.operators import OPERATORS, apply, cast, literal
from quincunx.table.sql import read
from tests.table.sql.visits import SCHEMA

TYPES = {
    "integer": int,
    "decimal": (float, int, Decimal),
    "text": str,
    "boolean": bool,
    # DuckDB's Python client returns years that Python has not as texts.
    "date": (date, str),
    "timestamp": (datetime, str),
}
COLUMNS = {
    "integer": ["age", "score", "rating", "person_id"],
    "decimal": ["cost", "weight"],
    "text": ["note", "region"],
    "boolean": ["smoker"],
    "date": ["born"],
    "timestamp": ["visited_at"],
}
CONSTANTS = {
    "integer": ["0", "1", "3", "7", "100", "9223372036854775807"],
    "decimal": ["0.5", "-1.25", "10.0", "1e3"],
    "text": ["'a'", "''", "'Zürich'", "'%'"],
    "boolean": ["true", "false"],
    "date": ["DATE '1969-12-31'", "DATE '2024-02-29'"],
    "timestamp": ["TIMESTAMP '1969-12-31 23:59:59'", "TIMESTAMP '2024-02-29 12:30:00'"],
}
# Result type → templates; a letter stands for an expression: i integer, d decimal, n either, t text, b boolean, …
TEMPLATES = {
    "integer": """(i + i)|(i - i)|(i * i)|(i // i)|(i % i)|(- i)|ABS(i)|ROUND(i)|LEAST(i, i)|GREATEST(i, i, i)
        |CLAMP(i, -5, 12)|CASE WHEN b THEN i ELSE i END|CASE WHEN b THEN i END|COALESCE(i, i)|NULLIF(i, i)
        |CAST(d AS BIGINT)|CAST(b AS BIGINT)|CAST(t AS BIGINT)|YEAR(a)|MONTH(a)|QUARTER(m)|WEEK(a)|DAY(m)|ISODOW(a)
        |DAYOFWEEK(m)|DAYOFYEAR(a)|HOUR(m)|MINUTE(m)|SECOND(m)|LENGTH(t)""",
    "decimal": """(n + d)|(d - n)|(d * n)|(n / n)|(d % d)|(- d)|ABS(d)|ROUND(d, 1)|FLOOR(d)|CEIL(d)|LEAST(d, n)
        |GREATEST(n, d)|CLAMP(CAST(d AS DOUBLE), -2.5, 40)|CASE WHEN b THEN d ELSE n END|COALESCE(d, n)|NULLIF(d, n)
        |CAST(i AS DOUBLE)""",
    "text": """UPPER(t)|LOWER(t)|TRIM(t)|LTRIM(t)|RTRIM(t)|LEFT(t, 2)|RIGHT(t, 1)|SUBSTRING(t, 2, 3)|(t || t)
        |CONCAT(t, t)|REPLACE(t, 'a', 'bb')|CASE WHEN b THEN t ELSE t END|COALESCE(t, t)|NULLIF(t, t)|CAST(i AS VARCHAR)
        |CAST(a AS VARCHAR)""",
    "boolean": """(n = n)|(t < t)|(a >= m)|(n <> n)|(i <= d)|(m > m)|(n BETWEEN n AND n)|(i IN (i, 3, 5))|(t LIKE 'a%')
        |(t ILIKE '%Z_')|(b AND b)|(b OR b)|(NOT b)|(n IS NULL)|(t IS NOT NULL)|(b IS TRUE)|(i IS DISTINCT FROM i)
        |(t IS NOT DISTINCT FROM t)|STARTS_WITH(t, t)|ENDS_WITH(t, 'a')|CONTAINS(t, t)|COALESCE(b, b)
        |CAST(i AS BOOLEAN)""",
    "date": "CAST(m AS DATE)|CAST(t AS DATE)|COALESCE(a, a)|CASE WHEN b THEN a END|NULLIF(a, a)",
    "timestamp": "CAST(a AS TIMESTAMP)|DATE_TRUNC('month', a)|DATE_TRUNC('hour', m)|COALESCE(m, m)|LEAST(m, m)",
}
LETTERS = {
    "i": ["integer"],
    "d": ["decimal"],
    "n": ["integer", "decimal"],
    "t": ["text"],
    "b": ["boolean"],
    "a": ["date"],
    "m": ["timestamp"],
}
SPLIT = {kind: [each.strip() for each in text.split("|") if each.strip()] for kind, text in TEMPLATES.items()}
# || is a template's own text, which splitting at | took apart.
SPLIT["text"] = [each for each in SPLIT["text"] if each not in ("(t", "t)")] + ["(t || t)"]


def written(draw: random.Random, kind: str, depth: int) -> tuple[str, str]:
    """A random expression of a type: as it is typed, and with every operator inside TRY, which makes it total."""
    roll = draw.random()
    if depth == 0 or roll < 0.15:
        return (draw.choice(COLUMNS[kind]),) * 2
    if roll < 0.25:
        constant = draw.choice(CONSTANTS[kind])
        return constant, f"{constant}::HUGEINT" if kind == "integer" else constant
    plain, total, previous = "", "", ""
    template = draw.choice(SPLIT[kind])
    for position, letter in enumerate(template):
        following = template[position + 1 : position + 2]
        alone = not any(each.isalnum() or each in tuple("'_%") for each in (previous, following))
        if alone and letter in LETTERS:
            inner = written(draw, draw.choice(LETTERS[letter]), depth - 1)
            plain, total = plain + inner[0], total + inner[1]
        else:
            plain, total = plain + letter, total + letter
        previous = letter
    # Integers are as wide as the engine's widest.
    return plain, f"TRY({total})".replace("AS BIGINT", "AS HUGEINT")


def database(draw: random.Random, rows: int) -> duckdb.DuckDBPyConnection:
    """Rows within the declared bounds, with NULL and extremes everywhere."""
    connection = duckdb.connect()
    # DuckDB 2.0 computes a part that occurs twice outside of TRY, where it raises.
    connection.execute("SET TimeZone = 'UTC'; SET threads = 1; SET disabled_optimizers = 'common_subexpressions'")
    connection.execute(
        "CREATE MACRO clamp(x, a, b) AS CASE WHEN x IS NULL THEN NULL WHEN x < a THEN a WHEN x > b THEN b ELSE x END"
    )
    connection.execute(
        "CREATE TABLE visits (person_id HUGEINT, region TEXT, age HUGEINT, score HUGEINT, cost DECIMAL(18, 2), "
        "weight DOUBLE, rating HUGEINT, visited_at TIMESTAMP, born DATE, smoker BOOLEAN, note TEXT)"
    )
    day = date(2020, 1, 1)
    for _ in range(rows):
        values = [
            draw.choice([0, 1, -(2**63), 2**63 - 1, draw.randint(-50, 50)]),
            draw.choice(["north", "south", "", "öst"]),
            draw.choice([0, 110, draw.randint(0, 110)]),
            draw.choice([-20, 30, 0, draw.randint(-20, 30)]),
            draw.choice([Decimal("0.00"), Decimal("5000.00"), Decimal(draw.randint(0, 500_000)) / 100]),
            draw.choice([0.0, -0.0, 1e308, -1e308, 1e-308, draw.uniform(-9, 9)]),
            draw.randint(1, 5),
            datetime(1960, 1, 1) + timedelta(seconds=draw.randint(0, 4_000_000_000)),
            day + timedelta(days=draw.randint(-40_000, 40_000)),
            draw.choice([True, False]),
            draw.choice(["a", "", "Zürich", " ab ", "12", "2024-02-29", "%", "aXa"]),
        ]
        values = [None if draw.random() < 0.15 else value for value in values]
        connection.execute("INSERT INTO visits VALUES (" + ", ".join("?" * len(values)) + ")", values)
    return connection


def problem(expression: Expression, value: object) -> str:
    """What a computed value contradicts; empty where nothing."""
    # What is not finite counts as NULL where it enters an aggregate.
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "" if expression.nullable else "NULL"
    wanted = TYPES[expression.type]
    if not isinstance(value, wanted) or (isinstance(value, bool) and expression.type != "boolean"):
        return f"type {type(value).__name__}"
    if expression.type not in ("integer", "decimal"):
        return ""
    number = Fraction(value)  # type: ignore[arg-type]
    # Real arithmetic bounds floating-point results up to rounding.
    slack = Fraction(0) if expression.type == "integer" else Fraction(1, 10**9) * (1 + abs(number))
    if expression.low is not None and number < expression.low - slack:
        return "below"
    if expression.high is not None and number > expression.high + slack:
        return "above"
    if expression.step is not None and expression.bounded:
        steps = number / expression.step
        if abs(steps - round(steps)) * expression.step > slack:
            return "off the lattice"
    return ""


def typed(sql: str) -> Expression | None:
    try:
        found = read(f"SELECT COUNT(x) FROM (SELECT {sql} AS x FROM visits) AS s", SCHEMA)
    except QueryError:
        return None
    return found.rows.chosen[0][1]  # type: ignore[union-attr]


def test_what_is_proved_holds_for_every_row(full: bool) -> None:
    draw = random.Random(20240229)
    connection = database(draw, rows=60)
    used: Counter[str] = Counter()
    proved: Counter[str] = Counter()
    checked = 0
    for _ in range(200 if full else 40):
        batch: dict[str, Expression] = {}
        while len(batch) < 50:
            sql, total = written(draw, draw.choice(list(TEMPLATES)), draw.randint(1, 3))
            expression = typed(sql)
            if expression is not None and isinstance(expression, Call):
                batch[total] = expression
        rows = connection.execute(f"SELECT {', '.join(batch)} FROM visits").fetchall()
        for (sql, expression), values in zip(batch.items(), zip(*rows, strict=True), strict=True):
            complaints = {problem(expression, value) for value in values} - {""}
            assert complaints == set(), f"{sql}: {complaints}"
            checked += len(values)
            proved["bounded"] += expression.bounded
            proved["never NULL"] += not expression.nullable
            proved["on a lattice"] += expression.step is not None
            used.update({part.operator for part in expression.walk() if isinstance(part, Call)})
    print(f"{checked:,} values checked; {dict(proved)}; least used: {used.most_common()[-3:]}")
    assert min(proved.values()) > 100
    # Every operator took part.
    assert set(used) == set(OPERATORS)


def test_the_check_itself_can_fail() -> None:
    column = Column(name="x", type="integer", nullable=False, low=Fraction(0), high=Fraction(5), step=Fraction(2))
    assert [problem(column, value) for value in (None, -1, 7, 3, "a", True, 4)] == [
        "NULL",
        "below",
        "above",
        "off the lattice",
        "type str",
        "type bool",
        "",
    ]


@pytest.mark.parametrize("name", OPERATORS)
def test_the_number_of_arguments_is_checked(name: str) -> None:
    operator = OPERATORS[name]
    wrong = [operator.least - 1] + ([] if operator.most is None else [operator.most + 1])
    for count in wrong:
        with pytest.raises(QueryError, match="arguments"):
            apply(name, *[literal(1)] * count)


def test_every_operator_is_described_in_the_table() -> None:
    import quincunx.table.operators as module

    words = set((module.__doc__ or "").replace("(", " ").split())
    assert set(OPERATORS) <= words


def test_constants_are_typed_by_their_python_type() -> None:
    assert [
        literal(value).type for value in (True, 1, Fraction(1, 2), "a", date(2024, 1, 1), datetime(2024, 1, 1))
    ] == [
        "boolean",
        "integer",
        "decimal",
        "text",
        "date",
        "timestamp",
    ]
    assert (literal(7).low, literal(7).step) == (Fraction(7), Fraction(1))
    assert literal(Fraction(3, 4)).step == Fraction(1, 4)
    assert literal(True).low is None


def test_a_cast_is_made_by_its_own_function() -> None:
    assert cast(literal(1), "integer") == literal(1)
    assert cast(literal(1), "decimal").type == "decimal"
    with pytest.raises(QueryError, match="a cast needs its type"):
        apply("cast", literal(1))


def test_an_unbounded_integer_may_overflow_and_a_bounded_one_may_not() -> None:
    free = Column(name="x", type="integer", nullable=False)
    small = Column(name="x", type="integer", nullable=False, low=Fraction(0), high=Fraction(9), step=Fraction(1))
    huge = Column(name="x", type="integer", nullable=False, low=Fraction(0), high=Fraction(2**126), step=Fraction(1))
    for name in ("add", "multiply", "subtract"):
        assert apply(name, free, literal(1)).nullable
        assert not apply(name, small, literal(1)).nullable
    assert apply("multiply", huge, literal(2)).nullable


def test_division_is_null_only_where_the_divisor_may_be_zero() -> None:
    small = Column(name="x", type="integer", nullable=False, low=Fraction(0), high=Fraction(9), step=Fraction(1))
    for name in ("divide", "whole_divide", "remainder"):
        assert apply(name, small, small).nullable
        assert not apply(name, small, literal(3)).nullable


def test_what_may_be_infinite_is_not_made_certain_by_coalesce() -> None:
    weight = Column(name="w", type="decimal", nullable=True)
    cost = Column(name="c", type="decimal", nullable=True, low=Fraction(0), high=Fraction(5))
    assert apply("coalesce", weight, literal(0)).nullable
    assert apply("greatest", weight, literal(0)).nullable
    assert not apply("coalesce", cost, literal(0)).nullable
