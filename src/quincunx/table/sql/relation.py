"""A question while it is read: names, the expressions of one row, rows; `relations/` reads what rows are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from sqlglot import exp

from quincunx.table.aggregates import NODES
from quincunx.table.expression import Expression
from quincunx.table.relations import DEPTH, LEVELS, READINGS, WEIGHT, Project, Relation, reading
from quincunx.table.schema import Schema
from quincunx.table.sql.keys import Evaluate
from quincunx.table.sql.names import Rows, suggestion
from quincunx.table.sql.place import Text
from quincunx.table.sql.scalar import Hook, condition, translate
from quincunx.table.typing.facts import NULL

# The names that WITH defines at a point of the question, in lower case.
Tables: TypeAlias = Mapping[str, Rows]

# What stands for an aggregate in a question: its call, and the FILTER around it.
CALLS: Final = (*NODES, exp.Filter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constructs:
    """What rows can be made of: the one list that a further construct is added to (`relations/__init__.py`).

    queries: what may stand in brackets in FROM, by its node: a reader of its rows. It is given what WITH defines around
    it, and the rows around it if it may use their columns. clauses: of a SELECT below the outermost, by the name of the
    parser's part, in the order in which SQL works them out, all after FROM and WHERE: what a clause makes of the rows.
    finishes: parts of such a SELECT that look at its columns: what each makes of its rows after all else.
    extensions: what may stand inside an expression and needs more than its row: a relation of the same rows with
    columns more, and what it is of them; None where this node needs no more after all.
    """

    queries: Mapping[type[exp.Expr], Callable[[Reading, Any, Tables, Rows | None], Rows]]
    clauses: Mapping[str, Callable[[Reading, exp.Select, Rows], Rows]]
    finishes: Mapping[str, Callable[[Reading, exp.Select, Rows], Rows]]
    extensions: Mapping[type[exp.Expr], Callable[[Reading, Any, Rows], tuple[Relation, Expression] | None]]


@dataclass(slots=True)
class Reading:
    """One question while it is read. weight: of all expressions so far. scans: how many tables were named so far.

    evaluate: computes expressions on public values.
    """

    text: Text
    schema: Schema
    constructs: Constructs
    evaluate: Evaluate | None = None
    weight: int = field(default=0)
    scans: int = field(default=0)

    # Expressions of one row.

    def row(self, node: exp.Expr, rows: Rows, *, where: str) -> Expression:
        """An expression of one row. where: which clause it stands in, for the refusal of aggregates."""
        return self.measured(node, translate(node, self._hook(rows, where), self.text), rows)

    def test(self, node: exp.Expr, rows: Rows, *, where: str) -> Expression:
        """A condition on one row."""
        return self.measured(node, condition(node, self._hook(rows, where), self.text), rows)

    def extended(self, node: exp.Expr, rows: Rows) -> Rows:
        """The rows with a column for everything in the node that needs more than its row: `row` then finds them."""
        pending = [node]
        while pending:
            each = pending.pop()
            if id(each) in rows.stands:
                continue
            read = self.constructs.extensions.get(type(each))
            found = None if read is None else read(self, each, rows)
            if found is None:
                pending += reversed(list(each.iter_expressions()))
                continue
            relation, column = found
            stands = {**rows.stands, id(each): column}
            rows = replace(rows, relation=self.shallow(each, relation), stands=stands)
        return rows

    def measured(self, node: exp.Expr, expression: Expression, rows: Rows) -> Expression:
        """The expression, once its size is entered and found small enough."""
        found = rows.relation.size(expression)
        self.weight += found.weight
        if self.weight > WEIGHT or found.depth > DEPTH:
            hint = "Ask a smaller question, or several."
            raise self.text.refusal(node, "with its subqueries written out, the question is too large", hint=hint)
        if expression.type == NULL:
            raise self.text.mistake(node, "the type of NULL cannot be told here", hint="Write CAST(NULL AS …).")
        return expression

    def _hook(self, rows: Rows, where: str) -> Hook:
        def hook(node: exp.Expr) -> Expression | None:
            if id(node) in rows.stands:
                return rows.stands[id(node)]
            if isinstance(node, exp.Column):
                return self.column(node, rows, where)
            if isinstance(node, CALLS):
                hint = "Aggregates stand in SELECT, HAVING and ORDER BY, and not inside one another."
                if where == "a subquery" and self.schema.unit.key is not None:
                    free = 'and go on with answer.then("SELECT … FROM answer"), which is free.'
                    hint = f"Add GROUP BY {self.schema.unit.key} there, or ask for it by itself, {free}"
                raise self.text.refusal(node, f"an aggregate cannot stand in {where}", hint=hint)
            return None

        return hook

    def column(self, node: exp.Column, rows: Rows, where: str = "a key") -> Expression:
        """A column, or what SELECT calls by its name."""
        return self._given(node, rows, where) or rows.resolve(node, self.text)

    def _given(self, node: exp.Column, rows: Rows, where: str) -> Expression | None:
        """What SELECT calls by this name, where no column has it. It may use what was named before it."""
        names = [name for name, _ in rows.given]
        name = node.name.lower()
        if node.table or rows.find(name) is not None or name not in names:
            return None
        place = names.index(name)
        # Entered at once, so that names of names cannot double without end.
        return self.row(rows.given[place][1], replace(rows, given=rows.given[:place]), where=where)

    # Rows.

    def with_(self, select: exp.Expr, tables: Tables) -> Tables:
        """The tables of WITH; each sees those before it. Its scans are numbered where it is used, each time anew."""
        clause = select.args.get("with_")
        known = dict(tables)
        defined: set[str] = set()
        for part in clause.expressions if clause else ():
            name = part.alias.lower()
            if name in defined:
                raise self.text.mistake(part.args["alias"], "WITH defines this name twice", got=repr(part.alias))
            defined.add(name)
            before, self.scans = self.scans, 0
            known[name] = self.aliased(part.args["alias"], self.subquery(part.this, known))
            self.scans = before
        return known

    def item(self, node: exp.Expr, tables: Tables) -> Rows:
        """What stands in FROM: a table, a name of WITH, or a subquery."""
        alias = node.args.get("alias")
        if isinstance(node, exp.Subquery):
            rows = Rows.called("", self.subquery(node.this, tables).relation)
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            rows = self.named(node.this, tables)
        else:
            hint = "Name a private table in FROM."
            raise self.text.refusal(node, "a question reads declared tables only, no files or functions", hint=hint)
        return rows if alias is None else self.aliased(alias, rows)

    def named(self, name: exp.Identifier, tables: Tables) -> Rows:
        """A name of WITH, or else a table of the schema: a reading of its own each time."""
        start, _ = self.text.span(name)
        if self.text.sql[start] == "'":
            hint = "Name a private table in FROM."
            raise self.text.refusal(name, "a question reads declared tables only, no files or functions", hint=hint)
        found = tables.get(name.name.lower())
        if found is not None:
            return self._numbered(name, name.name, found.relation)
        table = self.schema.table(name.name)
        if table is None:
            known = [each.name for each in self.schema.tables.values() if not each.public]
            hint = suggestion(name.name, known)
            raise self.text.mistake(name, "no table has this name", got=repr(name.name), hint=hint)
        return self._numbered(name, table.name, reading(self.schema, table))

    def _numbered(self, node: exp.Expr, name: str, relation: Relation) -> Rows:
        """A reading of its own, numbered after all before it, if there are not too many."""
        if self.scans + len(relation.tables) > READINGS:
            hint = "Ask a smaller question; a name of WITH counts each time it is used."
            raise self.text.refusal(node, f"a question reads tables at most {READINGS} times", hint=hint)
        found = relation.shifted(self.scans)
        self.scans += len(relation.tables)
        return Rows.called(name, found)

    def aliased(self, alias: exp.TableAlias, rows: Rows) -> Rows:
        """The rows under another name, their first columns perhaps under other names too."""
        names = [each.name for each in alias.args.get("columns") or ()]
        rows = Rows.called(alias.name, rows.relation) if alias.name else rows
        if not names:
            return rows
        if len(names) > len(rows.columns):
            raise self.text.mistake(
                alias, "there are more names than columns", got=f"{len(names)} for {len(rows.columns)}"
            )
        old = [each.name for each in rows.columns]
        renamed = zip((*names, *old[len(names) :]), rows.columns, strict=True)
        return self.project(alias, rows, renamed)

    def subquery(self, query: exp.Expr, tables: Tables, outer: Rows | None = None) -> Rows:
        """The rows of a query below the outermost one. outer: the rows around it, if it may use their columns."""
        while isinstance(query, exp.Subquery) and not query.args.get("alias"):
            query = query.this
        read = self.constructs.queries.get(type(query))
        if read is None:
            hint = "Write SELECT columns FROM … WHERE …."
            raise self.text.refusal(query, "a subquery is one SELECT", hint=hint)
        return read(self, query, tables, outer)

    def project(self, node: exp.Expr, rows: Rows, columns: Iterable[tuple[str, Expression]]) -> Rows:
        """The rows with these columns alone."""
        chosen = tuple(columns)
        seen: set[str] = set()
        for name, _ in chosen:
            if name.lower() in seen:
                hint = "Give one of them another name with AS."
                raise self.text.mistake(node, "two columns have the same name", got=repr(name), hint=hint)
            seen.add(name.lower())
        name = rows.tables[0][0] if len(rows.tables) == 1 else ""
        return Rows.called(name, self.shallow(node, Project(source=rows.relation, chosen=chosen)))

    def shallow(self, node: exp.Expr, relation: Relation) -> Relation:
        """The relation, if not too many follow one another."""
        if relation.height > LEVELS:
            hint = "Ask a smaller question."
            raise self.text.refusal(node, f"at most {LEVELS} subqueries may follow one another", hint=hint)
        return relation
