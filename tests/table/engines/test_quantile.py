"""Quantiles within a group: the exact rank, one interpolation, ties, NULL, groups of any size and everybody's own."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from quincunx.errors import QueryError
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import evaluate
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.relations.quantile import in_order, quantile
from quincunx.table.engines.typed_sql import column
from quincunx.table.relations import Fold
from quincunx.table.schema import ColumnSchema, Schema, TableSchema
from quincunx.table.sql import read

LEVELS = ("0", "0.07", "0.1", "0.25", "0.3", "0.35", "0.5", "0.7", "0.999999", "0.123457", "1")
GROUPS = 200


def groups(source: random.Random) -> list[list[int | None]]:
    """Values of each group: none, one, ties, NULL, many, and whole numbers that a double does not hold."""
    found: list[list[int | None]] = [[], [None], [None, None, 3], [7], [5, 5, 5, 5]]
    found.append([2**62 - 1, -(2**62) + 1, 2**53 + 1, None])
    found += [[source.randint(-9, 9) for _ in range(n)] for n in range(1, GROUPS)]
    # ⌈1000 · 0.07⌉ is 70, which doubles take for 71.
    return [*found, list(range(1000)), [None, *range(100)]]


def expected(values: list[int | None], level: Fraction, kind: str) -> float | int | None:
    """As DuckDB's manual says it, in whole numbers up to the last product."""
    held = sorted(each for each in values if each is not None)
    if not held:
        return None
    if kind == "rank":
        return held[max(0, -(-len(held) * level.numerator // level.denominator) - 1)]
    first, rest = divmod((len(held) - 1) * level.numerator, level.denominator)
    low, high = float(held[first]), float(held[min(first + 1, len(held) - 1)])
    return low + (high - low) * (rest / level.denominator)


@pytest.mark.parametrize("kind", ["rank", "between"])
@pytest.mark.parametrize("level", LEVELS)
def test_it_is_the_exact_rank_of_each_group(level: str, kind: Any) -> None:
    held = groups(random.Random(level + kind))
    rows = [(i, each) for i, group in enumerate(held) for each in group]
    random.Random(1).shuffle(rows)
    fold = Fold(kind=kind, level=Fraction(level))
    with duckdb.connect() as connection:
        owners, values = (pa.array(each, pa.int64()) for each in zip(*rows, strict=True))
        connection.register("t", pa.table({"o": owners, "x": values}))
        source = exp.select("*").from_("t").subquery("t")
        ordered = in_order(DUCKDB, source, {3: column("x", "t")}, [column("o", "t")])
        found = (
            exp.select(column("o", "t"), quantile(DUCKDB, fold, 3, "t").sql).from_(ordered).group_by(column("o", "t"))
        )
        answered = dict(connection.execute(DUCKDB.written(found)).fetchall())
    assert answered == {i: expected(group, Fraction(level), kind) for i, group in enumerate(held) if group}


@pytest.mark.parametrize("called", ["QUANTILE_CONT", "QUANTILE_DISC"])
@pytest.mark.parametrize(
    ("level", "hint"), [("0.1234567", "Write 0.123457."), ("0.1000000000000000000001", "Write 0.1.")]
)
def test_ranks_of_any_number_of_rows_fit_64_bits(called: str, level: str, hint: str) -> None:
    """A level with eighteen digits made Spark's product leave 64 bits from 75 rows of one person on."""
    columns = tuple(ColumnSchema(name=name, type="integer") for name in ("p", "x"))
    declared = Schema(tables={"t": TableSchema(name="t", columns=columns)}, unit=AddRemove(key="p"))
    text = "SELECT SUM(CLAMP(m, 0, 9)) AS s FROM (SELECT p, {}(x, {}) AS m FROM t GROUP BY p)"
    with pytest.raises(QueryError, match="at most six decimal places") as caught:
        read(text.format(called, level), declared, evaluate)
    assert caught.value.hint == hint
    assert read(text.format(called, "0.123456"), declared, evaluate)
