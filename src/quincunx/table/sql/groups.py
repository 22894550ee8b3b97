"""Above the aggregation: published values and keys, and expressions over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from quincunx.errors import QueryError, RefusalError
from quincunx.spec import AddRemove, Replace
from quincunx.table.aggregates import AGGREGATES, NODES, Aggregate
from quincunx.table.expression import Expression, GroupKey, Measured
from quincunx.table.plan import Key
from quincunx.table.sql.names import Given, Rows
from quincunx.table.sql.relation import CALLS, Reading
from quincunx.table.sql.rewrites import written
from quincunx.table.sql.scalar import condition, translate


@dataclass(slots=True)
class Groups:
    """Groups of a question while it is read: equal aggregates are measured once.

    names: what SELECT has named so far, in lower case. names_first: whether such a name hides a column (ORDER BY).
    """

    reading: Reading
    rows: Rows
    keys: tuple[Key, ...]
    aggregates: list[Aggregate] = field(default_factory=list)
    names: dict[str, Expression] = field(default_factory=dict)
    names_first: bool = False

    def expression(self, node: exp.Expr) -> Expression:
        """An expression over published values."""
        return self.reading.measured(node, translate(node, self._hook, self.reading.text), self.rows)

    def test(self, node: exp.Expr) -> Expression:
        """A condition on published values."""
        return self.reading.measured(node, condition(node, self._hook, self.reading.text), self.rows)

    def _hook(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, CALLS):
            return self.aggregate(node)
        name = node.name.lower() if isinstance(node, exp.Column) and not node.table else None
        if self.names_first and name in self.names:
            return self.names[name]
        key = self.key(node)
        if key is not None:
            return key
        if isinstance(node, exp.Column):
            return self._named(node)
        return None

    def key(self, node: exp.Expr) -> Expression | None:
        """The key that the node repeats, if it does."""
        if not self.keys or node.find(*CALLS) is not None or not self._resolves(node):
            return None
        # Constants and their like are never keys, so that only what uses a column is translated twice.
        if node.find(exp.Column) is None:
            return None
        written = translate(node, self._columns, self.reading.text)
        for index, key in enumerate(self.keys):
            if key.expression == written:
                return GroupKey(index=index, **written.facts)
        return None

    def _resolves(self, node: exp.Expr, given: Given | None = None) -> bool:
        """Whether every name is a column, or given by SELECT, before, to what is computed from one row."""
        known = self.rows.given if given is None else given
        names = [name for name, _ in known]
        for each in self._named_in(node):
            if not isinstance(each.this, exp.Identifier):
                return False
            name = each.name.lower()
            if self.rows.find(name) is not None:
                continue
            if each.table or name not in names:
                return False
            place = names.index(name)
            chosen = known[place][1]
            if chosen.find(*CALLS) is not None or not self._resolves(chosen, known[:place]):
                return False
        return True

    def _named_in(self, node: exp.Expr) -> Iterator[exp.Column]:
        """The names in a node, but for those inside of what stands for a column."""
        pending = [node]
        while pending:
            each = pending.pop()
            if isinstance(each, exp.Column):
                yield each
            elif id(each) not in self.rows.stands:
                pending += each.iter_expressions()

    def _columns(self, node: exp.Expr) -> Expression | None:
        if id(node) in self.rows.stands:
            return self.rows.stands[id(node)]
        return self.reading.column(node, self.rows) if isinstance(node, exp.Column) else None

    def _named(self, node: exp.Column) -> Expression:
        found = self.names.get(node.name.lower()) if not node.table else None
        if found is not None:
            return found
        self.rows.resolve(node, self.reading.text)
        hint = f"Group by {node.name}, or put it into an aggregate."
        raise self.reading.text.refusal(node, "this would show the value of single rows", hint=hint)

    def aggregate(self, node: exp.Expr) -> Expression:
        """The published value of an aggregate, which is measured from now on."""
        where, called = None, node
        if isinstance(node, exp.Filter):
            called = node.this
            if not isinstance(called, NODES):
                hint = "Write COUNT(*) FILTER (WHERE …)."
                raise self.reading.text.refusal(node, "FILTER follows an aggregate", hint=hint)
            where = self.reading.test(node.expression.this, self.rows, where="FILTER")
        call = _Call(node=called, where=where, reading=self.reading, rows=self.rows)
        known = [each for each in AGGREGATES if type(called) in each.nodes]
        aggregate = next(found for each in known if (found := each.read(call)) is not None)
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        return Measured(index=self.aggregates.index(aggregate), **aggregate.result().named())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call of an aggregate, for the one that reads it."""

    node: exp.Expr
    where: Expression | None
    reading: Reading
    rows: Rows

    @property
    def unit(self) -> AddRemove | Replace:
        return self.reading.schema.unit

    def row(self, node: exp.Expr) -> Expression:
        return self.reading.row(node, self.rows, where="an aggregate")

    def test(self, node: exp.Expr) -> Expression:
        return self.reading.test(node, self.rows, where="an aggregate")

    def is_key(self, expression: Expression) -> bool:
        relation = self.rows.relation
        if relation.owner is None:
            return False
        return self.rows.base_of(expression) == relation.owner.components[0].column or relation.licenses(0, expression)

    def written(self, node: exp.Expr) -> str:
        return written(node)

    def refusal(self, node: exp.Expr, what: str, *, hint: str) -> RefusalError:
        return self.reading.text.refusal(node, what, hint=hint)

    def mistake(self, node: exp.Expr, what: str, *, got: str, hint: str) -> QueryError:
        return self.reading.text.mistake(node, what, got=got, hint=hint)
