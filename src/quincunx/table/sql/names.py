"""What names stand for: the one place where a name of the question becomes a slot."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
    expressions, in lower case and in order; a column hides such a name. merged: columns that USING makes one of two,
    by their names in lower case; a name without a table stands for them. known: what WITH defines here, in lower case.
    outer: the rows of the question around a subquery, whose names are seen where these have none. stands: what nodes of
    the question stand for that are no names, by id: a column that the relation has for each.
    """

    relation: Relation
    tables: tuple[tuple[str, tuple[Column, ...]], ...]
    given: Given = ()
    merged: Mapping[str, tuple[str, Expression]] = field(default_factory=dict)
    known: Mapping[str, Rows] = field(default_factory=dict)
    outer: Rows | None = None
    stands: Mapping[int, Expression] = field(default_factory=dict)

    @classmethod
    def called(cls, name: str, relation: Relation) -> Rows:
        """The rows of a relation under one name."""
        return cls(relation=relation, tables=((name, relation.columns),))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order of FROM."""
        return tuple(column for _, columns in self.tables for column in columns)

    @property
    def star(self) -> tuple[tuple[str, Expression], ...]:
        """What * stands for: all columns under their names, those of USING once, where they are written first."""
        found: dict[str, tuple[str, Expression]] = {}
        for place, column in enumerate(self.columns):
            merged = self.merged.get(column.name.lower())
            if merged is None:
                found[str(place)] = (column.name, column)
            else:
                found.setdefault(f"using {column.name.lower()}", merged)
        return tuple(found.values())

    def find(self, name: str) -> Expression | None:
        """The column of this name, compared without case."""
        return next(iter(self._found(name)), None)

    def has(self, qualifier: str) -> bool:
        """Whether FROM calls something by this name."""
        return any(name.lower() == qualifier.lower() for name, _ in self.tables)

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

    def resolve(self, node: exp.Column, text: Text) -> Expression:
        """The column that was written; suggestions come from declared names alone."""
        qualifier = node.args.get("table")
        around = self.outer
        if around is not None and qualifier is not None and not self.has(qualifier.name):
            return around.resolve(node, text)
        columns = self.columns if qualifier is None else self.named(qualifier, text)
        if not isinstance(node.this, exp.Identifier):
            raise text.refusal(node, "columns must be named one by one here", hint="Write the name of a column.")
        found = self._found(node.name) if qualifier is None else _named(node.name, columns)
        if not found and around is not None and qualifier is None:
            return around.resolve(node, text)
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

    def _found(self, name: str) -> list[Expression]:
        merged = self.merged.get(name.lower())
        return list(_named(name, self.columns)) if merged is None else [merged[1]]


def _named(name: str, columns: Iterable[Column]) -> list[Expression]:
    return [column for column in columns if column.name.lower() == name.lower()]


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant, or all there is."""
    names = list(known)
    lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), lower, n=2, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(lower[each] for each in close)}?"
    return f"There is {', '.join(names[:20])}{', …' if len(names) > 20 else ''}." if names else ""
