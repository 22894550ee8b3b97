"""Generated tables full of awkward values, and questions about them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa

from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.engines import DuckDB, Result, evaluate
from quincunx.table.measure import Program
from quincunx.table.rules import plan
from quincunx.table.schema import Schema
from quincunx.table.sql import read
from quincunx.table.table import Table, schema
from tests.table.reference import Row

REGIONS = ("north", "süd", "東", "o'brien")
TYPES = {
    "person": pa.int64(),
    "region": pa.string(),
    "age": pa.int64(),
    "cost": pa.float64(),
    "price": pa.decimal128(12, 3),
    "big": pa.decimal128(38, 0),
    "day": pa.date32(),
    "flag": pa.bool_(),
}
COLUMNS: Mapping[str, Mapping[str, object]] = {
    "region": {"keys": [*REGIONS, None]},
    "age": {"bounds": (0, 110)},
    "cost": {"bounds": ("-7.77", "50.05"), "step": "0.1"},
    "price": {"bounds": ("0.0005", "99.9995"), "step": "0.25"},
    "big": {"type": "integer", "bounds": (-(2**100), 2**100), "step": 2**60},
    "flag": {"keys": [True, False]},
}
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM t",
    "SELECT COUNT(*) AS n, SUM(age) AS s, AVG(age) AS m FROM t",
    "SELECT region, COUNT(*) AS n, SUM(cost) AS s, COUNT(cost) AS c FROM t GROUP BY region",
    "SELECT region, AVG(cost) AS m, COUNT(DISTINCT person) AS p FROM t WHERE age > 20 GROUP BY region",
    "SELECT region, flag, SUM(price) AS s, AVG(price) AS m FROM t GROUP BY region, flag",
    "SELECT region, SUM(big) AS s, COUNT(*) FILTER (WHERE flag) AS f FROM t GROUP BY region",
    "SELECT COUNT(DISTINCT person) FILTER (WHERE flag) AS p, SUM(-age) FILTER (WHERE NOT flag) AS s FROM t",
    "SELECT COUNT(DISTINCT person) AS p FROM t",
    "SELECT region, COUNT(DISTINCT person) FILTER (WHERE age < 50) AS p, COUNT(*) AS n FROM t GROUP BY region",
    "SELECT age, flag, COUNT(*) AS n, SUM(cost) AS s, COUNT(DISTINCT person) AS p FROM t GROUP BY age, flag",
    "SELECT COUNT(DISTINCT age) AS d, COUNT(DISTINCT cost) FILTER (WHERE flag) AS c, COUNT(*) AS n FROM t",
    "SELECT region, COUNT(DISTINCT cost) AS d, COUNT(DISTINCT day) AS e, COUNT(DISTINCT price) AS f FROM t "
    "WHERE age > 0 GROUP BY region",
    "SELECT s.r, SUM(s.x) AS n FROM (SELECT region AS r, age + age AS x FROM t WHERE cost > 0) AS s GROUP BY s.r",
)
# With unknown keys, which need `groups`.
UNKNOWN = (
    "SELECT age, COUNT(*) AS n FROM t GROUP BY age",
    "SELECT age, region, SUM(cost) AS s, COUNT(DISTINCT person) AS p FROM t GROUP BY age, region",
    "SELECT age, COUNT(DISTINCT region) AS d, COUNT(DISTINCT cost) FILTER (WHERE flag) AS e FROM t GROUP BY age",
    "SELECT day, AVG(age) AS m FROM t WHERE flag GROUP BY day",
)
LIMITS: tuple[dict[str, int], ...] = (
    {"rows": 3},
    {"rows": 7, "per_group": 2},
    {"rows": 1},
    {"per_group": 2, "groups": 2},
    {"rows": 5, "groups": 1},
    {"rows": 1000, "groups": 50},
)


def rows(random: random.Random, people: int, most: int) -> list[Row]:
    """Rows of a few people; one of them may have very many."""
    return [row for person in range(people) for row in person_rows(random, person, most)]


def person_rows(source: random.Random, person: int | None, most: int) -> list[Row]:
    count = source.choice((1, 1, 2, 3, most))
    return [_row(source, person if source.random() > 0.05 else None) for _ in range(count)]


def _row(source: random.Random, person: int | None) -> Row:
    costs = (None, math.nan, math.inf, -math.inf, -0.0, 0.05, 0.15, -7.77, 50.05, 1e300, -1e300, 0.29, 12.345)
    prices = (None, "0.000", "0.125", "0.124", "0.126", "99.999", "123456789.999", "-123456789.999", "0.375", "50.000")
    bigs = (None, 0, 2**53 + 1, 2**100, -(2**100), 2**100 + 1, 10**38 - 1, 2**59, 2**59 - 1, -(2**59), 3 * 2**60)
    price, big = source.choice(prices), source.choice(bigs)
    return {
        "person": person,
        "region": source.choice((*REGIONS, None, "elsewhere")),
        "age": source.choice((None, -5, 0, 20, 21, 49, 50, 110, 111, 2**62)),
        "cost": source.choice(costs),
        "price": None if price is None else Decimal(price),
        "big": big,
        "day": source.choice((None, date(1969, 12, 31), date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31))),
        "flag": source.choice((None, True, False)),
    }


def frame(data: list[Row]) -> pa.Table:
    """The rows as Arrow, where every type is declared."""
    columns = {}
    for name, kind in TYPES.items():
        values = [row[name] for row in data]
        if name == "big":
            values = [None if value is None else Decimal(value) for value in values]
        columns[name] = pa.array(values, type=kind)
    return pa.table(columns)


def world(
    data: list[Row],
    unit: AddRemove | Replace,
    limits: Mapping[str, int],
    threads: int | None = 1,
    *,
    snapshot: bool = False,
) -> tuple[DuckDB, Schema]:
    """An engine on the rows, and their schema."""
    tables = {"t": Table(frame(data), limits=limits, columns=COLUMNS)}
    declared = schema(tables, unit)
    return DuckDB(tables, declared, snapshot=snapshot, threads=threads), declared


def planned(text: str, tables_schema: Schema, norm: Any) -> Program:
    """The plan of a question; those of UNKNOWN as if nothing followed from bounds."""
    return plan(read(text, tables_schema, evaluate, derive=text not in UNKNOWN), tables_schema, norm)


def by_key(result: Result) -> dict[tuple[Any, ...], list[int]]:
    return {key: [int(measure[i]) for measure in result.measures] for i, key in enumerate(result.keys)}
