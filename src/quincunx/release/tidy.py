"""Post-processing that a reader may ask for. It costs nothing, and the column's note says that it was done.

It is done only where it is true of the bounded statistic itself, so that intervals go on covering: a number is shown as
at least 0 where its lower bound is proved to be at least 0, and ends of intervals are rounded outwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from fractions import Fraction
from typing import Final

from quincunx.errors import ParameterError
from quincunx.table import Bounds, Call, End, Expression, GroupKey, Literal, Measured, Program, interval

# name → what the column's note says
TIDY: Final = {
    "non-negative": "negative values and ends of intervals are shown as 0",
    "integer": "values are rounded to whole numbers, and ends of intervals outwards",
}
SIGNED: Final = "it can be below 0, so negative values are shown as they are"
_UNKNOWN: Final[Bounds] = (None, None)
_ZERO: Final = Fraction(0)


def read_tidy(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once and in a fixed order; unknown ones are refused."""
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in TIDY:
            near = get_close_matches(str(name), TIDY, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(TIDY)}."
            raise ParameterError("unknown post-processing", where="tidy", got=repr(name), hint=hint)
    return tuple(name for name in TIDY if name in given)


def check_tidy(program: Program, tidy: tuple[str, ...]) -> None:
    """Refuse "non-negative" where no output is proved to be at least 0; called before anything is spent."""
    if "non-negative" in tidy and not any(
        never_negative(output.expression, program) for output in program.query.outputs if _measured(output.expression)
    ):
        names = ", ".join(output.name for output in program.query.outputs if _measured(output.expression))
        hint = "Leave non-negative out, or declare bounds that do not go below 0, or write SUM(CLAMP(x, 0, …))."
        raise ParameterError(
            "no output of this question is proved to be at least 0", where="tidy", got=names[:80], hint=hint
        )


def applied(tidy: tuple[str, ...], expression: Expression, program: Program) -> tuple[str, ...]:
    """What of `tidy` is done to an output."""
    # What is no count or sum is no whole number by nature: rounding it would lose what was paid for.
    linear = all(program.query.aggregates[index].linear for index in _measured(expression))
    left_out = set() if linear else {"integer"}
    if not never_negative(expression, program):
        left_out.add("non-negative")
    return tuple(name for name in tidy if name not in left_out)


def never_negative(expression: Expression, program: Program) -> bool:
    """Whether the bounded statistic is proved to be at least 0, whatever the data are."""
    low = lower_bound(expression, program)
    return low is not None and low >= 0


def lower_bound(expression: Expression, program: Program) -> End:
    """A proved lower bound of an output, of the statistic before noise; None where none is proved."""
    return _bounds(expression, program)[0]


def _measured(expression: Expression) -> list[int]:
    return [node.index for node in expression.walk() if isinstance(node, Measured)]


def _bounds(expression: Expression, program: Program) -> Bounds:
    match expression:
        case Measured(index=index):
            return program.query.aggregates[index].bounds(program.lattices(index))
        case GroupKey(index=index):
            return _key(program, index)
        case Literal(low=low, high=high):
            return low, high
        case Call(operator=operator, arguments=arguments):
            return _call(operator, [_bounds(each, program) for each in arguments])
    return _UNKNOWN


def _key(program: Program, index: int) -> Bounds:
    key = program.query.keys[index]
    if key.values is None:
        return key.expression.low, key.expression.high
    numbers = [Fraction(value) for value in key.values if isinstance(value, int | Fraction)]
    return (min(numbers), max(numbers)) if numbers else _UNKNOWN


def _call(operator: str, parts: list[Bounds]) -> Bounds:
    """The rules of the operators that have intervals (arithmetic.py)."""
    first = parts[0]
    match operator:
        case "add":
            return interval.add(first, parts[1])
        case "subtract":
            return interval.add(first, interval.negate(parts[1]))
        case "negate":
            return interval.negate(first)
        case "multiply" | "divide":
            found = interval.multiply(*parts) if operator == "multiply" else interval.divide(*parts)
            # Where an end is open, the signs alone; a quotient by 0 is NULL.
            return found if found != _UNKNOWN else _signs(*parts)
        case "round":
            digits = parts[1][0]
            return interval.outward(first, Fraction(1, 10 ** int(digits))) if digits is not None else _UNKNOWN
        case "clamp":
            low, high = parts[1][0], parts[2][1]
            return (low if first[0] is None else _within(first[0], low, high)), high
        case "nullif":
            return first
    return _UNKNOWN


def _signs(a: Bounds, b: Bounds) -> Bounds:
    up = [end[0] is not None and end[0] >= 0 for end in (a, b)]
    down = [end[1] is not None and end[1] <= 0 for end in (a, b)]
    if all(up) or all(down):
        return _ZERO, None
    return (None, _ZERO) if (up[0] and down[1]) or (down[0] and up[1]) else _UNKNOWN


def _within(value: Fraction, low: End, high: End) -> End:
    return None if low is None or high is None else min(max(value, low), high)
