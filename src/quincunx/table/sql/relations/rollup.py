"""GROUP BY, HAVING and DISTINCT below the outermost SELECT: one row for each person and rest of a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from quincunx.table.expression import Expression
from quincunx.table.relations import Filter, Fold, Relation, RollUp, rolled
from quincunx.table.sql.folds import CALLS, folded
from quincunx.table.sql.grouping import grouped, written
from quincunx.table.sql.licence import moved, unlicensed
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading
from quincunx.table.sql.scalar import translate


def group(reading: Reading, select: exp.Select, rows: Rows) -> Rows:
    """The rows after GROUP BY. Everything in SELECT and HAVING then stands for a column of the roll-up."""
    clause, text = select.args["group"], reading.text
    keys: list[Expression] = []
    for node in grouped(select, CALLS):
        _, meant = written(node, select, text, rows)
        found = reading.row(meant, rows, where="GROUP BY")
        if not any(found.columns()):
            raise text.mistake(node, "a constant makes no groups", hint="Group by a column.")
        keys.append(found)
    listed = ", ".join(text.words(each) for each in clause.expressions) or "ALL"
    hint = 'or ask for the totals by themselves, and go on with answer.then("SELECT … FROM answer"), which is free.'
    check_owner(reading, clause, rows.relation, keys, f"GROUP BY {listed} inside a subquery", ("into GROUP BY", hint))
    rolling = _Rolling(reading=reading, rows=rows, keys=tuple(keys))
    having = select.args.get("having")
    for node in (*select.expressions, *([having.this] if having else [])):
        rolling.enter(node.unalias())
    relation = RollUp(source=rows.relation, by=tuple(keys), folds=tuple(rolling.folds))
    stands = {**rows.stands, **rolling.stands}
    return replace(rows, relation=reading.shallow(clause, relation), tables=(), merged={}, stands=stands)


def having(reading: Reading, select: exp.Select, rows: Rows) -> Rows:
    """The rolled-up rows for which HAVING is true."""
    clause = select.args["having"]
    if not select.args.get("group"):
        hint = f"Write GROUP BY {reading.schema.unit.key or '…'} before it."
        raise reading.text.refusal(clause, "HAVING inside a subquery follows GROUP BY", hint=hint)
    kept = reading.test(clause.this, rows, where="HAVING")
    return replace(rows, relation=reading.shallow(clause, Filter(source=rows.relation, condition=kept)))


def distinct(reading: Reading, select: exp.Select, rows: Rows) -> Rows:
    """The rows of a SELECT, equal ones once: they are rolled up by all their columns."""
    columns, node = rows.columns, select.args["distinct"]
    beside = ("beside them", "or group by them in the outermost SELECT.")
    check_owner(reading, node, rows.relation, columns, "SELECT DISTINCT inside a subquery", beside)
    relation = RollUp(source=rows.relation, by=columns)
    named = [(each.name, rolled(rows.relation, each)) for each in columns]
    name = rows.tables[0][0] if len(rows.tables) == 1 else ""
    return reading.project(select, Rows.called(name, reading.shallow(node, relation)), named)


def check_owner(
    reading: Reading, node: exp.Expr, relation: Relation, keys: Sequence[Expression], what: str, ways: tuple[str, str]
) -> None:
    """Refuse what compares rows by `keys` where these do not tell whose a row is. ways: where the key goes, or else."""
    owner, unit, text = relation.owner, reading.schema.unit, reading.text
    if owner is None:
        hint = "Declare a public table that is grouped already."
        raise text.refusal(node, f"{what} is about private rows only", hint=hint)
    if not owner.components:
        hint = "Name the column that identifies a person in the unit of protection."
        raise text.refusal(node, f"{what} combines rows, and no column says whose they are", hint=hint)
    missing = unlicensed(relation, keys)
    if not missing:
        return
    why = moved(owner.components)
    if why is not None:
        raise text.refusal(node, why[0], hint=why[1])
    hint = f"Put {' and '.join(missing)} {ways[0]}, {ways[1]}"
    if unit.per is None or len(missing) == len(owner.components):
        raise text.refusal(node, f"{what} mixes people", hint=hint)
    day = unit.per.period
    raise text.refusal(node, f"{what} mixes {day}s: protection is of a person-{day}", hint=hint)


@dataclass(slots=True)
class _Rolling:
    """A roll-up while it is read. stands: what nodes of SELECT and HAVING stand for, by id."""

    reading: Reading
    rows: Rows
    keys: tuple[Expression, ...]
    folds: list[Fold] = field(default_factory=list)
    stands: dict[int, Expression] = field(default_factory=dict)

    def enter(self, node: exp.Expr) -> None:
        """Enter what the node and everything in it stands for; refused where a column is of single rows."""
        if isinstance(node, exp.Star):
            hint = "List what you group by, and aggregates."
            raise self.reading.text.refusal(node, "* is not understood beside GROUP BY", hint=hint)
        if isinstance(node, exp.Window):
            hint = "Write the window function in a subquery around the grouped rows."
            raise self.reading.text.refusal(node, "windows over groups are not understood inside a subquery", hint=hint)
        if isinstance(node, CALLS):
            self.stands[id(node)] = folded(self.reading, self.rows, node, self._fold)
            return
        key = self._key(node)
        if key is not None:
            self.stands[id(node)] = key
            return
        if isinstance(node, exp.Column) and not self._given(node):
            found = self.rows.resolve(node, self.reading.text)
            name = getattr(found, "name", node.name)
            hint = f"Group by {name}, or put it into an aggregate."
            raise self.reading.text.refusal(node, f"{name} differs between the rows that are grouped", hint=hint)
        for each in node.iter_expressions():
            self.enter(each)

    def _fold(self, fold: Fold) -> Expression:
        self.folds.append(fold)
        return rolled(self.rows.relation, fold)

    def _key(self, node: exp.Expr) -> Expression | None:
        """The key that the node repeats, if it does."""
        columns = list(node.find_all(exp.Column))
        if not columns or node.find(*CALLS) is not None or not all(self._resolves(each) for each in columns):
            return None
        meant = translate(node, self._columns, self.reading.text)
        return rolled(self.rows.relation, meant) if meant in self.keys else None

    def _resolves(self, node: exp.Column) -> bool:
        return isinstance(node.this, exp.Identifier) and (bool(node.table) or self.rows.find(node.name) is not None)

    def _columns(self, node: exp.Expr) -> Expression | None:
        return self.rows.resolve(node, self.reading.text) if isinstance(node, exp.Column) else None

    def _given(self, node: exp.Column) -> bool:
        """Whether it is a name that SELECT gives, and no column."""
        names = [name for name, _ in self.rows.given]
        return not node.table and self.rows.find(node.name) is None and node.name.lower() in names
