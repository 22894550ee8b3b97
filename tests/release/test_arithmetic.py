"""Arithmetic on aggregates: enclosures enclose, slopes are derivatives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.release.arithmetic import RULES, Range, derived
from quincunx.table.expression import Call, Expression, GroupKey, Literal, Measured

A, B = Measured(type="integer", index=0), Measured(type="decimal", index=1)


def call(operator: str, *arguments: Expression) -> Call:
    return Call(type="decimal", operator=operator, arguments=arguments)


def number(value: object) -> Literal:
    return Literal(type="decimal", value=Fraction(str(value)))


def ranges(values: tuple[float, float], widths: tuple[float, float]) -> dict[int, Range]:
    return {
        i: Range(
            value=np.array([value]),
            low=np.array([value - width]),
            high=np.array([value + width]),
            slopes={i: np.ones(1)},
        )
        for i, (value, width) in enumerate(zip(values, widths, strict=True))
    }


EXPRESSIONS: list[tuple[Expression, Callable[[float, float], float]]] = [
    (call("add", A, B), lambda a, b: a + b),
    (call("subtract", A, B), lambda a, b: a - b),
    (call("multiply", A, B), lambda a, b: a * b),
    (call("divide", A, B), lambda a, b: a / b),
    (call("negate", A), lambda a, _: -a),
    (call("multiply", number(100), call("divide", A, B)), lambda a, b: 100 * a / b),
    (call("add", call("multiply", A, A), number("0.5")), lambda a, _: a * a + 0.5),
    (call("divide", A, call("nullif", B, number(0))), lambda a, b: a / b),
    (call("clamp", A, number(-3), number(3)), lambda a, _: max(-3.0, min(a, 3.0))),
]


@pytest.mark.parametrize(("expression", "function"), EXPRESSIONS, ids=[str(i) for i in range(len(EXPRESSIONS))])
@given(
    values=st.tuples(st.floats(-50, 50), st.floats(1, 50)),
    widths=st.tuples(st.floats(0, 5), st.floats(0, 0.9)),
    places=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
)
def test_every_value_inside_is_enclosed(
    expression: Expression,
    function: Callable[[float, float], float],
    values: tuple[float, float],
    widths: tuple[float, float],
    places: tuple[float, float],
) -> None:
    found = derived(expression, ranges(values, widths), {})
    assert found is not None
    inside = function(*(value + width * place for value, width, place in zip(values, widths, places, strict=True)))
    slack = 1e-9 * (1 + abs(inside))
    assert found.low[0] - slack <= inside <= found.high[0] + slack
    assert found.value[0] == pytest.approx(function(*values), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("expression", "function"), EXPRESSIONS, ids=[str(i) for i in range(len(EXPRESSIONS))])
def test_slopes_are_derivatives(expression: Expression, function: Callable[[float, float], float]) -> None:
    values, step = (2.0, 7.0), 1e-6
    found = derived(expression, ranges(values, (1.0, 1.0)), {})
    assert found is not None
    for i in range(2):
        moved = [values[0], values[1]]
        moved[i] += step
        slope = (function(*moved) - function(*values)) / step
        assert float(found.slopes.get(i, np.zeros(1))[0]) == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_a_divisor_that_may_be_zero_leaves_no_bounds() -> None:
    found = derived(call("divide", A, B), ranges((5.0, 1.0), (1.0, 2.0)), {})
    assert found is not None
    assert np.isnan(found.low[0])
    assert np.isnan(found.high[0])
    below = derived(call("divide", A, B), ranges((5.0, -4.0), (1.0, 2.0)), {})
    assert below is not None
    assert (below.low[0], below.high[0]) == (pytest.approx(-3), pytest.approx(-4 / 6))


def test_rounding_widens_by_half_a_digit() -> None:
    found = derived(call("round", A, number(1)), ranges((5.0, 1.0), (1.0, 0.0)), {})
    assert found is not None
    assert (found.low[0], found.high[0]) == (pytest.approx(3.95), pytest.approx(6.05))


def test_keys_are_points_and_what_is_not_arithmetic_has_no_range() -> None:
    known, key = ranges((5.0, 1.0), (1.0, 0.0)), GroupKey(type="integer", index=0)
    found = derived(call("multiply", A, key), known, {0: np.array([3.0])})
    assert found is not None
    assert (found.low[0], found.high[0]) == (pytest.approx(12), pytest.approx(18))
    text = GroupKey(type="text", index=1)
    for expression in (
        call("upper", text),
        call("multiply", A, text),
        call("case", A, B, A),
        call("add", A, Literal(type="text", value="x")),
        call("add", A, Literal(type="integer", value=None)),
    ):
        assert derived(expression, known, {0: np.array([3.0])}) is None


def test_the_rules_are_operators_of_the_table() -> None:
    from quincunx.table.operators import OPERATORS

    assert set(RULES) <= set(OPERATORS)
