"""Each rule against its golden fixture, what rules refuse, and what they promise together."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import QueryError, RefusalError
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.aggregates import Aggregate
from quincunx.table.aggregates.count import Count
from quincunx.table.aggregates.mean import Mean
from quincunx.table.aggregates.people import People
from quincunx.table.aggregates.sum import Sum
from quincunx.table.aggregates.term import onto, power_of_ten_below
from quincunx.table.expression import Call, Column, Expression, Literal
from quincunx.table.measure import Program
from quincunx.table.operators import apply, literal
from quincunx.table.plan import Key, Query
from quincunx.table.relations import DEPTH, Filter, Project, Relation, Scan
from quincunx.table.rules import RULES, plan
from quincunx.table.schema import Limits, Schema, TableSchema
from tests.table.rules import golden

PERSON = AddRemove(key="person")
AGE = Column(name="age", type="integer", low=Fraction(0), high=Fraction(110), step=Fraction(1))
VISITS = Scan(table=golden.table(Limits(rows=20)), unit=PERSON)


def planned(
    aggregates: tuple[Aggregate, ...],
    *,
    keys: tuple[Key, ...] = (),
    rows: Relation | None = None,
    unit: AddRemove | Replace = PERSON,
    limits: Limits | None = None,
    norm: Any = 1,
) -> Program:
    table = golden.table(limits or Limits(rows=20))
    declared = Schema(tables={"visits": table}, unit=unit)
    query = Query(rows=rows or Scan(table=table, unit=unit), keys=keys, aggregates=aggregates, outputs=())
    return plan(query, declared, norm)


def key(values: tuple[Any, ...] | None) -> Key:
    return Key(name="k", expression=Column(name="region", type="text"), values=values)


COUNT = (Count(),)
PEOPLE = (People(),)


def test_every_rule_has_a_golden_fixture() -> None:
    assert {rule.__name__ for rule in RULES} == set(golden.CASES)
    assert {path.stem for path in golden.HOME.glob("*.txt")} == set(golden.CASES)


@pytest.mark.parametrize("rule", golden.CASES)
def test_rules_do_what_their_fixture_says(rule: str) -> None:
    assert golden.text(rule) == (golden.HOME / f"{rule}.txt").read_text(encoding="utf-8")


# Contribution: C from limits.


@pytest.mark.parametrize("norm", [1, 2])
@given(
    rows=st.none() | st.integers(1, 9),
    groups=st.none() | st.integers(1, 9),
    per_group=st.none() | st.integers(1, 9),
    public=st.none() | st.integers(1, 9),
)
def test_c_is_the_smallest_norm_that_the_limits_allow(
    norm: int, rows: int | None, groups: int | None, per_group: int | None, public: int | None
) -> None:
    """Nobody within the limits is weighted down, and C² is at most each formula of DESIGN."""
    limits = Limits(rows=rows, groups=groups, per_group=per_group)
    keys = (key(None if public is None else tuple(map(str, range(public)))),)
    bounded = [each for each in (rows, groups, public) if each is not None]
    finite = rows is not None or (per_group is not None and bool(bounded))
    try:
        program = planned(COUNT, keys=keys, limits=limits, norm=norm)
    except RefusalError:
        assert not finite or (public is None and groups is None)
        return
    assert finite
    bound2 = program.measures[0].vector.bound2
    spread = min(bounded)
    formulas = [rows and rows**2, per_group and (per_group * spread) ** 2]
    if norm == 2:
        formulas = [rows and rows**2, per_group and per_group**2 * spread, rows and per_group and rows * per_group]
    assert bound2 == min(each for each in formulas if each is not None)
    # The worst person within all limits, by rows put into as few groups as allowed.
    each = min(x for x in (per_group, rows) if x is not None)
    v, left = [], rows if rows is not None else each * spread
    while left and len(v) < spread:
        v.append(min(each, left))
        left -= v[-1]
    norm2 = sum(v) ** 2 if norm == 1 else sum(x**2 for x in v)
    assert norm2 <= bound2


def test_without_a_finite_c_the_question_is_refused_with_the_ways_out() -> None:
    for limits in (Limits(), Limits(groups=3), Limits(per_group=3)):
        with pytest.raises(RefusalError, match=r"nothing bounds how many rows.*Declare limits: rows, or per_group"):
            planned(COUNT, keys=(key(None),) if limits.per_group else (), limits=Limits(groups=limits.groups))
    assert planned(COUNT, limits=Limits(per_group=3)).measures[0].vector.bound2 == 9
    with pytest.raises(RefusalError, match="in how many groups"):
        planned(PEOPLE, keys=(key(None),), limits=Limits())


def test_people_need_no_limits_without_groups_or_with_public_keys() -> None:
    assert planned(PEOPLE, limits=Limits()).measures[0].vector.bits == 0
    everyone = planned(PEOPLE, keys=(key(("a", "b")),), limits=Limits(), norm=2).measures[0]
    assert (everyone.vector.bound2, everyone.vector.bits, everyone.sensitivity2) == (2, 0, 2)
    some = planned(PEOPLE, keys=(key(("a", "b", "c")),), limits=Limits(groups=2), norm=2).measures[0]
    assert (some.vector.bound2, some.vector.bits, some.fraction) == (2, 20, 20)


def test_people_without_a_key_are_refused() -> None:
    with pytest.raises(QueryError, match="no key to count"):
        planned(PEOPLE, unit=AddRemove())


def test_limits_that_overflow_are_refused() -> None:
    with pytest.raises(QueryError, match="too large for exact weights"):
        planned(COUNT, limits=Limits(rows=2**41))
    assert planned(COUNT, limits=Limits(rows=2**40)).measures[0].vector.bound2 == 2**80


# Sensitivities.


@pytest.mark.parametrize(
    ("unit", "norm", "groups", "factor2"),
    [
        (AddRemove(key="person"), 1, 3, 1),
        (AddRemove(key="person"), 2, 3, 1),
        (AddRemove(key="person", group=3), 2, 3, 9),
        (Replace(key="person"), 1, 3, 4),
        (Replace(key="person"), 2, 3, 2),
        (Replace(key="person", group=3), 1, 3, 36),
        (Replace(key="person", group=3), 2, 3, 18),
        # In one group a replaced person moves a count by at most what one of the two had.
        (Replace(key="person"), 1, 0, 1),
        (Replace(key="person"), 2, 0, 1),
    ],
)
def test_sensitivity_of_counts(unit: AddRemove | Replace, norm: int, groups: int, factor2: int) -> None:
    keys = (key(tuple(map(str, range(groups)))),) if groups else ()
    measure = planned(COUNT, keys=keys, unit=unit, norm=norm).measures[0]
    assert measure.sensitivity2 == factor2 * 400 * 4**20
    assert measure.unit == Fraction(1, 2**20)


def test_signed_sums_move_by_twice_as_much_under_replace() -> None:
    signed = planned((Mean(argument=AGE),), unit=Replace(key="person"), norm=2).measures[0]
    assert (signed.low, signed.high, signed.centre) == (0, 110, 55)
    assert signed.sensitivity2 == 4 * 400 * 55**2 * 4**signed.fraction
    plain = planned((Sum(argument=apply("negate", AGE)),), unit=Replace(key="person"), norm=2)
    assert plain.measures[0].sensitivity2 == 400 * 110**2 * 4 ** plain.measures[0].fraction


@given(st.integers(1, 2**40), st.integers(0, 2**40), st.integers(1, 1000))
def test_the_fraction_makes_results_fine_and_never_too_large(high: int, width: int, rows: int) -> None:
    argument = Column(name="age", type="integer", low=Fraction(high - width), high=Fraction(high), step=Fraction(1))
    if rows * max(high, abs(high - width)) > 2**56:
        with pytest.raises(QueryError, match="too many lattice steps"):
            planned((Sum(argument=argument),), limits=Limits(rows=rows))
        return
    measure = planned((Sum(argument=argument),), limits=Limits(rows=rows)).measures[0]
    size = rows * max(abs(measure.low), abs(measure.high))
    assert 0 <= measure.fraction <= measure.vector.bits
    assert measure.sensitivity2 == (size * 2**measure.fraction) ** 2
    assert size * 2**measure.fraction <= max(2**33, size)
    # 2^48 rows of weight 2^bits fit a HUGEINT.
    assert 2**48 * 2**measure.vector.bits * max(abs(measure.low), abs(measure.high)) < 2**126


# The lattice.


@given(st.fractions(-50, 50), st.fractions(0, 50), st.fractions(Fraction(1, 1000), 30))
def test_bounds_hold_after_the_map(low: Fraction, width: Fraction, step: Fraction) -> None:
    argument = Column(name="cost", type="decimal", low=low, high=low + width, step=step)
    if onto(low, step) == onto(low + width, step) == 0:
        with pytest.raises(QueryError, match="the same on its lattice"):
            planned((Sum(argument=argument),))
        return
    measure = planned((Sum(argument=argument),)).measures[0]
    for place in range(5):
        value = low + width * place / 4
        assert measure.low <= math.floor(value / step + Fraction(1, 2)) <= measure.high


@given(st.fractions(Fraction(1, 10**12), 10**12))
def test_the_default_step_is_a_power_of_ten(value: Fraction) -> None:
    step = power_of_ten_below(value)
    assert step <= value < 10 * step


def test_sums_without_bounds_or_of_no_number_are_refused() -> None:
    with pytest.raises(RefusalError, match=r"SUM needs a bounded argument.*CLAMP"):
        planned((Sum(argument=Column(name="weight", type="decimal")),))
    with pytest.raises(RefusalError, match=r"AVG needs a bounded argument"):
        planned((Mean(argument=Column(name="weight", type="decimal", low=Fraction(0))),))
    with pytest.raises(QueryError, match="needs a number"):
        planned((Sum(argument=Column(name="region", type="text")),))
    with pytest.raises(QueryError, match="the same on its lattice"):
        planned((Mean(argument=literal(5)),))
    far = Column(name="age", type="integer", low=Fraction(2**62), high=Fraction(2**62 + 1), step=Fraction(1))
    with pytest.raises(QueryError, match="too many lattice steps"):
        planned((Mean(argument=far),))


# Merging.


def test_merging_is_bounded_before_it_is_built() -> None:
    rows: Relation = VISITS
    x: Expression = AGE
    for _ in range(60):
        # Each level doubles the column: 2^60 nodes, were they built.
        rows = Project(source=rows, chosen=(("age", apply("add", x, x)),))
        (x,) = rows.columns
    with pytest.raises(QueryError, match="grows too large"):
        planned((Count(argument=x),), rows=rows)
    deep: Expression = AGE
    for _ in range(DEPTH):
        deep = Call(type="integer", operator="negate", arguments=(deep,))
    with pytest.raises(QueryError, match="grows too large"):
        planned((Count(argument=deep),))
    clamps: Expression = AGE
    for _ in range(20):
        clamps = apply("clamp", clamps, literal(0), literal(5))
    with pytest.raises(QueryError, match="grows too large"):
        planned((Count(argument=clamps),))


def test_projections_may_reuse_names() -> None:
    inner = Project(source=VISITS, chosen=(("age", apply("add", AGE, literal(1))),))
    (age,) = inner.columns
    assert (age.name, age.slot == AGE.slot) == ("age", False)
    outer = Filter(source=inner, condition=apply("greater", age, literal(3)))
    program = planned((Sum(argument=age),), rows=outer)
    assert golden.show(program.query.rows) == ("Filter(source=Scan(table='visits'), condition=greater(add(age, 1), 3))")
    # The bound is the argument's own: what was proved of the column's old meaning does not survive.
    assert program.measures[0].high == 111


def test_only_private_tables_are_planned() -> None:
    public = TableSchema(name="visits", columns=(), public=True)
    declared = Schema(tables={"visits": public}, unit=PERSON)
    query = Query(rows=Scan(table=public, unit=PERSON), keys=(), aggregates=COUNT, outputs=())
    with pytest.raises(QueryError, match="no private table"):
        plan(query, declared, 1)


# Unknown keys.


def test_unknown_keys_need_groups() -> None:
    with pytest.raises(RefusalError, match="nothing bounds how many one person may create"):
        planned(COUNT, keys=(key(None),))
    with pytest.raises(QueryError, match="too many groups"):
        planned(COUNT, keys=(key(None),), limits=Limits(rows=1, groups=2**15))
    assert planned(COUNT, keys=(key(None), key(("a",))), limits=Limits(rows=1, groups=2)).selection is not None


def test_planning_says_what_may_be_missing() -> None:
    assert planned(COUNT, unit=AddRemove(), limits=Limits()).biases == ()
    sentences = planned(COUNT, keys=(key(("a",)),)).biases
    assert all(sentence.endswith(".") and sentence[0].isupper() for sentence in sentences)
    assert len(set(sentences)) == len(sentences)


def test_a_literal_is_counted_and_summed() -> None:
    one = Literal(type="integer", value=1, nullable=False, low=Fraction(1), high=Fraction(1), step=Fraction(1))
    program = planned((Count(argument=one), Count(), Sum(argument=one)))
    assert len(program.measures) == 2
    assert program.parts == ((0,), (0,), (1,))


def test_an_unknown_key_that_is_a_decimal_number_needs_a_step() -> None:
    """Engines show doubles differently, so that different keys would be kept; the hint leads to keys of one name."""
    free, few = Column(name="weight", type="decimal"), Limits(rows=20, groups=3)
    for expression in (free, apply("divide", free, literal(7))):
        with pytest.raises(RefusalError, match="needs a step") as refused:
            planned(COUNT, keys=(Key(name="w", expression=expression, values=None),), limits=few)
        assert "GROUP BY FLOOR(x) or GROUP BY ROUND(x, 2)" in str(refused.value)
    for expression in (apply("floor", free), apply("round", free, literal(2))):
        key = Key(name="w", expression=expression, values=None)
        assert planned(COUNT, keys=(key,), limits=few).selection is not None
        assert key.stepped == expression.step
