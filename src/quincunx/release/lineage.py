"""What a column of a statement depends on: on keys alone, linearly on noisy numbers, or in some other way. See then.md.

Nothing here affects privacy or a value: it says which interval a column gets. What is not understood is not exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope


class Kind(IntEnum):
    """How something depends on noise; of several, the largest counts. UNKNOWN: on noise whose law is not at hand."""

    KEYS = 0
    LINEAR = 1
    OTHER = 2
    UNKNOWN = 3


# table → column → how it depends on noise.
Known = Mapping[str, Mapping[str, Kind]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A column of a result.

    passed: the table and the column that it is, where it is one as it stands, and by which names it came: columns of
    one row of the table came by the same.
    """

    kind: Kind
    passed: tuple[str, str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """Every column of a result, in its order, and what its rows depend on.

    picked: for each column, whether the largest, the smallest or one in the middle of several numbers may be in it.
    """

    rows: Kind
    columns: tuple[Origin, ...]
    picked: tuple[bool, ...] = ()


def lineage(text: str, tables: Known, count: int) -> Lineage:
    """Of a statement with `count` columns over these tables; where it is not understood, everything is `OTHER`, or
    `UNKNOWN` where a column of the tables is."""
    root = _qualified(text, tables)
    found = None
    with suppress(KeyError, ValueError, RecursionError):
        found = None if root is None else _Reading(tables).scope(root)
    if found is None or len(found.columns) != count:
        worst = max((Kind.OTHER, *(kind for columns in tables.values() for kind in columns.values())))
        return Lineage(rows=worst, columns=(Origin(kind=worst),) * count, picked=(_picks(text),) * count)
    return replace(found, picked=_picked(root, text, count))


def _picked(root: Scope | None, text: str, count: int) -> tuple[bool, ...]:
    """By the expression of each column, if nothing else in the statement picks: tables below, conditions, order."""
    select = None if root is None else root.expression
    if not isinstance(select, exp.Select) or len(select.expressions) != count:
        return (_picks(text),) * count
    rest = select.copy()
    rest.set("expressions", [exp.Literal.number(1)])
    if _picks(rest.sql(dialect="duckdb")):
        return (True,) * count
    return tuple(_picks(each.unalias().sql(dialect="duckdb")) for each in select.expressions)


def _picks(text: str) -> bool:
    return _EXTREMES.search(text) is not None


def _qualified(text: str, tables: Known) -> Scope | None:
    """The statement with every column's table written out; None where the parser trips over it."""
    shape: dict[str, object] = {table: dict.fromkeys(columns, "DOUBLE") for table, columns in tables.items()}
    try:
        tree = sqlglot.parse_one(text, dialect="duckdb")
        return build_scope(qualify(tree, dialect="duckdb", schema=shape, quote_identifiers=False))
    except Exception:
        # The engine has understood the statement; that another parser does not is nobody's mistake.
        return None


_EXTREMES: Final = re.compile(
    r"\b(arg_)?(max|min|greatest|least|median|quantile\w*|mad|mode)(_by)?\s*\(", re.IGNORECASE
)
_UNKNOWN: Final = Origin(kind=Kind.UNKNOWN)
# Functions over rows that are linear in their first argument.
_LINEAR: Final = (exp.Sum, exp.Avg)
_PICKING: Final = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue)


@dataclass(slots=True)
class _Reading:
    """One statement while it is read."""

    tables: Known
    seen: dict[int, Lineage] = field(default_factory=dict)

    def scope(self, scope: Scope) -> Lineage:
        if id(scope) not in self.seen:
            self.seen[id(scope)] = self._union(scope) if scope.set_operation_scopes else self._select(scope)
        return self.seen[id(scope)]

    def _union(self, scope: Scope) -> Lineage:
        parts = [self.scope(each) for each in scope.set_operation_scopes]
        kinds = [max(column.kind for column in columns) for columns in zip(*(p.columns for p in parts), strict=True)]
        # Which rows are equal depends on all columns.
        merged = max(kinds, default=Kind.KEYS) if scope.expression.args.get("distinct") else Kind.KEYS
        rows = max((*(part.rows for part in parts), merged))
        return Lineage(rows=_any(rows), columns=tuple(Origin(kind=kind) for kind in kinds))

    def _select(self, scope: Scope) -> Lineage:
        select = scope.expression
        if not isinstance(select, exp.Select):
            raise ValueError(type(select).__name__)
        clauses = [select.args.get(name) for name in ("where", "group", "having", "qualify", "distinct")]
        clauses += [*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())]
        if select.args.get("limit") or select.args.get("offset"):
            clauses.append(select.args.get("order") or select)
        rows = max((self._of(each, scope, Kind.KEYS) for each in clauses if each is not None), default=Kind.KEYS)
        rows = max((rows, *(self._source_rows(each) for each in scope.sources.values())))
        if select.args.get("distinct"):
            rows = max((rows, *(self._of(each, scope, rows) for each in select.expressions)))
        rows = _any(rows)
        return Lineage(rows=rows, columns=tuple(self._output(each, scope, rows) for each in select.expressions))

    def _source_rows(self, source: object) -> Kind:
        return self.scope(source).rows if isinstance(source, Scope) else Kind.KEYS

    def _output(self, node: exp.Expr, scope: Scope, rows: Kind) -> Origin:
        inner = node.unalias()
        if isinstance(inner, exp.Column):
            return self._column(inner, scope)
        return Origin(kind=self._of(inner, scope, rows))

    def _column(self, node: exp.Column, scope: Scope) -> Origin:
        source = scope.sources.get(node.table)
        if isinstance(source, Scope):
            inner = self.scope(source)
            names = [each.alias_or_name.lower() for each in source.expression.selects]  # type: ignore[attr-defined]
            found = inner.columns[names.index(node.name.lower())]
            if found.passed is None:
                return found
            table, column, way = found.passed
            return Origin(kind=found.kind, passed=(table, column, (node.table, *way)))
        if isinstance(source, exp.Table):
            columns = self.tables[source.name.lower()]
            name = node.name.lower()
            return Origin(kind=columns[name], passed=(source.name.lower(), name, (node.table,)))
        return _UNKNOWN

    def _of(self, node: exp.Expr, scope: Scope, rows: Kind) -> Kind:
        """How a part of a SELECT depends on noise. rows: how the rows do that it is worked out over."""
        match node:
            case exp.Column():
                return self._column(node, scope).kind
            case exp.Subquery() | exp.Exists() | exp.Select() | exp.SetOperation():
                return self._nested(node, scope)
            case exp.Paren() | exp.Neg() | exp.Alias():
                return self._of(node.this, scope, rows)
            case exp.Add() | exp.Sub() | exp.Coalesce():
                return max((self._of(each, scope, rows) for each in _parts(node)), default=Kind.KEYS)
            case exp.Mul() | exp.Div():
                return self._product(node, scope, rows)
            case exp.Cast() if node.to.this in (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT):
                return self._of(node.this, scope, rows)
            case exp.Case() | exp.If():
                return self._choice(node, scope, rows)
            case exp.Window():
                return self._window(node, scope, rows)
            case exp.AggFunc():
                inner = self._rest(node, scope, rows)
                linear = isinstance(node, _LINEAR) and not isinstance(node.this, exp.Distinct)
                return max(self._of(node.this, scope, rows), rows) if linear else max(_any(inner), rows)
        return _any(self._rest(node, scope, rows))

    def _rest(self, node: exp.Expr, scope: Scope, rows: Kind) -> Kind:
        return max((self._of(each, scope, rows) for each in _parts(node)), default=Kind.KEYS)

    def _product(self, node: exp.Expr, scope: Scope, rows: Kind) -> Kind:
        one, two = self._of(node.this, scope, rows), self._of(node.expression, scope, rows)
        if two == Kind.KEYS:
            return one
        return two if one == Kind.KEYS and isinstance(node, exp.Mul) else max(Kind.OTHER, one, two)

    def _choice(self, node: exp.Expr, scope: Scope, rows: Kind) -> Kind:
        branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
        tests = [each.this for each in branches] + ([node.this] if isinstance(node, exp.Case) and node.this else [])
        given = [each.args.get("true") for each in branches]
        given.append(node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false"))
        tested = max((self._of(each, scope, rows) for each in tests), default=Kind.KEYS)
        return max((_any(tested), *(self._of(each, scope, rows) for each in given if each is not None)))

    def _window(self, node: exp.Window, scope: Scope, rows: Kind) -> Kind:
        function = node.this
        around = [part for name, part in node.args.items() if name != "this" for part in _flat(part)]
        placed = max((rows, *(_any(self._of(each, scope, rows)) for each in around)))
        if placed != Kind.KEYS:
            return max(placed, _any(self._rest(function, scope, rows)))
        if isinstance(function, _LINEAR) and not isinstance(function.this, exp.Distinct):
            return self._of(function.this, scope, rows)
        if isinstance(function, _PICKING):
            return self._rest(function, scope, rows)
        return _any(self._rest(function, scope, rows))

    def _nested(self, node: exp.Expr, scope: Scope) -> Kind:
        """A subquery in an expression: how its rows and columns depend on noise, together."""
        inner = node.unnest() if isinstance(node, exp.Subquery) else node.this if isinstance(node, exp.Exists) else node
        for each in scope.subquery_scopes:
            if each.expression is inner or each.expression is node:
                found = self.scope(each)
                # Columns of the statement around it would have to be followed too.
                if each.external_columns:
                    return max(Kind.OTHER, found.rows, *(column.kind for column in found.columns))
                kinds = max((column.kind for column in found.columns), default=Kind.KEYS)
                scalar = isinstance(node, exp.Subquery)
                return max(found.rows, kinds if scalar else _any(kinds))
        return Kind.UNKNOWN


def _any(kind: Kind) -> Kind:
    """What follows from something linear in any other way."""
    return max(kind, Kind.OTHER) if kind else Kind.KEYS


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    for value in node.args.values():
        yield from _flat(value)


def _flat(value: object) -> Sequence[exp.Expr]:
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, exp.Expr)]
