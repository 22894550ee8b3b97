"""What relations know of themselves: slots, owners, licences, limits and sizes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from quincunx.errors import QueryError
from quincunx.spec.unit import AddRemove
from quincunx.table.expression import Slot
from quincunx.table.operators import apply, literal
from quincunx.table.relations import Filter, Project, Relation, Scan
from quincunx.table.relations import relation as room
from quincunx.table.rules import plan
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from quincunx.table.sql import read

PERSON = AddRemove(key="person")
WEEKS = AddRemove(key="person", per={"column": "day", "period": "week"})
DAYS = AddRemove(key="person", per={"column": "day", "period": "day"})
TABLE = TableSchema(
    name="visits",
    columns=(
        ColumnSchema(name="person", type="integer"),
        ColumnSchema(name="age", type="integer", bounds=(Fraction(0), Fraction(110))),
        ColumnSchema(name="day", type="date"),
    ),
    limits=Limits(rows=7, groups=3, per_group=2),
)
SCAN = Scan(table=TABLE, unit=PERSON)
KEY, AGE, DAY = SCAN.columns


def chain() -> list[Relation]:
    """Scan, Filter, Project and a Project again that gives the key's name to something else."""
    filtered = Filter(source=SCAN, condition=apply("greater", AGE, literal(3)))
    renamed = Project(source=filtered, chosen=(("p", KEY), ("age", apply("add", AGE, literal(1)))))
    again = Project(source=renamed, chosen=(("person", renamed.columns[1]), ("p", renamed.columns[0])))
    return [SCAN, filtered, renamed, again]


def test_every_node_is_tried() -> None:
    assert {each.tag for each in chain()} == {
        node.tag for node in Relation.__subclasses__() if node.__module__.startswith("quincunx.")
    }


@pytest.mark.parametrize("relation", chain(), ids=lambda each: each.tag)
def test_owner_and_limits_are_kept(relation: Relation) -> None:
    assert relation.owner == SCAN.owner
    assert relation.limits == TABLE.limits
    assert dict(relation.tables) == {0: TABLE}
    assert len({column.slot for column in relation.columns}) == len(relation.columns)


@pytest.mark.parametrize("relation", chain(), ids=lambda each: each.tag)
def test_another_reading_shares_no_slot(relation: Relation) -> None:
    other = relation.shifted(2)
    assert dict(other.tables) == {2: TABLE}
    assert {column.slot for column in other.columns}.isdisjoint(column.slot for column in relation.columns)
    assert other.shifted(-2) == relation
    assert [column.facts for column in other.columns] == [column.facts for column in relation.columns]
    assert other.owner is not None
    assert [component.column.slot for component in other.owner.components] == [Slot("person", 2)]
    for column, same in zip(relation.columns, other.columns, strict=True):
        assert room.shifted(relation.base(column), 2) == other.base(same)


def test_a_name_that_is_used_again_is_another_slot() -> None:
    *_, again = chain()
    person, p = again.columns
    assert again.base(person) == apply("add", AGE, literal(1))
    assert again.base(p) == KEY
    assert person.slot != KEY.slot
    # A column that is not above is no column here, whatever its name.
    with pytest.raises(QueryError, match="a column that the rows below do not have"):
        Filter(source=again, condition=apply("greater", KEY, literal(3)))
    with pytest.raises(QueryError, match="a column that the rows below do not have"):
        Project(source=SCAN, chosen=(("age", SCAN.shifted(1).columns[1]),))


def test_nodes_that_cannot_be_are_refused() -> None:
    with pytest.raises(QueryError, match="true, false or NULL"):
        Filter(source=SCAN, condition=AGE)
    with pytest.raises(QueryError, match="two columns have the same name"):
        Project(source=SCAN, chosen=(("a", AGE), ("a", KEY)))


def test_a_public_table_has_no_owner() -> None:
    public = Scan(table=replace(TABLE, public=True), unit=PERSON)
    assert public.owner is None
    assert not public.licenses(0, KEY)


# Licences: what is known to equal the owner.


def test_the_key_is_licensed_under_any_name() -> None:
    _, _, renamed, again = chain()
    assert SCAN.licenses(0, KEY)
    assert renamed.licenses(0, renamed.columns[0])
    assert again.licenses(0, again.columns[1])
    assert not again.licenses(0, again.columns[0])
    assert not SCAN.licenses(0, AGE)
    assert not SCAN.licenses(0, apply("add", KEY, literal(0)))


@pytest.mark.parametrize(
    "declared",
    [
        ColumnSchema(name="person", type="integer", bounds=(Fraction(0), Fraction(9))),
        ColumnSchema(name="person", type="integer", keys=(1, 2)),
        ColumnSchema(name="person", type="decimal"),
    ],
    ids=["bounds", "keys", "decimal"],
)
def test_a_key_whose_visible_values_may_differ_is_not_licensed(declared: ColumnSchema) -> None:
    scan = Scan(table=replace(TABLE, columns=(declared, *TABLE.columns[1:])), unit=PERSON)
    assert scan.owner is not None
    assert scan.owner.components[0].column == scan.columns[0]
    assert not scan.licenses(0, scan.columns[0])


def test_a_period_is_licensed_by_its_canonical_expression() -> None:
    weeks, days = (Scan(table=TABLE, unit=unit) for unit in (WEEKS, DAYS))
    week, month, day = (apply("date_trunc", literal(each), DAY) for each in ("week", "month", "day"))
    assert [weeks.licenses(1, each) for each in (week, month, day, DAY)] == [True, False, False, False]
    assert [days.licenses(1, each) for each in (week, month, day, DAY)] == [False, False, True, True]
    assert weeks.licenses(0, KEY)
    assert not weeks.licenses(0, week)


# Limits reach the plan, whatever stands between.


@pytest.mark.parametrize(
    "rows",
    ["visits", "visits WHERE age > 3", "(SELECT age FROM visits) AS s", "(SELECT age FROM visits WHERE age > 3) AS s"],
)
def test_limits_choose_c_below_filters_and_projections(rows: str) -> None:
    declared = Schema(tables={"visits": TABLE}, unit=PERSON)
    program = plan(read(f"SELECT COUNT(*) AS n FROM {rows}", declared), declared, 1)
    # One group of at most two rows.
    assert program.measures[0].vector.bound2 == 4


def test_a_question_is_planned_with_what_it_was_read_with() -> None:
    declared = Schema(tables={"visits": TABLE}, unit=PERSON)
    looser = Schema(tables={"visits": replace(TABLE, limits=Limits(rows=1))}, unit=PERSON)
    with pytest.raises(QueryError, match="other declarations"):
        plan(read("SELECT COUNT(*) AS n FROM visits", declared), looser, 1)


# Canonical forms.


def test_a_ledger_tells_two_readings_apart() -> None:
    """The name alone where it says all, as keys are older than slots; scan and level where they are not 0."""
    shown = [each.canonical() for each in (AGE, SCAN.shifted(1).columns[1], chain()[2].columns[1])]
    named = [{name: part for name, part in each[1].items() if name in ("name", "scan", "level")} for each in shown]  # type: ignore[index,union-attr,call-overload]
    assert named == [{"name": "age"}, {"name": "age", "scan": 1}, {"name": "age", "level": 1}]
