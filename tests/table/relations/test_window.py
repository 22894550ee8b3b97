"""Windows beyond their shapes: no row can make one fail, ranks keep their ties, and licences are what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from quincunx.errors import RefusalError
from quincunx.spec import AddRemove
from quincunx.table import Table
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.operators import apply, literal
from quincunx.table.relations import Filter, Window, Windowed
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import schema
from quincunx.table.typing.windowed import FUNCTIONS
from tests.table.relations import locality

UNIT = AddRemove(key="k")
FARTHEST = 2**63 - 1
CALLS = {
    "row_number": "ROW_NUMBER()",
    "rank": "RANK()",
    "dense_rank": "DENSE_RANK()",
    "percent_rank": "PERCENT_RANK()",
    "cume_dist": "CUME_DIST()",
    "ntile": "NTILE(3)",
    "lag": "LAG(x, 2147483647)",
    "lead": "LEAD(x, 0, w)",
    "first_value": "FIRST_VALUE(w)",
    "last_value": "LAST_VALUE(s)",
    "nth_value": "NTH_VALUE(x, 2147483647)",
    "count": "COUNT(s)",
    "sum": "SUM(w)",
    "avg": "AVG(w)",
    "min": "MIN(d)",
    "max": "MAX(s)",
    "bool_and": "BOOL_AND(x > 0)",
    "bool_or": "BOOL_OR(x > w)",
}
FRAMES = {"": "", "rows": "ROWS 2147483647 PRECEDING", "range": "RANGE CURRENT ROW", "groups": "GROUPS 3 PRECEDING"}


def tables(rows: int, columns: Any = None) -> dict[str, Table]:
    """One ordinary person, and one with many rows at the ends of every type."""
    ends = [FARTHEST, -FARTHEST - 1, None, 0]
    frame = pa.table(
        {
            "k": pa.array([1] + [2] * rows, pa.int64()),
            "x": pa.array([1] + [ends[i % 4] for i in range(rows)], pa.int64()),
            "s": pa.array(["a"] + ["x" * 300 if i % 3 else None for i in range(rows)], pa.string()),
            "d": pa.array([0.5] + [(1e308, -1e308, float("nan"), -0.0)[i % 4] for i in range(rows)], pa.float64()),
        }
    )
    return {"t": Table(frame, limits={"rows": 5}, columns=columns or {})}


def asked(calls: list[str], frame: str) -> str:
    over = f"OVER (PARTITION BY k ORDER BY d, x {frame})"
    made = ", ".join(f"{call} {over} AS r{i}" for i, call in enumerate(calls))
    counts = ", ".join(f"COUNT(r{i}) AS n{i}" for i in range(len(calls)))
    # w: a whole number that is wider than any column.
    return f"SELECT {counts} FROM (SELECT {made} FROM (SELECT *, x * x AS w FROM t)) AS v"


def measured(given: dict[str, Table], sql: str) -> Any:
    declared = schema(given, UNIT)
    program = plan(read(sql, declared, evaluate), declared, 1)
    with DuckDB(given, declared, threads=1) as engine:
        engine.rehearse(program)
        return [each.tolist() for each in engine.run(program).measures]


def test_every_function_is_called() -> None:
    assert set(FUNCTIONS) <= set(CALLS)


@pytest.mark.parametrize("kind", FRAMES)
def test_no_row_makes_a_window_fail(kind: str) -> None:
    """Table B: with the person at the ends of the types the question works as it works without them."""
    calls = [call for name, call in CALLS.items() if name not in FUNCTIONS or kind in FUNCTIONS[name].frames]
    sql = asked(calls, FRAMES[kind])
    assert measured(tables(0), sql)
    assert measured(tables(9), sql)


def test_sums_are_moved_into_63_bits() -> None:
    """A sum of wide numbers would overflow, and a sum of sums after it."""
    given = tables(8)
    inner = "SELECT k, SUM(x * 4) OVER (PARTITION BY k) AS r FROM t WHERE x > 1"
    top = 2**62 - 1
    assert measured(given, f"SELECT COUNT(*) AS n FROM ({inner}) AS v WHERE r = {top}") == [[2 * 2**20]]
    again = f"SELECT k, SUM(r) OVER (PARTITION BY k) AS r FROM ({inner}) AS v"
    assert measured(given, f"SELECT COUNT(*) AS n FROM ({again}) AS v WHERE r = {top}") == [[2 * 2**20]]


def test_of_two_zeros_one_arrives() -> None:
    """MIN of 0.0 and −0.0 is the first row's, and 1/x tells them apart."""
    sql = (
        "SELECT COUNT(*) AS n FROM (SELECT MIN(CASE WHEN x = 1 THEN d ELSE d * -1 END) OVER (PARTITION BY k) AS m "
        "FROM t) AS v WHERE 1 / m > 0"
    )
    for order in ([1, 2], [2, 1]):
        frame = pa.table({"k": [1, 1], "x": order, "d": [0.0, 0.0]})
        assert measured({"t": Table(frame, limits={"rows": 5})}, sql) == [[2 * 2**20]]


def test_what_is_added_up_has_bounds() -> None:
    """A tile by its constant; a place among rows, and a number of them, by the limit, which is executed and said."""
    declared = schema(tables(1), UNIT)
    for call, high in (("NTILE(4)", 4), ("RANK()", 5), ("COUNT(*)", 5)):
        sql = f"SELECT SUM(r) AS n FROM (SELECT {call} OVER (PARTITION BY k ORDER BY x) AS r FROM t) AS v"
        program = plan(read(sql, declared), declared, 1)
        assert program.measures[0].high == high
        assert (high == 4) == (not any("count as 5" in each for each in program.biases))
    loose = read("SELECT SUM(r) AS n FROM (SELECT SUM(x) OVER (PARTITION BY k) AS r FROM t) AS v", declared)
    with pytest.raises(RefusalError, match="bounded argument"):
        plan(loose, declared, 1)


def test_a_period_is_written_as_it_is_computed() -> None:
    frame = pa.table({"k": [1], "t": pa.array([0], pa.timestamp("us"))})
    given = {"t": Table(frame, limits={"rows": 5})}
    declared = schema(given, AddRemove(key="k", per={"column": "t", "period": "week"}))
    sql = "SELECT COUNT(*) AS n FROM (SELECT RANK() OVER (PARTITION BY k, {}) AS r FROM t) AS v WHERE r = 1"
    assert read(sql.format("DATE_TRUNC('week', t)"), declared).rows.owner is not None
    for other in ("t", "DATE_TRUNC('day', t)", "CAST(t AS DATE)"):
        with pytest.raises(RefusalError, match="numbered across people"):
            read(sql.format(other), declared)


def test_a_key_whose_values_are_moved_licenses_nothing() -> None:
    """Bounds make one visible value of several people: the question would mean less than it says."""
    declared = schema(tables(3, {"k": {"bounds": (0, 1)}}), UNIT)
    for below in ("SELECT RANK() OVER (PARTITION BY k) AS r FROM t", "SELECT DISTINCT ON (k) k AS r FROM t"):
        with pytest.raises(RefusalError, match="k has bounds, keys or decimals"):
            read(f"SELECT COUNT(*) AS n FROM ({below}) AS v WHERE r = 1", declared)


def test_hidden_owners_part_the_rows_whatever_was_licensed() -> None:
    """A mistake in typing gives a wrong number: the plan is built by hand, without any partition."""
    given = tables(3)
    declared = schema(given, UNIT)
    found = read("SELECT COUNT(*) AS n FROM (SELECT * FROM t WHERE x IS NULL OR x <> 7) AS v", declared)
    window = Window.over(found.rows, Windowed(function="row_number"))
    firsts = Filter(source=window, condition=apply("equal", window.columns[-1], literal(1)))
    program = plan(replace(found, rows=firsts), declared, 1)
    with DuckDB(given, declared, threads=1) as engine:
        # Two people have a first row each; over all rows together there would be one.
        assert [each.tolist() for each in engine.run(program).measures] == [[2 * 2**20]]


def test_rows_that_are_alike_change_places_in_all_functions_together() -> None:
    """Two orders of equal rows: which is the first in one is the first in the other, however many rows lie around."""
    made = "LAST_VALUE(x) OVER (PARTITION BY k ORDER BY g,x,d ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) l, "
    made += "NTH_VALUE(g,2) OVER (PARTITION BY k ORDER BY x,g,d ROWS UNBOUNDED PRECEDING) n"
    shape = locality.Shape(sql=f"SELECT k,x,{made} FROM A", unit="person", numbers="decimal", right=False)
    for series in ("window by key: values of frames, further", "alike", "more"):
        assert shape.findings(list(locality.worlds(200, "decimal", series))) == []
