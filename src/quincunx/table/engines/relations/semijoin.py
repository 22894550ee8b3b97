"""EXISTS and IN in SQL, between rows of one hidden owner."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emission import emit
from quincunx.table.engines.relations.pairing import crowded, without
from quincunx.table.engines.rows import Rows, Sources, condition, derived, same_owner, table_name, widened
from quincunx.table.engines.typed_sql import Piece, alike, both, call, column, whole
from quincunx.table.expression import Expression
from quincunx.table.relations import SemiJoin


def written(d: Dialect, relation: SemiJoin, sources: Sources) -> Rows:
    """The rows of the first relation, with the answer as one more column."""
    below, other = (derived(d, each, sources, kept=relation.paired) for each in relation.inputs)
    before = (*below.before, *other.before)
    if relation.paired:
        # Whoever would make too many pairs has no partner, before any pair is made.
        crowd = crowded(d, below, other, relation, relation.joined)
        other, before = replace(other, relation=without(d, other, crowd[-1].name)), (*before, *crowd)
    found = widened(below, relation, {"m": _answer(d, relation, below, other)})
    answer = Piece(sql=column("m", table_name(relation)), type="BOOLEAN")
    columns = {**found.columns, relation.column.slot: answer}
    return replace(found, columns=columns, before=before)


def _answer(d: Dialect, relation: SemiJoin, below: Rows, other: Rows) -> exp.Expression:
    """Whether there is a partner, whoever else has one."""
    private = relation.other.owner is not None
    pairs = [
        alike([_value(d, tested, below), _value(d, listed, other)])
        for tested, listed in zip(relation.tested, relation.listed, strict=True)
    ]
    if relation.condition is not None:
        conditions = [same_owner(below.owners, other.owners)] if private else []
        conditions += [exp.EQ(this=one.sql, expression=two.sql) for one, two in pairs]
        conditions.append(condition(d, relation.condition, {**below.columns, **other.columns}))
        return exp.Exists(this=exp.select(whole(1)).from_(other.relation).where(both(conditions)))
    if private:
        pairs = [*(alike([piece, other.owners[each]]) for each, piece in below.owners.items()), *pairs]
    if not pairs:
        return exp.Exists(this=exp.select(whole(1)).from_(other.relation))
    tested, listed = ([pair[side].sql.copy() for pair in pairs] for side in (0, 1))
    found = d.among(tested, exp.select(*listed).from_(other.relation), len(pairs) - len(relation.tested))
    # Owners are never NULL; other columns may leave it open whether there is one, and then there is none.
    return call("COALESCE", found, exp.false()) if relation.exists and relation.tested else exp.Paren(this=found)


def _value(d: Dialect, expression: Expression, side: Rows) -> Piece:
    kind = emit(d, expression, side.columns).type
    return Piece(sql=condition(d, expression, side.columns), type=kind)
