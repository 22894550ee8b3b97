"""Above the noise, in the same SELECT: windows over groups, QUALIFY, and functions of published numbers.

SQL works these out after GROUP BY and HAVING, so that they see published numbers alone. The question is cut in two: the
aggregates and keys below, which are planned, priced and noised as ever, and a statement over them, which is worked out
in a sealed connection (release/then.md) and is part of no identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from sqlglot import exp

from quincunx.data import Given, Sealed
from quincunx.errors import QueryError, RefusalError
from quincunx.table.expression import Above, Expression, GroupKey, Measured
from quincunx.table.plan import Key
from quincunx.table.sql.groups import Groups
from quincunx.table.sql.reasons import why
from quincunx.table.sql.relation import CALLS
from quincunx.table.sql.scalar import HANDLERS

# What the statement above calls the table of published numbers.
TABLE: Final = "answer"
# Functions of one number that rows have no use for here: below an aggregate they stay refused.
FUNCTIONS: Final[tuple[type[exp.Expr], ...]] = (exp.Sqrt, exp.Cbrt, exp.Ln, exp.Log, exp.Exp, exp.Pow, exp.Sign)
_NAMES: Final = frozenset({"log2", "log10", "trunc", "even"})
# What may stand between a window and the function that it calls.
_AROUND: Final = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)
_CLAUSES: Final = ("expressions", "having", "qualify", "order", "windows")
_TYPES: Final = {
    "integer": "BIGINT", "decimal": "DOUBLE", "text": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMP",
    "boolean": "BOOLEAN",
}  # fmt: skip


def wanted(select: exp.Select) -> bool:
    """Whether anything of the question is worked out above its aggregates by a statement of its own."""
    # A window that is defined and not used changes nothing, and is refused as ever.
    nodes = [each for clause in _CLAUSES if clause != "windows" for each in _upper(select.args.get(clause))]
    grouped = select.args.get("group") is not None or any(_aggregates(each) for each in nodes)
    return grouped and any(_free(each) for each in nodes)


def below(select: exp.Select) -> exp.Select:
    """The question as far as it is planned: what is worked out above gives way to what it is worked out from."""
    kept = select.copy()
    pieces: list[exp.Expr] = []
    for clause in _CLAUSES:
        for node in _listed(kept.args.get(clause)):
            if any(_free(each) for each in _upper(node)):
                pieces += [each for each in _upper(node) if _aggregates(each) or isinstance(each, exp.Column)]
            elif clause == "expressions":
                pieces.append(node)
    for clause in ("having", "order"):
        if any(_free(each) for each in _upper(kept.args.get(clause))):
            kept.set(clause, None)
    for clause in ("qualify", "windows"):
        kept.set(clause, None)
    kept.set("expressions", pieces)
    return kept


@dataclass(slots=True)
class Upper:
    """The statement above while it is written. names: what SELECT has named so far, in lower case."""

    groups: Groups
    names: dict[str, exp.Expr] = field(default_factory=dict)

    def output(self, node: exp.Expr, name: str) -> Expression:
        """One column of SELECT: its typed expression, or what it is worked out from above."""
        written = self.written(node.unalias())
        self.names.setdefault(name.lower(), written)
        if not any(_free(each) for each in _upper(node)):
            return self.groups.expression(node.unalias())
        parts: list[Expression] = []
        for each in written.find_all(exp.Column):
            parts.append(self._part(each.name))
        return Above(type="decimal", arguments=tuple(dict.fromkeys(parts)))

    def _part(self, name: str) -> Expression:
        place = int(name[1:])
        if name[0] == "a":
            return Measured(index=place, **self.groups.aggregates[place].result().named())
        return GroupKey(index=place, **self.groups.keys[place].expression.facts)

    def written(self, node: exp.Expr, *, called: bool = False) -> exp.Expr:
        """The node over columns a0, a1, … and k0, k1, …. called: it is what a window calls."""
        text = self.groups.reading.text
        if isinstance(node, exp.Query | exp.Subquery):
            what, hint = why(node)
            raise text.refusal(node, what, hint=hint)
        if not called and isinstance(node, CALLS):
            return exp.column(f"a{_index(self.groups.aggregate(node))}")
        if isinstance(node, exp.Column):
            return self._column(node)
        if not called and type(node) in HANDLERS and not any(_free(each) for each in _upper(node)):
            key = self.groups.key(node)
            if key is not None:
                return exp.column(f"k{_index(key)}")
        over = isinstance(node, exp.Window) or (called and isinstance(node, _AROUND))
        parts: dict[str, Any] = {}
        for name, value in node.args.items():
            inner = over and name == "this"
            parts[name] = (
                [self.written(each, called=inner) if isinstance(each, exp.Expr) else each for each in value]
                if isinstance(value, list)
                else self.written(value, called=inner)
                if isinstance(value, exp.Expr)
                else value
            )
        return type(node)(**parts)

    def _column(self, node: exp.Column) -> exp.Expr:
        name = node.name.lower()
        # As in DuckDB, a column hides a name of SELECT, but for ORDER BY.
        hidden = self.groups.rows.find(name) is not None and not self.groups.names_first
        if not node.table and name in self.names and not hidden:
            return exp.paren(self.names[name].copy())
        key = self.groups.key(node)
        if key is not None:
            return exp.column(f"k{_index(key)}")
        if not node.table and name in self.names:
            return exp.paren(self.names[name].copy())
        # Raises: it would show the value of single rows.
        self.groups.expression(node)
        raise AssertionError(name)


def statement(select: exp.Select, names: tuple[str, ...], upper: Upper) -> str:
    """The whole statement above, once every column of SELECT was written."""
    written = [upper.written(node.unalias()) for node in select.expressions]
    chosen = [exp.alias_(node, name, quoted=True) for node, name in zip(written, names, strict=True)]
    outer = exp.Select(expressions=chosen).from_(TABLE)
    having, qualify = select.args.get("having"), select.args.get("qualify")
    if having is not None:
        outer.set("where", exp.Where(this=upper.written(having.this)))
    if qualify is not None:
        outer.set("qualify", exp.Qualify(this=upper.written(qualify.this)))
    if select.args.get("windows"):
        outer.set("windows", [upper.written(each) for each in select.args["windows"]])
    upper.groups.names_first = True
    if select.args.get("order") is not None:
        outer.set("order", upper.written(select.args["order"]))
    for name in ("limit", "offset"):
        if select.args.get(name) is not None:
            outer.set(name, select.args[name].copy())
    return outer.sql(dialect="duckdb")


def rehearsed(sql: str, groups: Groups, keys: tuple[Key, ...]) -> None:
    """Raise where the statement cannot be worked out: tried on no rows, before anything is paid."""
    kinds = {f"a{i}": each.result().type for i, each in enumerate(groups.aggregates)}
    kinds |= {f"k{i}": key.expression.type for i, key in enumerate(keys)}
    empty = [
        Given(name=name, values=np.zeros(0), present=np.zeros(0, dtype=bool), type=_TYPES[kind])
        for name, kind in kinds.items()
    ]
    try:
        with Sealed({TABLE: empty}) as sealed:
            sealed.run(sealed.check(sql).text)
    except (QueryError, RefusalError) as error:
        hint = 'Ask for the numbers alone, and write the rest as answer.then("SELECT … FROM answer"), which says why.'
        what = "what stands above the aggregates cannot be worked out from published numbers"
        raise type(error)(what, hint=hint).at(groups.reading.text.sql, 0, len(groups.reading.text.sql)) from None


def _index(found: Expression) -> int:
    return found.index  # type: ignore[attr-defined,no-any-return]


def _free(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _NAMES
    return isinstance(node, (exp.Window, exp.Qualify, *FUNCTIONS))


def _aggregates(node: exp.Expr) -> bool:
    """Whether it is an aggregate over rows, and not what a window calls over groups."""
    return isinstance(node, CALLS) and not _called(node)


def _called(node: exp.Expr) -> bool:
    around = node.parent
    while isinstance(around, _AROUND):
        node, around = around, around.parent
    return isinstance(around, exp.Window) and around.this is node


def _upper(value: Any) -> Iterator[exp.Expr]:
    """Every node above the aggregates, these included, but nothing inside of them."""
    pending = list(reversed(_listed(value)))
    while pending:
        node = pending.pop()
        yield node
        if not _aggregates(node):
            pending += [each for part in node.args.values() for each in _listed(part)]


def _listed(value: Any) -> list[exp.Expr]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, exp.Expr)]
