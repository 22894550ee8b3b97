"""What an operator means since when, and the range of decimal numbers: see operators.md.

A decimal number is 0, or from 2^−500 to 2^500 in size, or infinite; a result between 0 and 2^−500 in size is 0, and one
beyond 2^500 is infinite. Then no product and no quotient of two of them leaves the doubles of any engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Final, Protocol

from quincunx.table import interval


class Typed(Protocol):
    """What is asked of an expression: its type and the bounds that are proved of it."""

    @property
    def type(self) -> str: ...

    @property
    def low(self) -> Fraction | None: ...

    @property
    def high(self) -> Fraction | None: ...


class Call(Typed, Protocol):
    """What is asked of an operator that is applied to arguments."""

    @property
    def operator(self) -> str: ...

    @property
    def arguments(self) -> Sequence[Typed]: ...


SMALLEST: Final = Fraction(1, 2**500)
LARGEST: Final = Fraction(2**500)
# Results whose real value is proved to lie inside by a factor of two lie inside after rounding.
_SLACK: Final = 2


def kept_small(call: Call) -> bool:
    """Whether a decimal result is proved to be no smaller than the smallest number, so that none becomes 0."""
    low, high = call.low, call.high
    return (low is not None and low >= SMALLEST * _SLACK) or (high is not None and high <= -SMALLEST * _SLACK)


def kept_large(call: Call) -> bool:
    """Whether a decimal result is proved to be no larger than the largest number, so that none becomes infinite."""
    low, high = call.low, call.high
    return low is not None and high is not None and low * _SLACK >= -LARGEST and high * _SLACK <= LARGEST


def in_range(call: Call) -> bool:
    """Whether a decimal result is proved to lie in the range, whatever the row."""
    return kept_small(call) and kept_large(call)


def of(call: Call) -> int:
    """The number of the operator's meaning: 1 is the first, and is not written where a question is named."""
    changed = _CHANGED.get(call.operator)
    return 2 if changed is not None and changed(call) else 1


def _always(_call: Call) -> bool:
    return True


def _arithmetic(call: Call) -> bool:
    """Decimal numbers that may leave their range; integers beyond ±2^126 are NULL, and not only beyond ±2^127."""
    if call.type == "decimal":
        return not in_range(call)
    return not interval.fits((call.low, call.high))


def _remainder(call: Call) -> bool:
    """Of decimal numbers it is x − y·TRUNC(x / y), in doubles."""
    return call.type == "decimal" or _arithmetic(call)


def _rounding(call: Call) -> bool:
    """An argument within half of the range stays inside; rounded it is 0, or no smaller than one unit."""
    return call.type == "decimal" and not kept_large(call)


def _cast(call: Call) -> bool:
    """Texts are read by one grammar, and a decimal number becomes the integer ⌊x + 1/2⌋."""
    return call.arguments[0].type == "text" or (call.arguments[0].type == "decimal" and call.type == "integer")


_CHANGED: Final[Mapping[str, Callable[[Call], bool]]] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide"), _arithmetic),
    **dict.fromkeys(("whole_divide", "negate", "abs"), lambda call: call.type == "integer" and _arithmetic(call)),
    "remainder": _remainder,
    **dict.fromkeys(("upper", "lower", "ilike", "trim", "ltrim", "rtrim"), _always),
    "cast": _cast,
    "round": _rounding,
}
