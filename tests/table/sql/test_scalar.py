"""Every accepted scalar construct: what it is read as, and what is proved about it."""

from __future__ import annotations

import pytest

from quincunx.errors import QueryError
from quincunx.table.aggregates import NODES
from quincunx.table.operators import OPERATORS
from quincunx.table.sql import read
from quincunx.table.sql.allow import ALLOWED
from quincunx.table.sql.folds import NODES as FOLDS
from quincunx.table.sql.functions import WINDOWS
from quincunx.table.sql.scalar import HANDLERS
from tests.table.sql.shown import facts, shown
from tests.table.sql.visits import SCHEMA

# SQL → (expression, facts), of columns that may be NULL:
# age [0, 110], score [−20, 30], cost [0, 5000] in cents, weight unbounded, rating [1, 5].
READ: dict[str, tuple[str, str]] = {
    # Arithmetic.
    "age + 1": ("add(age, 1)", "integer? [1, 111] /1"),
    "age - score": ("subtract(age, score)", "integer? [-30, 130] /1"),
    "score * age": ("multiply(score, age)", "integer? [-2200, 3300] /1"),
    "cost * rating": ("multiply(cost, rating)", "decimal? [0, 25000] /1/100"),
    "age / 4": ("divide(age, 4)", "decimal? [0, 55/2] /1/4"),
    "age / rating": ("divide(age, rating)", "decimal? [0, 110]"),
    "age / score": ("divide(age, score)", "decimal?"),
    "age // 10": ("whole_divide(age, 10)", "integer? [0, 11] /1"),
    "score // 7": ("whole_divide(score, 7)", "integer? [-2, 4] /1"),
    "score // age": ("whole_divide(score, age)", "integer? [-30, 30] /1"),
    "score % 7": ("remainder(score, 7)", "integer? [-6, 6] /1"),
    "MOD(age, 7)": ("remainder(age, 7)", "integer? [0, 6] /1"),
    "-score": ("negate(score)", "integer? [-30, 20] /1"),
    "- -5 + age": ("add(negate(-5), age)", "integer? [5, 115] /1"),
    "ABS(score)": ("abs(score)", "integer? [0, 30] /1"),
    "ROUND(cost)": ("round(cost, 0)", "decimal? [0, 5000] /1"),
    "ROUND(cost / 3, 1)": ("round(divide(cost, 3), 1)", "decimal? [0, 16667/10] /1/10"),
    "ROUND(age, 2)": ("round(age, 2)", "integer? [0, 110] /1"),
    "FLOOR(cost / 3)": ("floor(divide(cost, 3))", "decimal? [0, 1667] /1"),
    "CEIL(cost)": ("ceil(cost)", "decimal? [0, 5000] /1"),
    "CEILING(weight)": ("ceil(weight)", "decimal? /1"),
    "LEAST(age, 50)": ("least(age, 50)", "integer [0, 50] /1"),
    "LEAST(age, score)": ("least(age, score)", "integer? [-20, 110] /1"),
    "GREATEST(score, 0, 2.5)": ("greatest(score, 0, 5/2)", "decimal [5/2, 30] /1/2"),
    "CLAMP(weight, -1, 2.5)": ("clamp(weight, -1, 5/2)", "decimal? [-1, 5/2]"),
    "CLAMP(age, 0.5, 7.5)": ("clamp(age, 1/2, 15/2)", "integer? [1, 7] /1"),
    "CLAMP(score, 0, 100)": ("clamp(score, 0, 100)", "integer? [0, 30] /1"),
    "weight + 1": ("add(weight, 1)", "decimal?"),
    "age + 1e3": ("add(age, 1000)", "decimal? [1000, 1110] /1"),
    "age + .50": ("add(age, 1/2)", "decimal? [1/2, 221/2] /1/2"),
    # Comparisons and logic.
    "age = 3": ("equal(age, 3)", "boolean?"),
    "age == 3": ("equal(age, 3)", "boolean?"),
    "age <> 3": ("not_equal(age, 3)", "boolean?"),
    "age != cost": ("not_equal(age, cost)", "boolean?"),
    "age < 3": ("less(age, 3)", "boolean?"),
    "age <= 3": ("less_equal(age, 3)", "boolean?"),
    "age > 3": ("greater(age, 3)", "boolean?"),
    "age >= 3": ("greater_equal(age, 3)", "boolean?"),
    "age IS NULL": ("is_null(age)", "boolean"),
    "age IS NOT NULL": ("not(is_null(age))", "boolean"),
    "smoker IS TRUE": ("not_distinct(smoker, True)", "boolean"),
    "smoker IS NOT FALSE": ("not(not_distinct(smoker, False))", "boolean"),
    "age IS DISTINCT FROM 3": ("distinct(age, 3)", "boolean"),
    "age IS NOT DISTINCT FROM score": ("not_distinct(age, score)", "boolean"),
    "age = 3 IS NULL": ("is_null(equal(age, 3))", "boolean"),
    "age BETWEEN 1 AND 3": ("between(age, 1, 3)", "boolean?"),
    "age NOT BETWEEN 1 AND 3": ("not(between(age, 1, 3))", "boolean?"),
    "age IN (1, 2)": ("in(age, 1, 2)", "boolean?"),
    "note NOT IN ('a', 'b')": ("not(in(note, 'a', 'b'))", "boolean?"),
    "note LIKE 'a%'": ("like(note, 'a%')", "boolean?"),
    "note NOT LIKE 'a_'": ("not(like(note, 'a_'))", "boolean?"),
    "note ILIKE 'A%'": ("ilike(note, 'A%')", "boolean?"),
    "note NOT ILIKE 'A%'": ("not(ilike(note, 'A%'))", "boolean?"),
    "smoker AND age > 3 AND age < 9": ("and(smoker, greater(age, 3), less(age, 9))", "boolean?"),
    "smoker OR age > 3 AND age < 9": ("or(smoker, and(greater(age, 3), less(age, 9)))", "boolean?"),
    "NOT smoker": ("not(smoker)", "boolean?"),
    "NOT NOT smoker": ("smoker", "boolean?"),
    "NOT age = 3": ("not(equal(age, 3))", "boolean?"),
    "(age = 3) = smoker": ("equal(equal(age, 3), smoker)", "boolean?"),
    "true": ("True", "boolean"),
    # Choices.
    "CASE WHEN smoker THEN 1 ELSE 0 END": ("case(smoker, 1, 0)", "integer [0, 1] /1"),
    "CASE WHEN smoker THEN 1 END": ("case(smoker, 1, NULL)", "integer? [1, 1] /1"),
    "CASE age WHEN 1 THEN 'a' ELSE note END": ("case(equal(age, 1), 'a', note)", "text?"),
    "CASE WHEN smoker THEN age ELSE 0.25 END": ("case(smoker, age, 1/4)", "decimal? [0, 110] /1/4"),
    "IF(smoker, 1, 2)": ("case(smoker, 1, 2)", "integer [1, 2] /1"),
    "COALESCE(age, score, 7)": ("coalesce(age, score, 7)", "integer [-20, 110] /1"),
    "COALESCE(age, 7, score)": ("coalesce(age, 7, score)", "integer [0, 110] /1"),
    "IFNULL(weight, 0)": ("coalesce(weight, 0)", "decimal?"),
    "COALESCE(NULL, age)": ("coalesce(NULL, age)", "integer? [0, 110] /1"),
    "NULLIF(age, 99)": ("nullif(age, 99)", "integer? [0, 110] /1"),
    # Casts and dates.
    "CAST(cost AS BIGINT)": ("cast[integer](cost)", "integer? [0, 5000] /1"),
    "age::DOUBLE": ("cast[decimal](age)", "decimal? [0, 110] /1"),
    "age::INTEGER": ("age", "integer? [0, 110] /1"),
    "TRY_CAST(note AS DATE)": ("cast[date](note)", "date?"),
    "note::HUGEINT": ("cast[integer](note)", "integer?"),
    "smoker::INT": ("cast[integer](smoker)", "integer? [0, 1] /1"),
    "age::VARCHAR": ("cast[text](age)", "text?"),
    "age::BOOLEAN": ("cast[boolean](age)", "boolean?"),
    "born::TIMESTAMP": ("cast[timestamp](born)", "timestamp?"),
    "CAST(NULL AS BIGINT)": ("NULL", "integer?"),
    "DATE '2024-02-29'": ("2024-02-29", "date"),
    "TIMESTAMP '2024-02-29 10:00'": ("2024-02-29 10:00:00", "timestamp"),
    "born >= '2024-02-29'": ("greater_equal(born, 2024-02-29)", "boolean?"),
    "born < '2024-02-29 10:00:00'": ("less(cast[timestamp](born), 2024-02-29 10:00:00)", "boolean?"),
    "visited_at < '2024-02-29'": ("less(visited_at, 2024-02-29 00:00:00)", "boolean?"),
    "visited_at < DATE '2024-02-29'": ("less(visited_at, cast[timestamp](2024-02-29))", "boolean?"),
    "born = visited_at": ("equal(cast[timestamp](born), visited_at)", "boolean?"),
    "EXTRACT(year FROM born)": ("date_part('year', born)", "integer? /1"),
    "YEAR(born)": ("date_part('year', born)", "integer? /1"),
    "QUARTER(born)": ("date_part('quarter', born)", "integer? [1, 4] /1"),
    "MONTH(born)": ("date_part('month', born)", "integer? [1, 12] /1"),
    "WEEK(born)": ("date_part('week', born)", "integer? [1, 53] /1"),
    "WEEKOFYEAR(born)": ("date_part('week', born)", "integer? [1, 53] /1"),
    "DAY(born)": ("date_part('day', born)", "integer? [1, 31] /1"),
    "DAYOFMONTH(born)": ("date_part('day', born)", "integer? [1, 31] /1"),
    "DAYOFWEEK(born)": ("date_part('dow', born)", "integer? [0, 6] /1"),
    "WEEKDAY(born)": ("date_part('dow', born)", "integer? [0, 6] /1"),
    "ISODOW(born)": ("date_part('isodow', born)", "integer? [1, 7] /1"),
    "DAYOFYEAR(born)": ("date_part('doy', born)", "integer? [1, 366] /1"),
    "HOUR(visited_at)": ("date_part('hour', visited_at)", "integer? [0, 23] /1"),
    "MINUTE(visited_at)": ("date_part('minute', visited_at)", "integer? [0, 59] /1"),
    "SECOND(visited_at)": ("date_part('second', visited_at)", "integer? [0, 59] /1"),
    "DATE_PART('weekday', born)": ("date_part('dow', born)", "integer? [0, 6] /1"),
    "DATE_TRUNC('month', born)": ("date_trunc('month', born)", "timestamp?"),
    "DATE_TRUNC('hour', visited_at)": ("date_trunc('hour', visited_at)", "timestamp?"),
    "DATE_TRUNC('week', visited_at::DATE)": ("date_trunc('week', cast[date](visited_at))", "timestamp?"),
    # Texts.
    "UPPER(note)": ("upper(note)", "text?"),
    "LCASE(note)": ("lower(note)", "text?"),
    "LENGTH(note)": ("length(note)", "integer? [0, …] /1"),
    "LEN(note)": ("length(note)", "integer? [0, …] /1"),
    "TRIM(note)": ("trim(note)", "text?"),
    "LTRIM(note)": ("ltrim(note)", "text?"),
    "RTRIM(note)": ("rtrim(note)", "text?"),
    "TRIM(LEADING FROM note)": ("ltrim(note)", "text?"),
    "LEFT(note, 3)": ("left(note, 3)", "text?"),
    "RIGHT(note, 3)": ("right(note, 3)", "text?"),
    "SUBSTRING(note, 2, 3)": ("substring(note, 2, 3)", "text?"),
    "SUBSTR(note, 2)": ("substring(note, 2)", "text?"),
    "SUBSTRING(note FROM 2 FOR 3)": ("substring(note, 2, 3)", "text?"),
    "note || '-' || region": ("join(note, '-', region)", "text?"),
    "CONCAT(note, '-', region)": ("concat(note, '-', region)", "text"),
    "REPLACE(note, 'a', 'bc')": ("replace(note, 'a', 'bc')", "text?"),
    "STARTS_WITH(note, 'a')": ("starts_with(note, 'a')", "boolean?"),
    "PREFIX(note, 'a')": ("starts_with(note, 'a')", "boolean?"),
    "ENDS_WITH(note, region)": ("ends_with(note, region)", "boolean?"),
    "SUFFIX(note, 'a')": ("ends_with(note, 'a')", "boolean?"),
    "CONTAINS(note, 'it''s')": ('contains(note, "it\'s")', "boolean?"),
}


def expression_of(sql: str):  # type: ignore[no-untyped-def]
    """The expression as a subquery's column, where nothing about it is folded away."""
    found = read(f"SELECT COUNT(x) FROM (SELECT {sql} AS x FROM visits) AS s", SCHEMA)
    return found.rows.chosen[0][1]


@pytest.mark.parametrize("sql", READ)
def test_the_construct_is_read_and_typed(sql: str) -> None:
    found = expression_of(sql)
    assert (shown(found), facts(found)) == READ[sql]


def test_every_operator_is_reached() -> None:
    used = {part.operator for sql in READ for part in expression_of(sql).walk() if hasattr(part, "operator")}
    assert used == set(OPERATORS)


def test_every_listed_node_is_translated_or_part_of_a_question() -> None:
    structure = {
        "Select With CTE From Join Table TableAlias Subquery Where Group Having Order Ordered Limit Offset Alias",
        "Column Identifier Star Var Distinct Filter DataType Window WindowSpec Qualify Exists Tuple",
        "Union Intersect Except",
    }
    # Aggregates and window functions are read by themselves, whichever there are, above the noise and below it.
    rest = {node.__name__ for node in ALLOWED if node not in HANDLERS and node not in (*NODES, *WINDOWS, *FOLDS)}
    assert rest == set(" ".join(structure).split())
    assert set(NODES) <= set(ALLOWED)
    assert not {*NODES, *FOLDS} & set(HANDLERS)
    assert {node for node in HANDLERS if node not in ALLOWED} == set()


def test_numbers_mean_the_decimal_that_was_typed() -> None:
    assert shown(expression_of("0.1 + age")) == "add(1/10, age)"
    assert shown(expression_of("9007199254740993 + age")) == "add(9007199254740993, age)"
    assert shown(expression_of("1_000 + age")) == "add(1000, age)"


@pytest.mark.parametrize("sql", ["9" * 70, "1e1000", "1.5e+999", "0." + "1" * 59, "1" + "0" * 39])
def test_numbers_out_of_range_are_mistakes(sql: str) -> None:
    with pytest.raises(QueryError, match="number"):
        expression_of(f"{sql} + age")


@pytest.mark.parametrize(
    "sql",
    ["age < score = smoker", "age = score IN (true)", "age BETWEEN 1 AND 2 = smoker", "age + (1 = 1)"],
)
def test_what_parsers_read_differently_needs_brackets(sql: str) -> None:
    with pytest.raises(QueryError, match=r"brackets|number"):
        expression_of(sql)
