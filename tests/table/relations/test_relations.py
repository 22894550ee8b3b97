"""What relations know of themselves: slots, owners, licences, limits and sizes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from quincunx.errors import QueryError
from quincunx.spec.unit import AddRemove
from quincunx.table.expression import Slot
from quincunx.table.operators import apply, literal
from quincunx.table.relations import Filter, Join, Kind, Lookup, Pairing, Project, Relation, Scan
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
REGIONS = TableSchema(
    name="regions", columns=(ColumnSchema(name="day", type="date"), ColumnSchema(name="r", type="text")), public=True
)
SCAN = Scan(table=TABLE, unit=PERSON)
KEY, AGE, DAY = SCAN.columns


def chain() -> list[Relation]:
    """Scan, Filter, Project and a Project again that gives the key's name to something else."""
    filtered = Filter(source=SCAN, condition=apply("greater", AGE, literal(3)))
    renamed = Project(source=filtered, chosen=(("p", KEY), ("age", apply("add", AGE, literal(1)))))
    again = Project(source=renamed, chosen=(("person", renamed.columns[1]), ("p", renamed.columns[0])))
    return [SCAN, filtered, renamed, again]


def test_every_node_that_treats_a_row_by_itself_is_tried() -> None:
    ours = [node for node in Relation.__subclasses__() if node.__module__.startswith("quincunx.")]
    assert {each.tag for each in chain()} == {node.tag for node in ours if node.rowwise}


def pairs() -> list[Relation]:
    """Joins of every kind of two readings of the table, and with a public one."""
    other, regions = SCAN.shifted(1), Scan(table=REGIONS, unit=PERSON, number=1)
    older = apply("less", AGE, other.columns[1])
    outer = [Join(left=SCAN, right=other, kind=kind, condition=older).with_supplied() for kind in ("left", "full")]
    matched = apply("equal", DAY, regions.columns[0])
    found = Lookup(left=SCAN, right=regions, kind="left", condition=matched, matches=4).with_supplied()
    return [Join(left=SCAN, right=other), *outer, Lookup(left=SCAN, right=regions), found]


@pytest.mark.parametrize("relation", pairs(), ids=lambda each: f"{each.tag} {each.kind}")
def test_pairs_are_slots_of_their_own_and_can_be_read_again(relation: Pairing) -> None:
    assert len({column.slot for column in relation.columns}) == len(relation.columns)
    other = relation.shifted(5)
    assert other.shifted(-5) == relation
    assert {column.slot for column in other.columns}.isdisjoint(column.slot for column in relation.columns)
    assert set(other.tables) == {5, 6}
    assert relation.owner is not None
    assert relation.owner.components[0].column == KEY
    # Whatever may have no partner is nullable, and nothing is substituted through it.
    for column, shows in relation.supplied:
        assert column.nullable
        assert relation.base(column) == column != shows
        assert relation.declared(column) is not None
    used = frozenset({column.slot for column in relation.columns[:1]})
    kept = relation.narrowed(used)
    assert [column.slot for column, _ in kept.supplied] == [slot for slot in relation.made if slot in used]
    assert kept.canonical() != relation.canonical() or not relation.supplied


@pytest.mark.parametrize("kind", ["left", "full"])
def test_what_may_have_no_partner_may_be_null(kind: Kind) -> None:
    """Also where a row of the table always has it: no rule may take it for a value."""
    always = replace(TABLE, columns=tuple(replace(each, nullable=False) for each in TABLE.columns))
    sides = [Scan(table=always, unit=PERSON, number=number) for number in range(2)]
    found = Join(left=sides[0], right=sides[1], kind=kind).with_supplied()
    assert [column.nullable for column in found.columns] == [kind == "full"] * 3 + [True] * 3
    shown = [found.declared(own) for own, _ in found.supplied]
    assert all(each is not None and each.nullable for each in shown)


def test_what_equals_the_owner_of_a_pair() -> None:
    inner, left, full, looked, _ = pairs()
    one, other = KEY, SCAN.shifted(1).columns[0]
    assert inner.licenses(0, one)
    assert inner.licenses(0, other)
    assert left.licenses(0, one)
    assert not left.licenses(0, left.columns[3])
    keys = [column for column in full.columns if column.name == "person"]
    assert not any(full.licenses(0, key) for key in keys)
    assert full.licenses(0, apply("coalesce", *keys))
    assert full.licenses(0, apply("coalesce", *keys[::-1]))
    assert looked.licenses(0, one)


def test_limits_of_pairs() -> None:
    inner, left, full, looked, found = pairs()
    assert (inner.limits.rows, left.limits.rows, full.limits.rows) == (36, 36, 36)
    assert (looked.limits, found.limits) == (TABLE.limits, Limits(rows=28, groups=12, per_group=8))
    assert replace(inner, joined=5).limits.rows == 5
    few = replace(TABLE, limits=Limits(rows=1))
    single = Join(left=Scan(table=few, unit=PERSON), right=Scan(table=few, unit=PERSON, number=1), kind="full")
    assert (single.limits.rows, replace(single, kind="inner").limits.rows) == (2, 1)


def test_what_is_no_pairing() -> None:
    other, regions = SCAN.shifted(1), Scan(table=REGIONS, unit=PERSON, number=1)
    with pytest.raises(QueryError, match="one number"):
        Join(left=SCAN, right=SCAN)
    with pytest.raises(QueryError, match="filter above"):
        Join(left=SCAN, right=other, condition=apply("less", AGE, other.columns[1]))
    with pytest.raises(QueryError, match="needs an owner"):
        Join(left=SCAN, right=regions)
    with pytest.raises(QueryError, match="only public"):
        Lookup(left=SCAN, right=other)
    with pytest.raises(QueryError, match="only public"):
        Lookup(left=SCAN, right=regions, kind="full")
    texts = replace(TABLE, columns=(ColumnSchema(name="person", type="text"), *TABLE.columns[1:]))
    with pytest.raises(QueryError, match="different types"):
        Join(left=SCAN, right=Scan(table=texts, unit=PERSON, number=1))


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
