"""Weights from the engine against their definition, at sizes that no list of rows could hold."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.duckdb.dialect import DUCKDB, DuckDBDialect
from quincunx.table.engines.typed_sql import column
from quincunx.table.engines.weights import crowding, over_groups, over_rows, parts, roots
from quincunx.table.measure import Vector
from tests.table.reference import weight


class Spread(DuckDBDialect):
    """DuckDB, asked for parts of the groups as Spark is."""

    def part_of(self, values: Sequence[exp.Expression], number: int) -> exp.Expression:
        (value,) = values
        return sqlglot.parse_one(f"(hash({value.sql(dialect='duckdb')}) % {number})::BIGINT", dialect="duckdb")


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


def vector_of(bound2: int) -> Vector:
    return Vector(kind="rows", norm=2, bound2=Fraction(bound2), bits=20)


def crowded(vector: Vector, number: int, kept: str) -> set[int]:
    """Who may be over the limit, of rows with o0 and the part p of their group."""
    select = exp.select(column("o0")).from_("over")
    for name, relation in crowding(vector, number, column("p"), ["o0"], "kept", "over"):
        select = select.with_(name, as_=relation)
    asked = DUCKDB.written(select).replace("WITH ", f"WITH kept AS ({kept}), ", 1)
    return {who for (who,) in duckdb.connect().execute(asked).fetchall()}


@pytest.mark.parametrize(
    ("bound2", "number"), [(1, 8), (400, 8), (31**2, 8), (32**2, 4), (1023**2, 4), (1024**2, 2), (4095**2, 2)]
)
def test_who_is_left_out_by_parts_counts_in_full(bound2: int, number: int) -> None:
    """People whose rows in parts lie at the ends of what a part holds, alone, in pairs and at random: who is not found
    has Σ(rows of a part)² ≤ C², and so has any vector of groups; who has few rows, so that nothing is carried, is found
    only if that is not so."""
    vector, width = vector_of(bound2), 40 // number
    assert parts(vector) == number
    source, ends = (
        random.Random("parts"),
        sorted({0, 1, 2, 19, 20, 21, *(2**width + i for i in (-1, 0, 1)), 8191, 8192}),
    )
    ends = [each for each in ends if each < 20_000]
    people = [(i, n, j, m) for i in range(number) for j in range(i) for n in ends for m in ends]
    rows = [[n if p == i else m if p == j else 0 for p in range(number)] for i, n, j, m in people]
    rows += [[source.choice(ends[:7]) for _ in range(number)] for _ in range(300)]
    rows = [each for each in rows if any(each)]
    counts = ", ".join(f"({who}, {p}, {n})" for who, each in enumerate(rows) for p, n in enumerate(each) if n)
    found = crowded(
        vector, number, f"SELECT o0, p FROM (VALUES {counts}) AS t(o0, p, n), range(20000) AS r(i) WHERE i < n"
    )
    assert len(found) not in (0, len(rows))
    for who, each in enumerate(rows):
        over = sum(n * n for n in each) > bound2
        assert who in found or not over, each
        if max(each) < 2**width and sum(each) < 2**13:
            assert (who in found) == over, each


def test_what_is_carried_is_seen() -> None:
    """As many rows in one part as look like one row in the next, at every part and for two carries at once."""
    vector = vector_of(400)
    for number, width in ((8, 5), (4, 10)):
        for part in range(number):
            for rows in (2**width, 2 ** (2 * width)):
                kept = f"SELECT 1 AS o0, {part} AS p FROM range({rows})"
                assert crowded(vector, number, kept) == {1}, (number, part, rows)


def test_no_number_of_rows_of_one_person_is_too_large() -> None:
    """Nine million rows: their sum is beyond a BIGINT, and a question that fails by it would tell of the person."""
    for number in (8, 4, 2):
        for part in (0, number - 1):
            assert crowded(vector_of(400), number, f"SELECT 1 AS o0, {part} AS p FROM range(9000000)") == {1}


def test_limits_without_parts() -> None:
    assert parts(vector_of(4096**2)) is None
    assert parts(vector_of(2**62)) is None


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
