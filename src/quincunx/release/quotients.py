"""Quotients of sums and counts inside an output: each has one interval of its own. See quotients.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from quincunx.mechanisms import LIMIT
from quincunx.release.arithmetic import Range
from quincunx.release.stored import Stored
from quincunx.table import (
    Bounds,
    Call,
    Expression,
    Floats,
    GroupKey,
    LinearForm,
    Literal,
    Measured,
    Part,
    Program,
    quotient,
)
from quincunx.table.operators import apply, literal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """near: the noisy number of each group; slopes: measure → by how much its noise moves it."""

    near: Floats
    slopes: Mapping[int, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotients:
    """The quotients of an answer. keys: those that are numbers, by their place. bounded: cut to what is proved."""

    program: Program
    stored: Stored
    keys: Mapping[int, Floats]
    bounded: bool = True

    def inside(self, expression: Expression) -> list[Call]:
        """The largest parts of an expression that are one linear form over another that is no constant."""
        if isinstance(expression, Call) and expression.operator == "divide" and self._both(expression) is not None:
            return [expression]
        parts = expression.arguments if isinstance(expression, Call) else ()
        return list(dict.fromkeys(found for part in parts for found in self.inside(part)))

    def known(self, node: Call, risk: Fraction) -> Range | None:
        """Its value, interval and slopes; None where it has too many noises."""
        both = self._both(node)
        if both is None:
            return None
        top, bottom = both
        used = sorted({*top.slopes, *bottom.slopes})
        measures, noisy = self.program.measures, self.stored.noisy.measures
        parts = [
            Part(lattice=measures[each].lattice, unit=measures[each].unit, noise=self.stored.mechanisms[each])
            for each in used
        ]
        inside = np.logical_and.reduce([np.abs(noisy[each]) < LIMIT for each in used])
        zero = np.zeros(top.near.shape)
        one, two = (
            LinearForm(near=form.near, slopes=tuple(form.slopes.get(each, zero) for each in used))
            for form in (top, bottom)
        )
        found = quotient(one, two, parts, inside, risk, self._bounds(node))
        if found is None:
            return None
        low, high = self._bounds(node)
        with np.errstate(all="ignore"):
            value = top.near / bottom.near
            slopes = {
                each: (a - value * b) / bottom.near for each, a, b in zip(used, one.slopes, two.slopes, strict=True)
            }
        if low is not None and high is not None:
            value = np.clip(value, float(low), float(high))
        return Range(value=value, low=found.low, high=found.high, slopes=slopes)

    def _both(self, node: Call) -> tuple[_Form, _Form] | None:
        top, bottom = (self._form(each) for each in node.arguments)
        return None if top is None or bottom is None or not bottom.slopes else (top, bottom)

    def _form(self, node: Expression) -> _Form | None:
        """The linear form that an expression is, if it is one."""
        size = len(self.stored.noisy.keys)
        if isinstance(node, Measured):
            return self._measured(node.index)
        if isinstance(node, GroupKey):
            return _Form(near=self.keys[node.index], slopes={}) if node.index in self.keys else None
        if isinstance(node, Literal):
            number = node.value
            if isinstance(number, bool) or not isinstance(number, int | Fraction):
                return None
            return _Form(near=np.full(size, float(number)), slopes={})
        if not isinstance(node, Call):
            return None
        parts = [self._form(each) for each in node.arguments]
        forms = [each for each in parts if each is not None]
        return _combined(node.operator, forms) if len(forms) == len(parts) else None

    def _measured(self, index: int) -> _Form | None:
        if not self.program.query.aggregates[index].linear:
            return None
        (measure,) = self.program.parts[index]
        unit = float(self.program.measures[measure].unit)
        near = self.stored.noisy.measures[measure].astype(np.float64) * unit
        return _Form(near=near, slopes={measure: np.ones(near.shape)})

    def cut(self, expression: Expression) -> Expression:
        """The expression with every quotient moved between what is proved of it."""
        ends = {part: self._bounds(part) for part in self.inside(expression)}

        def moved(node: Expression) -> Expression:
            low, high = ends.get(node, (None, None)) if isinstance(node, Call) else (None, None)
            if not isinstance(node, Call) or low is None or high is None:
                return node
            top, bottom = node.arguments
            # Over 0 there is no number, and none that could be moved.
            known = apply("divide", top, apply("nullif", bottom, literal(0)))
            return apply("clamp", known, literal(low), literal(high))

        return expression.rewrite(moved)

    def _bounds(self, node: Call) -> Bounds:
        """What is proved of a quotient of two aggregates, the first of which may be multiplied by a number."""
        top, bottom = (
            each.arguments[0] if isinstance(each, Call) and each.operator == "nullif" else each
            for each in node.arguments
        )
        by = Fraction(1)
        if isinstance(top, Call) and top.operator == "multiply":
            numbers = [
                each for each in top.arguments if isinstance(each, Literal) and isinstance(each.value, int | Fraction)
            ]
            others = [each for each in top.arguments if not isinstance(each, Literal)]
            if len(numbers) == len(others) == 1:
                by, top = Fraction(numbers[0].value), others[0]  # type: ignore[arg-type]
        if not self.bounded or not isinstance(top, Measured) or not isinstance(bottom, Measured):
            return None, None
        aggregates = self.program.query.aggregates
        low, high = aggregates[top.index].over(aggregates[bottom.index])
        if low is None or high is None:
            return None, None
        return min(low * by, high * by), max(low * by, high * by)


def _combined(operator: str, forms: list[_Form]) -> _Form | None:
    match operator, forms:
        case "add" | "subtract", [a, b]:
            return _sum(a, b, 1.0 if operator == "add" else -1.0)
        case "negate", [a]:
            return _times(a, np.full(a.near.shape, -1.0))
        case "multiply", [a, b] if not a.slopes or not b.slopes:
            return _times(b, a.near) if not a.slopes else _times(a, b.near)
        case "divide", [a, b] if not b.slopes:
            with np.errstate(all="ignore"):
                return _times(a, 1 / b.near)
        case "nullif", [a, _]:
            # Where it is not NULL it is the first argument.
            return a
    return None


def _sum(a: _Form, b: _Form, sign: float) -> _Form:
    zero = np.zeros(a.near.shape)
    slopes = {each: a.slopes.get(each, zero) + sign * b.slopes.get(each, zero) for each in {**a.slopes, **b.slopes}}
    return _Form(near=a.near + sign * b.near, slopes=slopes)


def _times(a: _Form, by: Floats) -> _Form:
    return _Form(near=a.near * by, slopes={each: slope * by for each, slope in a.slopes.items()})
