"""Expressions are values: equal by content, walked outermost first, rewritten innermost first."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest

from quincunx.table.expression import Call, Column, Expression, GroupKey, Measured
from quincunx.table.operators import apply, literal

AGE = Column(name="age", type="integer", low=Fraction(0), high=Fraction(110), step=Fraction(1))


def test_equal_expressions_are_equal_and_hash_alike() -> None:
    one, other = apply("add", AGE, literal(1)), apply("add", replace(AGE), literal(1))
    assert one == other
    assert len({one, other}) == 1
    assert one != apply("add", AGE, literal(2))
    assert Measured(index=0, type="integer") != GroupKey(index=0, type="integer")


def test_expressions_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        AGE.name = "x"  # type: ignore[misc]


def test_walking_is_outermost_first() -> None:
    found = [type(part).__name__ for part in apply("add", apply("negate", AGE), literal(1)).walk()]
    assert found == ["Call", "Call", "Column", "Literal"]


def test_rewriting_reaches_every_part_and_leaves_the_rest() -> None:
    expression = apply("add", apply("negate", AGE), literal(1))

    def renamed(part: Expression) -> Expression:
        return replace(part, name="years") if isinstance(part, Column) else part

    found = expression.rewrite(renamed)
    assert [part.name for part in found.walk() if isinstance(part, Column)] == ["years"]
    assert isinstance(found, Call)
    assert found.operator == "add"
    assert expression.rewrite(lambda part: part) == expression


def test_bounded_needs_both_ends() -> None:
    assert AGE.bounded
    assert not replace(AGE, high=None).bounded
    assert not replace(AGE, low=None).bounded
