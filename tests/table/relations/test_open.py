"""A further relation is an addition: one class and one writer, and everything between takes it.

`Both` is UNION ALL of two private tables, written here with what the product gives to any node. Two scans, two frames
in one statement, slots of its own, an owner from both sides, limits that add up.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import pyarrow as pa
import pytest
from sqlglot import exp

from quincunx.spec.unit import AddRemove
from quincunx.table import Table, canonical
from quincunx.table.aggregates.count import Count
from quincunx.table.aggregates.people import People
from quincunx.table.aggregates.sum import Sum
from quincunx.table.canonical import Json
from quincunx.table.engines import DuckDB
from quincunx.table.engines import rows as writing
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.keys import normal
from quincunx.table.engines.typed_sql import Piece, both, column
from quincunx.table.expression import Column, Expression
from quincunx.table.operators import apply, literal
from quincunx.table.plan import Query
from quincunx.table.relations import Filter, Owner, Relation, Scan
from quincunx.table.rules import plan
from quincunx.table.schema import Limits, Schema
from quincunx.table.table import schema

PERSON = AddRemove(key="k")


@dataclass(frozen=True, slots=True, kw_only=True)
class Both(Relation):
    """The rows of two relations whose columns have the same types, one after the other."""

    tag: ClassVar[str] = "Both"

    first: Relation
    second: Relation

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.first, self.second)

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(replace(each, level=self.level, scan=min(self.tables)) for each in self.first.columns)

    @property
    def owner(self) -> Owner | None:
        return self.first.owner

    @property
    def limits(self) -> Limits:
        return Limits(rows=(self.first.limits.rows or 0) + (self.second.limits.rows or 0))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*self.first.columns, *self.second.columns)

    @property
    def level(self) -> int:
        return 1 + max(each.level for each in self.inputs)

    def fused(self) -> Relation:
        return Both(first=self.first.fused(), second=self.second.fused())

    def shifted(self, by: int) -> Relation:
        return Both(first=self.first.shifted(by), second=self.second.shifted(by))

    def canonical(self) -> Json:
        return canonical.node(self.tag, first=self.first.canonical(), second=self.second.canonical())


def written(d: Dialect, relation: Both, sources: writing.Sources) -> writing.Rows:
    parts = [(each, writing.rows(d, each, sources)) for each in relation.inputs]
    selects = []
    for each, rows in parts:
        owners = [exp.alias_(normal(d, piece).sql, name) for name, piece in rows.owners.items()]
        chosen = [exp.alias_(rows.columns[c.slot].sql.copy(), f"c{i}") for i, c in enumerate(each.columns)]
        selects.append(exp.select(*owners, *chosen).from_(rows.relation).where(both(list(rows.conditions))))
    first, types = parts[0][1], [parts[0][1].columns[c.slot].type for c in relation.first.columns]
    return writing.Rows(
        relation=exp.union(*selects, distinct=False).subquery("both"),
        columns={c.slot: Piece(sql=column(f"c{i}"), type=types[i]) for i, c in enumerate(relation.columns)},
        owners={name: Piece(sql=column(name), type=piece.type) for name, piece in first.owners.items()},
        conditions=(),
    )


# (table, owner, x): two people and nobody, in two tables.
World: TypeAlias = tuple[tuple[str, int | None, int], ...]
ROWS: World = (("a", 1, 2), ("a", 2, -1), ("b", 1, 2), ("b", 2, 3), ("b", None, 2))


def worlds() -> Iterator[World]:
    """All of four rows, so that each person has more rows than its limits add up to in some, and fewer in others."""
    return itertools.combinations_with_replacement(ROWS, 4)


def tables(world: World) -> dict[str, Table]:
    """The key of the second table is bounded: all its people look alike."""
    frames = {
        name: pa.table(
            {
                "k": pa.array([k for t, k, _ in world if t == name], pa.int64()),
                "x": pa.array([x for t, _, x in world if t == name], pa.int64()),
            }
        )
        for name in ("a", "b")
    }
    bounds = {"a": {"x": {"bounds": (-1, 3)}}, "b": {"x": {"bounds": (-1, 3)}, "k": {"bounds": (0, 0)}}}
    return {name: Table(frame, limits={"rows": 1}, columns=bounds[name]) for name, frame in frames.items()}


def question(declared: Schema) -> Query:
    first, second = (Scan(table=declared.tables[name], unit=PERSON) for name in ("a", "b"))
    joined = Both(first=first, second=second.shifted(1))
    x = joined.columns[1]
    rows = Filter(source=joined, condition=apply("less", x, literal(3)))
    return Query(rows=rows, keys=(), aggregates=(Count(), Sum(argument=x), People()), outputs=())


def measured(world: World) -> tuple[int, ...]:
    given = tables(world)
    declared = schema(given, PERSON)
    program = plan(question(declared), declared, 1)
    assert program.measures[0].vector.bound2 == 4
    with DuckDB(given, declared, threads=1) as engine:
        engine.rehearse(program)
        return tuple(int(each[0]) for each in engine.run(program).measures)


def test_two_tables_are_one_relation_and_it_is_local(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """M(D) = Σ M(D_u) over the owners of both tables together: one person's rows share one weight."""
    monkeypatch.setitem(writing.WRITERS, Both, written)  # type: ignore[arg-type]
    once = functools.cache(measured)
    heavy = 0
    # Every seventh, or all: each is an engine of its own.
    for world in itertools.islice(worlds(), None, None, 1 if full else 7):
        alone = [tuple(row for row in world if row[1] == who) for who in (1, 2)]
        found, parts = once(world), [once(each) for each in alone]
        assert found == tuple(map(sum, zip(*parts, strict=True))), world
        heavy += any(len([row for row in each if row[2] < 3]) > 2 for each in alone)
    assert heavy


def test_two_readings_of_one_table_are_told_apart() -> None:
    declared = schema(tables(ROWS), PERSON)
    scan = Scan(table=declared.tables["a"], unit=PERSON)
    twice = Both(first=scan, second=scan.shifted(1))
    assert sorted(twice.tables) == [0, 1]
    assert len({each.slot for part in (*twice.inputs, twice) for each in part.columns}) == 6
    assert twice.height == 1
    assert twice.shifted(3).tables.keys() == {3, 4}
