"""Weights from the engine against their definition, at sizes that no list of rows could hold."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.duckdb.dialect import DUCKDB, DuckDBDialect
from quincunx.table.engines.typed_sql import column
from quincunx.table.engines.weights import over_groups, over_rows, repeated, roots
from quincunx.table.measure import Vector
from tests.table.reference import weight


class Spread(DuckDBDialect):
    """DuckDB, asked for different groups as Spark is."""

    def different(self, values: Sequence[exp.Expression]) -> exp.Expression:
        (value,) = values
        bits = f"bit_count(bit_or(1::UBIGINT << (hash({value.sql(dialect='duckdb')}) % 64)))::BIGINT"
        return sqlglot.parse_one(bits, dialect="duckdb")


def computed(relations: list[tuple[str, exp.Select]], base: tuple[str, str], name: str) -> dict[int, int]:
    select = exp.select(column("o0"), column("w")).from_(name)
    for each, relation in relations:
        select = select.with_(each, as_=relation)
    sql = select.sql(dialect="duckdb").replace("WITH ", f"WITH {base[0]} AS ({base[1]}), ", 1)
    return dict(duckdb.connect().execute(sql).fetchall())


@pytest.mark.parametrize("dialect", [DUCKDB, Spread()])
@pytest.mark.parametrize(
    ("norm", "bound2"),
    [(1, 1), (1, 4), (1, 400), (2, 1), (2, 4), (2, 6), (2, 63), (2, 64), (2, 67), (2, 400), (2, 2**40)],
)
def test_row_weights_are_the_largest_that_fit(norm: int, bound2: int, dialect: Dialect) -> None:
    vector = Vector(kind="rows", norm=norm, bound2=Fraction(bound2), bits=20)  # type: ignore[arg-type]
    shapes = {1: [1], 2: [3, 1], 3: [20], 4: [21], 5: [7] * 9, 6: [5000], 7: [1] * 401, 8: [2, 3, 5, 7, 11]}
    shapes |= {9: [1] * 63 + [2], 10: [1] * 64 + [2], 11: [18] + [1] * 77, 12: [18] + [1] * 76, 13: [8], 14: [8, 1]}
    rows = "UNION ALL ".join(
        f"SELECT {who} AS o0, {g} AS g FROM range({count}) " for who, v in shapes.items() for g, count in enumerate(v)
    )
    heavy = computed(over_rows(dialect, vector, ["o0"], ["g"]), ("kept", rows), "heavy")
    for who, v in shapes.items():
        wanted = weight(vector, v)
        assert heavy.get(who, 2**20) == wanted, v
        # Only those over the limit are in the relation.
        assert (who in heavy) == (wanted < 2**20)


@pytest.mark.parametrize("bound2", [1, 10, 63, 64, 65, 79, 80, 100, 150, 400, 900])
def test_who_has_few_rows_beyond_different_groups_counts_in_full(bound2: int) -> None:
    """Every vector of up to 24 rows, and some long ones: whoever is left out has Σv² ≤ C², for each number that may be
    found of its different groups; and the number is the largest that this lets through at 64 groups."""
    least = repeated(Vector(kind="rows", norm=2, bound2=Fraction(bound2), bits=20))
    longer = [[many, *[1] * others] for many in range(1, 40) for others in (0, 20, 62, 63, 64, 90)]
    for v in itertools.chain(partitions(24), longer):
        fewest = sum(v) - least + 1
        if any(fewest <= p for p in range(1, min(len(v), 64) + 1)):
            assert sum(each * each for each in v) <= bound2, v
    if least:
        # 64 groups, and as many rows beyond one in each as are not let through: the norm of one more is too large.
        assert (least + 1) ** 2 + 63 > bound2


def partitions(most: int) -> Iterator[list[int]]:
    """All ways to lay up to so many rows into groups."""

    def within(rows: int, largest: int) -> Iterator[list[int]]:
        yield []
        for first in range(1, min(rows, largest) + 1):
            for rest in within(rows - first, first):
                yield [first, *rest]

    return (each for each in within(most, most) if each)


@pytest.mark.parametrize("bound2", [1, 2])
def test_saturation_changes_no_weight(bound2: int) -> None:
    """Around C·2^bits rows in one group, where v is saturated, W falls from 1 to 0."""
    vector = Vector(kind="rows", norm=2, bound2=Fraction(bound2), bits=20)
    shapes = [[2**20 - 1], [2**20], [2**20 + 1], [2**20 + 7, 3], [3 * 2**20]]
    rows = "UNION ALL ".join(
        f"SELECT {who} AS o0, {g} AS g FROM range({count}) "
        for who, v in enumerate(shapes)
        for g, count in enumerate(v)
    )
    heavy = computed(over_rows(DUCKDB, vector, ["o0"], ["g"]), ("kept", rows), "heavy")
    assert heavy == {who: weight(vector, v) for who, v in enumerate(shapes)}
    assert {0} < set(heavy.values())


@pytest.mark.parametrize("norm", [1, 2])
def test_group_weights_are_the_largest_that_fit(norm: int) -> None:
    vector = Vector(kind="people", norm=norm, bound2=Fraction(9 if norm == 1 else 3), bits=20)  # type: ignore[arg-type]
    groups = " UNION ALL ".join(f"SELECT {who} AS o0, range AS g FROM range({who})" for who in range(1, 60))
    heavy = computed(over_groups(DUCKDB, vector, ["o0"], "present", "light"), ("present", groups), "light")
    assert {who: heavy.get(who, 2**20) for who in range(1, 60)} == {
        who: weight(vector, [1] * who) for who in range(1, 60)
    }


def test_roots_are_exact_around_squares() -> None:
    source = random.Random("roots")
    bases = [*range(40), *(source.randrange(2**26) for _ in range(2_000)), 2**26 - 1]
    squares = sorted({base * base + off for base in bases for off in (-1, 0, 1) if base * base + off >= 0})
    values = ", ".join(f"({square})" for square in squares)
    given = exp.select(exp.alias_(column("v"), "o0"), exp.alias_(column("v"), "q")).from_("given")
    relations = [("squares", given), *roots(DUCKDB, "squares", "root", [column("o0")])]
    found = computed(relations, ("given", f"SELECT v FROM (VALUES {values}) AS t(v)"), "root")
    assert len(found) == len(squares)
    for square, w in found.items():
        assert w * w <= square < (w + 1) * (w + 1)
