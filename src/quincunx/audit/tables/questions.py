"""Questions about one table, generated: aggregates, keys, filters, subqueries and what is done with noisy numbers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from quincunx.audit.tables.grammar import PRODUCTIONS, Grammar
from quincunx.audit.tables.relations import Ground, Production
from quincunx.errors import QueryError, RefusalError
from quincunx.numbers import Number
from quincunx.spec import AddRemove, Replace
from quincunx.table import AGGREGATES, ColumnSchema, Query, Schema, TableSchema, evaluate
from quincunx.table import read_sql as read

# The ways to ask for an aggregate, by their names.
FORMS: Final = {form.name: form for each in AGGREGATES for form in each.forms}
CLAUSES: Final = (
    "FILTER",
    "WHERE",
    "GROUP BY column",
    "GROUP BY expression",
    "GROUP BY derived",
    "GROUP BY ordinal",
    "GROUP BY alias",
    "HAVING",
    "ORDER BY",
    "ORDER BY DESC",
    "ORDER BY NULLS FIRST",
    "LIMIT",
    "OFFSET",
    "arithmetic on aggregates",
    "WITH",
    "subquery",
    "SELECT * below",
    "table alias",
    "column aliases",
)
# Bounds that leave few groups, so that worlds stay small.
_NARROW: Final = 1000
# Every construct that generated questions use, so that a test can ask for each.
CONSTRUCTS: Final[frozenset[str]] = (
    frozenset(CLAUSES) | frozenset(FORMS) | {name for made in PRODUCTIONS.values() for name in made}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One aggregate of a question: its output's name, its kind as `FORMS` names it, its argument and its FILTER."""

    name: str
    kind: str
    argument: str
    where: str

    @property
    def call(self) -> str:
        """As it is written."""
        called = FORMS[self.kind].written.format(self.argument)
        return called + (f" FILTER (WHERE {self.where})" if self.where else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with its parts. constructs: what it exercises.

    head: WITH …. source: FROM … WHERE …. keys: expressions and names. group, tail: GROUP BY …, HAVING … and the rest.
    derived: arithmetic on its aggregates, where it asks for that too.
    """

    sql: str
    constructs: frozenset[str]
    head: str
    source: str
    keys: tuple[tuple[str, str], ...]
    aggregates: tuple[Asked, ...]
    group: str
    tail: str
    derived: str = ""


def questions(
    schema: Schema,
    table: TableSchema,
    series: Number,
    *,
    tidy: bool = False,
    most: int = 3,
    relations: Mapping[str, Production] = MappingProxyType({}),
) -> Iterator[Question]:
    """Questions without end, all of which the reader accepts.

    tidy: keys are public, and groups are sorted and cut only after the empty ones are filtered out. most: aggregates.
    relations: what rows may be made of besides, by their names: all of `RELATIONS`, or some.
    """
    source = random.Random(f"questions {series}")
    maker = _Maker(schema, table, source, tidy, most, relations)
    while True:
        made = maker.question()
        if accepted(made.sql, schema) is not None:
            maker.keep(made)
            yield made


def accepted(sql: str, schema: Schema) -> Query | None:
    """The typed plan of a question, or None where it is refused."""
    try:
        return read(sql, schema, evaluate)
    except (QueryError, RefusalError):
        return None


class _Maker:
    def __init__(
        self,
        schema: Schema,
        table: TableSchema,
        source: random.Random,
        tidy: bool,
        most: int,
        relations: Mapping[str, Production],
    ) -> None:
        self.table, self.source, self.tidy, self.most = table, source, tidy, most
        self.relations, self.ground = relations, Ground(schema=schema, table=table, source=source)
        # Large questions have deep expressions too.
        self.deep = 1 if most > 3 else 0
        self.unit: AddRemove | Replace = schema.unit
        self.used: Counter[str] = Counter()
        self.grammar = Grammar(source=source, columns=table.columns, used=self.used)

    def keep(self, made: Question) -> None:
        self.used.update(made.constructs)

    def wants(self, construct: str, chance: float) -> bool:
        """Whether to use a construct now; more readily where it was used least."""
        least = self.used[construct] <= sum(self.used.values()) / max(len(self.used), 1)
        chosen = self.source.random() < (min(1.0, 2 * chance) if least else chance / 2)
        if chosen:
            self.grammar.note(construct)
        return chosen

    def question(self) -> Question:
        self.grammar.now = set()
        self.grammar.columns, self.grammar.qualifier = self.table.columns, ""
        head, source = self._source()
        if self.wants("WHERE", 0.5):
            source += f" WHERE {self.grammar.expression('boolean', 2 + self.deep)}"
        keys = self._keys()
        aggregates = tuple(self._aggregates())
        outputs = [f"{written} AS {name}" for written, name in keys] + [
            f"{each.call} AS {each.name}" for each in aggregates
        ]
        group = self._group(keys)
        tail = self._tail(keys, aggregates)
        derived = self._derived(aggregates) if self.wants("arithmetic on aggregates", 0.3) else ""
        outputs += [f"{derived} AS derived"] if derived else []
        sql = " ".join(part for part in (head, f"SELECT {', '.join(outputs)}", source, group, tail) if part)
        return Question(
            sql=sql,
            constructs=frozenset(self.grammar.now),
            head=head,
            source=source,
            keys=keys,
            aggregates=aggregates,
            group=group,
            tail=tail,
            derived=derived,
        )

    def _source(self) -> tuple[str, str]:
        name = self.table.name
        if self.source.random() < 0.3:
            return "", f"FROM {name}"
        chosen = self.grammar.pick(("WITH", "subquery", "column aliases", "table alias", *self.relations))
        if chosen in self.relations:
            return self._related(chosen)
        self.grammar.note(chosen)
        if chosen == "WITH":
            return f"WITH w AS ({self._below()})", "FROM w"
        if chosen == "subquery":
            return "", f"FROM ({self._below()}) AS q"
        if chosen == "column aliases":
            first, second, *rest = self.table.columns
            self.grammar.columns = (replace(first, name="c1"), replace(second, name="c2"), *rest)
            return "", f"FROM {name} AS a(c1, c2)"
        self.grammar.qualifier = "a."
        return "", f"FROM {name} AS a"

    def _related(self, chosen: str) -> tuple[str, str]:
        """Rows made by a construct; those of the table where its tables do not allow it."""
        below = self.relations[chosen](self.ground)
        if below is None:
            return "", f"FROM {self.table.name}"
        self.grammar.note(chosen)
        self.grammar.columns = below.columns
        if self.source.random() < 0.3:
            self.grammar.note("WITH")
            return f"WITH w AS ({below.sql})", "FROM w"
        return "", f"FROM ({below.sql}) AS q"

    def _below(self) -> str:
        """A subquery; the grammar's columns become what it gives."""
        where = f" WHERE {self.grammar.expression('boolean', 1)}" if self.source.random() < 0.5 else ""
        if self.wants("SELECT * below", 0.4):
            return f"SELECT * FROM {self.table.name}{where}"
        kept, chosen = list(self.table.columns), []
        kind = self.source.choice(("integer", "decimal", "text", "boolean", "timestamp"))
        made = self.grammar.expression(kind, 2)
        chosen.append(f"{made} AS made")
        chosen += [column.name for column in kept]
        self.grammar.columns = (ColumnSchema(name="made", type=kind), *kept)
        return f"SELECT {', '.join(chosen)} FROM {self.table.name}{where}"

    def _keys(self) -> tuple[tuple[str, str], ...]:
        count = self.source.choice((0, 1, 1, 1, 2))
        return tuple((self._key(), f"k{i}") for i in range(count))

    def _key(self) -> str:
        listed = [column.name for column in self.grammar.columns if column.keys is not None]
        unlisted = [column.name for column in self.grammar.columns if column.keys is None]
        prefix = self.grammar.qualifier
        derived = self._derived_keys(prefix)
        if derived and self.wants("GROUP BY derived", 0.3):
            return self.source.choice(derived)
        if self.wants("GROUP BY expression", 0.3):
            return self._key_expression(listed, prefix)
        self.grammar.note("GROUP BY column")
        if listed and (self.tidy or self.source.random() < 0.6):
            return prefix + self.source.choice(listed)
        return prefix + self.source.choice(unlisted or listed)

    def _derived_keys(self, prefix: str) -> list[str]:
        """Keys whose values follow from what is declared of a column."""
        found: list[str] = []
        for column in self.grammar.columns:
            name = prefix + column.name
            if column.type in ("date", "timestamp"):
                found += [f"MONTH({name})", f"DAYOFWEEK({name})", f"COALESCE(QUARTER({name}), 0)"]
                found += [f"DATE_TRUNC('month', {name})", f"CAST({name} AS DATE)"] if column.span else []
            elif column.type == "boolean":
                found.append(name)
            elif column.bounds is not None and column.bounds[1] - column.bounds[0] < _NARROW:
                scaled = f"{name} // 10 * 10" if column.type == "integer" else f"FLOOR({name} / 5)"
                found += [scaled, f"ROUND({name} / 4)", f"CASE WHEN {name} > 3 THEN {scaled} ELSE 7 END"]
        return found

    def _key_expression(self, listed: Sequence[str], prefix: str) -> str:
        texts = [column.name for column in self.grammar.columns if column.keys is not None and column.type == "text"]
        if texts and self.source.random() < 0.4:
            function = self.grammar.pick(("UPPER", "LENGTH", "LOWER", "TRIM"))
            self.grammar.note(function)
            return f"{function}({prefix}{self.source.choice(texts)})"
        if listed and self.source.random() < 0.3:
            self.grammar.note("COALESCE")
            chosen = self.source.choice(listed)
            column = next(each for each in self.grammar.columns if each.name == chosen)
            blank = {"text": "'none'", "integer": "-1", "boolean": "FALSE"}.get(column.type)
            return f"COALESCE({prefix}{column.name}, {blank})" if blank else prefix + column.name
        if self.tidy or self.source.random() < 0.5:
            self.grammar.note("CASE WHEN")
            return f"CASE WHEN {self.grammar.expression('boolean', 1)} THEN 'yes' WHEN FALSE THEN 'never' ELSE 'no' END"
        if self.source.random() < 0.5:
            return self.grammar.expression("boolean", 1)
        return self.grammar.expression(self.source.choice(("integer", "text", "timestamp")), 1)

    def _group(self, keys: Sequence[tuple[str, str]]) -> str:
        if not keys:
            return ""
        written = []
        for i, (expression, name) in enumerate(keys):
            if self.wants("GROUP BY ordinal", 0.2):
                written.append(str(i + 1))
            elif self.wants("GROUP BY alias", 0.2):
                written.append(name)
            else:
                written.append(expression)
        return f"GROUP BY {', '.join(written)}"

    def _aggregates(self) -> Iterator[Asked]:
        key = self.unit.key
        named = {column.name.lower() for column in self.grammar.columns}
        # People are counted only where they have a key, and the unit is the whole person.
        people = key is not None and self.unit.per is None and key.lower() in named
        forms = [form for form in FORMS.values() if form.needs != "key" or people]
        kinds = [form.name for form in forms for _ in range(form.often)]
        for i in range(self.source.randint(1 + 3 * self.deep, self.most)):
            kind = self.grammar.pick(kinds)
            self.grammar.note(kind)
            argument = self._argument(kind)
            where = (
                self.grammar.expression("boolean", 2 + self.deep)
                if self.wants("FILTER", 1.5 if self.deep else 0.3)
                else ""
            )
            yield Asked(name=f"m{i}", kind=kind, argument=argument, where=where)

    def _argument(self, kind: str) -> str:
        form = FORMS[kind]
        match form.needs:
            case "number":
                return self.grammar.number(form.depth + self.deep)
            case "bounded":
                return self.grammar.bounded(form.depth + self.deep)
            case "key":
                return f"{self.grammar.qualifier}{self.unit.key}"
            case "nothing":
                return ""

    def _derived(self, aggregates: Sequence[Asked]) -> str:
        first = self.source.choice(aggregates).call
        forms = (
            "COUNT(*) * 2 + 1",
            f"({first}) / NULLIF(COUNT(*), 0)",
            f"ROUND(({first}) * 0.5, 1)",
            f"CASE WHEN COUNT(*) > 3 THEN {first} ELSE 0 END",
            f"COALESCE({first}, 0) - COUNT(*)",
        )
        self.grammar.note("COUNT(*)")
        return self.source.choice(forms)

    def _tail(self, keys: Sequence[tuple[str, str]], aggregates: Sequence[Asked]) -> str:
        parts: list[str] = []
        name = self.source.choice(aggregates).name
        if self.wants("HAVING", 0.6 if self.deep else 0.2):
            parts.append(f"HAVING COUNT(*) > {self.source.choice('02')}")
            self.grammar.note("COUNT(*)")
        elif self.tidy and keys:
            return ""
        if self.wants("ORDER BY", 1.0 if self.deep else 0.2):
            how = ""
            if self.wants("ORDER BY DESC", 0.5):
                how = " DESC"
            if self.wants("ORDER BY NULLS FIRST", 0.8):
                how += " NULLS FIRST"
            # The keys decide between equal numbers, so that the order is one.
            listed = [f"{name}{how}", *(key for _, key in keys)]
            parts.append(f"ORDER BY {', '.join(listed)}")
            if self.wants("LIMIT", 0.8):
                parts.append(f"LIMIT {self.source.choice('1238')}")
                if self.wants("OFFSET", 0.8):
                    parts.append(f"OFFSET {self.source.choice('12')}")
        return " ".join(parts)
