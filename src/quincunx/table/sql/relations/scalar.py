"""A subquery that gives one value for each row: one aggregate of a person's rows, or a value of a public table."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from quincunx.table.expression import Expression
from quincunx.table.operators import apply, literal
from quincunx.table.relations import Fold, Join, Lookup, Project, Relation, RollUp, allowed, rolled
from quincunx.table.sql.folds import CALLS, folded
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading
from quincunx.table.sql.relations.matches import matches
from quincunx.table.sql.relations.subquery import Inner, check, conjunction, inner

# Of nobody's rows there are none.
_COUNTS = ("count", "distinct")


def read(reading: Reading, node: exp.Subquery, rows: Rows) -> tuple[Relation, Expression]:
    """The rows beside what the subquery gives for each, and that as an expression of them."""
    within = inner(reading, node, rows)
    select = within.select
    if select is None or len(select.expressions) != 1 or isinstance(select.expressions[0], exp.Star):
        hint = "Write (SELECT MAX(x) FROM … WHERE …), with one aggregate."
        raise reading.text.refusal(node, "a subquery inside an expression gives one value", hint=hint)
    check(reading, node, rows, within, within.licensed)
    private = within.rows.relation.owner is not None
    if within.rest or (private and within.pairs):
        hint = "Compare nothing else with the rows around, or write EXISTS or a join."
        what = f"a subquery that gives a value is tied to its row by {'the key' if private else 'equalities'} alone"
        raise reading.text.refusal(node, what, hint=hint)
    called: exp.Expr = select.expressions[0].unalias()
    if isinstance(called, CALLS):
        return _aggregate(reading, rows, within, called)
    if private:
        hint = "Write MIN(x), MAX(x) or another aggregate of it."
        raise reading.text.refusal(node, "a person may have several rows here, and it takes one value", hint=hint)
    return _value(reading, node, rows, within, called)


def _aggregate(reading: Reading, rows: Rows, within: Inner, called: exp.Expr) -> tuple[Relation, Expression]:
    """A roll-up of the person's rows, or of the public ones that are alike, beside each row that it is about."""
    source, by = within.rows.relation, within.keys
    level = 1 + max(rows.relation.level, RollUp(source=source, by=by).level)
    folds: list[Fold] = []

    def add(fold: Fold) -> Expression:
        folds.append(fold)
        # As the join shows it: there is no such row where nobody has one.
        shown = replace(rolled(source, fold), level=level, nullable=True)
        return apply("coalesce", shown, literal(0)) if fold.kind in _COUNTS else shown

    value = folded(reading, within.rows, called, add)
    right = RollUp(source=source, by=by, folds=tuple(folds))
    if source.owner is not None:
        joined = allowed(rows.relation.limits, source.limits)
        return Join(left=rows.relation, right=right, kind="left", joined=joined).with_supplied(), value
    pairs = [apply("equal", outside, rolled(source, inside)) for outside, inside in within.pairs]
    return _looked_up(rows.relation, right, pairs), value


def _value(
    reading: Reading, node: exp.Expr, rows: Rows, within: Inner, called: exp.Expr
) -> tuple[Relation, Expression]:
    """A value of the one public row that belongs to each row: that there is one at most is seen in the table."""
    source = within.rows.relation
    equal = [apply("equal", outside, inside) for outside, inside in within.pairs]
    seen = all(each.content is not None and each.content.columns is not None for each in source.tables.values())
    if not seen or matches(source, equal, reading.evaluate) > 1:
        hint = "Write MIN(x), MAX(x) or another aggregate of it, or a join."
        raise reading.text.refusal(node, "several rows of the public table may belong to one row", hint=hint)
    value = reading.row(called, replace(within.rows, outer=None), where="a subquery")
    # Worked out before a partner can be missing: where none is, it is NULL.
    names = [("v", value), *((f"k{i}", inside) for i, (_, inside) in enumerate(within.pairs))]
    right = Project(source=source, chosen=tuple(names))
    shown, *keys = right.columns
    pairs = [apply("equal", outside, key) for (outside, _), key in zip(within.pairs, keys, strict=True)]
    found = _looked_up(rows.relation, right, pairs)
    return found, found.shown(shown)


def _looked_up(left: Relation, right: Relation, equal: list[Expression]) -> Lookup:
    condition = conjunction(equal) if equal else None
    return Lookup(left=left, right=right, kind="left", condition=condition, matches=1).with_supplied()
