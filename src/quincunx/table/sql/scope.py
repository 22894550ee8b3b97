"""What names stand for: the rows below a point of the question, their columns, and how large each has grown.

A column of a subquery is kept both as a column of the relation directly below and as the expression of the scanned
table that it amounts to (`base`). Its weight bounds the size of that expression and the growth of texts in it, so that
no chain of subqueries can double a text, or a plan, again and again.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from sqlglot import exp

from quincunx.table.expression import Call, Column, Expression, Literal
from quincunx.table.plan import Relation
from quincunx.table.schema import TableSchema
from quincunx.table.sql.place import Text

# Of one question's expressions, with every subquery written out: operators in all, depth, and chained subqueries.
WEIGHT: Final = 20_000
DEPTH: Final = 60
LEVELS: Final = 40


# Names that SELECT gives, in lower case and in order.
Given: TypeAlias = tuple[tuple[str, exp.Expr], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A column that the question may use. weight, depth: of `base`, as `size` measures them."""

    column: Column
    base: Expression
    weight: int = 1
    depth: int = 1

    @property
    def name(self) -> str:
        return self.column.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows below a point of the question. name: by which columns may be qualified; levels: filters and projections.

    given: the names that SELECT gives to expressions, in lower case and in order; a column hides such a name.
    """

    relation: Relation
    table: TableSchema
    name: str
    columns: tuple[Named, ...]
    levels: int = 0
    given: Given = ()

    def find(self, name: str) -> Named | None:
        """The column of this name, compared without case."""
        return next((each for each in self.columns if each.name.lower() == name.lower()), None)

    def resolve(self, node: exp.Column, text: Text) -> Named:
        """The column that was written; suggestions come from declared names alone."""
        qualifier = node.args.get("table")
        if qualifier is not None and qualifier.name.lower() != self.name.lower():
            hint = f"FROM calls its rows {self.name}." if self.name else "The rows in FROM have no name; give them one."
            raise text.mistake(qualifier, "no table in FROM has this name", got=repr(qualifier.name), hint=hint)
        if not isinstance(node.this, exp.Identifier):
            raise text.refusal(node, "columns must be named one by one here", hint="Write the name of a column.")
        found = self.find(node.name)
        if found is None:
            hint = suggestion(node.name, (each.name for each in self.columns))
            if node.this.args.get("quoted"):
                hint = f"Texts stand in single quotes: '…'. {hint}".rstrip()
            raise text.mistake(node, "no column has this name", got=repr(node.name), hint=hint)
        return found

    def amount(self, expression: Expression) -> tuple[int, int]:
        """Weight and depth of an expression over these rows."""
        return size(expression, self._size_of)

    def base_of(self, expression: Expression) -> Expression:
        """The expression in terms of the scanned table's columns."""
        return expression.rewrite(lambda part: self._base_of(part) if isinstance(part, Column) else part)

    def _size_of(self, name: str) -> tuple[int, int]:
        found = self.find(name)
        return (1, 1) if found is None else (found.weight, found.depth)

    def _base_of(self, column: Column) -> Expression:
        found = self.find(column.name)
        return column if found is None else found.base


def size(expression: Expression, column: Callable[[str], tuple[int, int]]) -> tuple[int, int]:
    """(weight, depth): operators and constants when columns are written out, times the growth of texts; and nesting."""
    if isinstance(expression, Column):
        return column(expression.name)
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        return 1 + len(expression.value) // 16, 1
    parts = [size(part, column) for part in expression.parts]
    weight = 1 + sum(part[0] for part in parts)
    if isinstance(expression, Call) and expression.operator == "replace":
        found, new = (len(str(each.value)) for each in expression.arguments[1:] if isinstance(each, Literal))
        weight *= max(1, -(-new // max(1, found)))
    return weight, 1 + max((part[1] for part in parts), default=0)


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant, or all there is."""
    names = list(known)
    lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), lower, n=2, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(lower[each] for each in close)}?"
    return f"There is {', '.join(names[:20])}{', …' if len(names) > 20 else ''}." if names else ""
