"""A program as one statement: rows, weights, sums, votes. The dialect is asked for what engines write differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sqlglot import exp

from quincunx.errors import QueryError
from quincunx.table.engines import votes, weights
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emission import emit
from quincunx.table.engines.keys import normal, place_in, public_key, run_of, within_run
from quincunx.table.engines.lattice import (
    at_rung,
    bucket,
    climbing,
    contribution,
    kept,
    present,
    product,
    rung_of,
    stepped_key,
    within_highest,
)
from quincunx.table.engines.relations import rows
from quincunx.table.engines.rows import (
    HELD,
    WORLD,
    Rows,
    Sources,
    kept_columns,
    layered,
    shared,
    steps_of,
    stored,
    unfiltered,
)
from quincunx.table.engines.typed_sql import Piece, binary, both, call, cast, choose, column, constant, text, whole
from quincunx.table.expression import Column, Expression
from quincunx.table.measure import Ladder, Measure, Program, Vector
from quincunx.table.plan import Key, Query

LARGEST = 2**62 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL with its parameters (lists of public keys). Columns: g or the keys, then the measures, then the votes.

    Where some measures are histograms, q says of which one a row is a value, and t which value; q is −1 in all others.
    """

    sql: str
    tree: exp.Select = field(repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)


class _Writer:
    """Collects the relations of one statement, in order."""

    def __init__(self, program: Program, sources: Sources, d: Dialect) -> None:
        self.program, self.d = program.unrolled(), d
        self.sources, tables = shared(sources)
        self.query: Query = program.query
        self.known = self.query.known_keys
        self.relations: list[tuple[str, exp.Select, bool | None]] = []
        self.parameters: dict[str, Any] = {}
        self.rows = self._rows_below()
        for part in (*tables, *self.rows.before):
            self.add(part.name, part.select, part.once)
        self.owners = list(self.rows.owners)
        self.stored = stored(self.query.rows, self.sources)
        weighted = any(measure.vector.bits for measure in self.program.measures if measure.vector.kind == "rows")
        self.rows, self.made = self._layers()
        self.held = self.rows.columns.get(HELD) if weighted else None
        self.groups = ["g"] if self.known else [f"k{i}" for i in range(len(self.query.keys))]
        self.columns: dict[Expression, str] = {}
        self.numbers = range(len(self.program.measures))
        self.histograms = any(not _plain(measure) for measure in self.program.measures)
        # Of the sum at each rung, where its ladder is.
        self.ladders = {
            place + 1 + rung: place
            for place, measure in enumerate(self.program.measures)
            for rung in range(len(measure.sums))
        }
        # Among whom those over the limit are.
        self.among = "kept"

    def write(self) -> Statement:
        self._read()
        self._keep()
        parts = [*self._rows(), *self._histograms(), *self._people(), *self._values(), *self._votes()]
        tree = self._join(parts)
        return Statement(sql=self.d.written(tree, pretty=True), tree=tree, parameters=self.parameters)

    def _rows_below(self) -> Rows:
        """The rows of the question. Of several worlds the first key is the hidden one, which every relation keeps."""
        found = rows(self.d, self.query.rows, self.sources)
        world = self.query.keys[0].expression if self.program.worlds is not None else None
        if isinstance(world, Column) and WORLD in found.owners:
            return replace(found, columns={**found.columns, world.slot: found.owners[WORLD]})
        return found

    def _layers(self) -> tuple[Rows, Mapping[Expression, Piece]]:
        """The rows with columns for what keys, arguments and conditions would write many times."""
        asked = [*(key.expression for key in self.query.keys), *self._needed()]
        kept_ = kept_columns(self.stored)
        found, made = layered(self.d, self.rows, asked, "l", kept_)
        return replace(found, columns={**kept_, **found.columns}), made

    def _steps(self, measure: Measure) -> Piece | None:
        """The column of a kept table that holds the argument of a sum on the sum's own lattice."""
        argument = measure.argument
        if measure.counts or not _plain(measure) or self.stored is None:
            return None
        if not isinstance(argument, Column) or argument.level:
            return None
        lattice, _ = self.stored.steps.get(argument.name.lower(), (None, None))
        same = lattice is not None and lattice == replace(measure.lattice, centre=0)
        return self.rows.columns[steps_of(argument.name.lower())] if same else None

    def _emit(self, expression: Expression) -> Piece:
        return emit(self.d, expression, self.rows.columns, self.made)

    def _normal(self, piece: Piece) -> exp.Expression:
        return normal(self.d, piece).sql

    def _key(self, key: Key) -> Piece:
        piece = self._emit(key.expression)
        if key.stepped is not None:
            return stepped_key(self.d, key.expression, key.stepped, piece)
        return normal(self.d, piece)

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
        for name, piece in below.owners.items():
            chosen.append(exp.alias_(self._normal(piece), name))
        for i, key in enumerate(self.query.keys):
            chosen.append(exp.alias_(self._key(key).sql, f"k{i}"))
        self.types: dict[Expression, str] = {}
        for i, expression in enumerate(self._needed()):
            piece = self._emit(expression)
            self.columns[expression], self.types[expression] = f"a{i}", piece.type
            chosen.append(exp.alias_(piece.sql, f"a{i}"))
        if self.held is not None:
            chosen.append(exp.alias_(self.held.sql, "n"))
        for i, measure in enumerate(self.program.measures):
            steps = self._steps(measure)
            if steps is not None:
                chosen.append(exp.alias_(steps.sql, f"l{i}"))
            if measure.ladder is not None and measure.argument is not None:
                # One value for all rungs.
                clipped = within_highest(measure, measure.argument)
                given, moved = self._emit(measure.argument), self._emit(clipped.argument)
                chosen.append(exp.alias_(climbing(self.d, clipped, given, moved), f"l{i}"))
        select = exp.select(*(chosen or [exp.alias_(whole(0), "z")])).from_(below.relation)
        self.add("read", select.where(both(list(below.conditions))) if below.conditions else select)

    def _keep(self) -> None:
        """`kept`: rows with a public key (or any, where unknown), with the number or values of their group."""
        for i, key in enumerate(self.query.keys):
            kind = self._emit(key.expression).type
            if key.values is not None and run_of(key.values, kind) is None:
                self.add(f"key{i}", self.d.keys(f"keys{i}", f"places{i}", kind))
        joined, number = self._matched("read")
        for name in self.owners:
            joined = joined.select(column(name, "read"), copy=False)
        if self.held is not None:
            joined = joined.select(column("n", "read"), copy=False)
        if self.known:
            joined = joined.select(exp.alias_(number, "g"), copy=False)
        else:
            joined = joined.select(*(column(name, "read") for name in self.groups), copy=False)
        for i, measure in enumerate(self.program.measures):
            value = self._contribution(i, measure)
            if value is not None:
                joined = joined.select(exp.alias_(value, f"x{i}"), copy=False)
            if measure.vector.kind == "values" and measure.argument is not None:
                held = self._normal(self._piece(measure.argument))
                joined = joined.select(exp.alias_(held, f"y{i}"), copy=False)
        # Weights look at the rows a second time; reading and matching them again would cost more than keeping them,
        # but for a kept table, of which few are looked at again, and on an engine that reads faster than it keeps.
        again = self.held is None and any(measure.vector.bits for measure in self.program.measures)
        again = again and not self.d.reads_again
        again = again or not all(each.rowwise for each in self.query.rows.walk())
        once = any(source.once for source in self.sources.values())
        self.add("kept", joined, once or again)

    def _matched(self, rows: str) -> tuple[exp.Select, exp.Expression]:
        """A relation with columns k0, k1 … joined to the public keys, and the number of a row's group there."""
        joined, number = exp.select().from_(rows), whole(0)
        for i, key in enumerate(self.query.keys):
            if key.values is None:
                continue
            kind, k = self._emit(key.expression).type, column(f"k{i}", rows)
            run = run_of(key.values, kind)
            if run is None:
                listed, places, nulls = public_key(key.values, kind)
                self.parameters[f"keys{i}"], self.parameters[f"places{i}"] = listed, places
                on = self.d.same(k, column("v", f"key{i}"), nulls=nulls)
                joined, place = joined.join(f"key{i}", on=on, copy=False), column("i", f"key{i}")
            else:
                joined, place = joined.where(within_run(run, k), copy=False), place_in(run, k)
            number = binary(exp.Add, binary(exp.Mul, number, whole(len(key.values))), place)
        return joined, number

    def _piece(self, expression: Expression) -> Piece:
        return Piece(sql=column(self.columns[expression]), type=self.types[expression])

    def _contribution(self, i: int, measure: Measure) -> exp.Expression | None:
        """What a row adds: a number for sums, whether it counts for counts; None where every row counts."""
        where = None if measure.where is None else self._piece(measure.where).sql
        if measure.grid is not None and measure.argument is not None:
            return bucket(self.d, measure, self._piece(measure.argument), where)
        if measure.ladder is not None:
            return rung_of(measure.ladder, column(f"l{i}"), where)
        if i in self.ladders:
            return at_rung(measure, column(f"l{self.ladders[i]}"), where)
        if self._steps(measure) is not None:
            return kept(measure, column(f"l{i}"), where)
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
        if self.stored is not None and self.known and self.query.keys and not self.histograms:
            return self._by_key(vectors[0])
        summed = any(_plain(measure) for measure in self.program.measures if measure.vector.kind == "rows")
        if vectors[0].bits and self.held is None and self.d.weighs_all:
            weighed = self._weighed(vectors[0], "kept", self.groups)
            return [self._grouped(weighed)] if summed else []
        parts = [self._grouped(self._measured(self._full, "kept", self.groups))] if summed else []
        if vectors[0].bits:
            among = "kept"
            if self.held is not None:
                among = "many"
                self.add(among, self._some(vectors[0], "kept"), True)
            weighed = self._weighed(vectors[0], among, self.groups)
            parts += [self._grouped(weighed)] if summed else []
            self.among = among
        return parts

    def _some(self, vector: Vector, rows: str) -> exp.Select:
        """The rows of a kept table whose owners are looked at again: all others count in full."""
        some = exp.select(f"{rows}.*").from_(rows)
        some = some.where(exp.GT(this=column("n"), expression=whole(weights.in_full(vector))))
        crowd = None if self.stored is None else self.stored.crowd
        return some if crowd is None else self.d.semi(some, crowd, self.owners)

    def _weighed(self, vector: Vector, rows: str, groups: Sequence[str]) -> exp.Select:
        """What those over the limit have too much, taken off again: they alone are joined, which is faster.

        Or all rows with their weights, on an engine that is faster so.
        """
        for name, relation in weights.over_rows(self.d, vector, self.owners, groups, rows):
            self.add(name, relation)
        on = self._same(rows, "heavy", self.owners)
        if self.d.weighs_all:
            return self._measured(self._all, rows, groups).join("heavy", on=on, join_type="left", copy=False)
        return self._measured(self._excess, rows, groups).join("heavy", on=on, copy=False)

    def _by_key(self, vector: Vector) -> list[exp.Select]:
        """The same for a kept table and public keys: rows are added up for every key there is, public or not.

        Groups are fewer than rows, so that few are matched, and most often no row has to be: see duckdb/snapshot.md.
        """
        keys = [f"k{i}" for i in range(len(self.query.keys))]
        adding = exp.select(*(column(name) for name in (*self.owners, *keys))).from_("read")
        for i, measure in enumerate(self.program.measures):
            value = self._contribution(i, measure)
            if value is not None:
                adding = adding.select(exp.alias_(value, f"x{i}"), copy=False)
        self.add("adding", adding if self.held is None else adding.select(column("n")))
        self.add("added", self._summed(self._measured(self._full, "adding", keys), "adding", keys), True)
        placed, number = self._matched("added")
        placed = placed.select(*(column(name, "added") for name in keys), exp.alias_(number, "g"))
        self.add("placed", placed.select(*(column(f"m{i}", "added") for i in self.numbers)), True)
        parts = [self._placed("placed")]
        if self.held is not None:
            other = exp.select(*(column(name, "added") for name in keys)).from_("added")
            self.add("other", self.d.anti(other, "placed", keys))
            for i, select in enumerate(self._excesses(vector, keys)):
                excess = f"excess{i}"
                self.add(excess, select)
                on = both([self.d.same(column(name, excess), column(name, "placed"), nulls=True) for name in keys])
                parts.append(self._placed(excess).join("placed", on=on, copy=False))
        return parts

    def _excesses(self, vector: Vector, keys: Sequence[str]) -> Iterator[exp.Select]:
        """What those over the limit have too much, by key; rows whose keys are in `other` do not count."""
        if vector.norm == 1 and unfiltered(self.query.rows) and self.program.worlds is None:
            for part in weights.of_numbers(self.d, vector, self.owners, keys):
                self.add(part.name, part.select, part.once)
            for rows in ("whole", "cut"):
                yield self._summed(self._measured(partial(self._excess, weights=rows), rows, keys), rows, keys)
            return
        # In ℓ1 they are looked at twice, which costs less than keeping them.
        self.add("many", self.d.anti(self._some(vector, "adding"), "other", keys), vector.norm == 2)
        yield self._summed(self._weighed(vector, "many", keys), "many", keys)

    def _placed(self, rows: str) -> exp.Select:
        select = exp.select(column("g", "placed")).from_(rows)
        return select.select(*(column(f"m{i}", rows) for i in self.numbers), copy=False)

    @staticmethod
    def _summed(select: exp.Select, rows: str, groups: Sequence[str]) -> exp.Select:
        return select.group_by(*(column(name, rows) for name in groups), copy=False)

    def _measured(
        self, total: Callable[[int, Measure, str], exp.Expression], rows: str, groups: Sequence[str]
    ) -> exp.Select:
        select = exp.select(*(column(name, rows) for name in groups)).from_(rows)
        for i, measure in enumerate(self.program.measures):
            plain = measure.vector.kind == "rows" and _plain(measure)
            select = select.select(exp.alias_(total(i, measure, rows) if plain else whole(0), f"m{i}"), copy=False)
        return select

    def _histograms(self) -> list[exp.Select]:
        """For each histogram the rows at every value, with W = 2^bits, and what those over the limit have too much."""
        found = []
        for i, measure in enumerate(self.program.measures):
            if _plain(measure):
                continue
            full: exp.Expression = exp.Count(this=exp.Star())
            bits = measure.vector.bits if measure.ladder is None else measure.ladder.vector.bits
            if bits:
                full = binary(exp.Mul, cast(full, "HUGEINT"), cast(text(str(1 << bits)), "HUGEINT"))
            found.append(self._at(i, full, "kept"))
            if bits:
                heavy, among = ("heavy", self.among) if measure.ladder is None else self._climbers(i, measure.ladder)
                weighed = self.d.total(self._weight(column("w", heavy), bits))
                excess = binary(exp.Sub, weighed, full.copy())
                on = self._same(among, heavy, self.owners)
                found.append(self._at(i, excess, among).join(heavy, on=on, copy=False))
        return [self._grouped(part, values=True) for part in found]

    def _climbers(self, i: int, ladder: Ladder) -> tuple[str, str]:
        """Those who have too many rows with a value, over all groups, with their weights; and where their rows are."""
        climbing, mark = f"climbing{i}", f"_climbing{i}"
        there = exp.Not(this=exp.Is(this=column(f"x{i}"), expression=exp.null()))
        self.add(climbing, exp.select(*(column(name) for name in self.owners)).from_("kept").where(there))
        for name, relation in weights.over_rows(self.d, ladder.vector, self.owners, [], climbing, mark):
            self.add(name, relation)
        return f"heavy{mark}", "kept"

    def _at(self, i: int, total: exp.Expression, rows: str) -> exp.Select:
        """A total at every value of a histogram."""
        select = exp.select(*(column(name, rows) for name in self.groups)).from_(rows)
        for j in range(len(self.program.measures)):
            select = select.select(exp.alias_(total if i == j else whole(0), f"m{j}"), copy=False)
        x = column(f"x{i}", rows)
        select = select.select(exp.alias_(whole(i), "q"), exp.alias_(x, "t"), copy=False)
        there = exp.Not(this=exp.Is(this=x.copy(), expression=exp.null()))
        return select.where(there, copy=False).group_by(x.copy(), copy=False)

    def _full(self, i: int, measure: Measure, rows: str) -> exp.Expression:
        """What all rows add up to with W = 2^bits: no row is cut, so the factor 2^fraction comes after the sum."""
        x = column(f"x{i}", rows)
        if not measure.counts:
            total = self.d.total(Piece(sql=x, type="BIGINT", bits=_size(measure).bit_length()))
        elif measure.argument is None and measure.where is None:
            total = exp.Count(this=exp.Star())
        else:
            total = self.d.total(self._weight(choose([(x, whole(1))], whole(0)), 0))
        if not measure.fraction:
            return total
        return binary(exp.Mul, cast(total, "HUGEINT"), cast(text(str(1 << measure.fraction)), "HUGEINT"))

    def _all(self, i: int, measure: Measure, rows: str) -> exp.Expression:
        """All rows, each with its own weight: that of those over the limit, which a relation has, or W = 2^bits."""
        weight = call("COALESCE", column("w", "heavy"), whole(1 << measure.vector.bits))
        return self._total(i, measure, rows, weight)

    def _excess(self, i: int, measure: Measure, rows: str, weights: str = "heavy") -> exp.Expression:
        """Rows of those over the limit: with their own weight, which a relation has, less with W = 2^bits."""
        weighted = self._total(i, measure, rows, column("w", weights))
        return binary(exp.Sub, weighted, self._full(i, measure, rows))

    def _total(self, i: int, measure: Measure, rows: str, weight: exp.Expression) -> exp.Expression:
        x = column(f"x{i}", rows)
        bits, shift = measure.vector.bits, measure.vector.bits - measure.fraction
        if measure.counts:
            plain = measure.argument is None and measure.where is None
            weighed = weight.copy() if plain else choose([(x, weight.copy())], whole(0))
            return self.d.total(self._weight(weighed, bits))
        size = _size(measure)
        small = size << bits < 2**62
        product = binary(exp.Mul, x if small else cast(x, "HUGEINT"), weight.copy())
        share = Piece(sql=product, type="BIGINT" if small else "HUGEINT", bits=(size << bits).bit_length())
        if not shift:
            return self.d.total(share)
        # The quotient is cut toward zero, so that no row counts for more than its weight says.
        cut = self.d.quotient(share, constant(1 << shift))
        return self.d.total(Piece(sql=cut, type=share.type, bits=(size << measure.fraction).bit_length()))

    @staticmethod
    def _weight(sql: exp.Expression, bits: int) -> Piece:
        """A weight or 0: at most 2^bits."""
        return Piece(sql=sql, type="BIGINT", bits=max(1, bits))

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
            found.append(self._alone(i, select, self._weight(weight, measure.vector.bits)))
        return found

    def _values(self) -> list[exp.Select]:
        """Different values: what their holders weigh, at most one each. No value adds up over people."""
        found = []
        for i, measure in enumerate(self.program.measures):
            if measure.vector.kind != "values":
                continue
            names, held, values = [*self.groups, f"y{i}"], f"held{i}", f"values{i}"
            here = [column(name) for name in (*self.owners, *names)]
            self.add(held, exp.select(*here).distinct().from_("kept").where(column(f"x{i}")))
            each = exp.select(*(column(name, held) for name in names)).from_(held)
            one: exp.Expression = whole(1)
            if measure.vector.bits:
                heavy, full = f"heavy_{held}", whole(1 << measure.vector.bits)
                for name, relation in weights.over_rows(
                    self.d, measure.vector, self.owners, self.groups, held, f"_{held}"
                ):
                    self.add(name, relation)
                each = each.join(heavy, join_type="left", on=self._same(held, heavy, self.owners))
                weight = self._weight(call("COALESCE", column("w", heavy), full), measure.vector.bits)
                one = call("LEAST", self.d.total(weight), full.copy())
            self.add(values, each.select(exp.alias_(one, "t")).group_by(*(column(name, held) for name in names)))
            select = exp.select(*(column(name, values) for name in self.groups)).from_(values)
            found.append(self._alone(i, select, Piece(sql=column("t", values), type="HUGEINT")))
        return found

    def _alone(self, i: int, select: exp.Select, weight: Piece) -> exp.Select:
        """One measure in each group, from a relation of its own."""
        for j in range(len(self.program.measures)):
            select = select.select(exp.alias_(self.d.total(weight) if i == j else whole(0), f"m{j}"))
        return self._grouped(select)

    def _votes(self) -> list[exp.Select]:
        if self.program.selection is None:
            return []
        keys = [Piece(sql=column(f"k{i}"), type=self._key(key).type) for i, key in enumerate(self.query.keys)]
        # Which world it is takes no part in which keys a person keeps.
        hashed = keys[1:] if self.program.worlds is not None else keys
        chosen = votes.relations(self.d, self.program.selection, self.owners, self.groups, hashed)
        for name, relation, once in chosen:
            self.add(name, relation, once or None)
        select = exp.select(*(column(name) for name in self.groups)).from_("votes")
        for j in range(len(self.program.measures)):
            select = select.select(exp.alias_(whole(0), f"m{j}"))
        return [self._plain(select).select(column("s"))]

    def _plain(self, select: exp.Select) -> exp.Select:
        """No value of a histogram."""
        return select.select(exp.alias_(whole(-1), "q"), exp.alias_(whole(0), "t")) if self.histograms else select

    def _grouped(self, select: exp.Select, *, values: bool = False) -> exp.Select:
        select = select if values else self._plain(select)
        if self.program.selection is not None:
            select = select.select(exp.alias_(whole(0), "s"))
        return self._summed(select, select.args["from_"].this.name, self.groups)

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
        keys = [column(name) for name in (*self.groups, *(("q", "t") if self.histograms else ()))]
        final = (
            exp.select(*keys)
            .from_(union.subquery("parts"))
            .group_by(*keys)
            .order_by(*(self.d.ordered(key.copy()) for key in keys))
        )
        for name in names:
            added = self.d.total(Piece(sql=column(name), type="HUGEINT"))
            total = call("LEAST", call("GREATEST", added, whole(-LARGEST)), whole(LARGEST))
            final = final.select(exp.alias_(cast(total, "BIGINT"), name), copy=False)
        if self.program.selection is not None:
            votes_ = self.d.total(Piece(sql=column("s"), type="HUGEINT"))
            voted: exp.Expression = exp.GT(this=votes_, expression=whole(0))
            if self.histograms:
                # Values of keys for which nobody votes are left out when the result is read.
                voted = exp.Or(this=voted, expression=exp.GTE(this=column("q"), expression=whole(0)))
            final = final.having(voted)
        for name, relation, once in self.relations:
            final = final.with_(name, as_=relation, materialized=self.d.materialised(once), copy=False)
        return final


def _size(measure: Measure) -> int:
    """How much a row adds before it is weighted, at most."""
    return max(abs(measure.low - measure.centre), abs(measure.high - measure.centre))


def _plain(measure: Measure) -> bool:
    """Whether it is one number for each group."""
    return measure.grid is None and measure.ladder is None


def statement(program: Program, sources: Sources, dialect: Dialect) -> Statement:
    """The one statement that computes all measures of a program."""
    if not program.measures:
        raise QueryError("the question has nothing to measure", where="engine")
    if program.query.rows.owner is None:
        names = ", ".join(table.name for table in program.query.rows.tables.values())
        raise QueryError("the engine runs questions on private tables", where="engine", got=names)
    return _Writer(program, sources, dialect).write()
