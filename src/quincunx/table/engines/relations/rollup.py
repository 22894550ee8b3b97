"""Roll-ups in SQL: the hidden owner stands in GROUP BY, whatever the question groups by."""

from __future__ import annotations

from sqlglot import exp

from quincunx.table.aggregates import Factor
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emit_number import clipped
from quincunx.table.engines.keys import zeroless
from quincunx.table.engines.lattice import placed
from quincunx.table.engines.relations.quantile import QUANTILES, in_order, quantile
from quincunx.table.engines.rows import Rows, Sources, derived, table_name
from quincunx.table.engines.typed_sql import INTEGERS, Piece, choose, column, double, whole
from quincunx.table.expression import Expression, Slot
from quincunx.table.relations import LARGEST, Fold, RollUp


def written(d: Dialect, relation: RollUp, sources: Sources) -> Rows:
    """One row for each owner and rest of the key."""
    parts = dict.fromkeys(relation.expressions)
    further = {Slot(f"part{i}", level=-1): part for i, part in enumerate(parts)}
    below, name = derived(d, relation.source, sources, further, kept=False), table_name(relation)
    emitted = {part: below.columns[slot] for slot, part in further.items()}
    owners = {each: Piece(sql=column(each, name), type=piece.type) for each, piece in below.owners.items()}
    chosen = [exp.alias_(piece.sql.copy(), each) for each, piece in below.owners.items()]
    grouped = [piece.sql.copy() for piece in below.owners.values()]
    columns: dict[Slot, Piece] = {}
    for i, (made, key) in enumerate(zip(relation.columns, relation.by, strict=False)):
        piece = zeroless(emitted[key])
        if key in relation.rest:
            grouped.append(piece.sql.copy())
        else:
            # It equals the owner on every row of the group. Whether or not it does, there is one row for each owner.
            piece = Piece(sql=_least(piece, piece.sql), type=piece.type)
        chosen.append(exp.alias_(piece.sql, f"b{i}"))
        columns[made.slot] = Piece(sql=column(f"b{i}", name), type=piece.type)
    values = {i: _value(d, fold, emitted) for i, fold in enumerate(relation.folds) if fold.kind in QUANTILES}
    source, source_name = below.relation, below.relation.alias_or_name
    for i, (made, fold) in enumerate(zip(relation.columns[len(relation.by) :], relation.folds, strict=True)):
        raw = quantile(d, fold, i, source_name) if i in values else folded(d, fold, emitted)
        chosen.append(exp.alias_(raw.sql, f"f{i}"))
        columns[made.slot] = settled(fold, Piece(sql=column(f"f{i}", name), type=raw.type))
    source = in_order(d, source, values, grouped) if values else source
    select = exp.select(*chosen).from_(source).group_by(*grouped)
    return Rows(relation=select.subquery(name), columns=columns, owners=owners, conditions=(), before=below.before)


def folded(d: Dialect, fold: Fold, emitted: dict[Expression, Piece]) -> Piece:
    """The aggregate itself, over whole numbers wherever something is added. Quantiles are none: see quantile.py."""
    if fold.argument is None:
        where = None if fold.where is None else emitted[fold.where].sql
        return Piece(sql=exp.Count(this=exp.Star() if where is None else _kept(whole(1), where)), type="BIGINT")
    given, value = _argument(d, fold, emitted), _value(d, fold, emitted)
    match fold.kind:
        case "count":
            return Piece(sql=exp.Count(this=value), type="BIGINT")
        case "distinct":
            return Piece(sql=exp.Count(this=exp.Distinct(expressions=[value])), type="BIGINT")
        case "sum":
            return Piece(sql=d.total(Piece(sql=value, type="HUGEINT")), type="HUGEINT")
        case "squares":
            square = Piece(sql=exp.Mul(this=value, expression=value.copy()), type="HUGEINT")
            return Piece(sql=d.total(square), type="HUGEINT")
        case "least":
            return Piece(sql=_least(given, value), type=given.type)
        case "greatest":
            return Piece(sql=_greatest(given, value), type=given.type)
        case "all":
            return Piece(sql=exp.LogicalAnd(this=value), type="BOOLEAN")
        case "any":
            return Piece(sql=exp.LogicalOr(this=value), type="BOOLEAN")
        case "between" | "rank":
            raise TypeError(fold.kind)


def _argument(d: Dialect, fold: Fold, emitted: dict[Expression, Piece]) -> Piece:
    """What is folded of each row; a whole number wherever something is added or ranked."""
    if fold.argument is None:
        raise TypeError(fold.kind)
    given = zeroless(emitted[fold.argument])
    if fold.lattice is not None:
        return placed(d, Factor.of(fold.argument, fold.lattice), given)
    return _narrow(given) if given.type in INTEGERS and fold.kind in ("sum", *QUANTILES) else given


def _value(d: Dialect, fold: Fold, emitted: dict[Expression, Piece]) -> exp.Expression:
    """The argument, NULL of rows that do not count."""
    given = _argument(d, fold, emitted).sql
    return given if fold.where is None else _kept(given, emitted[fold.where].sql)


def settled(fold: Fold, raw: Piece) -> Piece:
    """What stands above the aggregate: sums of at most 63 bits, and quantiles between their bounds."""
    if fold.kind in ("sum", "squares"):
        return clipped(raw.sql, whole(-LARGEST), whole(LARGEST), "BIGINT")
    low, high = fold.facts["low"], fold.facts["high"]
    if fold.kind == "between" and low is not None and high is not None:
        return clipped(raw.sql, double(low), double(high), "DOUBLE")
    return raw


def _least(given: Piece, value: exp.Expression) -> exp.Expression:
    # Not every engine orders conditions: the least of them is whether all hold.
    return exp.LogicalAnd(this=value) if given.type == "BOOLEAN" else exp.Min(this=value)


def _greatest(given: Piece, value: exp.Expression) -> exp.Expression:
    return exp.LogicalOr(this=value) if given.type == "BOOLEAN" else exp.Max(this=value)


def _narrow(piece: Piece) -> Piece:
    """A whole number of 64 bits, of which no number of rows adds up to too much."""
    return piece if piece.type == "BIGINT" else clipped(piece.sql, whole(-LARGEST), whole(LARGEST), "BIGINT")


def _kept(value: exp.Expression, where: exp.Expression) -> exp.Expression:
    return choose([(where.copy(), value.copy())], exp.null())
