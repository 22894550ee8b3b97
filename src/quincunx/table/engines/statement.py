"""A program as one statement: rows, weights, sums, votes. The dialect is asked for what engines write differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from quincunx.errors import QueryError
from quincunx.table.engines import votes, weights
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emission import emit
from quincunx.table.engines.keys import normal, public_key
from quincunx.table.engines.lattice import contribution, present, product
from quincunx.table.engines.rows import Sources, rows
from quincunx.table.engines.typed_sql import Piece, binary, both, call, cast, choose, column, constant, text, whole
from quincunx.table.expression import Expression
from quincunx.table.measure import Measure, Program
from quincunx.table.plan import Query

LARGEST = 2**62 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL with its parameters (lists of public keys). Columns: g or the keys, then the measures, then the votes."""

    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


class _Writer:
    """Collects the relations of one statement, in order."""

    def __init__(self, program: Program, sources: Sources, d: Dialect) -> None:
        self.program, self.sources, self.d = program, sources, d
        self.query: Query = program.query
        self.known = self.query.known_keys
        self.relations: list[tuple[str, exp.Select, bool | None]] = []
        self.parameters: dict[str, Any] = {}
        self.rows = rows(d, self.query.rows, sources)
        self.who = self._owners()
        self.owners = list(self.who)
        self.groups = ["g"] if self.known else [f"k{i}" for i in range(len(self.query.keys))]
        self.columns: dict[Expression, str] = {}

    def write(self) -> Statement:
        self._read()
        self._keep()
        parts = [*self._rows(), *self._people(), *self._votes()]
        sql = self.d.written(self._join(parts), pretty=True)
        return Statement(sql=sql, parameters=self.parameters)

    def _owners(self) -> dict[str, Piece]:
        """Whose a row is. Of several worlds its own belongs to the owner too: nobody is in two of them."""
        if not self.program.worlds or not self.rows.owners:
            # Where each row is one person, nothing is weighted and no owner is asked for.
            return dict(self.rows.owners)
        return {**self.rows.owners, "world": self._emit(self.query.keys[0].expression)}

    def _emit(self, expression: Expression) -> Piece:
        return emit(self.d, expression, self.rows.columns)

    def _normal(self, piece: Piece) -> exp.Expression:
        return normal(self.d, piece).sql

    def add(self, name: str, select: exp.Select, once: bool | None = None) -> None:
        self.relations.append((name, select, once))

    def _needed(self) -> list[Expression]:
        found: dict[Expression, None] = {}
        for measure in self.program.measures:
            for part in (measure.argument, *(each.argument for each in measure.factors), measure.where):
                if part is not None:
                    found[part] = None
        return list(found)

    def _read(self) -> None:
        """`read`: the rows that count, with owner, keys, arguments and conditions."""
        below, chosen = self.rows, []
        for name, piece in self.who.items():
            chosen.append(exp.alias_(self._normal(piece), name))
        for i, key in enumerate(self.query.keys):
            chosen.append(exp.alias_(self._normal(self._emit(key.expression)), f"k{i}"))
        self.types: dict[Expression, str] = {}
        for i, expression in enumerate(self._needed()):
            piece = self._emit(expression)
            self.columns[expression], self.types[expression] = f"a{i}", piece.type
            chosen.append(exp.alias_(piece.sql, f"a{i}"))
        select = exp.select(*(chosen or [exp.alias_(whole(0), "z")])).from_(below.relation)
        self.add("read", select.where(both(list(below.conditions))) if below.conditions else select)

    def _keep(self) -> None:
        """`kept`: rows with a public key (or any, where unknown), with the number or values of their group."""
        joined = exp.select().from_("read")
        number: exp.Expression = whole(0)
        for i, key in enumerate(self.query.keys):
            if key.values is None:
                continue
            kind = self._emit(key.expression).type
            listed, places, nulls = public_key(key.values, kind)
            self.parameters[f"keys{i}"], self.parameters[f"places{i}"] = listed, places
            self.add(f"key{i}", self.d.keys(f"keys{i}", f"places{i}", kind))
            on = self.d.same(column(f"k{i}", "read"), column("v", f"key{i}"), nulls=nulls)
            joined = joined.join(f"key{i}", on=on, copy=False)
            number = binary(exp.Add, binary(exp.Mul, number, whole(len(key.values))), column("i", f"key{i}"))
        for name in self.owners:
            joined = joined.select(column(name, "read"), copy=False)
        if self.known:
            joined = joined.select(exp.alias_(number, "g"), copy=False)
        else:
            joined = joined.select(*(column(name, "read") for name in self.groups), copy=False)
        for i, measure in enumerate(self.program.measures):
            value = self._contribution(measure)
            if value is not None:
                joined = joined.select(exp.alias_(value, f"x{i}"), copy=False)
        # Weights look at the rows a second time; reading and matching them again would cost more than keeping them.
        again = any(measure.vector.bits for measure in self.program.measures)
        once = any(source.once for source in self.sources.values())
        self.add("kept", joined, once or again)

    def _piece(self, expression: Expression) -> Piece:
        return Piece(sql=column(self.columns[expression]), type=self.types[expression])

    def _contribution(self, measure: Measure) -> exp.Expression | None:
        """What a row adds: a number for sums, whether it counts for counts; None where every row counts."""
        where = None if measure.where is None else self._piece(measure.where).sql
        if not measure.counts and measure.argument is not None:
            return contribution(self.d, measure, self._piece(measure.argument), where)
        if measure.factors:
            return product(self.d, measure, [self._piece(each.argument) for each in measure.factors], where)
        conditions = [] if measure.argument is None else [present(self.d, self._piece(measure.argument))]
        conditions += [] if where is None else [call("COALESCE", where, exp.false())]
        return both(conditions) if conditions else None

    def _rows(self) -> list[exp.Select]:
        vectors = [measure.vector for measure in self.program.measures if measure.vector.kind == "rows"]
        if not vectors:
            return []
        parts = [self._measured(self._full)]
        if vectors[0].bits:
            group = None if self.known else self.groups
            for name, relation in weights.over_rows(self.d, vectors[0], self.owners, group or ["g"]):
                self.add(name, relation)
            # What those over the limit have too much, taken off again: they alone are joined, which is faster.
            on = self._same("kept", "heavy", self.owners)
            parts.append(self._measured(self._excess).join("heavy", on=on, copy=False))
        return [self._grouped(part) for part in parts]

    def _measured(self, total: Callable[[int, Measure], exp.Expression]) -> exp.Select:
        select = exp.select(*(column(name, "kept") for name in self.groups)).from_("kept")
        for i, measure in enumerate(self.program.measures):
            value = total(i, measure) if measure.vector.kind == "rows" else whole(0)
            select = select.select(exp.alias_(value, f"m{i}"), copy=False)
        return select

    def _full(self, i: int, measure: Measure) -> exp.Expression:
        """What all rows add up to with W = 2^bits: no row is cut, so the factor 2^fraction comes after the sum."""
        x = column(f"x{i}", "kept")
        if not measure.counts:
            total: exp.Expression = self.d.total(x)
        elif measure.argument is None and measure.where is None:
            total = exp.Count(this=exp.Star())
        else:
            total = self.d.total(choose([(x, whole(1))], whole(0)))
        if not measure.fraction:
            return total
        return binary(exp.Mul, cast(total, "HUGEINT"), cast(text(str(1 << measure.fraction)), "HUGEINT"))

    def _excess(self, i: int, measure: Measure) -> exp.Expression:
        """Rows of those over the limit: with their own weight less with W = 2^bits."""
        return binary(exp.Sub, self._total(i, measure, column("w", "heavy")), self._full(i, measure))

    def _total(self, i: int, measure: Measure, weight: exp.Expression) -> exp.Expression:
        x = column(f"x{i}", "kept")
        if measure.counts:
            plain = measure.argument is None and measure.where is None
            return self.d.total(weight.copy() if plain else choose([(x, weight.copy())], whole(0)))
        size = max(abs(measure.low - measure.centre), abs(measure.high - measure.centre))
        bits, shift = measure.vector.bits, measure.vector.bits - measure.fraction
        small = size << bits < 2**62
        product = binary(exp.Mul, x if small else cast(x, "HUGEINT"), weight.copy())
        if not shift:
            return self.d.total(product)
        # The quotient is cut toward zero, so that no row counts for more than its weight says.
        share = Piece(sql=product, type="BIGINT" if small else "HUGEINT")
        return self.d.total(self.d.quotient(share, constant(1 << shift)))

    def _people(self) -> list[exp.Select]:
        found = []
        for i, measure in enumerate(self.program.measures):
            if measure.vector.kind != "people":
                continue
            here = [column(name) for name in (*self.owners, *self.groups)]
            units = exp.select(*here).distinct().from_("kept")
            if measure.where is not None:
                units = units.where(column(f"x{i}"))
            self.add(f"units{i}", units)
            select = exp.select(*(column(name, f"units{i}") for name in self.groups)).from_(f"units{i}")
            weight: exp.Expression = whole(1)
            if measure.vector.bits:
                heavy = f"heavy{i}"
                for name, relation in weights.over_groups(self.d, measure.vector, self.owners, f"units{i}", heavy):
                    self.add(name, relation)
                select = select.join(heavy, join_type="left", on=self._same(f"units{i}", heavy, self.owners))
                weight = call("COALESCE", column("w", heavy), whole(1 << measure.vector.bits))
            for j in range(len(self.program.measures)):
                select = select.select(exp.alias_(self.d.total(weight) if i == j else whole(0), f"m{j}"))
            found.append(self._grouped(select))
        return found

    def _votes(self) -> list[exp.Select]:
        if self.program.selection is None:
            return []
        keys = [
            Piece(sql=column(f"k{i}"), type=self._emit(key.expression).type) for i, key in enumerate(self.query.keys)
        ]
        # Which world it is takes no part in which keys a person keeps.
        hashed = keys[1:] if self.program.worlds else keys
        chosen = votes.relations(self.d, self.program.selection, self.owners, self.groups, hashed)
        for name, relation, once in chosen:
            self.add(name, relation, once)
        select = exp.select(*(column(name) for name in self.groups)).from_("votes")
        for j in range(len(self.program.measures)):
            select = select.select(exp.alias_(whole(0), f"m{j}"))
        return [select.select(column("s"))]

    def _grouped(self, select: exp.Select) -> exp.Select:
        if self.program.selection is not None:
            select = select.select(exp.alias_(whole(0), "s"))
        table = select.args["from_"].this.name
        return select.group_by(*(column(name, table) for name in self.groups), copy=False)

    def _same(self, left: str, right: str, names: Sequence[str]) -> exp.Expression:
        return both([exp.EQ(this=column(name, left), expression=column(name, right)) for name in names])

    def _join(self, parts: list[exp.Select]) -> exp.Select:
        """All parts added up for each group, clamped and in order."""
        union: exp.Query = parts[0]
        for part in parts[1:]:
            union = exp.union(union, part, distinct=False, copy=False)
        names = [f"m{i}" for i in range(len(self.program.measures))]
        if self.program.selection is not None:
            names.append("s")
        keys = [column(name) for name in self.groups]
        final = (
            exp.select(*keys)
            .from_(union.subquery("parts"))
            .group_by(*keys)
            .order_by(*(self.d.ordered(key.copy()) for key in keys))
        )
        for name in names:
            total = call("LEAST", call("GREATEST", self.d.total(column(name)), whole(-LARGEST)), whole(LARGEST))
            final = final.select(exp.alias_(cast(total, "BIGINT"), name), copy=False)
        if self.program.selection is not None:
            final = final.having(exp.GT(this=self.d.total(column("s")), expression=whole(0)))
        for name, relation, once in self.relations:
            final = final.with_(name, as_=relation, materialized=self.d.materialised(bool(once)), copy=False)
        return final


def statement(program: Program, sources: Sources, dialect: Dialect) -> Statement:
    """The one statement that computes all measures of a program."""
    if not program.measures:
        raise QueryError("the question has nothing to measure", where="engine")
    if program.query.rows.owner is None:
        names = ", ".join(table.name for table in program.query.rows.tables.values())
        raise QueryError("the engine runs questions on private tables", where="engine", got=names)
    return _Writer(program, sources, dialect).write()
