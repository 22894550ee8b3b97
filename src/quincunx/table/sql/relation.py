"""FROM, WHERE, WITH and subqueries: relations that treat each row by itself, so that they stay person-local."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from sqlglot import exp

from quincunx.table.aggregates import AGGREGATES, NODES
from quincunx.table.expression import Column, Expression
from quincunx.table.relations import DEPTH, LEVELS, WEIGHT, Filter, Project, Relation, Scan
from quincunx.table.schema import Schema
from quincunx.table.sql.names import Rows, suggestion
from quincunx.table.sql.place import Text
from quincunx.table.sql.rewrites import written
from quincunx.table.sql.scalar import Hook, condition, translate
from quincunx.table.typing.facts import NULL

# The names that WITH defines at a point of the question, in lower case.
Tables: TypeAlias = Mapping[str, Rows]

# What stands for an aggregate in a question: its call, and the FILTER around it.
CALLS: Final = (*NODES, exp.Filter)


@dataclass(slots=True)
class Reading:
    """One question while it is read. weight: of all expressions so far."""

    text: Text
    schema: Schema
    weight: int = field(default=0)

    def row(self, node: exp.Expr, rows: Rows, *, where: str) -> Expression:
        """An expression of one row. where: which clause it stands in, for the refusal of aggregates."""
        return self.measured(node, translate(node, self._hook(rows, where), self.text), rows)

    def test(self, node: exp.Expr, rows: Rows, *, where: str) -> Expression:
        """A condition on one row."""
        return self.measured(node, condition(node, self._hook(rows, where), self.text), rows)

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
            if isinstance(node, exp.Column):
                return self.column(node, rows, where)
            if isinstance(node, CALLS):
                hint = "Aggregates stand in SELECT, HAVING and ORDER BY, and not inside one another."
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

    def source(self, select: exp.Select, tables: Tables) -> Rows:
        """The rows of a SELECT after FROM and WHERE."""
        tables = self.with_(select, tables)
        clause = select.args.get("from_")
        if clause is None:
            hint = "Name a private table: SELECT COUNT(*) FROM …."
            raise self.text.refusal(select, "a question needs FROM", hint=hint)
        given = [(each.alias.lower(), each.this) for each in select.expressions if isinstance(each, exp.Alias)]
        rows = replace(self.item(clause.this, tables), given=tuple(given))
        where = select.args.get("where")
        if where is None:
            return rows
        kept = self.test(where.this, rows, where="WHERE")
        return replace(rows, relation=self._shallow(where, Filter(source=rows.relation, condition=kept)))

    def with_(self, select: exp.Select, tables: Tables) -> Tables:
        """The tables of WITH; each sees those before it."""
        clause = select.args.get("with_")
        known = dict(tables)
        defined: set[str] = set()
        for part in clause.expressions if clause else ():
            name = part.alias.lower()
            if name in defined:
                raise self.text.mistake(part.args["alias"], "WITH defines this name twice", got=repr(part.alias))
            defined.add(name)
            known[name] = self.aliased(part.args["alias"], self.subquery(part.this, known))
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
        """A name of WITH, or else a private table of the schema."""
        start, _ = self.text.span(name)
        if self.text.sql[start] == "'":
            hint = "Name a private table in FROM."
            raise self.text.refusal(name, "a question reads declared tables only, no files or functions", hint=hint)
        found = tables.get(name.name.lower())
        if found is not None:
            return Rows.called(name.name, found.relation)
        table = self.schema.table(name.name)
        if table is None:
            known = [each.name for each in self.schema.tables.values() if not each.public]
            hint = suggestion(name.name, known)
            raise self.text.mistake(name, "no table has this name", got=repr(name.name), hint=hint)
        if table.public:
            hint = "Read it directly; a question is about a private table."
            raise self.text.refusal(name, f"{table.name} is public, so that there is nothing to protect", hint=hint)
        return Rows.called(table.name, Scan(table=table, unit=self.schema.unit))

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
        return self._project(alias, rows, renamed)

    def subquery(self, select: exp.Expr, tables: Tables) -> Rows:
        """A SELECT that only chooses columns and rows."""
        while isinstance(select, exp.Subquery) and not select.args.get("alias"):
            select = select.this
        if not isinstance(select, exp.Select):
            hint = "Write SELECT columns FROM … WHERE …."
            raise self.text.refusal(select, "a subquery is one SELECT", hint=hint)
        for name in ("group", "having", "order", "limit", "offset"):
            if select.args.get(name):
                what = "a subquery may only choose columns and rows, each row by itself"
                raise self.text.refusal(select.args[name], what, hint=self._outermost(select))
        rows = self.source(select, tables)
        if len(select.expressions) == 1 and isinstance(select.expressions[0], exp.Star):
            return rows
        columns = [each for node in select.expressions for each in self._chosen(node, rows)]
        return self._project(select, rows, columns)

    def _outermost(self, select: exp.Select) -> str:
        """What to write instead of a subquery that groups, sorts or limits."""
        key, group = self.schema.unit.key, select.args.get("group")
        people = group is not None and any(each.name.lower() == (key or "").lower() for each in group.expressions)
        if people and self.schema.unit.per is None:
            summed = [node for each in AGGREGATES if each.linear and not each.counts for node in each.nodes]
            counted = select.find(*summed)
            total = "COUNT(*)" if counted is None else written(counted)
            return f"Write the mean per person as {total} / COUNT(DISTINCT {key})."
        return "Only the outermost SELECT may group, sort and limit; any SQL on the answer, answer.frame, is free."

    def _chosen(self, node: exp.Expr, rows: Rows) -> list[tuple[str, Expression]]:
        if isinstance(node, exp.Star):
            return [(each.name, each) for each in rows.columns]
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            if node.table.lower() not in [name.lower() for name, _ in rows.tables]:
                raise self.text.mistake(node, "no table in FROM has this name", got=repr(node.table))
            return [(each.name, each) for each in rows.named(node.args["table"], self.text)]
        named = node.this if isinstance(node, exp.Alias) else node
        expression = self.row(named, rows, where="a subquery")
        if not isinstance(node, exp.Alias) and not isinstance(expression, Column):
            raise self.text.mistake(node, "this column of the subquery has no name", hint="Write … AS name.")
        return [(node.alias if isinstance(node, exp.Alias) else node.name, expression)]

    def _project(self, node: exp.Expr, rows: Rows, columns: Iterable[tuple[str, Expression]]) -> Rows:
        chosen = tuple(columns)
        seen: set[str] = set()
        for name, _ in chosen:
            if name.lower() in seen:
                hint = "Give one of them another name with AS."
                raise self.text.mistake(node, "two columns have the same name", got=repr(name), hint=hint)
            seen.add(name.lower())
        name = rows.tables[0][0] if len(rows.tables) == 1 else ""
        return Rows.called(name, self._shallow(node, Project(source=rows.relation, chosen=chosen)))

    def _shallow(self, node: exp.Expr, relation: Relation) -> Relation:
        """The relation, if not too many follow one another."""
        if relation.height > LEVELS:
            hint = "Ask a smaller question."
            raise self.text.refusal(node, f"at most {LEVELS} subqueries may follow one another", hint=hint)
        return relation
