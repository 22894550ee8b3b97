"""Places: what is underlined is what was written, brackets and function names included."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from quincunx.table.sql.limits import split

SQL = "SELECT COUNT(*), MIN( ( age + 1 ) ), \"Größe\" FROM visits v WHERE NOT (a > 3) AND s LIKE 'x)%' LIMIT 3"


def span(sql: str, kind: type[exp.Expr]) -> str:
    text = split(sql)
    node = sqlglot.parse_one(sql, dialect="duckdb").find(kind)
    assert node is not None
    start, end = text.span(node)
    return sql[start:end]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (exp.Count, "COUNT(*)"),
        (exp.Min, "MIN( ( age + 1 ) )"),
        (exp.Add, "age + 1"),
        (exp.Like, "s LIKE 'x)%'"),
        (exp.GT, "a > 3"),
        (exp.Limit, "3"),
        (exp.Table, "visits v"),
    ],
)
def test_the_hull_of_a_node(kind: type[exp.Expr], expected: str) -> None:
    assert span(SQL, kind) == expected


def test_what_has_no_mark_is_placed_at_what_holds_it() -> None:
    assert span("SELECT COUNT(*) FROM visits WHERE age = NULL", exp.Null) == "age"
    assert span("SELECT NULL", exp.Null) == "SELECT NULL"


def test_brackets_in_texts_do_not_count() -> None:
    assert span("SELECT COUNT(')') FROM visits", exp.Count) == "COUNT(')')"


def test_lines_and_other_alphabets() -> None:
    assert span("SELECT\n  SUM(größe)\nFROM t", exp.Sum) == "SUM(größe)"
    assert span("SELECT '😀', SUM(x) FROM t", exp.Sum) == "SUM(x)"


def test_words_are_written_with_single_blanks() -> None:
    sql = "SELECT SUM( a\n\t+ 1) FROM t"
    text = split(sql)
    node = sqlglot.parse_one(sql, dialect="duckdb").find(exp.Sum)
    assert node is not None
    assert text.words(node) == "SUM( a + 1)"


def test_errors_carry_their_place() -> None:
    text = split(SQL)
    node = sqlglot.parse_one(SQL, dialect="duckdb").find(exp.Count)
    assert node is not None
    for error in (text.refusal(node, "no", hint="yes"), text.mistake(node, "no", got="x")):
        assert SQL[error.start : error.end] == "COUNT(*)"
    error = text.refusal(node, "no", words=("LIMIT",))
    assert SQL[error.start : error.end] == "LIMIT"
    error = text.refusal_at(text.tokens[0], "no")
    assert SQL[error.start : error.end] == "SELECT"
