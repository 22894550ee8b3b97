"""What was read means what DuckDB means by it: the same text, read and computed by us, and run as it is.

Precedence is where parsers differ, so that the texts here have few brackets.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from string import ascii_lowercase, ascii_uppercase

import duckdb
import pytest

from quincunx.errors import QueryError
from quincunx.table.engines import evaluate
from quincunx.table.expression import Expression, Slot, Value
from quincunx.table.relations import Project
from quincunx.table.sql import read
from tests.table.sql import test_scalar
from tests.table.sql.visits import SCHEMA, VISITS

# Small values on which nothing overflows; NULL in every column.
ROWS: list[dict[str, Value]] = [
    {
        "person_id": i,
        "region": ["north", "south", None][i % 3],
        "age": [0, 7, 110, None, 40][i % 5],
        "score": [-20, -7, 3, 30, None, 8, -1][i % 7],
        "cost": [Fraction(0), Fraction(5, 2), Fraction(12345, 100), None][i % 4],
        "weight": [Fraction(-3, 2), Fraction(0), None, Fraction(10), Fraction(1, 4)][i % 5],
        "rating": [1, 2, 3, 4, 5, None][i % 6],
        "visited_at": [datetime(1969, 12, 31, 23, 59, 59), None, datetime(2024, 2, 29, 12, 30, 1)][i % 3],
        "born": [date(1900, 2, 28), date(2024, 12, 30), None, date(2020, 2, 29)][i % 4],
        "smoker": [True, False, None][(i // 3) % 3],
        "note": ["abc", "", None, "Zürich %", " x ", "12"][i % 6],
    }
    for i in range(60)
]
TYPES = {
    "integer": "BIGINT",
    "decimal": "DOUBLE",
    "text": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "boolean": "BOOLEAN",
}


@pytest.fixture(scope="module")
def plain() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    # Each operator of ours is total by itself; here a whole text is, which differs only under IS NULL and its like.
    connection.execute("SET threads = 1; SET disabled_optimizers = 'common_subexpressions'")
    connection.execute("SET error_on_division_by_zero = false")
    connection.execute(
        "CREATE MACRO clamp(x, a, b) AS CASE WHEN x IS NULL THEN NULL WHEN x < a THEN a WHEN x > b THEN b ELSE x END"
    )
    listed = ", ".join(f"{column.name} {TYPES[column.type]}" for column in VISITS.columns)
    connection.execute(f"CREATE TABLE visits (row_number BIGINT, {listed})")
    marks = ", ".join("?" * (len(VISITS.columns) + 1))
    for number, row in enumerate(ROWS):
        values = [float(value) if isinstance(value, Fraction) else value for value in row.values()]
        connection.execute(f"INSERT INTO visits VALUES ({marks})", [number, *values])
    return connection


def expected(connection: duckdb.DuckDBPyConnection, sql: str) -> list[object]:
    found = connection.execute(f"SELECT {sql} FROM visits ORDER BY row_number").fetchall()
    return [row[0] for row in found]


def computed(sql: str) -> tuple[Expression, list[Value]]:
    query = read(f"SELECT COUNT(x) FROM (SELECT {sql} AS x FROM visits) AS s", SCHEMA)
    assert isinstance(query.rows, Project)
    expression = query.rows.chosen[0][1]
    columns = {Slot(name): [row[name] for row in ROWS] for name in ROWS[0]}
    return expression, list(evaluate([expression], columns)[0])


def alike(ours: Value, theirs: object) -> bool:
    if (isinstance(theirs, float) and theirs in (float("inf"), float("-inf"))) or theirs != theirs:
        return ours is None
    if isinstance(ours, bool) or isinstance(theirs, bool) or ours is None or theirs is None:
        return ours is theirs
    if isinstance(theirs, float | Decimal) or isinstance(ours, Fraction):
        return abs(Fraction(ours) - Fraction(theirs)) <= Fraction(1, 10**9) * (1 + abs(Fraction(ours)))  # type: ignore[arg-type]
    return type(ours) is type(theirs) and ours == theirs


@pytest.mark.parametrize("sql", test_scalar.READ)
def test_every_construct_means_the_same(plain: duckdb.DuckDBPyConnection, sql: str) -> None:
    # DuckDB's casts may fail and ours never do; CLAMP is ours, and keeps an integer to whole numbers.
    written = {
        "note::HUGEINT": "TRY_CAST(note AS HUGEINT)",
        "CLAMP(age, 0.5, 7.5)": "CLAMP(age, 1, 7)",
        # Halves go up, and only ASCII letters have capitals.
        "CAST(cost AS BIGINT)": "CAST(FLOOR(cost + 0.5) AS BIGINT)",
        "UPPER(note)": f"TRANSLATE(note, '{ascii_lowercase}', '{ascii_uppercase}')",
    }
    theirs = expected(plain, written.get(sql, sql))
    ours = computed(sql)[1]
    assert [pair for pair in zip(ours, theirs, strict=True) if not alike(*pair)] == []


NUMBER = ["age", "score", "rating", "3", "7", "-2", "cost", "weight", "ABS(score)"]
WHOLE = ["age", "score", "rating", "3", "7", "-2"]
TEXT = ["note", "region", "'abc'", "UPPER(note)"]
TRUTH = ["smoker", "true", "age > 7", "note LIKE 'a%'", "score IS NULL", "rating IN (1, 2)", "age BETWEEN 1 AND 50"]


def arithmetic(draw: random.Random, terms: int) -> str:
    operators = ["+", "-", "*", "+", "-", "*", "/"]
    words = [draw.choice(["", "", "- "]) + draw.choice(NUMBER)]
    for _ in range(terms):
        operator = draw.choice(operators)
        # 0/0 is NULL here and no number in DuckDB, where it is greater than all.
        words += [operator, draw.choice(["3", "rating", "-2"] if operator == "/" else NUMBER)]
    return " ".join(words)


def whole(draw: random.Random, terms: int) -> str:
    words = [draw.choice(WHOLE)]
    for _ in range(terms):
        words += [draw.choice(["+", "-", "*", "//", "%"]), draw.choice(WHOLE)]
    return " ".join(words)


def truth(draw: random.Random, terms: int) -> str:
    words: list[str] = []
    for _ in range(terms + 1):
        single = draw.choice(
            [
                draw.choice(TRUTH),
                f"{whole(draw, 1)} {draw.choice(['=', '<>', '<', '>='])} {whole(draw, 1)}",
                f"{arithmetic(draw, 1)} > {arithmetic(draw, 1)}",
                f"{whole(draw, 1)} BETWEEN {whole(draw, 1)} AND {whole(draw, 1)}",
                f"{whole(draw, 1)} NOT IN ({whole(draw, 1)}, 4)",
                f"{draw.choice(TEXT)} || {draw.choice(TEXT)} = {draw.choice(TEXT)}",
                f"{draw.choice(TEXT)} || 'x' NOT LIKE 'a%'",
                f"{whole(draw, 1)} IS NOT NULL",
                f"{whole(draw, 1)} = 3 IS NULL",
                f"{draw.choice(TRUTH)} IS DISTINCT FROM smoker",
                f"{draw.choice(WHOLE)} IS NOT DISTINCT FROM {draw.choice(WHOLE)}",
            ]
        )
        words += [draw.choice(["", "", "NOT "]) + single, draw.choice(["AND", "OR"])]
    return " ".join(words[:-1])


def test_precedence_is_duckdbs(plain: duckdb.DuckDBPyConnection, full: bool) -> None:
    draw = random.Random(11)
    tally: Counter[str] = Counter()
    for _ in range(3_000 if full else 400):
        make = draw.choice([arithmetic, whole, truth, truth])
        sql = make(draw, draw.randint(1, 4))
        try:
            ours = computed(sql)[1]
        except QueryError:
            tally["mistaken"] += 1
            continue
        theirs = expected(plain, sql)
        assert [pair for pair in zip(ours, theirs, strict=True) if not alike(*pair)] == [], sql
        tally["alike"] += 1
        tally["different values"] += len({str(value) for value in theirs}) > 1
    print(dict(tally))
    assert tally["alike"] > 5 * tally["mistaken"]
    assert tally["different values"] > tally["alike"] / 3


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        (1, 1, True),
        (1, True, False),
        (None, float("nan"), True),
        (None, float("inf"), True),
        (None, 0, False),
        (Fraction(1, 10), 0.1, True),
        (Fraction(1, 10), 0.11, False),
        (Fraction(1, 2), Decimal("0.5"), True),
        ("a", "a", True),
        ("a", "A", False),
        (date(2024, 1, 1), datetime(2024, 1, 1), False),
    ],
)
def test_the_comparison_itself_can_fail(ours: Value, theirs: object, same: bool) -> None:
    assert alike(ours, theirs) is same
