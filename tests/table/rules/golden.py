"""What each rule does to a few questions, as text. `python -m tests.table.rules.golden` writes the fixtures anew."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.engines import evaluate
from quincunx.table.expression import Call, Column, Expression, Literal
from quincunx.table.relations import Scan
from quincunx.table.rules import RULES
from quincunx.table.rules.draft import Draft
from quincunx.table.schema import Auto, ColumnSchema, Limits, Schema, TableSchema
from quincunx.table.sql import read

HOME = Path(__file__).parents[2] / "fixtures" / "rules"

# rule → (question, norm, unit, limits)
PERSON = AddRemove(key="person")
CASES: dict[str, list[tuple[str, int, AddRemove | Replace, Limits]]] = {
    "merge": [
        ("SELECT COUNT(*) AS n FROM visits", 1, PERSON, Limits(rows=3)),
        ("SELECT COUNT(*) AS n FROM visits WHERE age > 17", 1, PERSON, Limits(rows=3)),
        (
            "WITH adults AS (SELECT age AS a, cost * 2 AS c, region FROM visits WHERE age > 17) "
            "SELECT region, SUM(c + a) AS s FROM adults WHERE c < 10 GROUP BY region",
            1,
            PERSON,
            Limits(rows=3),
        ),
    ],
    "clamp": [
        (
            "SELECT AVG(n) AS m, SUM(2 * n + 1) AS s, SUM(CLAMP(n, 0, 9)) AS t, COUNT(n) AS c FROM "
            "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person HAVING COUNT(*) > 25) AS p WHERE n > 3",
            1,
            PERSON,
            Limits(rows=3),
        ),
        ("SELECT SUM(age) AS s, COUNT(*) AS n FROM visits", 1, PERSON, Limits(rows=3)),
    ],
    "growth": [
        ("SELECT COUNT(*) AS n FROM visits WHERE UPPER(region) || 'x' = 'Y'", 1, PERSON, Limits(rows=3)),
    ],
    "climb": [
        ("SELECT SUM(fee) AS s, VAR_POP(CLAMP(fee, 0, 9)) AS v FROM visits", 1, PERSON, Limits(rows=3)),
    ],
    "ladder": [
        ("SELECT SUM(fee) AS s, AVG(gain) AS m FROM visits WHERE fee > 3", 1, PERSON, Limits(rows=3)),
        ("SELECT SUM(CLAMP(fee, 0, 9)) AS s, COUNT(fee) AS n FROM visits", 1, PERSON, Limits(rows=3)),
    ],
    "split": [
        (
            "SELECT COUNT(*) AS n, COUNT(age) AS c, SUM(age) AS s, AVG(age) AS m, COUNT(DISTINCT person) AS p "
            "FROM visits",
            1,
            PERSON,
            Limits(rows=3),
        ),
        ("SELECT AVG(COALESCE(age, 0)) FILTER (WHERE cost > 1) AS m FROM visits", 1, PERSON, Limits(rows=3)),
    ],
    "lattice": [
        ("SELECT SUM(age) AS s, AVG(age) AS m, SUM(-age) AS t FROM visits", 1, PERSON, Limits(rows=3)),
        ("SELECT SUM(cost) AS s, AVG(cost) AS m FROM visits", 1, PERSON, Limits(rows=3)),
        ("SELECT SUM(CLAMP(weight, 0, 250)) AS s FROM visits", 1, PERSON, Limits(rows=3)),
    ],
    "share": [
        ("SELECT COUNT(age) AS n, AVG(age) AS m, SUM(age) AS s FROM visits", 1, PERSON, Limits(rows=3)),
        ("SELECT COUNT(*) AS n, AVG(COALESCE(age, 0)) AS m FROM visits", 1, PERSON, Limits(rows=3)),
    ],
    "bound": [
        ("SELECT COUNT(*) AS n FROM visits", 1, PERSON, Limits(rows=20)),
        ("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", 1, PERSON, Limits(rows=20, per_group=3)),
        ("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", 2, PERSON, Limits(rows=20, per_group=3)),
        ("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", 2, PERSON, Limits(rows=3, per_group=3)),
        ("SELECT region, COUNT(DISTINCT person) AS p FROM visits GROUP BY region", 2, PERSON, Limits(groups=2)),
        ("SELECT region, COUNT(DISTINCT person) AS p FROM visits GROUP BY region", 1, PERSON, Limits(groups=2)),
        ("SELECT COUNT(DISTINCT person) AS p FROM visits", 1, PERSON, Limits()),
        ("SELECT COUNT(*) AS n FROM visits", 1, AddRemove(), Limits()),
    ],
    "scale": [
        ("SELECT COUNT(*) AS n, AVG(age) AS m FROM visits", 1, PERSON, Limits(rows=20)),
        (
            "SELECT region, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY region",
            2,
            Replace(key="person"),
            Limits(rows=20),
        ),
        ("SELECT region, AVG(age) AS m FROM visits GROUP BY region", 2, Replace(key="person", group=3), Limits(rows=2)),
        ("SELECT COUNT(DISTINCT person) AS p FROM visits", 1, PERSON, Limits()),
        ("SELECT SUM(cost) AS s FROM visits", 1, AddRemove(), Limits()),
        ("SELECT region, SUM(fee) AS s FROM visits GROUP BY region", 2, Replace(key="person"), Limits(rows=4)),
    ],
    "select": [
        ("SELECT FLOOR(weight) AS w, COUNT(*) AS n FROM visits GROUP BY w", 1, PERSON, Limits(rows=20, groups=5)),
        (
            "SELECT FLOOR(weight) AS w, COUNT(*) AS n FROM visits GROUP BY w",
            2,
            Replace(key="person", group=2),
            Limits(rows=20, groups=5),
        ),
        ("SELECT FLOOR(weight) AS w, COUNT(*) AS n FROM visits GROUP BY w", 2, PERSON, Limits(rows=20, groups=1)),
        ("SELECT FLOOR(weight) AS w, COUNT(*) AS n FROM visits GROUP BY w", 1, Replace(), Limits()),
        ("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", 1, PERSON, Limits(rows=20)),
    ],
    "bias": [
        (
            "SELECT region, AVG(cost) AS m FROM visits WHERE age > 3 GROUP BY region",
            1,
            PERSON,
            Limits(rows=20, per_group=2),
        ),
        (
            "SELECT FLOOR(weight) AS w, COUNT(DISTINCT person) AS p FROM visits GROUP BY w",
            2,
            PERSON,
            Limits(groups=5),
        ),
        (
            "SELECT COUNT(*) AS n FROM visits",
            1,
            AddRemove(key="person", per={"column": "day", "period": "week"}),
            Limits(rows=2),
        ),
        ("SELECT COUNT(*) AS n FROM visits", 1, AddRemove(), Limits()),
    ],
}


def table(limits: Limits) -> TableSchema:
    return TableSchema(
        name="visits",
        columns=(
            ColumnSchema(name="person", type="integer"),
            ColumnSchema(name="region", type="text", keys=("north", "south", None)),
            ColumnSchema(name="age", type="integer", bounds=(Fraction(0), Fraction("110.5"))),
            ColumnSchema(name="cost", type="decimal", bounds=(Fraction("-0.26"), Fraction(5000)), step=Fraction(1, 2)),
            ColumnSchema(name="weight", type="decimal"),
            ColumnSchema(name="day", type="date"),
            ColumnSchema(name="fee", type="integer", auto=Auto(first=Fraction(1), last=Fraction(20))),
            ColumnSchema(name="gain", type="decimal", auto=Auto(first=Fraction(1), last=Fraction(3), negative=True)),
        ),
        limits=limits,
    )


def drafted(question: str, norm: Any, unit: AddRemove | Replace, limits: Limits) -> Draft:
    declared = Schema(tables={"visits": table(limits)}, unit=unit)
    return Draft(query=read(question, declared, evaluate), schema=declared, norm=norm, bounds2={})


def show(value: Any) -> str:
    """Short: an expression as a call, a dataclass with what differs from its defaults."""
    if isinstance(value, Column):
        return value.name
    if isinstance(value, Literal):
        return repr(value.value) if not isinstance(value.value, Fraction) else str(value.value)
    if isinstance(value, Call):
        return f"{value.operator}({', '.join(map(show, value.arguments))})"
    if isinstance(value, Scan):
        return f"Scan(table={value.table.name!r})"
    if is_dataclass(value) and not isinstance(value, Expression):
        parts = [(field.name, getattr(value, field.name), field.default) for field in fields(value) if field.init]
        shown = [f"{name}={show(each)}" for name, each, default in parts if default is MISSING or each != default]
        return f"{type(value).__name__}({', '.join(shown)})"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(show, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {show(each)}" for name, each in value.items()) + "}"
    return str(value) if isinstance(value, Fraction) else repr(value)


def block(rule: str, case: tuple[str, int, AddRemove | Replace, Limits]) -> str:
    """The question, and the fields that the rule changed."""
    question, norm, unit, limits = case
    draft = drafted(question, norm, unit, limits)
    lines = [question, f"  norm {norm}, {unit}, {show(limits)}"]
    for each in RULES:
        before, draft = draft, each(draft)
        if each.__name__ == rule:
            for field in fields(draft):
                new, old = getattr(draft, field.name), getattr(before, field.name)
                if new != old and field.name == "query":
                    lines += [f"  rows = {show(new.rows)}", f"  keys = {show(new.keys)}"]
                    lines += [f"  {show(aggregate)}" for aggregate in new.aggregates]
                elif new != old and isinstance(new, tuple):
                    lines += [f"  {field.name}:", *(f"    {show(part)}" for part in new)]
                elif new != old:
                    lines.append(f"  {field.name} = {show(new)}")
            break
    return "\n".join(lines if len(lines) > 2 else [*lines, "  nothing changes"]) + "\n"


def text(rule: str) -> str:
    return "\n".join(block(rule, case) for case in CASES[rule])


if __name__ == "__main__":
    HOME.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        (HOME / f"{name}.txt").write_text(text(name), encoding="utf-8")
