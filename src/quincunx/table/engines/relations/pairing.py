"""Joins in SQL: rows meet by their hidden owners, and who would make too many pairs is left out before any is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.rows import Part, Rows, Sources, condition, derived, same_owner
from quincunx.table.engines.typed_sql import Piece, alike, binary, both, call, cast, column, whole
from quincunx.table.expression import Expression, Slot
from quincunx.table.relations import Join, Lookup, Pairing, Relation


def join(d: Dialect, relation: Join, sources: Sources) -> Rows:
    """Both sides, kept; owners whose pairs are too many; pairs of one owner."""
    left = derived(d, relation.left, sources, _supplied(relation, relation.left), kept=True)
    right = derived(d, relation.right, sources, _supplied(relation, relation.right), kept=True)
    crowd = crowded(d, left, right, relation, relation.joined)
    over = crowd[-1].name
    # Without their rows on one side they have no pairs; outer joins would keep those that have no partner. Fewer rows
    # are looked at on the side where people may have fewer.
    fewer = relation.kind == "inner" and _most(relation.right) < _most(relation.left)
    sides = [
        left.relation if fewer else without(d, left, over),
        without(d, right, over) if fewer or relation.kind == "full" else right.relation,
    ]
    conditions = [same_owner(left.owners, right.owners)]
    if relation.condition is not None:
        conditions.append(condition(d, relation.condition, {**left.columns, **right.columns}))
    owners = {name: _whose(piece, right.owners[name], relation.kind) for name, piece in left.owners.items()}
    before = (*left.before, *right.before, *crowd)
    return _paired(relation, sides, conditions, owners, {**left.columns, **right.columns}, before)


def lookup(d: Dialect, relation: Lookup, sources: Sources) -> Rows:
    """Each row with rows that are anybody's; the owner is that of the row, and who would have too many is left out."""
    left = derived(d, relation.left, sources, kept=relation.most is not None)
    right = derived(d, relation.right, sources, _supplied(relation, relation.right), kept=False)
    columns = {**left.columns, **right.columns}
    on = exp.true() if relation.condition is None else condition(d, relation.condition, columns)
    before, first = (*left.before, *right.before), left.relation
    if relation.most is not None:
        heap = _heaped(d, left, relation, relation.most)
        before, first = (*before, *heap), without(d, left, heap[-1].name)
    return _paired(relation, [first, right.relation], [on], left.owners, columns, before)


def _heaped(d: Dialect, side: Rows, relation: Relation, most: int) -> tuple[Part, Part]:
    """Relations that end with the owners who have more than `most` rows, looked for in buckets that have more."""
    keys = [piece.sql for piece in side.owners.values()]
    bucket = d.bucket([key.copy() for key in keys])
    many = exp.GT(this=exp.Count(this=exp.Star()), expression=whole(most))
    full = exp.select(exp.alias_(bucket, "b")).from_(side.relation.copy()).group_by(bucket.copy()).having(many)
    part = Part(name=_name("b", relation), select=full, once=True)
    among = exp.In(this=bucket.copy(), query=exp.select(column("b", part.name)).from_(part.name).subquery())
    owners = exp.select(*(exp.alias_(piece.sql.copy(), name) for name, piece in side.owners.items()))
    owners = owners.from_(side.relation.copy()).where(among).group_by(*(key.copy() for key in keys)).having(many.copy())
    return part, Part(name=_name("p", relation), select=owners, once=True)


def _supplied(relation: Pairing, side: Relation) -> dict[Slot, Expression]:
    """What the columns of a side show that may have no partner: worked out before it can be missing."""
    return {own.slot: each for own, each in relation.supplied if own.scan in side.tables}


def _most(side: Relation) -> float:
    """How many rows of one person count on a side, as it is declared."""
    rows = side.limits.rows
    return math.inf if rows is None else rows


def _whose(left: Piece, right: Piece, kind: str) -> Piece:
    if kind != "full":
        return left
    one, other = alike([left, right])
    return Piece(sql=call("COALESCE", one.sql, other.sql), type=one.type)


def crowded(d: Dialect, left: Rows, right: Rows, relation: Relation, joined: int) -> tuple[Part, ...]:
    """Relations that end with the owners who have more pairs of rows than `joined`, by their rows on both sides.

    Who has too many pairs is in a bucket that has too many. Buckets are few and quickly counted, and as a rule there is
    no such bucket, so that owners are counted in those alone: a choice of speed. Where it is kept how many rows owners
    have, those are counted who could have too many beside the one who has the most on the other side.
    """
    owners = {name: alike([piece, right.owners[name]]) for name, piece in left.owners.items()}
    sides = []
    for place, side in enumerate((left, right)):
        keys = {name: pair[place].sql for name, pair in owners.items()}
        sides.append((side.relation, keys, d.bucket([key.copy() for key in keys.values()])))
    if left.held is not None and right.held is not None:
        pairs = [(left.held, right), (right.held, left)]
        could = [_could(held, other, joined) for held, other in pairs]
        counted = [(side, keys, each) for (side, keys, _), each in zip(sides, could, strict=True)]
        return (Part(name=_name("p", relation), select=_counted(counted, joined), once=True),)
    full = Part(
        name=_name("b", relation),
        select=_counted([(side, {"b": bucket}, None) for side, _, bucket in sides], joined),
        once=True,
    )
    among = exp.select(column("b", full.name)).from_(full.name).subquery()
    counted = [(side, keys, exp.In(this=bucket.copy(), query=among.copy())) for side, keys, bucket in sides]
    return full, Part(name=_name("p", relation), select=_counted(counted, joined), once=True)


def _could(held: Piece, other: Rows, joined: int) -> exp.Expression:
    """Whether so many rows could make more pairs than `joined` with those of one owner on the other side."""
    most = exp.select(exp.Max(this=column("n"))).from_(other.relation.copy()).subquery()
    pairs = binary(exp.Mul, cast(held.sql.copy(), "HUGEINT"), cast(most, "HUGEINT"))
    return exp.GT(this=pairs, expression=whole(joined))


def _counted(
    sides: Sequence[tuple[exp.Expression, Mapping[str, exp.Expression], exp.Expression | None]],
    joined: int,
) -> exp.Select:
    """What of two relations is alike and has more pairs than `joined`: by columns, among the rows of a condition."""
    counts, names = [], list(sides[0][1])
    for place, (relation, keys, among) in enumerate(sides):
        counted = exp.select(*(exp.alias_(keys[name].copy(), name) for name in names))
        counted = counted.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(relation.copy())
        counted = counted if among is None else counted.where(among)
        counts.append(counted.group_by(*(keys[name].copy() for name in names)).subquery(f"n{place}"))
    same = both([exp.EQ(this=column(name, "n0"), expression=column(name, "n1")) for name in names])
    pairs = binary(exp.Mul, cast(column("n", "n0"), "HUGEINT"), cast(column("n", "n1"), "HUGEINT"))
    found = exp.select(*(exp.alias_(column(name, "n0"), name) for name in names)).from_(counts[0])
    return found.join(counts[1], on=same).where(exp.GT(this=pairs, expression=whole(joined)))


def without(d: Dialect, side: Rows, over: str) -> exp.Expression:
    """The rows of a side whose owners are not too many pairs, under the same name."""
    tested = [piece.sql.copy() for piece in side.owners.values()]
    listed = exp.select(*(column(name, over) for name in side.owners)).from_(over)
    # No owner is NULL. As NOT EXISTS it would be the rows that are hashed, and not the few owners.
    among = d.among(tested, listed, len(tested))
    kept = exp.select("*").from_(side.relation.copy()).where(exp.Not(this=exp.Paren(this=among)))
    return kept.subquery(side.relation.name)


def _paired(
    relation: Pairing,
    sides: list[exp.Expression],
    conditions: Iterable[exp.Expression],
    owners: Mapping[str, Piece],
    columns: Mapping[Slot, Piece],
    before: tuple[Part, ...],
) -> Rows:
    """The pairs as a table of its own: owners o0, o1 … and columns c0, c1 … under one name."""
    shown = {each.slot for each in relation.columns}
    pieces = {slot: piece for slot, piece in columns.items() if slot in shown}
    name = _name("j", relation)
    chosen = [exp.alias_(piece.sql.copy(), each) for each, piece in owners.items()]
    chosen += [exp.alias_(piece.sql.copy(), f"c{i}") for i, piece in enumerate(pieces.values())]
    found = exp.select(*(chosen or [exp.alias_(whole(0), "z")])).from_(sides[0])
    found = found.join(sides[1], on=both(list(conditions)), join_type=relation.kind)
    return Rows(
        relation=found.subquery(name),
        columns={
            slot: Piece(sql=column(f"c{i}", name), type=piece.type) for i, (slot, piece) in enumerate(pieces.items())
        },
        owners={each: Piece(sql=column(each, name), type=piece.type) for each, piece in owners.items()},
        conditions=(),
        before=before,
    )


def _name(letter: str, relation: Relation) -> str:
    return f"{letter}{min(relation.tables)}_{relation.height}"
