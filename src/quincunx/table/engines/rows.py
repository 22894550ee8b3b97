"""A relation in SQL: what stands in FROM, its columns, its hidden owner, and what is true of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlglot import exp

from quincunx.errors import QueryError
from quincunx.table.aggregates import Lattice
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emission import emit, repeats
from quincunx.table.engines.keys import normal
from quincunx.table.engines.lattice import present
from quincunx.table.engines.typed_sql import Piece, alike, both, column, text, whole
from quincunx.table.expression import Expression, Slot
from quincunx.table.relations import Filter, Link, Owner, Project, Relation, Scan
from quincunx.table.relations.size import WRITTEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the rows of one scan come from: a relation of SQL, its columns by name and as they are read.

    unclipped: the same columns before bounds move values, by names in lower case; owners are made of them. once: the
    relation may change while it is read (a file), so it must be read exactly once. required: what every row has, or it
    is no row of the table. table: where several scans read one table, the number of the first; they share what is read.
    world: where several datasets are asked together, which of them a row is of. owners: where the relation is kept as a
    scan gave it, its hidden columns; its rows all have an owner and what is required. held: the number of rows that the
    owner of a row has in the whole relation, if known. crowd: the name of a kept relation of all owners who can be over
    the limit in ℓ2, if there is one. steps: by names in lower case, columns that are also kept on a lattice, as whole
    numbers of steps within its ends, NULL where a row has no value.
    """

    relation: exp.Expression
    names: tuple[str, ...]
    columns: Mapping[str, Piece]
    unclipped: Mapping[str, Piece]
    once: bool = False
    required: tuple[Piece, ...] = ()
    world: Piece | None = None
    table: int | None = None
    owners: Mapping[str, Piece] | None = None
    held: Piece | None = None
    crowd: str | None = None
    steps: Mapping[str, tuple[Lattice, Piece]] = field(default_factory=dict)


# The hidden column that tells worlds apart.
WORLD: Final = "world"

# How many rows the owner of a row has in a kept table.
HELD: Final = Slot("", level=-2)

# The sources of a program, by the numbers of its scans.
Sources = Mapping[int, Source]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A relation of WITH. once: it is worked out once, however often it is read."""

    name: str
    select: exp.Select
    once: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A relation in SQL. owners: the hidden columns that say whose a row is, by their names in the statement.

    before: the relations of WITH that it is made of, in order. held: where the rows are some of a kept table's, each
    once, how many the owner of a row has in all of it.
    """

    relation: exp.Expression
    columns: Mapping[Slot, Piece]
    owners: Mapping[str, Piece]
    conditions: tuple[exp.Expression, ...]
    before: tuple[Part, ...] = ()
    held: Piece | None = None


def rows(d: Dialect, relation: Relation, sources: Sources) -> Rows:
    """The relation over these sources."""
    write = WRITERS.get(type(relation))
    if write is None:
        raise QueryError("the engine runs planned questions on its own tables", where="engine")
    return write(d, relation, sources)


def select(d: Dialect, below: Rows, columns: Iterable[Piece]) -> exp.Select:
    """One SELECT of the hidden owners o0, o1 …, normalised, and of columns c0, c1 …, where the conditions are true."""
    chosen = [exp.alias_(normal(d, piece).sql, name) for name, piece in below.owners.items()]
    chosen += [exp.alias_(piece.sql.copy(), f"c{i}") for i, piece in enumerate(columns)]
    found = exp.select(*(chosen or [exp.alias_(whole(0), "z")])).from_(below.relation)
    return found.where(both(list(below.conditions))) if below.conditions else found


def layered(
    d: Dialect, below: Rows, expressions: Iterable[Expression], name: str, also: Mapping[Slot, Piece] | None = None
) -> tuple[Rows, dict[Expression, Piece]]:
    """The rows with what is inside of these expressions and would be written many times as columns of its own.

    An operator that looks at its result names its arguments several times, so that nested ones would double at each
    level. Those that stand inside of others are worked out below them, a layer for each level, each once. also: further
    columns that the layers keep. See emission.md.
    """
    made: dict[Expression, Piece] = {}
    for depth, level in enumerate(_levels(expressions)):
        # What a layer further below keeps already is a column of it now.
        further = {slot: piece for slot, piece in (also or {}).items() if slot not in below.columns}
        columns = {**below.columns, **further} if not depth else below.columns
        pieces = [*columns.values(), *made.values(), *(emit(d, each, below.columns, made) for each in level)]
        found, alias = d.fenced(select(d, below, pieces)), f"{name}_{depth}"
        named = [Piece(sql=column(f"c{i}", alias), type=piece.type) for i, piece in enumerate(pieces)]
        below = replace(
            below,
            relation=found.subquery(alias),
            columns=dict(zip(columns, named, strict=False)),
            owners={each: Piece(sql=column(each, alias), type=piece.type) for each, piece in below.owners.items()},
            conditions=(),
        )
        made = dict(zip([*made, *level], named[len(columns) :], strict=True))
    return below, made


def _levels(expressions: Iterable[Expression]) -> list[list[Expression]]:
    """Calls that repeat their arguments and stand inside of such a call, by how many such calls are inside of them."""
    found: dict[int, dict[Expression, None]] = {}

    def visit(expression: Expression, inside: bool) -> int:
        again = repeats(expression)
        below = max((visit(part, inside or again) for part in expression.parts), default=0)
        if again and inside:
            found.setdefault(below, {})[expression] = None
        return below + again

    for each in expressions:
        visit(each, False)
    return [list(found[level]) for level in sorted(found)]


def growth(expression: Expression) -> int:
    """How many nodes an engine writes for an expression that has no layers below it."""
    return (4 if repeats(expression) else 1) * (1 + sum(growth(part) for part in expression.parts))


def condition(d: Dialect, expression: Expression, columns: Mapping[Slot, Piece]) -> exp.Expression:
    """What is asked of two rows that meet, where there is nothing below both that could have layers."""
    if growth(expression) > WRITTEN:
        hint = "Work out inner parts in a subquery of their own, on the side that they are of."
        raise QueryError("a condition on two rows nests too much arithmetic", where="engine", hint=hint)
    return emit(d, expression, columns).sql


def kept_columns(source: Source | None) -> dict[Slot, Piece]:
    """What a kept table has besides its columns, as columns that layers keep."""
    if source is None:
        return {}
    held = {} if source.held is None else {HELD: source.held}
    return {**held, **{steps_of(name): piece for name, (_, piece) in source.steps.items()}}


def steps_of(name: str) -> Slot:
    """The column that a kept table has on a lattice."""
    return Slot(name, level=-2)


def table_name(relation: Relation) -> str:
    """What a relation is called: what holds this one is higher, or begins with an earlier scan, so no other is."""
    return f"r{min(relation.tables)}_{relation.height}"


def derived(
    d: Dialect, relation: Relation, sources: Sources, further: Mapping[Slot, Expression] | None = None, *, kept: bool
) -> Rows:
    """The relation as a table of its own: hidden owners and columns under one name, with nothing left to be tested.

    further: columns to be worked out besides, over the relation's own. kept: it is worked out once and may be named
    more than once, as its one relation says. Whatever compares rows is written over this.
    """
    name, known, below = table_name(relation), stored(relation, sources) if kept else None, rows(d, relation, sources)
    also = {} if known is None or known.held is None else {HELD: known.held}
    below, made = layered(d, below, (further or {}).values(), f"l{name}", also)
    columns = {**also, **below.columns}
    held = columns.pop(HELD, None)
    pieces = {**columns, **{slot: emit(d, each, columns, made) for slot, each in (further or {}).items()}}
    found = select(d, below, pieces.values())
    if held is not None:
        found = found.select(exp.alias_(held.sql.copy(), "n"), copy=False)
    # A kept table is one state however often it is read, which costs less than to copy it.
    part = Part(name=name, select=found, once=known is None)
    return Rows(
        relation=exp.to_table(name) if kept else found.subquery(name),
        columns={slot: Piece(sql=column(f"c{i}", name), type=pieces[slot].type) for i, slot in enumerate(pieces)},
        owners={each: Piece(sql=column(each, name), type=piece.type) for each, piece in below.owners.items()},
        conditions=(),
        before=(*below.before, part) if kept else below.before,
        held=None if held is None else Piece(sql=column("n", name), type=held.type),
    )


def widened(below: Rows, relation: Relation, more: Mapping[str, exp.Expression]) -> Rows:
    """A derived table with further columns under these names; the caller says which slots they are."""
    name = table_name(relation)
    chosen = [exp.alias_(piece.sql.copy(), each) for each, piece in below.owners.items()]
    chosen += [exp.alias_(piece.sql.copy(), f"c{i}") for i, piece in enumerate(below.columns.values())]
    chosen += [exp.alias_(sql, each) for each, sql in more.items()]
    return Rows(
        relation=exp.select(*chosen).from_(below.relation).subquery(name),
        columns={
            slot: Piece(sql=column(f"c{i}", name), type=piece.type)
            for i, (slot, piece) in enumerate(below.columns.items())
        },
        owners={each: Piece(sql=column(each, name), type=piece.type) for each, piece in below.owners.items()},
        conditions=(),
        before=below.before,
    )


def stored(relation: Relation, sources: Sources) -> Source | None:
    """The kept table of which the rows of a relation are some, each at most once; see duckdb/snapshot.md.

    None where there is none, or where rows may be more than the table has: after a join, a roll-up, a union.
    """
    scans, rowwise = list(relation.tables), all(each.rowwise for each in relation.walk())
    source = sources[scans[0]]
    return source if source.owners is not None and rowwise and len(scans) == 1 else None


def unfiltered(relation: Relation) -> bool:
    """Whether its rows are all rows of its one table, each once: nothing chooses among them."""
    return all(isinstance(each, Scan | Project) for each in relation.walk())


def same_owner(left: Mapping[str, Piece], right: Mapping[str, Piece]) -> exp.Expression:
    """Whether two rows are one owner's: all hidden columns are equal. Nothing else decides it."""
    pairs = [alike([piece, right[name]]) for name, piece in left.items()]
    return both([exp.EQ(this=one.sql.copy(), expression=other.sql.copy()) for one, other in pairs])


def shared(sources: Sources) -> tuple[Sources, tuple[Part, ...]]:
    """The sources with every table that several scans read kept once, so that all of them see the same rows."""
    parts = {
        source.table: Part(name=f"t_{source.table}", select=_all(source), once=True)
        for source in sources.values()
        if source.table is not None
    }
    found = {
        number: source if source.table is None else replace(source, relation=exp.to_table(parts[source.table].name))
        for number, source in sources.items()
    }
    return found, tuple(parts.values())


def _all(source: Source) -> exp.Select:
    return exp.select(*(column(name) for name in source.names)).from_(source.relation)


def _scan(d: Dialect, scan: Scan, sources: Sources) -> Rows:
    source = sources[scan.number]
    columns = {Slot(name, scan.number): source.columns[name.lower()] for name in source.names}
    conditions: list[exp.Expression] = []
    if source.owners is not None:
        owners = dict(source.owners)
    else:
        owners = {} if scan.owner is None else hidden(d, scan.owner, source)
        conditions += [_owned(d, piece) for piece in owners.values()]
        conditions += [present(d, piece) for piece in source.required]
    if owners and source.world is not None:
        # Nobody is in two worlds: what compares owners compares these too.
        owners[WORLD] = source.world
    return Rows(relation=source.relation, columns=columns, owners=owners, conditions=tuple(conditions))


def hidden(d: Dialect, owner: Owner, source: Source) -> dict[str, Piece]:
    """The owner of each row, read before anything moves its columns' values."""
    found = {}
    for place, component in enumerate(owner.components):
        piece = source.unclipped[component.column.name.lower()]
        if component.period is not None:
            moment = piece.to("TIMESTAMP").sql
            piece = Piece(sql=d.trunc(text(component.period), moment), type="TIMESTAMP")
        found[f"o{place}"] = piece
    return found


def _owned(d: Dialect, piece: Piece) -> exp.Expression:
    # The same expression as the owner itself: a key that is no value belongs to nobody and must not be kept.
    owner = exp.Paren(this=normal(d, piece).sql)
    return exp.Paren(this=exp.Not(this=exp.Is(this=owner, expression=exp.null())))


def _filter(d: Dialect, relation: Filter, sources: Sources) -> Rows:
    also = kept_columns(stored(relation, sources))
    below, made = layered(d, rows(d, relation.source, sources), [relation.condition], f"f{table_name(relation)}", also)
    return replace(below, conditions=(emit(d, relation.condition, below.columns, made).sql, *below.conditions))


def _link(d: Dialect, link: Link, sources: Sources) -> Rows:
    """(rows of the table) JOIN (SELECT DISTINCT its column, owners FROM …): a row once for each of its owners."""
    source, through = sources[link.number], rows(d, link.through, sources)
    mine, theirs = link.ends
    owners = {name: normal(d, piece) for name, piece in through.owners.items()}
    found = [exp.alias_(piece.sql, name) for name, piece in owners.items()]
    known = exp.select(*found, exp.alias_(through.columns[theirs.slot].sql, "l")).distinct().from_(through.relation)
    known = known.where(both(list(through.conditions)))
    names = {name: f"c{i}" for i, name in enumerate(source.names)}
    own = exp.select(*(exp.alias_(source.columns[each.lower()].sql, name) for each, name in names.items()))
    own = own.from_(source.relation)
    same = [exp.EQ(this=column(names[mine.name], "rows"), expression=column("l", "known"))]
    if source.world is not None:
        own = own.select(exp.alias_(source.world.sql, WORLD))
        same.append(exp.EQ(this=column(WORLD, "rows"), expression=column(WORLD, "known")))
    if source.required:
        own = own.where(both([present(d, piece) for piece in source.required]))
    chosen = [*(column(name, "known") for name in owners), *(column(name, "rows") for name in names.values())]
    joined = exp.select(*chosen).from_(own.subquery("rows")).join(known.subquery("known"), on=both(same))
    hidden_ = {name: Piece(sql=column(name), type=piece.type) for name, piece in owners.items()}
    columns = {
        Slot(each, link.number): Piece(sql=column(name), type=source.columns[each.lower()].type)
        for each, name in names.items()
    }
    for place, shown in link.shown.items():
        piece = hidden_[f"o{place}"]
        # The day of a date is kept as the moment at which it begins.
        columns[shown.slot] = piece.to("DATE") if shown.type == "date" else piece
    return Rows(
        relation=joined.subquery(f"linked{link.number}"),
        columns=columns,
        owners=hidden_,
        conditions=(),
        before=through.before,
    )


# Whatever compares rows enters its writer here (`relations/`).
WRITERS: Final[dict[type[Relation], Callable[[Dialect, Any, Sources], Rows]]] = {
    Scan: _scan,
    Link: _link,
    Filter: _filter,
}
