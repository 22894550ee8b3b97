"""Texts stay as short as is proved, on the engine itself."""

from __future__ import annotations

import random
import sys
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from quincunx.data import connect
from quincunx.errors import QueryError
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import evaluate
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.emission import emit
from quincunx.table.engines.typed_sql import Piece, column
from quincunx.table.expression import Slot
from quincunx.table.rules import plan
from quincunx.table.rules.growth import ROW, longest
from quincunx.table.sql import read
from quincunx.table.table import Table, schema


def program(sql: str, **lengths: int) -> Any:
    frame = pa.table({"p": pa.array([1]), "a": pa.array(["x"]), "b": pa.array(["y"])})
    columns = {name: {"length": length} for name, length in lengths.items()}
    declared = schema({"t": Table(frame, limits={"rows": 1, "groups": 1}, columns=columns)}, AddRemove(key="p"))
    return plan(read(sql, declared, evaluate), declared, 1)


def test_no_letter_grows_by_more_than_half() -> None:
    every = [chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    found = duckdb.connect().execute(
        "SELECT MAX(strlen(UPPER(c)) * 2 - strlen(c) * 3), MAX(strlen(LOWER(c)) * 2 - strlen(c) * 3) "
        "FROM (SELECT UNNEST(CAST($c AS VARCHAR[])) AS c)",
        {"c": every},
    )
    assert found.fetchall() == [(0, 0)] or max(found.fetchall()[0]) <= 0


QUESTIONS = [
    "UPPER(a)", "LOWER(b)", "UPPER(LOWER(a)) || b", "CONCAT(a, b, 'çç', a)", "REPLACE(a, 'x', 'ÿÿÿ')",
    "REPLACE(a, 'xy', 'q')", "LEFT(a, 3)", "RIGHT(a, 2)", "SUBSTRING(a, 2)", "SUBSTRING(a, 2, 3)", "TRIM(a)",
    "CASE WHEN LENGTH(a) > 3 THEN a ELSE b || 'x' END", "COALESCE(a, b)", "NULLIF(a, b)", "LEAST(a, b)",
    "GREATEST(a, b, 'ccc')", "CAST(LENGTH(a) AS VARCHAR)", "REPLACE(UPPER(a), 'X', REPLACE('aa', 'a', 'bbb'))",
]  # fmt: skip


@pytest.mark.parametrize("text", QUESTIONS)
def test_no_text_is_longer_than_proved(text: str) -> None:
    try:
        query = program(f"SELECT COUNT(*) AS n FROM t WHERE {text} <> ''", a=40, b=30).query
    except QueryError:
        assert "REPLACE('aa'" in text
        return
    expression = query.rows.condition.arguments[0]
    most = longest(expression, {Slot("a"): 40, Slot("b"): 30, Slot("p"): 64})
    draw = random.Random(text)
    letters = ["x", "y", "é", "ɐ", "Ⱥ", "ß", "İ", "ŉ", "漢", "😀", " ", "X"]

    def made(limit: int) -> str:
        found = ""
        while len((found + (more := draw.choice(letters))).encode()) <= limit:
            found += more
        return found

    rows = [(made(40), made(30)) for _ in range(500)] + [("x" * 40, "y" * 30), ("Ⱥ" * 20, "ɐ" * 15), ("", "")]
    connection = connect()
    connection.register("given", pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]}))
    columns = {Slot(name): Piece(sql=column(name), type="VARCHAR") for name in ("a", "b")}
    written = emit(DUCKDB, expression, columns).sql.sql(dialect="duckdb")
    largest = connection.execute(f"SELECT MAX(strlen({written})) FROM given").fetchall()[0][0]
    assert 0 < largest <= most


def test_a_question_that_could_make_gigabytes_of_a_text_is_refused() -> None:
    grown = "REPLACE(REPLACE(a, 'a', 'aaaaaaaaaaaaaaaaaaaa'), 'a', 'aaaaaaaaaaaaaaaaaaaa')"
    with pytest.raises(QueryError, match="could become too long") as refused:
        program(f"SELECT COUNT(*) AS n FROM t WHERE {grown} = 'b'")
    assert "Declare a smaller length" in refused.value.hint
    assert program(f"SELECT COUNT(*) AS n FROM t WHERE {grown} = 'b'", a=100)
    # Ordinary questions pass without any declaration, and the limit is of all texts together.
    assert program("SELECT COUNT(*) AS n FROM t WHERE UPPER(a) = 'X' AND LOWER(b) LIKE 'y%' AND UPPER(b) <> 'Z'")
    many = " AND ".join(f"UPPER(a) <> '{i}'" for i in range(ROW // 98_304 + 1))
    with pytest.raises(QueryError, match=f"of {ROW:,}"):
        program(f"SELECT COUNT(*) AS n FROM t WHERE {many}")


def test_a_growth_hidden_in_subqueries_and_aggregates_counts() -> None:
    inner = "SELECT REPLACE(a, 'a', 'aaaaaaaaaaaaaaaa') AS c FROM t"
    for sql in (
        f"SELECT COUNT(*) AS n FROM ({inner}) WHERE c = 'b'",
        "SELECT COUNT(*) FILTER (WHERE REPLACE(a, 'a', 'aaaaaaaaaaaaaaaa') = 'b') AS n FROM t",
        "SELECT COUNT(REPLACE(a, 'a', 'aaaaaaaaaaaaaaaa')) AS n FROM t",
    ):
        with pytest.raises(QueryError, match="could become too long"):
            program(sql)
    # A key is written out once more.
    program("SELECT COUNT(*) AS n FROM t WHERE REPLACE(a, 'a', 'aaaaaa') = 'b'")
    with pytest.raises(QueryError, match="could become too long"):
        program("SELECT REPLACE(a, 'a', 'aaaaaa') AS k, COUNT(*) AS n FROM t GROUP BY 1")
