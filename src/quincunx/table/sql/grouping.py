"""What GROUP BY means: ordinals, names of SELECT, and ALL stand for what is selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sqlglot import exp

from quincunx.table.sql.names import Rows
from quincunx.table.sql.place import Text
from quincunx.table.sql.relation import CALLS

_Item = TypeVar("_Item")


def grouped(select: exp.Select, calls: tuple[type[exp.Expr], ...] = CALLS) -> list[exp.Expr]:
    """The nodes of GROUP BY. calls: what is an aggregate here."""
    group = select.args.get("group")
    if group is None:
        return []
    return _all(select, calls) if group.args.get("all") else list(group.expressions)


def _all(select: exp.Select, calls: tuple[type[exp.Expr], ...]) -> list[exp.Expr]:
    """GROUP BY ALL: everything in SELECT that holds no aggregate, also by a name, and is no constant."""
    found: list[exp.Expr] = []
    measured: set[str] = set()
    for node in select.expressions:
        named = {each.name.lower() for each in node.find_all(exp.Column) if not each.table}
        if node.find(*calls, exp.Window) is not None or named & measured:
            measured.add(node.alias.lower())
        elif node.find(exp.Column) is not None:
            found.append(node)
    return found


def written(node: exp.Expr, select: exp.Select, text: Text, rows: Rows) -> tuple[str, exp.Expr]:
    """The expression that GROUP BY means: an ordinal or a name of SELECT stands for what is selected there.

    As in DuckDB, a column hides a name of SELECT.
    """
    if isinstance(node, exp.Literal) and not node.args.get("is_string"):
        chosen = ordinal(node, select.expressions, text)
        return chosen.alias_or_name or text.words(chosen), chosen.unalias()
    if isinstance(node, exp.Alias):
        return node.alias, node.this
    if isinstance(node, exp.Column) and not node.table and rows.find(node.name) is None:
        for chosen in select.expressions:
            if isinstance(chosen, exp.Alias) and chosen.alias.lower() == node.name.lower():
                return chosen.alias, chosen.this
    return (node.name if isinstance(node, exp.Column) else text.words(node)), node


def ordinal(node: exp.Expr, items: Sequence[_Item], text: Text) -> _Item:
    """The item of this number."""
    position = int(node.name) if node.name.isdigit() and len(node.name) < 6 else 0
    if not 1 <= position <= len(items):
        hint = f"SELECT has {len(items)} column{'s' if len(items) != 1 else ''}."
        raise text.mistake(node, "no column of SELECT has this number", got=node.name[:20], hint=hint)
    return items[position - 1]
