"""An output that is a list is read as several: QUANTILE_CONT(x, [0.1, 0.9]) AS q as q_p10 and q_p90."""

from __future__ import annotations

from sqlglot import exp

from quincunx.table.aggregates import AGGREGATES


def one_by_one(select: exp.Select) -> None:
    """Replace every output that is a list by its outputs."""
    select.set("expressions", [each for node in select.expressions for each in _outputs(node)])


def _outputs(node: exp.Expr) -> list[exp.Expr]:
    bare = node.unalias()
    call = bare.this if isinstance(bare, exp.Filter) else bare
    listed = [found for each in AGGREGATES if type(call) in each.nodes and (found := each.listed(call))]
    if not listed:
        return [node]
    outputs = []
    for one, function, name in listed[0]:
        written: exp.Expr = one
        if isinstance(bare, exp.Filter):
            written = bare.copy()
            written.set("this", one)
        outputs.append(exp.alias_(written, f"{node.alias or function}_{name}", quoted=True, copy=False))
    return outputs
