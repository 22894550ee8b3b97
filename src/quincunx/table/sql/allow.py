"""The allow-list: which nodes of the parser's tree, and which of their parts, are understood.

Everything that is not listed is refused. The list says nothing about where a node may stand; translation does, and
refuses what it finds in a place it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlglot import exp

from quincunx.table.aggregates import AGGREGATES
from quincunx.table.sql.folds import NODES as FOLDS
from quincunx.table.sql.functions import WINDOWS
from quincunx.table.sql.place import Text
from quincunx.table.sql.reasons import PARTS, WORDS, why

# How deep the parser's tree may be; chains of AND, OR and || are read as one level.
DEPTH: Final = 60

_BINARY: Final = frozenset({"this", "expression"})
_UNARY: Final = frozenset({"this"})
# Parts of a SELECT that stand below the outermost only.
BELOW: Final = frozenset({"distinct"})

ALLOWED: Final[dict[type[exp.Expr], frozenset[str]]] = {
    exp.Select: frozenset(
        {
            *("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_"),
            *("distinct", "qualify", "windows"),
        },
    ),
    **dict.fromkeys(
        (exp.Union, exp.Intersect, exp.Except),
        frozenset({"this", "expression", "distinct", "with_", "order", "limit", "offset"}),
    ),
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias"}),
    exp.From: _UNARY,
    exp.Join: frozenset({"this", "on", "using", "side", "kind"}),
    exp.Table: frozenset({"this", "alias"}),
    exp.TableAlias: frozenset({"this", "columns"}),
    exp.Subquery: frozenset({"this", "alias"}),
    exp.Where: _UNARY,
    exp.Qualify: _UNARY,
    exp.Exists: _UNARY,
    exp.Group: frozenset({"expressions", "all"}),
    exp.Having: _UNARY,
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Limit: frozenset({"expression"}),
    exp.Offset: frozenset({"expression"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Star: frozenset(),
    exp.Paren: _UNARY,
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Null: frozenset(),
    exp.Boolean: _UNARY,
    exp.Var: _UNARY,
    exp.Window: frozenset({"this", "partition_by", "order", "spec", "over", "alias"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
    **{node: frozenset(parts) for node, (_, parts) in WINDOWS.items()},
    **FOLDS,
    **{node: parts for each in AGGREGATES for node, parts in each.nodes.items()},
    exp.Distinct: frozenset({"expressions", "on"}),
    exp.Filter: _BINARY,
    # Arithmetic. `typed` and `safe` are remarks on the dialect.
    exp.Add: _BINARY,
    exp.Sub: _BINARY,
    exp.Mul: _BINARY,
    exp.Div: frozenset({"this", "expression", "typed", "safe"}),
    exp.IntDiv: _BINARY,
    exp.Mod: _BINARY,
    exp.Neg: _UNARY,
    exp.Abs: _UNARY,
    exp.Floor: _UNARY,
    exp.Ceil: _UNARY,
    exp.Round: frozenset({"this", "decimals"}),
    exp.Least: frozenset({"this", "expressions", "ignore_nulls"}),
    exp.Greatest: frozenset({"this", "expressions", "ignore_nulls"}),
    # Conditions.
    exp.And: _BINARY,
    exp.Or: _BINARY,
    exp.Not: _UNARY,
    exp.EQ: _BINARY,
    exp.NEQ: _BINARY,
    exp.LT: _BINARY,
    exp.LTE: _BINARY,
    exp.GT: _BINARY,
    exp.GTE: _BINARY,
    exp.Is: _BINARY,
    exp.NullSafeEQ: _BINARY,
    exp.NullSafeNEQ: _BINARY,
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions", "query"}),
    exp.Tuple: frozenset({"expressions"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
    exp.ILike: frozenset({"this", "expression", "negate"}),
    # Choices and casts.
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true", "false"}),
    exp.Coalesce: frozenset({"this", "expressions"}),
    exp.Nullif: _BINARY,
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to", "safe"}),
    exp.DataType: _UNARY,
    # Dates.
    exp.Extract: _BINARY,
    exp.TimestampTrunc: frozenset({"this", "unit"}),
    exp.DateTrunc: frozenset({"this", "unit"}),
    exp.Year: _UNARY,
    exp.Quarter: _UNARY,
    exp.Month: _UNARY,
    exp.Week: _UNARY,
    exp.WeekOfYear: _UNARY,
    exp.Day: _UNARY,
    exp.DayOfMonth: _UNARY,
    exp.DayOfWeek: _UNARY,
    exp.DayOfWeekIso: _UNARY,
    exp.DayOfYear: _UNARY,
    exp.Hour: _UNARY,
    exp.Minute: _UNARY,
    exp.Second: _UNARY,
    # Texts.
    exp.Upper: _UNARY,
    exp.Lower: _UNARY,
    exp.Length: _UNARY,
    exp.Trim: frozenset({"this", "position"}),
    exp.Left: _BINARY,
    exp.Right: _BINARY,
    exp.Substring: frozenset({"this", "start", "length"}),
    exp.Concat: frozenset({"expressions", "safe", "coalesce"}),
    exp.DPipe: frozenset({"this", "expression", "safe"}),
    exp.Replace: frozenset({"this", "expression", "replacement"}),
    exp.StartsWith: _BINARY,
    exp.EndsWith: _BINARY,
    exp.Contains: _BINARY,
    # Functions that the parser knows by name only; `functions.py` lists the names.
    exp.Anonymous: frozenset({"this", "expressions"}),
}


def check(tree: exp.Expr, text: Text) -> None:
    """Raise unless every node and every part of it is listed and the tree is not too deep. No recursion."""
    pending: list[tuple[exp.Expr, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > DEPTH:
            hint = "Name inner parts in WITH, or ask a smaller question."
            raise text.refusal(node, f"an expression is at most {DEPTH} operators deep", hint=hint)
        listed = None if node is tree and isinstance(node, exp.SetOperation) else ALLOWED.get(type(node))
        if listed is None:
            what, hint = why(node)
            raise text.refusal(node, what, hint=hint, words=WORDS.get(type(node).__name__, ()))
        below: list[tuple[exp.Expr, int]] = []
        for name, value in node.args.items():
            if not value:
                continue
            children = list(_nodes(value))
            if name not in listed or (node is tree and name in BELOW):
                _refuse_part(node, name, children, text)
            chain = isinstance(node, exp.And | exp.Or | exp.DPipe)
            below += [(each, depth if chain and type(each) is type(node) else depth + 1) for each in children]
        # The last one pushed is looked at first, so that the first mistake of the question is shown.
        pending += reversed(below)


def _refuse_part(node: exp.Expr, name: str, children: list[exp.Expr], text: Text) -> None:
    place = children[0] if children else node
    reason = PARTS.get((type(node).__name__, name))
    if reason is None and children and type(children[0]) not in ALLOWED:
        reason = why(children[0])
    what, hint = reason or ("this part of the question is not on the list of what is understood", "Leave it out.")
    raise text.refusal(place, what, hint=hint, words=WORDS.get(f"{type(node).__name__}.{name}", ()))


def _nodes(value: Any) -> Iterator[exp.Expr]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, exp.Expr):
            yield each
