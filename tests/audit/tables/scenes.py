"""What replay is asked about in the tests: two tables, nine units, six kinds of limits, questions of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from quincunx.audit import Replay, replay
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema


def column(name: str, kind: str, low: object = None, high: object = None, **rest: Any) -> ColumnSchema:
    bounds = None if low is None else (Fraction(str(low)), Fraction(str(high)))
    if "step" in rest:
        rest["step"] = Fraction(str(rest["step"]))
    return ColumnSchema(name=name, type=kind, bounds=bounds, **rest)


# Bounds that lie off the lattice of the step, on both sides.
VISITS = TableSchema(
    name="visits",
    columns=(
        column("person", "integer"),
        column("region", "text", keys=("a", "süd", "東京", None)),
        column("age", "integer", 0, 110),
        column("cost", "decimal", "-57.77", "50.05", step="0.1"),
        column("note", "text"),
        column("day", "date"),
        column("at", "timestamp"),
        column("flag", "boolean", keys=(True, False)),
        column("seen", "date", span=(date(2024, 2, 28), date(2024, 5, 1)), nullable=False),
    ),
)
# The same names under other types in the source: decimals, wide integers, texts where numbers are declared.
SALES = TableSchema(
    name="sales",
    columns=(
        column("person", "text"),
        column("region", "integer", keys=(1, 2, 3, 7)),
        column("age", "integer", -3, 8),
        column("cost", "decimal", "0.0005", "99.9995", step="0.25"),
        column("big", "integer", -(2**100) - 3 * 2**60, 2**99, step=2**60),
        column("note", "text"),
        column("day", "timestamp"),
        column("flag", "boolean"),
        column("rate", "decimal", "0.1", "0.9", nullable=False),
        column("sold", "timestamp", span=(datetime(2023, 12, 30, 12), datetime(2024, 3, 1))),
    ),
)
STORAGE = {
    "sales": {"age": "VARCHAR", "cost": "DECIMAL(12,3)", "big": "HUGEINT", "region": "SMALLINT", "rate": "FLOAT"}
}
UNITS: dict[str, AddRemove | Replace] = {
    "add-remove person": AddRemove(key="person"),
    "replace person": Replace(key="person"),
    "add-remove person x 3": AddRemove(key="person", group=3),
    "replace person x 3": Replace(key="person", group=3),
    "add-remove person-week": AddRemove(key="person", per={"column": "day", "period": "week"}),
    "replace person-day": Replace(key="person", per={"column": "day", "period": "day"}),
    "add-remove person-month x 3": AddRemove(key="person", per={"column": "day", "period": "month"}, group=3),
    "add-remove row": AddRemove(),
    "replace row": Replace(),
}
LIMITS = {
    "rows": Limits(rows=3),
    "rows + per_group": Limits(rows=7, per_group=2),
    "groups + per_group": Limits(groups=2, per_group=2),
    "rows + groups": Limits(rows=5, groups=1),
    "rows + groups + per_group": Limits(rows=8, groups=3, per_group=3),
    "none": Limits(),
}
KEYS = {"no keys": (), "public": ("region",), "unknown": ("note",), "mixed": ("region", "note")}
AGGREGATES = ("COUNT(*)", "COUNT(x)", "SUM", "AVG", "COUNT(DISTINCT x)", "COUNT(DISTINCT key)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One schema, and the questions that are always asked of it."""

    schema: Schema
    unit: str
    limits: str

    @property
    def table(self) -> TableSchema:
        return next(iter(self.schema.tables.values()))

    @property
    def people(self) -> bool:
        """Whether people can be counted."""
        return self.schema.unit.key is not None and self.schema.unit.per is None

    def cells(self) -> set[tuple[str, str, str, str]]:
        """The kinds of cases that must come up, from what can be planned at all."""
        unit, limits = self.schema.unit, self.table.limits
        found = set()
        for keys in KEYS:
            unlisted = keys in ("unknown", "mixed")
            if unlisted and unit.key is not None and limits.groups is None:
                continue
            bounded = limits.rows is not None or (limits.per_group is not None and (limits.groups or not unlisted))
            rows = unit.key is None or bool(bounded)
            found |= {(each, self.unit, self.limits, keys) for each in AGGREGATES[:5] if rows}
            if self.people:
                found.add(("COUNT(DISTINCT key)", self.unit, self.limits, keys))
            if unlisted and (rows or self.people):
                found.add(("votes", self.unit, self.limits, keys))
        return found

    def questions(self) -> list[str]:
        """Every aggregate with every kind of keys."""
        asked = []
        for names in KEYS.values():
            selected = "".join(f"{name}, " for name in names)
            group = f" GROUP BY {', '.join(names)}" if names else ""
            rows = "COUNT(*) AS n, COUNT(cost) AS c, SUM(cost) AS s, AVG(age) AS m, COUNT(DISTINCT age) AS d"
            asked.append(f"SELECT {selected}{rows} FROM {self.table.name}{group}")
            if not names:
                # Bounds on both sides of 0, so that 0 and an end of age are as far apart as squares can be.
                signed = "CASE WHEN FALSE THEN -age ELSE age END"
                asked.append(f"SELECT VAR_POP({signed}) AS v FROM {self.table.name}")
                # And a product with a factor that is always at its end, so that it is at its own ends with age.
                turned = "COVAR_POP(age, CASE WHEN age IS NULL THEN 0 ELSE 1 END) AS w"
                asked.append(f"SELECT {turned} FROM {self.table.name}")
                asked.append(f"SELECT MEDIAN(age) AS q FROM {self.table.name}")
            if self.people:
                counted = "COUNT(DISTINCT person) AS p, COUNT(DISTINCT person) FILTER (WHERE flag) AS f"
                asked.append(f"SELECT {selected}{counted} FROM {self.table.name}{group}")
        return asked

    def replay(self, sql: Any = None, **options: Any) -> Replay:
        return replay(self.schema, sql, storage=self.storage, **options)

    @property
    def storage(self) -> dict[str, dict[str, str]]:
        """The types in the source, where they are not the usual ones."""
        return {name: kinds for name, kinds in STORAGE.items() if name in self.schema.tables}


def scene(unit: str, limits: str, table: TableSchema = VISITS) -> Scene:
    declared = replace(table, limits=LIMITS[limits])
    return Scene(schema=Schema(tables={table.name: declared}, unit=UNITS[unit]), unit=unit, limits=limits)


def scenes() -> Iterator[Scene]:
    """Every unit with every kind of limits, on both tables in turn."""
    for i, unit in enumerate(UNITS):
        for j, limits in enumerate(LIMITS):
            yield scene(unit, limits, (VISITS, SALES)[(i + j) % 2])
