"""Above the aggregation: published values and keys, and expressions over them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal

from sqlglot import exp

from quincunx.table.expression import NUMBERS, Expression, GroupKey, Measured
from quincunx.table.operators import apply, cast
from quincunx.table.plan import Aggregate, Key
from quincunx.table.sql.names import Given, Rows
from quincunx.table.sql.relation import AGGREGATES, Reading
from quincunx.table.sql.rewrites import written
from quincunx.table.sql.scalar import condition, translate
from quincunx.table.typing.facts import WORDS

_KINDS: Final[dict[type[exp.Expr], Literal["sum", "mean"]]] = {exp.Sum: "sum", exp.Avg: "mean"}


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
        if isinstance(node, AGGREGATES):
            return self._aggregate(node)
        name = node.name.lower() if isinstance(node, exp.Column) and not node.table else None
        if self.names_first and name in self.names:
            return self.names[name]
        key = self._key(node)
        if key is not None:
            return key
        if isinstance(node, exp.Column):
            return self._named(node)
        return None

    def _key(self, node: exp.Expr) -> Expression | None:
        """The key that the node repeats, if it does."""
        if not self.keys or node.find(*AGGREGATES) is not None or not self._resolves(node):
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
        for each in node.find_all(exp.Column):
            if not isinstance(each.this, exp.Identifier):
                return False
            name = each.name.lower()
            if self.rows.find(name) is not None:
                continue
            if each.table or name not in names:
                return False
            place = names.index(name)
            chosen = known[place][1]
            if chosen.find(*AGGREGATES) is not None or not self._resolves(chosen, known[:place]):
                return False
        return True

    def _columns(self, node: exp.Expr) -> Expression | None:
        return self.reading.column(node, self.rows) if isinstance(node, exp.Column) else None

    def _named(self, node: exp.Column) -> Expression:
        found = self.names.get(node.name.lower()) if not node.table else None
        if found is not None:
            return found
        column = self.rows.resolve(node, self.reading.text)
        hint = f"Group by {column.name}, or put it into an aggregate."
        raise self.reading.text.refusal(node, "this would show the value of single rows", hint=hint)

    def _aggregate(self, node: exp.Expr) -> Expression:
        text, where = self.reading.text, None
        called = node
        if isinstance(node, exp.Filter):
            called = node.this
            if not isinstance(called, exp.Count | exp.CountIf | exp.Sum | exp.Avg):
                raise text.refusal(node, "FILTER follows an aggregate", hint="Write COUNT(*) FILTER (WHERE …).")
            where = self.reading.test(node.expression.this, self.rows, where="FILTER")
        if isinstance(called, exp.CountIf):
            test = self.reading.test(called.this, self.rows, where="an aggregate")
            both = test if where is None else apply("and", test, where)
            return self._measured(Aggregate(kind="count", where=both), "integer", Fraction(1))
        if isinstance(called, exp.Count):
            return self._count(called, where)
        return self._sum(called, where)

    def _count(self, node: exp.Count, where: Expression | None) -> Expression:
        if node.this is None or isinstance(node.this, exp.Star):
            return self._measured(Aggregate(kind="count", where=where), "integer", Fraction(1))
        if isinstance(node.this, exp.Distinct):
            self._require_key(node.this)
            return self._measured(Aggregate(kind="people", where=where), "integer", Fraction(1))
        counted = self.reading.row(node.this, self.rows, where="an aggregate")
        argument = counted if counted.nullable else None
        return self._measured(Aggregate(kind="count", argument=argument, where=where), "integer", Fraction(1))

    def _require_key(self, node: exp.Distinct) -> None:
        unit, text = self.reading.schema.unit, self.reading.text
        if unit.key is None:
            hint = "Each row is one person: write COUNT(*)."
            raise text.refusal(node, "there is no column that identifies people", hint=hint)
        if len(node.expressions) != 1:
            raise text.refusal(node, "COUNT(DISTINCT …) takes one column", hint=f"Write COUNT(DISTINCT {unit.key}).")
        base = self.rows.base_of(self.reading.row(node.expressions[0], self.rows, where="an aggregate"))
        owner = self.rows.relation.owner
        if owner is None or base != owner.components[0].column:
            hint = f"Only people can be counted once: COUNT(DISTINCT {unit.key})."
            chosen = node.expressions[0].find(exp.If)
            if chosen is not None:
                hint = f"Write COUNT(DISTINCT {unit.key}) FILTER (WHERE {written(chosen.this)})."
            raise text.refusal(node, "one person may hold many different values", hint=hint)
        if unit.per is not None:
            hint = f"What is protected is one person's {unit.per.period}; count rows with COUNT(*)."
            raise text.refusal(node, "one person is many units of protection here", hint=hint)

    def _sum(self, node: exp.Expr, where: Expression | None) -> Expression:
        text = self.reading.text
        name = "SUM" if isinstance(node, exp.Sum) else "AVG"
        if isinstance(node.this, exp.Distinct):
            hint = f"Leave DISTINCT out of {name}."
            raise text.refusal(node, "which values are different depends on other people", hint=hint)
        argument = self.reading.row(node.this, self.rows, where="an aggregate")
        if argument.type == "boolean":
            # How many are true, and which share of those that are true or false.
            argument = cast(argument, "integer")
        if argument.type not in NUMBERS:
            number = "CAST(x AS BIGINT)" if argument.type == "text" else "YEAR(x)"
            hint = f"Write {name}(CLAMP({number}, low, high))."
            raise text.mistake(node.this, f"{name} needs a number", got=WORDS[argument.type], hint=hint)
        kind = "decimal" if name == "AVG" else argument.type
        step = None if name == "AVG" else argument.step
        return self._measured(Aggregate(kind=_KINDS[type(node)], argument=argument, where=where), kind, step)

    def _measured(self, aggregate: Aggregate, kind: str, step: Fraction | None) -> Expression:
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        # Noise has no bounds, and what is published is never NULL.
        return Measured(index=self.aggregates.index(aggregate), type=kind, nullable=False, step=step)
