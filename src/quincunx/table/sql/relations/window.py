"""Window functions of rows, and QUALIFY: what looks at all rows of one person, each by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sqlglot import exp

from quincunx.errors import QueryError
from quincunx.table.expression import Expression
from quincunx.table.operators import apply, literal
from quincunx.table.relations import End, Filter, Fold, Frame, Relation, Sorting, Window, Windowed
from quincunx.table.sql import constants
from quincunx.table.sql.folds import folded
from quincunx.table.sql.functions import WINDOWS
from quincunx.table.sql.licence import moved, unlicensed
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading
from quincunx.table.sql.relations.subquery import keyed
from quincunx.table.typing.facts import whole_constant
from quincunx.table.typing.windowed import FARTHEST, FUNCTIONS, NONE

_NUMBERING: Final = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)
_ACROSS: Final = "this looks at other people's rows"
# What is kept of a frame must not grow with it.
_FOLDS: Final = ("count", "sum", "squares", "least", "greatest", "all", "any")
_LISTED: Final = "ROW_NUMBER, RANK, LAG, LEAD, FIRST_VALUE, COUNT, SUM, AVG, MIN, MAX and more: docs/reference/sql.md."


def read(reading: Reading, node: exp.Window, rows: Rows) -> tuple[Relation, Expression]:
    """The rows with the columns of a window function, and what it is of them."""
    _check_place(reading, node)
    keyed(reading, node, rows)
    for each in node.iter_expressions():
        rows = reading.extended(each, rows)
    over = _over(reading, node, rows)
    called = node.this.this if isinstance(node.this, exp.Filter) else node.this
    missing = unlicensed(rows.relation, over.partition)
    if missing:
        _told(reading, node, rows)
        what = "rows are numbered across people" if isinstance(called, _NUMBERING) else _ACROSS
        raise reading.text.refusal(node, what, hint=f"PARTITION BY {' and '.join(missing)}.")
    relation = rows.relation
    if type(called) in WINDOWS:
        relation = Window.over(relation, _function(reading, node, rows, over))
        return relation, relation.columns[-1]

    def add(fold: Fold) -> Expression:
        nonlocal relation
        if fold.kind not in _FOLDS:
            raise reading.text.refusal(node, "this is no window function on the list", hint=f"There are {_LISTED}")
        relation = Window.over(relation, replace(over, fold=fold))
        return relation.columns[-1]

    value = folded(reading, rows, node.this, add)
    return relation, value


def qualify(reading: Reading, select: exp.Select, rows: Rows) -> Rows:
    """The rows that QUALIFY keeps. Windows of SELECT come before it: they look at all rows."""
    for node in (*select.expressions, clause := select.args["qualify"].this):
        rows = reading.extended(node, rows)
    kept = reading.test(clause, rows, where="QUALIFY")
    return replace(rows, relation=reading.shallow(clause, Filter(source=rows.relation, condition=kept)))


def first(reading: Reading, select: exp.Select, rows: Rows) -> Rows:
    """DISTINCT ON: of all rows that are alike in these expressions, the first in the order that is written."""
    on = select.args["distinct"].args.get("on")
    if on is None:
        return rows
    keyed(reading, on, rows)
    by = on.expressions if isinstance(on, exp.Tuple) else [on]
    order = select.args.get("order")
    for node in (*select.expressions, *by, *(order.expressions if order else ())):
        rows = reading.extended(node, rows)
    partition = tuple(reading.row(each, rows, where="DISTINCT ON") for each in by)
    missing = unlicensed(rows.relation, partition)
    if missing:
        _told(reading, on, rows)
        what = "DISTINCT ON keeps one row of several people's"
        raise reading.text.refusal(on, what, hint=f"Put {' and '.join(missing)} into DISTINCT ON.")
    sorted_by = tuple(_sorting(reading, each, rows) for each in (order.expressions if order else ()))
    numbered = Window.over(rows.relation, Windowed(function="row_number", partition=partition, order=sorted_by))
    kept = apply("equal", numbered.columns[-1], literal(1))
    return replace(rows, relation=reading.shallow(on, Filter(source=numbered, condition=kept)))


def _told(reading: Reading, node: exp.Expr, rows: Rows) -> None:
    """Refuse a key that may be named and tells nobody apart."""
    why = None if rows.relation.owner is None else moved(rows.relation.owner.components)
    if why is not None:
        raise reading.text.refusal(node, why[0], hint=why[1])


def _function(reading: Reading, node: exp.Window, rows: Rows, over: Windowed) -> Windowed:
    """A function that is no aggregate, over its window."""
    if isinstance(node.this, exp.Filter):
        raise reading.text.refusal(node, "FILTER follows an aggregate", hint="Write CASE inside the function.")
    name, parts = WINDOWS[type(node.this)]
    found = replace(over, function=name, arguments=tuple(_arguments(reading, node.this, parts, rows)))
    try:
        FUNCTIONS[name].facts(found.arguments)
    except QueryError as error:
        raise error.at(reading.text.sql, *reading.text.span(node)) from None
    if not found.framed and FUNCTIONS[name].frames == NONE:
        raise reading.text.refusal(node, "this function has no frame", hint="Leave the frame out.")
    if not found.framed:
        what = "which row this takes is not told: the order may leave several alike"
        hint = "Write ROWS BETWEEN … AND …, or use FIRST_VALUE, MIN or MAX."
        raise reading.text.refusal(node, what, hint=hint)
    return found


def _check_place(reading: Reading, node: exp.Window) -> None:
    """SQL works windows out after WHERE and GROUP BY, so that these cannot ask for one."""
    around = node.parent
    while around is not None and not isinstance(around, exp.Select):
        if isinstance(around, exp.Where | exp.Having | exp.Group | exp.Join | exp.AggFunc | exp.Window):
            hint = "Compute it in a subquery in FROM, or write QUALIFY."
            raise reading.text.refusal(node, "a window function stands in SELECT or QUALIFY", hint=hint)
        around = around.parent


def _arguments(reading: Reading, called: exp.Expr, parts: tuple[str, ...], rows: Rows) -> Iterator[Expression]:
    for part in parts:
        value = called.args.get(part)
        for each in value if isinstance(value, list) else [value]:
            if each is not None:
                yield reading.row(each, rows, where="a window")


def _over(reading: Reading, node: exp.Window, rows: Rows) -> Windowed:
    """The window itself, whatever is called over it."""
    over = _defined(reading, node)
    return Windowed(
        partition=tuple(reading.row(each, rows, where="PARTITION BY") for each in over.args.get("partition_by") or ()),
        order=tuple(_sorting(reading, each, rows) for each in _ordered(over)),
        frame=_frame(reading, over.args.get("spec")),
    )


def _defined(reading: Reading, node: exp.Window) -> exp.Window:
    """What follows OVER: brackets, or a name that WINDOW defines."""
    name = node.args.get("alias")
    if name is None:
        return node
    select = node.find_ancestor(exp.Select)
    defined: list[exp.Window] = (select.args.get("windows") or []) if select is not None else []
    for each in defined:
        if each.name.lower() == name.name.lower() and each.args.get("alias") is None:
            if any(node.args.get(part) for part in ("partition_by", "order", "spec")):
                hint = "Write the window in brackets after OVER."
                raise reading.text.refusal(node, "a named window is taken as it is", hint=hint)
            return each
    raise reading.text.mistake(node, "no window has this name", got=repr(name.name))


def _ordered(over: exp.Window) -> list[exp.Expr]:
    order = over.args.get("order")
    return list(order.expressions) if order is not None else []


def _sorting(reading: Reading, node: exp.Expr, rows: Rows) -> Sorting:
    expression = reading.row(node.this, rows, where="ORDER BY")
    descending, nulls_first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
    return Sorting(expression=expression, descending=descending, nulls_first=nulls_first)


def _frame(reading: Reading, spec: exp.WindowSpec | None) -> Frame | None:
    if spec is None:
        return None
    kind = str(spec.args["kind"]).lower()
    ends = [_end(reading, spec, name, kind) for name in ("start", "end")]
    return Frame(kind=kind, start=ends[0], end=ends[1])  # type: ignore[arg-type]


def _end(reading: Reading, spec: exp.WindowSpec, name: str, kind: str) -> End:
    value, side = spec.args.get(name), str(spec.args.get(f"{name}_side") or "").lower()
    if value is None or value == "CURRENT ROW":
        return End(side="current")
    if value == "UNBOUNDED":
        return End(side=side)  # type: ignore[arg-type]
    if kind == "range":
        what = "a frame by distance can leave the range of its type on a single row"
        raise reading.text.refusal(
            value, what, hint="Count rows or groups instead: ROWS or GROUPS BETWEEN 1 PRECEDING AND …."
        )
    try:
        offset = whole_constant(constants.constant(value), 0, FARTHEST) if isinstance(value, exp.Literal) else None
    except QueryError as error:
        raise error.at(reading.text.sql, *reading.text.span(value)) from None
    if offset is None:
        raise reading.text.refusal(value, "the bounds of a frame are constants", hint="Write a whole number.")
    return End(side=side, offset=offset)  # type: ignore[arg-type]
