"""Typing of window functions: what each gives, whether ties must be broken for it, and which frames it may have.

Aggregates over windows are folds (`relations/fold.py`).

row_number rank dense_rank percent_rank cume_dist()   ntile(Literal)
lag lead(x[, Literal offset[, default]])   first_value last_value(x)   nth_value(x, Literal)
count([x])   sum avg min max bool_and bool_or(x)              over the rows of the frame
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from quincunx.errors import QueryError
from quincunx.table.expression import Expression, Literal
from quincunx.table.typing.conditional import alike_branches, case
from quincunx.table.typing.facts import Facts, whole_constant

Arguments: TypeAlias = Sequence[Expression]

# An offset beyond any number of rows means nothing more.
FARTHEST: Final = 2**31 - 1
# What a person writes of a frame: nothing, or its kind.
NONE: Final = frozenset({""})
ROWS: Final = frozenset({"rows"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A window function: how many arguments it takes, and the facts of its results.

    frames: the kinds that may be written, "" for none. total: it tells rows apart that the order leaves alike, so that
    the order is made total for it. Otherwise it gives the same to all of them and they must be kept alike, unless the
    frame is of rows. picks: its results are values of its argument, or NULL.
    """

    least: int = 0
    most: int = 0
    rule: Callable[[Arguments], Facts]
    frames: frozenset[str] = NONE
    total: bool = False
    picks: bool = False

    def facts(self, arguments: Arguments) -> Facts:
        """What is proved of the results; QueryError where number or types of the arguments do not fit."""
        if not self.least <= len(arguments) <= self.most:
            count = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
            raise QueryError(f"this function takes {count} arguments", got=str(len(arguments)))
        return self.rule(arguments)


def _place(_arguments: Arguments) -> Facts:
    return Facts(type="integer", nullable=False, low=Fraction(1), step=Fraction(1))


def _share(_arguments: Arguments) -> Facts:
    return Facts(type="decimal", nullable=False, low=Fraction(0), high=Fraction(1))


def _tile(arguments: Arguments) -> Facts:
    most = whole_constant(arguments[0], 1, FARTHEST)
    return Facts(type="integer", nullable=False, low=Fraction(1), high=Fraction(most), step=Fraction(1))


def _value(arguments: Arguments) -> Facts:
    """A value of some row, or NULL where there is none."""
    x = arguments[0]
    return Facts(type=x.type, nullable=True, low=x.low, high=x.high, step=x.step)


def _nth(arguments: Arguments) -> Facts:
    whole_constant(arguments[1], 1, FARTHEST)
    return _value(arguments)


def _moved(arguments: Arguments) -> Facts:
    """A value of another row, or the default where there is no such row."""
    if len(arguments) > 1:
        whole_constant(arguments[1], 0, FARTHEST)
    if len(arguments) < 3:
        return _value(arguments)
    chosen = Literal(type="boolean", nullable=False, value=True)
    found = case(alike_branches((chosen, arguments[0], arguments[2])))
    return Facts(type=found.type, nullable=True, low=found.low, high=found.high, step=found.step)


FUNCTIONS: Final[Mapping[str, Function]] = {
    "row_number": Function(rule=_place, total=True),
    "rank": Function(rule=_place),
    "dense_rank": Function(rule=_place),
    "percent_rank": Function(rule=_share),
    "cume_dist": Function(rule=_share),
    "ntile": Function(least=1, most=1, rule=_tile, total=True),
    "lag": Function(least=1, most=3, rule=_moved, total=True, picks=True),
    "lead": Function(least=1, most=3, rule=_moved, total=True, picks=True),
    "first_value": Function(least=1, most=1, rule=_value, frames=NONE | ROWS, total=True, picks=True),
    "last_value": Function(least=1, most=1, rule=_value, frames=ROWS, total=True, picks=True),
    "nth_value": Function(least=2, most=2, rule=_nth, frames=ROWS, total=True, picks=True),
}
