"""From the text of a question to its typed plan."""

from __future__ import annotations

import math
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from quincunx.errors import QueryError, RefusalError
from quincunx.table.aggregates import AGGREGATES
from quincunx.table.expression import Expression
from quincunx.table.plan import Key, Ordering, Output, Query
from quincunx.table.schema import Schema
from quincunx.table.sql import above, allow, constants, derived, keys, limits, lists
from quincunx.table.sql.grouping import grouped, ordinal, written
from quincunx.table.sql.groups import Groups
from quincunx.table.sql.keys import Evaluate
from quincunx.table.sql.names import Rows
from quincunx.table.sql.place import Text
from quincunx.table.sql.reasons import PARTS
from quincunx.table.sql.relation import Reading
from quincunx.table.sql.relations import CONSTRUCTS, source

# An answer has these beside each published number.
SUFFIXES: Final = ("_low", "_high", "_se")


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
        allow.check(above.below(select) if above.wanted(select) else select, words)
        reading = Reading(text=words, schema=schema, constructs=CONSTRUCTS, evaluate=evaluate)
        return _query(select, reading, evaluate, derive)
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
        kind = synonyms.get(node.name.lower())
        parts = [] if kind is None else [part for part, needed in kind.arg_types.items() if needed]
        if kind is not None and 1 <= len(node.expressions) <= len(parts):
            known = kind(**dict(zip(parts, node.expressions, strict=False)))
            known.meta.update(node.meta)
            node.replace(known)
    if isinstance(tree, exp.Select):
        lists.one_by_one(tree)
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
    rows = source(reading, select, {})
    _check_private(select, reading, rows)
    group = select.args.get("group")
    by = grouped(select)
    if not select.expressions or (group and not by and not group.args.get("all")):
        raise text.mistake(select, "SELECT and GROUP BY need something to follow", hint="Write SELECT COUNT(*) FROM ….")
    for node in (*select.expressions, *by):
        # Windows of this SELECT are over its groups; subqueries are about single rows.
        rows = rows if node.find(exp.Window) is not None else reading.extended(node, rows)
    grouping = _keys(by, select, reading, rows, evaluate)
    if derive:
        grouping = derived.completed(grouping, rows, evaluate)
    groups = Groups(reading=reading, rows=rows, keys=grouping)
    if above.wanted(select):
        return _above(select, groups, grouping)
    _check_windows(select, text)
    outputs = tuple(_output(node, groups) for node in select.expressions)
    _check_names(outputs, select, text)
    having = select.args.get("having")
    kept = groups.test(having.this) if having else None
    order = select.args.get("order")
    groups.names_first = True
    ordering = tuple(_ordering(node, outputs, groups) for node in order.expressions) if order else ()
    _check_counted(groups, select)
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


def _above(select: exp.Select, groups: Groups, grouping: tuple[Key, ...]) -> Query:
    """A question with windows over its groups, or functions of its numbers: the rest is said by a statement above."""
    upper, outputs = above.Upper(groups=groups), []
    for node in select.expressions:
        _check_star(node, groups)
        name = _name(node, groups)
        outputs.append(Output(name=name, expression=upper.output(node, name)))
        groups.names.setdefault(name.lower(), outputs[-1].expression)
    _check_names(tuple(outputs), select, groups.reading.text)
    sql = above.statement(select, tuple(each.name for each in outputs), upper)
    for name in ("limit", "offset"):
        _number(select, name, groups.reading.text)
    _check_counted(groups, select)
    above.rehearsed(sql, groups, grouping)
    return Query(
        rows=groups.rows.relation,
        keys=grouping,
        aggregates=tuple(groups.aggregates),
        outputs=tuple(outputs),
        above=sql,
    )


def _check_counted(groups: Groups, select: exp.Select) -> None:
    if not groups.aggregates:
        hint = "Add COUNT(*), SUM(…) or AVG(…)."
        raise groups.reading.text.refusal(select.expressions[0], "nothing is counted", hint=hint)


def _check_windows(select: exp.Select, text: Text) -> None:
    """Windows of rows stand in a subquery: here they would look at groups, whose numbers are published."""
    for name in ("qualify", "windows"):
        for node in [select.args.get(name)] if name == "qualify" else select.args.get(name) or []:
            if node is not None:
                what, hint = PARTS["Select", name]
                raise text.refusal(node, what, hint=hint)


def _check_private(select: exp.Select, reading: Reading, rows: Rows) -> None:
    """A question is about somebody: public tables alone need no protection."""
    if rows.relation.owner is not None:
        return
    for each in select.find_all(exp.Table):
        table = reading.schema.table(each.name) if isinstance(each.this, exp.Identifier) else None
        if table is not None and table.public:
            hint = "Read it directly; a question is about a private table."
            what = f"{table.name} is public, so that there is nothing to protect"
            raise reading.text.refusal(each.this, what, hint=hint)


def _keys(
    nodes: list[exp.Expr], select: exp.Select, reading: Reading, rows: Rows, evaluate: Evaluate | None
) -> tuple[Key, ...]:
    found: dict[Expression, Key] = {}
    for node in nodes:
        name, meant = written(node, select, reading.text, rows)
        expression = reading.row(meant, rows, where="GROUP BY")
        if not any(expression.columns()):
            raise reading.text.mistake(node, "a constant makes no groups", hint="Group by a column.")
        values = keys.values(rows.relation.traced(expression), rows.relation.declared, evaluate)
        found.setdefault(expression, Key(name=name, expression=expression, values=values))
    grouping = tuple(found.values())
    if math.prod(len(key.values) for key in grouping if key.values is not None) > keys.GROUPS:
        hint = "Group by fewer columns, or ask several questions."
        raise reading.text.refusal(nodes[0], f"there are more than {keys.GROUPS:,} groups", hint=hint)
    return grouping


def _output(node: exp.Expr, groups: Groups) -> Output:
    _check_star(node, groups)
    expression = groups.expression(node.unalias())
    name = _name(node, groups)
    groups.names.setdefault(name.lower(), expression)
    return Output(name=name, expression=expression)


def _check_star(node: exp.Expr, groups: Groups) -> None:
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        hint = "Select aggregates and what you group by."
        raise groups.reading.text.refusal(node, "* would show single rows", hint=hint)


def _name(node: exp.Expr, groups: Groups) -> str:
    text = groups.reading.text
    name = node.alias if isinstance(node, exp.Alias) else _default_name(node, text)
    if name.lower().endswith(SUFFIXES):
        hint = "Choose another name with AS."
        what = f"names that end in {', '.join(SUFFIXES)} are kept for intervals and standard errors"
        raise text.mistake(node, what, got=repr(name), hint=hint)
    return name


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
        expression = ordinal(by, list(outputs), groups.reading.text).expression
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
