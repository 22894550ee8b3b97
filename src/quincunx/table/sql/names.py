"""What names stand for: the one place where a name of the question becomes a slot."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from quincunx.table.expression import Column, Expression
from quincunx.table.relations import Relation
from quincunx.table.sql.place import Text

# Names that SELECT gives, in lower case and in order.
Given: TypeAlias = tuple[tuple[str, exp.Expr], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows below a point of the question, and what they and their columns are called there.

    tables: what FROM names, each with its columns; "" where it has no name. given: the names that SELECT gives to
    expressions, in lower case and in order; a column hides such a name.
    """

    relation: Relation
    tables: tuple[tuple[str, tuple[Column, ...]], ...]
    given: Given = ()

    @classmethod
    def called(cls, name: str, relation: Relation) -> Rows:
        """The rows of a relation under one name."""
        return cls(relation=relation, tables=((name, relation.columns),))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order of FROM."""
        return tuple(column for _, columns in self.tables for column in columns)

    def find(self, name: str) -> Column | None:
        """The column of this name, compared without case."""
        return next(iter(_named(name, self.columns)), None)

    def named(self, qualifier: exp.Expr, text: Text) -> tuple[Column, ...]:
        """The columns of what FROM calls by this name, compared without case."""
        for name, columns in self.tables:
            if name.lower() == qualifier.name.lower():
                return columns
        names = [name for name, _ in self.tables if name]
        hint = (
            f"FROM calls its rows {' and '.join(names)}." if names else "The rows in FROM have no name; give them one."
        )
        raise text.mistake(qualifier, "no table in FROM has this name", got=repr(qualifier.name), hint=hint)

    def resolve(self, node: exp.Column, text: Text) -> Column:
        """The column that was written; suggestions come from declared names alone."""
        qualifier = node.args.get("table")
        columns = self.columns if qualifier is None else self.named(qualifier, text)
        if not isinstance(node.this, exp.Identifier):
            raise text.refusal(node, "columns must be named one by one here", hint="Write the name of a column.")
        found = _named(node.name, columns)
        if not found:
            hint = suggestion(node.name, (each.name for each in columns))
            if node.this.args.get("quoted"):
                hint = f"Texts stand in single quotes: '…'. {hint}".rstrip()
            raise text.mistake(node, "no column has this name", got=repr(node.name), hint=hint)
        if len(found) > 1:
            hint = "Write the name of its table before it."
            raise text.mistake(node, "several tables have a column of this name", got=repr(node.name), hint=hint)
        return found[0]

    def base_of(self, expression: Expression) -> Expression:
        """The expression in terms of scanned columns."""
        return self.relation.base(expression)


def _named(name: str, columns: Iterable[Column]) -> list[Column]:
    return [column for column in columns if column.name.lower() == name.lower()]


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant, or all there is."""
    names = list(known)
    lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), lower, n=2, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(lower[each] for each in close)}?"
    return f"There is {', '.join(names[:20])}{', …' if len(names) > 20 else ''}." if names else ""
