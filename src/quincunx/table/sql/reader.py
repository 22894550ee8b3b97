"""From the text of a question to its typed plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from quincunx.errors import QueryError, RefusalError
from quincunx.table.aggregates import AGGREGATES
from quincunx.table.expression import Expression
from quincunx.table.plan import Key, Ordering, Output, Query
from quincunx.table.schema import Schema
from quincunx.table.sql import allow, constants, derived, keys, limits
from quincunx.table.sql.groups import Groups
from quincunx.table.sql.keys import Evaluate
from quincunx.table.sql.names import Rows
from quincunx.table.sql.place import Text
from quincunx.table.sql.relation import CALLS, Reading

# An answer has these beside each published number.
SUFFIXES: Final = ("_low", "_high", "_se")

_Item = TypeVar("_Item")


def read(text: str, schema: Schema, evaluate: Evaluate | None = None, *, derive: bool = True) -> Query:
    """The typed plan of a question.

    evaluate: computes expressions on public values, so that expressions of columns with declared keys have public keys
    too; without it they are unknown. derive: whether keys whose values follow from declared facts are public; they were
    not always, and what was paid for then is found in a ledger without it. Raises QueryError where the question cannot
    be understood and RefusalError where it asks for what cannot be released; both show the place. No private row is
    read.
    """
    words = limits.split(text)
    try:
        select = _parse(words)
        allow.check(select, words)
        return _query(select, Reading(text=words, schema=schema), evaluate, derive)
    except RecursionError:
        # Only a caller that is itself deep in its stack comes here: nesting was bounded before parsing.
        raise RefusalError("the question is nested too deeply", hint="Ask a smaller question.") from None


def _parse(text: Text) -> exp.Select:
    try:
        trees = [tree for tree in sqlglot.parse(text.sql, dialect="duckdb") if tree is not None]
    except SqlglotError as error:
        raise _grammar(error, text) from None
    except RecursionError:
        raise
    except Exception:
        # The parser trips over some malformed texts; its own message would say nothing to a reader.
        raise QueryError("the question does not follow the grammar of SQL").at(text.sql, 0, len(text.sql)) from None
    tree = trees[0] if len(trees) == 1 else exp.Select()
    synonyms = {name: kind for each in AGGREGATES for name, kind in each.synonyms.items()}
    for node in list(tree.find_all(exp.Anonymous)):
        if node.name.lower() in synonyms and len(node.expressions) == 1:
            known = synonyms[node.name.lower()](this=node.expressions[0])
            known.meta.update(node.meta)
            node.replace(known)
    if isinstance(tree, exp.Select):
        return tree
    allow.check(tree, text)
    raise text.refusal(tree, "a question is one SELECT", hint="Write SELECT … FROM ….")


def _grammar(error: SqlglotError, text: Text) -> QueryError:
    """A sentence of our own, at the place where the parser stopped."""
    found = getattr(error, "errors", None) or [{}]
    line, end = found[0].get("line"), found[0].get("col")
    wrong = QueryError("the question does not follow the grammar of SQL here")
    if not isinstance(line, int) or not isinstance(end, int):
        return wrong.at(text.sql, 0, len(text.sql))
    stopped = next((each for each in text.tokens if (each.line, each.col) == (line, end)), text.tokens[-1])
    return wrong.at(text.sql, stopped.start, stopped.end + 1)


def _query(select: exp.Select, reading: Reading, evaluate: Evaluate | None, derive: bool) -> Query:
    text = reading.text
    rows = reading.source(select, {})
    group = select.args.get("group")
    by = _all(select) if group and group.args.get("all") else group.expressions if group else []
    if not select.expressions or (group and not by and not group.args.get("all")):
        raise text.mistake(select, "SELECT and GROUP BY need something to follow", hint="Write SELECT COUNT(*) FROM ….")
    grouping = _keys(by, select, reading, rows, evaluate)
    if derive:
        grouping = derived.completed(grouping, rows, evaluate)
    groups = Groups(reading=reading, rows=rows, keys=grouping)
    outputs = tuple(_output(node, groups) for node in select.expressions)
    _check_names(outputs, select, text)
    having = select.args.get("having")
    kept = groups.test(having.this) if having else None
    order = select.args.get("order")
    groups.names_first = True
    ordering = tuple(_ordering(node, outputs, groups) for node in order.expressions) if order else ()
    if not groups.aggregates:
        hint = "Add COUNT(*), SUM(…) or AVG(…)."
        raise text.refusal(select.expressions[0], "nothing is counted", hint=hint)
    return Query(
        rows=rows.relation,
        keys=grouping,
        aggregates=tuple(groups.aggregates),
        outputs=outputs,
        having=kept,
        order=ordering,
        limit=_number(select, "limit", text),
        offset=_number(select, "offset", text) or 0,
    )


def _all(select: exp.Select) -> list[exp.Expr]:
    """GROUP BY ALL: everything in SELECT that holds no aggregate, also by a name, and is no constant."""
    found: list[exp.Expr] = []
    measured: set[str] = set()
    for node in select.expressions:
        named = {each.name.lower() for each in node.find_all(exp.Column) if not each.table}
        if node.find(*CALLS) is not None or named & measured:
            measured.add(node.alias.lower())
        elif node.find(exp.Column) is not None:
            found.append(node)
    return found


def _keys(
    nodes: list[exp.Expr], select: exp.Select, reading: Reading, rows: Rows, evaluate: Evaluate | None
) -> tuple[Key, ...]:
    found: dict[Expression, Key] = {}
    for node in nodes:
        name, written = _written(node, select, reading.text, rows)
        expression = reading.row(written, rows, where="GROUP BY")
        if not any(expression.columns()):
            raise reading.text.mistake(node, "a constant makes no groups", hint="Group by a column.")
        values = keys.values(rows.base_of(expression), rows.relation.declared, evaluate)
        found.setdefault(expression, Key(name=name, expression=expression, values=values))
    grouping = tuple(found.values())
    if math.prod(len(key.values) for key in grouping if key.values is not None) > keys.GROUPS:
        hint = "Group by fewer columns, or ask several questions."
        raise reading.text.refusal(nodes[0], f"there are more than {keys.GROUPS:,} groups", hint=hint)
    return grouping


def _written(node: exp.Expr, select: exp.Select, text: Text, rows: Rows) -> tuple[str, exp.Expr]:
    """The expression that GROUP BY means: an ordinal or a name of SELECT stands for what is selected there.

    As in DuckDB, a column hides a name of SELECT.
    """
    if isinstance(node, exp.Literal) and not node.args.get("is_string"):
        chosen = _ordinal(node, select.expressions, text)
        return chosen.alias_or_name or text.words(chosen), chosen.unalias()
    if isinstance(node, exp.Alias):
        return node.alias, node.this
    if isinstance(node, exp.Column) and not node.table and rows.find(node.name) is None:
        for chosen in select.expressions:
            if isinstance(chosen, exp.Alias) and chosen.alias.lower() == node.name.lower():
                return chosen.alias, chosen.this
    return (node.name if isinstance(node, exp.Column) else text.words(node)), node


def _ordinal(node: exp.Expr, items: Sequence[_Item], text: Text) -> _Item:
    position = int(node.name) if node.name.isdigit() and len(node.name) < 6 else 0
    if not 1 <= position <= len(items):
        hint = f"SELECT has {len(items)} column{'s' if len(items) != 1 else ''}."
        raise text.mistake(node, "no column of SELECT has this number", got=node.name[:20], hint=hint)
    return items[position - 1]


def _output(node: exp.Expr, groups: Groups) -> Output:
    text = groups.reading.text
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        hint = "Select aggregates and what you group by."
        raise text.refusal(node, "* would show single rows", hint=hint)
    expression = groups.expression(node.unalias())
    name = node.alias if isinstance(node, exp.Alias) else _default_name(node, text)
    if name.lower().endswith(SUFFIXES):
        hint = "Choose another name with AS."
        what = f"names that end in {', '.join(SUFFIXES)} are kept for intervals and standard errors"
        raise text.mistake(node, what, got=repr(name), hint=hint)
    groups.names.setdefault(name.lower(), expression)
    return Output(name=name, expression=expression)


def _default_name(node: exp.Expr, text: Text) -> str:
    """As DuckDB names it where that is short: a column by its name, an aggregate in lower case."""
    if isinstance(node, exp.Column):
        return node.name
    words = text.words(node)
    aggregate = next((each for each in AGGREGATES if type(node) in each.nodes), None)
    return words if aggregate is None else aggregate.title(node, words)


def _check_names(outputs: tuple[Output, ...], select: exp.Select, text: Text) -> None:
    seen: set[str] = set()
    for output, node in zip(outputs, select.expressions, strict=True):
        if output.name.lower() in seen:
            hint = "Give one of them another name with AS."
            raise text.mistake(node, "two columns of the answer have the same name", got=repr(output.name), hint=hint)
        seen.add(output.name.lower())


def _ordering(node: exp.Expr, outputs: tuple[Output, ...], groups: Groups) -> Ordering:
    by = node.this
    if isinstance(by, exp.Literal) and not by.args.get("is_string"):
        expression = _ordinal(by, list(outputs), groups.reading.text).expression
    else:
        expression = groups.expression(by)
    return Ordering(
        expression=expression,
        descending=bool(node.args.get("desc")),
        nulls_first=bool(node.args.get("nulls_first")),
    )


def _number(select: exp.Select, name: str, text: Text) -> int | None:
    clause = select.args.get(name)
    if clause is None:
        return None
    try:
        return constants.whole(clause.args["expression"], name.upper())
    except QueryError as error:
        raise error.at(text.sql, *text.span(clause)) from None
